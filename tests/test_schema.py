"""Upgrades: from nothing, from every earlier revision, side by side, and refused whole."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import alembic.autogenerate
import alembic.migration
import alembic.script
import geoalchemy2
import geoalchemy2.alembic_helpers
import pytest
import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine

import db.schema
from db.backup import libpq, tool
from db.database import make_engine
from db.geometry import Geometry
from db.maps import Hex, Map
from db.rulesets import CODES
from db.schema import UpgradeError, has_schema, head_revision, is_current, schemas, upgrade, verbs
from db.tables import Base
from tests.conftest import Databases

SCRIPTS = alembic.script.ScriptDirectory.from_config(db.schema._alembic())
REVISIONS = [revision.revision for revision in reversed(list(SCRIPTS.walk_revisions()))]
EARLIER = REVISIONS[:-1]


def silent(_: str) -> None: ...


@contextmanager
def begun(url: URL) -> Iterator[Connection]:
    engine = make_engine(url)
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def dump(url: URL) -> list[str]:
    """The schema as pg_dump writes it, whatever the order in which things were made."""
    command = [tool("pg_dump"), "--schema-only", "--no-owner", "-d", libpq(url)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    # psql's guard words are new in each dump
    text = "\n".join(
        line for line in text.splitlines() if not line.startswith(("\\restrict", "\\unrestrict"))
    )
    return sorted(block.strip() for block in text.split("\n--\n-- Name: "))


def contents(connection: Connection) -> dict[str, str]:
    """A digest of every table's rows, but for the moment of the upgrade."""
    found = {}
    for table in sorted(Base.metadata.tables.values(), key=lambda table: table.fullname):
        columns = [column.name for column in table.columns if column.name != "upgraded_at"]
        row = ", ".join(f'"{name}"::text' for name in columns)
        query = f"select md5(coalesce(string_agg(row, '|' order by row), '')) from (select concat_ws('~', {row}) as row from {table.fullname}) as rows"
        found[table.fullname] = str(connection.scalar(sa.text(query)))
    return found


Told = tuple[list[str], dict[str, str]]
"""A database as one can tell it from another: its schema, and a digest of each table."""


def told(url: URL) -> Told:
    with begun(url) as connection:
        return dump(url), contents(connection)


@pytest.fixture(scope="module")
def from_nothing(databases: Databases) -> Told:
    return told(databases.make())


@pytest.fixture(scope="module")
def at(databases: Databases) -> Callable[[str], URL]:
    """Makes a database of an earlier revision, out of the one before it: a migration each, and not all of them."""
    made: dict[str, URL] = {}

    def make(revision: str) -> URL:
        if revision not in made:
            nth = EARLIER.index(revision)
            url = databases.make(template=make(EARLIER[nth - 1]).database if nth else None)
            with begun(url) as connection:
                upgrade(connection, silent, revision)
            made[revision] = url
        return made[revision]

    return lambda revision: databases.make(template=make(revision).database)


def test_there_are_earlier_revisions_to_upgrade_from() -> None:
    assert EARLIER
    assert sorted(REVISIONS) == REVISIONS


@pytest.mark.parametrize("revision", EARLIER)
def test_an_upgrade_from_an_earlier_revision_gives_the_same_as_from_nothing(
    at: Callable[[str], URL], revision: str, from_nothing: Told
) -> None:
    url = at(revision)
    with begun(url) as connection:
        assert not is_current(connection)
        upgrade(connection, silent)
        assert is_current(connection)
    assert told(url) == from_nothing


def test_the_models_are_the_migrated_schema(connection: Connection) -> None:
    def compared(name: str | None, kind: str, parents: object) -> bool:
        return kind != "schema" or name in (None, "lattice")

    def ours(thing: object, name: str | None, kind: str, reflected: bool, other: object) -> bool:
        belongs_to_postgis = kind == "table" and name == "spatial_ref_sys"
        return not belongs_to_postgis and geoalchemy2.alembic_helpers.include_object(
            thing, name, kind, reflected, other
        )

    context = alembic.migration.MigrationContext.configure(
        connection,
        opts={
            "include_schemas": True,
            "include_name": compared,
            "include_object": ours,
            "compare_type": compare_geometry,
            "compare_server_default": False,
        },
    )
    assert alembic.autogenerate.compare_metadata(context, Base.metadata) == []


