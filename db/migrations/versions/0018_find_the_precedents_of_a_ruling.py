"""Find the precedents of a ruling: on what ground it was, and whether it was a yes or a no."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0018"
down_revision: str | None = "0017"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

LEADING = ("visible", "legal", "allowed", "open", "in_command")
"""Keys of answers that are the verdict; of other answers, whether all that is true or false in them is true."""


def upgrade() -> None:
    op.add_column(
        "ruling",
        sa.Column(
            "terrain",
            postgresql.ARRAY(sa.Text()),
            server_default="{}",
            nullable=False,
            comment="Terrain, hexsides and markers at the places of its steps",
        ),
    )
    op.add_column(
        "ruling",
        sa.Column(
            "mood",
            sa.Text(),
            nullable=True,
            comment="yes, no, open (for want of something) or plain; null: kept before it was told",
        ),
    )
    op.create_index(op.f("ruling_contested_idx"), "ruling", ["contested"], postgresql_using="gin")
    # places are found by their names among all maps
    op.create_index("hex_named_idx", "hex", ["map_id"], postgresql_where=sa.text("name is not null"))
    leading = ", ".join(f"answer -> '{key}'" for key in LEADING)
    # what was ruled stays as it is; this is told beside it
    op.execute("alter table ruling disable trigger user")
    op.execute(
        f"""
        update ruling set mood = case
          when exists (select from jsonb_each(answer) where value = 'null') then 'open'
          else coalesce(
            (select case when told = 'true' then 'yes' else 'no' end
             from unnest(array[{leading}]) with ordinality as one (told, n)
             where told in ('true', 'false') order by n limit 1),
            (select case when bool_and(value = 'true') then 'yes' else 'no' end
             from jsonb_each(answer) where value in ('true', 'false') having count(*) > 0),
            'plain')
        end
        """
    )
    op.execute("alter table ruling enable trigger user")
