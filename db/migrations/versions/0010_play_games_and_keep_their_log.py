"""Play games and keep their log."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0010"
down_revision: str | None = "0009"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column(
        "position",
        sa.Column(
            "tracks",
            postgresql.JSONB(),
            server_default="{}",
            nullable=False,
            comment="Numbers, lists and pools of a side or the game: points, cups, hands",
        ),
    )
    op.create_table(
        "game",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row"),
        sa.Column("name", sa.Text(), nullable=False, comment="Short name, part of its address"),
        sa.Column("title", sa.Text(), server_default="", nullable=False, comment="Name for people"),
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The game that is played"),
        sa.Column(
            "position_id", sa.BigInteger(), nullable=False, comment="The position now; only the log writes it"
        ),
        sa.Column("scenario", sa.Text(), nullable=True, comment="The scenario it began from, if it was one"),
        sa.Column(
            "house",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="Whether part of its set-up is not the publisher's",
        ),
        sa.Column(
            "dice",
            sa.Text(),
            server_default="server",
            nullable=False,
            comment="Who rolls: the server, or a table that types",
        ),
        sa.Column(
            "seed",
            sa.LargeBinary(),
            nullable=True,
            comment="What the server's dice are derived from; told at the end",
        ),
        sa.Column(
            "opened",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="Whether the seed is told to everybody",
        ),
        sa.Column(
            "over",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="Whether it has ended",
        ),
        sa.Column(
            "events", sa.Integer(), server_default="0", nullable=False, comment="Number of its last event"
        ),
        sa.Column("digest", sa.Text(), server_default="", nullable=False, comment="Digest of its last event"),
        sa.Column(
            "pending",
            postgresql.JSONB(),
            nullable=True,
            comment="The action that waits for an answer, with the answers it has, and whom it waits for",
        ),
        sa.Column("parent_id", sa.BigInteger(), nullable=True, comment="The game it was branched off from"),
        sa.Column("parent_event", sa.Integer(), nullable=True, comment="After which event of that one"),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="Begun when",
        ),
        sa.CheckConstraint("dice in ('server', 'typed')", name=op.f("game_dice_check")),
        sa.CheckConstraint("name ~ '^[a-z0-9][a-z0-9_-]*$'", name=op.f("game_name_check")),
        sa.ForeignKeyConstraint(
            ["parent_id"], ["game.id"], name=op.f("game_parent_id_fkey"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["position_id"], ["position.id"], name=op.f("game_position_id_fkey"), ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(["ruleset"], ["ruleset.code"], name=op.f("game_ruleset_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("game_pkey")),
        sa.UniqueConstraint("name", name=op.f("game_name_key")),
        sa.UniqueConstraint("position_id", name=op.f("game_position_id_key")),
        comment="Games: the position now, whose dice, and the last event",
    )
    op.create_table(
        "seat",
        sa.Column("game_id", sa.BigInteger(), nullable=False, comment="The game"),
        sa.Column("role", sa.Text(), nullable=False, comment="referee, a side, or observer"),
        sa.Column("name", sa.Text(), server_default="", nullable=False, comment="Who sits there"),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("seat_game_id_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("game_id", "role", name=op.f("seat_pkey")),
        comment="Seats: the referee, each side, observers",
    )
    op.create_table(
        "event",
        sa.Column("game_id", sa.BigInteger(), nullable=False, comment="The game"),
        sa.Column("number", sa.Integer(), nullable=False, comment="1, 2, 3 … without gaps"),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, comment="When it was written down"),
        sa.Column("actor", sa.Text(), nullable=False, comment="Who did it: a side, or the referee"),
        sa.Column(
            "action",
            sa.Text(),
            nullable=False,
            comment="What was done: a procedure, begin, undo, set, note, end",
        ),
        sa.Column(
            "arguments",
            postgresql.JSONB(),
            server_default="{}",
            nullable=False,
            comment="With what, as a case file has it",
        ),
        sa.Column(
            "rolls",
            postgresql.JSONB(),
            server_default="[]",
            nullable=False,
            comment="Dice in order, with where they came from",
        ),
        sa.Column(
            "draws",
            postgresql.JSONB(),
            server_default="[]",
            nullable=False,
            comment="Cards and counters drawn, in order",
        ),
        sa.Column(
            "choices",
            postgresql.JSONB(),
            server_default="[]",
            nullable=False,
            comment="Who chose what, in order",
        ),
        sa.Column(
            "answer",
            postgresql.JSONB(),
            server_default="{}",
            nullable=False,
            comment="The numbers and the result",
        ),
        sa.Column(
            "steps",
            postgresql.JSONB(),
            server_default="[]",
            nullable=False,
            comment="Every rule that spoke, in order",
        ),
        sa.Column(
            "contested",
            postgresql.JSONB(),
            server_default="[]",
            nullable=False,
            comment="Contested points that it touched",
        ),
        sa.Column(
            "effects",
            postgresql.JSONB(),
            server_default="[]",
            nullable=False,
            comment="What changed, in the words of the game",
        ),
        sa.Column(
            "changes",
            postgresql.JSONB(),
            server_default="[]",
            nullable=False,
            comment="The same and the bookkeeping as rows, with old and new value",
        ),
        sa.Column(
            "phase",
            postgresql.JSONB(),
            server_default="{}",
            nullable=False,
            comment="Turn, phase and whose it was",
        ),
        sa.Column(
            "legality",
            sa.Text(),
            server_default="legal",
            nullable=False,
            comment="legal, illegal_stood, overruled or contested",
        ),
        sa.Column("note", sa.Text(), nullable=True, comment="Why, in the words of whoever wrote it down"),
        sa.Column(
            "undoes",
            postgresql.ARRAY(sa.Integer()),
            server_default="{}",
            nullable=False,
            comment="Events that it takes back",
        ),
        sa.Column("ruleset_version", sa.Text(), nullable=False, comment="Digest of the rules that ruled"),
        sa.Column("position_digest", sa.Text(), nullable=False, comment="SHA-256 of the position after it"),
        sa.Column(
            "previous",
            sa.Text(),
            nullable=False,
            comment="Digest of the event before it; empty for the first",
        ),
        sa.Column("digest", sa.Text(), nullable=False, comment="SHA-256 of all this"),
        sa.CheckConstraint(
            "legality in ('legal', 'illegal_stood', 'overruled', 'contested')",
            name=op.f("event_legality_check"),
        ),
        sa.ForeignKeyConstraint(
            ["game_id"], ["game.id"], name=op.f("event_game_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("game_id", "number", name=op.f("event_pkey")),
        comment="The log of every game: append-only, numbered without gaps, each with the digest of the one before",
    )
    op.create_table(
        "request",
        sa.Column("game_id", sa.BigInteger(), nullable=False, comment="The game"),
        sa.Column("key", sa.Text(), nullable=False, comment="The key that the client made up"),
        sa.Column("asked", sa.Text(), nullable=False, comment="Digest of what was asked with it"),
        sa.Column("number", sa.Integer(), nullable=False, comment="The event that it made, or is making"),
        sa.ForeignKeyConstraint(
            ["game_id"], ["game.id"], name=op.f("request_game_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("game_id", "key", name=op.f("request_pkey")),
        comment="Idempotency keys of a game's writers, with the event that each was about",
    )
    op.create_table(
        "snapshot",
        sa.Column("game_id", sa.BigInteger(), nullable=False, comment="The game"),
        sa.Column("number", sa.Integer(), nullable=False, comment="The event it is after"),
        sa.Column(
            "tree", postgresql.JSONB(), nullable=False, comment="Units, markers, conditions and tracks"
        ),
        sa.ForeignKeyConstraint(
            ["game_id", "number"],
            ["event.game_id", "event.number"],
            name=op.f("snapshot_game_id_number_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("game_id", "number", name=op.f("snapshot_pkey")),
        comment="The position after some events, as one object each; can always be made anew from the log",
    )
    op.create_table(
        "annotation",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row"),
        sa.Column("game_id", sa.BigInteger(), nullable=False, comment="The game"),
        sa.Column("number", sa.Integer(), nullable=False, comment="The event"),
        sa.Column("author", sa.Text(), nullable=False, comment="Who says it"),
        sa.Column("text", sa.Text(), nullable=False, comment="What is said"),
        sa.Column("ruling", sa.Text(), nullable=True, comment="A kept ruling that it refers to"),
        sa.Column(
            "at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="Said when",
        ),
        sa.ForeignKeyConstraint(
            ["game_id", "number"],
            ["event.game_id", "event.number"],
            name=op.f("annotation_game_id_number_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["ruling"], ["ruling.id"], name=op.f("annotation_ruling_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("annotation_pkey")),
        comment="Annotations: what was said of an event afterwards, with rulings it refers to",
    )
    op.create_index(op.f("annotation_game_id_number_idx"), "annotation", ["game_id", "number"], unique=False)
    op.create_index("ix_event_taken_back", "event", ["game_id"], postgresql_where=sa.text("undoes <> '{}'"))
    op.create_index(
        "ix_chart_cell_filled", "chart_cell", ["ruleset"], postgresql_where=sa.text("source <> 'printed'")
    )