def compare_geometry(
    context: object, inspected: object, column: object, found: object, wanted: object
) -> bool | None:
    """Geometries differ by kind and CRS; whether an index is made along is asked elsewhere."""
    if isinstance(found, geoalchemy2.Geometry) and isinstance(wanted, Geometry):
        # a reflected geometry without a CRS has -1, a declared one 0
        declared = wanted.geometry
        return (found.geometry_type, max(found.srid, 0)) != (declared.geometry_type, declared.srid)
    return None


def test_the_newest_revision_is_the_last_migration() -> None:
    assert head_revision() == SCRIPTS.get_current_head()


def test_a_geometry_goes_to_the_database_and_comes_back(connection: Connection) -> None:
    """GeoAlchemy2 is met here, both ways, though the models do not import it."""
    connection.execute(
        sa.text(
            "insert into map (ruleset, name, title, scheme)"
            " select 'css', 'one-hex', 'One hex', scheme from (values ('{}'::jsonb)) as s (scheme)"
        )
    )
    row = connection.execute(sa.select(Map.id).where(Map.name == "one-hex")).one()
    connection.execute(
        sa.insert(Hex).values(map_id=row.id, ruleset="css", q=1, r=1, label="01.01", terrain="clear", level=1)
    )
    [center] = connection.scalars(sa.select(Hex.center).where(Hex.map_id == row.id))
    assert isinstance(center, geoalchemy2.WKBElement)
    found = connection.scalar(
        sa.select(sa.func.st_astext(Hex.center)).where(Hex.map_id == row.id, Hex.center == center)
    )
    assert found == "POINT(3 3)"


def test_every_table_and_column_has_a_comment_in_the_database(connection: Connection) -> None:
    bare = []
    for table in Base.metadata.tables.values():
        query = sa.text(
            "select coalesce(a.attname, '(table)') from pg_class as c"
            " left join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped"
            " where c.oid = cast(:name as regclass) and (col_description(c.oid, a.attnum) is null"
            " or obj_description(c.oid, 'pg_class') is null)"
        )
        bare += [
            f"{table.fullname}.{column}" for column in connection.scalars(query, {"name": table.fullname})
        ]
    assert bare == []


def test_every_function_view_and_type_of_ours_has_a_comment(connection: Connection) -> None:
    query = sa.text(
        "select oid::regprocedure::text from pg_proc where pronamespace::regnamespace::text = any(:ours)"
        " and obj_description(oid, 'pg_proc') is null"
        " union all select oid::regclass::text from pg_class where relnamespace::regnamespace::text = any(:ours)"
        " and relkind in ('v', 'm') and obj_description(oid, 'pg_class') is null"
        " union all select reltype::regtype::text from pg_class where relnamespace::regnamespace::text = any(:ours)"
        " and relkind = 'c' and obj_description(reltype, 'pg_type') is null"
    )
    assert connection.scalars(query, {"ours": schemas()}).all() == []


def test_every_kind_of_step_begins_with_the_columns_of_a_step(connection: Connection) -> None:
    query = sa.text(
        "select relname, array_agg(attname::text order by attnum) as columns"
        " from pg_class join pg_attribute on attrelid = pg_class.oid"
        " where relnamespace = 'rulings'::regnamespace and relkind = 'c' group by relname"
    )
    kinds = {row.relname: row.columns for row in connection.execute(query)}
    assert len(kinds) > 4
    assert {name: columns[:6] for name, columns in kinds.items()} == dict.fromkeys(kinds, kinds["step"])


