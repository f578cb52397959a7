"""Who may do what in the database: the owner, and the role that pages, API and questions connect as.

The owner makes and owns everything: upgrades, imports, restores. `sightline_web` owns nothing, makes nothing, reads
the tables and writes what the doors write, as `WRITES` says table by table. It is no owner and passes by no policy,
so that row-level security, once tables have any, holds for it. The upgrade grants all this anew each time.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection

WEB = "sightline_web"
KEEPS = "insert, update, delete"
NOTHING = ""

WRITES: dict[str, str] = {
    # the games' own data and the rules: upgrade and import write them
    **dict.fromkeys(
        (
            "concept", "concept_rule", "contested_point", "edition_rule", "glossary_entry", "hexside_kind",
            "idle_word", "path_kind", "phase", "ranking", "reading", "rule", "rule_reference", "rule_term",
            "rule_text", "rule_word", "ruleset", "schema_state", "synonym", "term", "terrain", "lattice.beam",
            "lattice.passage", "lattice.ray", "lattice.trace",
        ),
        NOTHING,
    ),
    "rulebook": "update (chosen)",
    "erratum": "insert, update",
    "erratum_version": "insert",
    "word": "insert",
    # a scenario brings its map and what it fills into charts along; a case its map, for one transaction
    "chart": NOTHING,
    "chart_cell": "insert, update",
    "terrain_effect": "insert, delete",
    "map": "insert, update (srid, affine, control_points), delete",
    **dict.fromkeys(("crest", "map_feature", "map_feature_hex", "path", "terrain_area"), "insert"),
    # a what-if changes ground until it is undone
    "hex": "insert, update (terrain, level)",
    "hexside": "insert, delete",
    # what is kept of these by triggers
    "css_ground": KEEPS,
    "drawn_edge": KEEPS,
    "drawn_hex": KEEPS,
    "map_count": KEEPS,
    "map_summary": "insert, update",
    "position": KEEPS,
    "unit": KEEPS,
    "marker": KEEPS,
    "viewshed": KEEPS,
    "kept_line": KEEPS,
    # only games.append and games.restore write events, and what they make of a game
    "event": NOTHING,
    "game": "insert, update (over, opened, pending, position_id), delete",
    "seat": "insert",
    "snapshot": "insert",
    "request": "insert",
    "annotation": "insert",
    # the operator deletes rulings
    "ruling": "insert",
    "deleted_ruling": NOTHING,
    **dict.fromkeys(("account", "campaign", "entry", "force", "stance", "subordination"), KEEPS),
}  # fmt: skip
"""What the web role may do to each table besides reading it."""

DEFINERS = ("games.append", "games.restore", "rules.remove_edition")
"""Functions that do with their owner's rights what the web role may not do itself; each has its search path."""
LARGE_OBJECTS = ("lo_creat(integer)", "lo_create(oid)", "lo_from_bytea(oid, bytea)")
"""By these anybody could make something of their own; only an administrator can forbid it."""
MIGHT = """
select array_remove(
  array[
    case when role.rolsuper then 'is an administrator' end,
    case when role.rolcreaterole then 'may create roles' end,
    case when role.rolcreatedb then 'may create databases' end,
    case when role.rolbypassrls then 'passes by row-level security' end,
    case when pg_has_role(role.oid, state.relowner, 'member') then 'owns the tables' end
  ],
  null
)
from pg_roles as role, pg_class as state
where role.rolname = current_user and state.oid = 'public.schema_state'::regclass
"""


def as_web(url: URL) -> URL:
    """The same database as the web role: for a server that lets it in without a password, or by a `.pgpass`."""
    return url if url.username == WEB else url.set(username=WEB, password=None)


def grant_rights(connection: Connection, schemas: list[str]) -> bool:
    """Give the web role just what it may do here; False where there is no such role, and none may be made."""
    if not _has_role(connection):
        return False
    for statement in grants(schemas):
        connection.execute(sa.text(statement))
    connection.execute(sa.text(f"grant select on table {', '.join(_tables())} to {WEB}"))
    _forbid_large_objects(connection)
    return True


def _tables() -> list[str]:
    """Every table of ours; one that `WRITES` forgets is read all the same."""
    # whoever only asks needs no model of every table
    from db.tables import Base

    return [*Base.metadata.tables, "alembic_version"]


def _has_role(connection: Connection) -> bool:
    """Whether there is the role; where it is missing it is made, by an owner who may."""
    known = sa.text("select exists (select from pg_roles where rolname = :role)")
    if connection.scalar(known, {"role": WEB}):
        return True
    may = "select rolsuper or rolcreaterole from pg_roles where rolname = current_user"
    if not connection.scalar(sa.text(may)):
        return False
    try:
        with connection.begin_nested():
            connection.execute(sa.text(f"create role {WEB} login nosuperuser nocreatedb nocreaterole"))
    except (sa.exc.IntegrityError, sa.exc.ProgrammingError):
        # another upgrade on this server made it at the same moment
        return bool(connection.scalar(known, {"role": WEB}))
    return True


def grants(schemas: list[str]) -> list[str]:
    """Every right as a statement, in order; what was granted before and is not here is taken back."""
    of_schemas = ", ".join(schemas)
    return [
        _database("revoke create, temporary on database %I from public"),
        "revoke create on schema public from public",
        f"revoke all on all tables in schema public, {of_schemas} from {WEB}",
        f"grant usage on schema {of_schemas} to {WEB}",
        # views and all
        f"grant select on all tables in schema {of_schemas} to {WEB}",
        *(f"grant {rights} on table {table} to {WEB}" for table, rights in WRITES.items() if rights),
    ]


def _database(statement: str) -> str:
    return f"do $$ begin execute format('{statement}', current_database()); end $$"


def _forbid_large_objects(connection: Connection) -> None:
    if connection.scalar(sa.text("select rolsuper from pg_roles where rolname = current_user")):
        named = ", ".join(f"pg_catalog.{function}" for function in LARGE_OBJECTS)
        connection.execute(sa.text(f"revoke execute on function {named} from public"))


def might(connection: Connection) -> list[str]:
    """What whoever is connected may do that the web server need not, in words."""
    found: list[str] = connection.scalar(sa.text(MIGHT)) or []
    return found