def test_every_public_function_that_tells_rules_returns_a_kind_of_step(connection: Connection) -> None:
    query = sa.text(
        "select oid::regprocedure::text from pg_proc"
        " where pronamespace::regnamespace::text = any(:games) and proname not like '\\_%'"
        " and 'effect' = any(proargnames)"
    )
    assert connection.scalars(query, {"games": list(CODES)}).all() == []


def test_every_migration_is_named_by_a_sentence() -> None:
    for revision in SCRIPTS.walk_revisions():
        words = Path(revision.path).stem.split("_")[1:]
        assert len(words) >= 3, f"{revision.path}: name it by what it does"
        assert (revision.doc or "").endswith("."), f"{revision.path}: begin with a sentence"


def test_verbs_applied_twice_are_the_same(databases: Databases) -> None:
    url = databases.make()
    before = dump(url)
    with begun(url) as connection:
        db.schema._apply(connection, verbs())
        db.schema._apply(connection, verbs())
    assert dump(url) == before


def test_an_upgrade_of_what_is_current_does_nothing(databases: Databases) -> None:
    steps: list[str] = []
    with begun(databases.make()) as connection:
        upgrade(connection, steps.append)
    assert steps == []


@pytest.fixture
def own_sql(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of sql/ that a test may change, as the next version of Sightline would."""
    copy = tmp_path / "sql"
    shutil.copytree(db.schema.SQL, copy)
    monkeypatch.setattr(db.schema, "SQL", copy)
    db.schema.verbs_digest.cache_clear()
    yield copy
    db.schema.verbs_digest.cache_clear()


def changed() -> None:
    """The files were changed after somebody looked at them."""
    db.schema._in_order.cache_clear()
    db.schema.verbs_digest.cache_clear()


def test_files_come_after_what_they_need() -> None:
    order = [path.relative_to(db.schema.SQL).as_posix() for path in verbs()]
    for name in order:
        for line in db.schema.NEEDS.findall((db.schema.SQL / name).read_text()):
            for needed in (word.strip() for word in line.split(",")):
                assert order.index(needed) < order.index(name)


def test_files_that_need_one_another_in_a_circle_are_named(own_sql: Path) -> None:
    (own_sql / "lattice" / "one.sql").write_text("-- needs: lattice/two.sql\n")
    (own_sql / "lattice" / "two.sql").write_text("-- needs: lattice/one.sql\n")
    changed()
    with pytest.raises(UpgradeError, match=r"circle: .*lattice/(one|two)\.sql → lattice/"):
        verbs()


def test_a_need_that_is_not_there_is_named(own_sql: Path) -> None:
    (own_sql / "lattice" / "one.sql").write_text("-- needs: lattice/gone.sql\n")
    changed()
    with pytest.raises(
        UpgradeError, match=r"sql/lattice/one\.sql needs lattice/gone\.sql, which is not there"
    ):
        verbs()


def test_a_broken_file_rolls_everything_back(databases: Databases, own_sql: Path) -> None:
    (own_sql / "broken").mkdir()
    (own_sql / "broken" / "file.sql").write_text("create view broken.v as select * from no_such_table;\n")
    changed()
    empty = databases.make(template=None)
    full = databases.make()
    before = dump(full)
    for url in (empty, full):
        with (
            pytest.raises(UpgradeError, match=r"sql/broken/file\.sql: .*no_such_table"),
            begun(url) as connection,
        ):
            upgrade(connection, silent)
    assert dump(full) == before
    with begun(empty) as connection:
        assert not has_schema(connection)
        assert connection.scalar(sa.text("select count(*) from pg_extension where extname = 'postgis'")) == 0


def test_what_a_new_version_no_longer_has_is_gone(databases: Databases, own_sql: Path) -> None:
    """A function of the ground, a function elsewhere, a whole folder: none lingers."""
    url = databases.make()
    before = dump(url)
    ground = own_sql / "lattice" / "passing.sql"
    ground.write_text(
        "create or replace function lattice.passing() returns integer language sql return 1;\n"
        "comment on function lattice.passing() is 'Here today.';\n"
    )
    folder = own_sql / "passing"
    folder.mkdir()
    (folder / "by.sql").write_text(
        "-- needs: lattice/passing.sql\ncreate view passing.by as select lattice.passing();\n"
    )
    changed()
    with begun(url) as connection:
        upgrade(connection, silent)
        assert connection.scalar(sa.text("select passing from passing.by")) == 1
    ground.unlink()
    shutil.rmtree(folder)
    changed()
    with begun(url) as connection:
        upgrade(connection, silent)
    assert dump(url) == before


def test_a_function_of_the_ground_without_a_comment_is_refused(databases: Databases, own_sql: Path) -> None:
    (own_sql / "lattice" / "mute.sql").write_text(
        "create or replace function lattice.mute() returns integer language sql return 1;\n"
    )
    changed()
    with (
        pytest.raises(UpgradeError, match=r"lattice\.mute\(\) has no comment"),
        begun(databases.make()) as connection,
    ):
        upgrade(connection, silent)


def test_two_upgrades_at_once_take_turns(databases: Databases) -> None:
    url = databases.make(template=None)
    failures: list[BaseException] = []
    steps: list[list[str]] = [[], []]

    def run(mine: list[str]) -> None:
        try:
            with begun(url) as connection:
                upgrade(connection, mine.append)
        except BaseException as error:
            failures.append(error)

    both = [threading.Thread(target=run, args=(mine,)) for mine in steps]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert failures == []
    assert sorted(len(mine) > 0 for mine in steps) == [False, True]


def test_a_revision_of_a_newer_version_is_refused(databases: Databases) -> None:
    url = databases.make()
    with begun(url) as connection:
        connection.execute(sa.text("update alembic_version set version_num = '9999'"))
    before = dump(url)
    with (
        pytest.raises(UpgradeError, match="9999, which this version of Sightline does not know") as refused,
        begun(url) as connection,
    ):
        upgrade(connection, silent)
    assert "newer Sightline" in refused.value.remedy
    assert dump(url) == before


@pytest.mark.parametrize(
    ("made", "named"),
    [
        ("create schema mine; create view mine.seen as select * from spare.look", "mine.seen"),
        ("create schema mine; create view mine.asked as select spare.answer() as n", "mine.asked"),
        ("create table mine (n integer default spare.answer())", "for public.mine.n"),
        ("create table spare.mine (n integer)", "spare.mine"),
        ("create table mine (n integer check (n > spare.answer()))", "mine_n_check on public.mine"),
        ("create function mine() returns integer language sql return spare.answer()", "public.mine()"),
    ],
)
def test_what_others_built_on_ours_is_named_and_nothing_is_changed(
    databases: Databases, own_sql: Path, spare: str, made: str, named: str
) -> None:
    url = databases.make(template=spare)
    with begun(url) as connection:
        for statement in made.split("; "):
            connection.execute(sa.text(statement))
    before = dump(url)
    with pytest.raises(UpgradeError) as refused, begun(url) as connection:
        upgrade(connection, silent)
    assert f": {named}." in refused.value.message
    assert dump(url) == before


@pytest.fixture(scope="module")
def spare(databases: Databases) -> str:
    """A database of a version with one schema more."""
    url = databases.make()
    with begun(url) as connection:
        for statement in (
            "create schema spare",
            f"comment on schema spare is '{db.schema.NAMESPACE}'",
            "create function spare.answer() returns integer language sql return 42",
            "create view spare.look as select spare.answer() as answer",
            "update schema_state set verbs = 'of that version'",
        ):
            connection.execute(sa.text(statement))
    return str(url.database)


def test_the_test_databases_are_current(engine: Engine) -> None:
    with engine.connect() as connection:
        assert is_current(connection)
        assert connection.scalar(sa.text("select max(version_num) from alembic_version")) == head_revision()
