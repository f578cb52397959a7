"""Kept rulings that the operator deletes: gone with what they said, and their address tells who, when and why."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from command_line import CommandLine
from flask.testing import FlaskClient
from sqlalchemy.engine import URL, Engine

from app.referee.conformance import SUITE
from app.referee.saved import delete_rulings, saved_ruling
from app.web.site import create_app
from db import SightlineError
from db.database import make_engine
from db.settings import Settings
from db.values import canonical
from tests.conftest import Databases, web_engine

SPINE = (SUITE / "css" / "css-7.1-sameB.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def url(databases: Databases) -> URL:
    return databases.make()


@pytest.fixture
def engine(url: URL) -> Iterator[Engine]:
    engine = make_engine(url)
    yield engine
    engine.dispose()


@pytest.fixture
def client(engine: Engine) -> FlaskClient:
    return create_app(Settings(log_level="error"), web_engine(engine)).test_client()


@pytest.fixture
def kept(client: FlaskClient) -> str:
    answer = client.post("/api/v1/rulings", data=SPINE, content_type="application/yaml")
    return str(answer.json[0]["ruling"])  # type: ignore[index]


def test_a_deleted_ruling_leaves_a_trace_at_its_address(
    url: URL, engine: Engine, client: FlaskClient, kept: str
) -> None:
    with engine.connect() as connection:
        row = saved_ruling(connection, kept)
        assert row is not None
        digest = hashlib.sha256(canonical(dict(row)).encode()).hexdigest()
    told = CommandLine(url)("rulings", "delete", kept, "--why", "names a player", "--who", "Ann", "--yes")
    assert (told.status, told.err) == (0, "sightline: deleted 1 ruling\n")
    gone = client.get(f"/api/v1/rulings/{kept}")
    assert gone.status_code == 410
    assert gone.json is not None
    assert gone.json["title"] == "This ruling was deleted"
    assert gone.json["detail"].endswith("by Ann: names a player")
    assert digest in gone.json["remedy"]
    for path in (f"/rulings/{kept}", f"/rulings/{kept}/again", f"/cases?ruling={kept}"):
        page = client.get(path)
        assert page.status_code == 410, path
        assert "names a player" in page.text
    listed = client.get("/api/v1/rulings").json["rulings"]  # type: ignore[index]
    assert kept not in [ruling["ruling"] for ruling in listed]
    shown = CommandLine(url)("rulings", "show", kept)
    assert shown.status == 2
    assert "was deleted on" in shown.err


def test_asked_again_it_is_ruled_and_kept_anew_and_may_be_deleted_again(
    engine: Engine, client: FlaskClient, kept: str
) -> None:
    for why in ("once", "twice"):
        assert client.get(f"/rulings/{kept}").status_code == 200
        with engine.begin() as connection:
            delete_rulings(connection, [kept], who="Ann", why=why)
        assert why in client.get(f"/rulings/{kept}").text
        client.post("/api/v1/rulings", data=SPINE, content_type="application/yaml")


def test_all_are_deleted_or_none(url: URL, client: FlaskClient, kept: str) -> None:
    told = CommandLine(url)("rulings", "delete", kept, "0" * 20, "--why", "x", "--yes")
    assert told.status == 2
    assert "There is no ruling" in told.err
    assert client.get(f"/rulings/{kept}").status_code == 200


def test_it_asks_first_and_wants_a_reason(url: URL, client: FlaskClient, kept: str) -> None:
    assert CommandLine(url)("rulings", "delete", kept, "--why", "x", typed="n\n").status != 0
    assert CommandLine(url)("rulings", "delete", kept, "--why", " ", "--yes").status == 2
    assert CommandLine(url)("rulings", "delete", kept, "--yes").status == 2
    assert client.get(f"/rulings/{kept}").status_code == 200


def test_nobody_deletes_one_in_passing(engine: Engine, kept: str) -> None:
    """Neither the owner without saying so, nor the rest of a transaction in which one was deleted."""
    other = "0" * 20
    copy = "insert into ruling select (jsonb_populate_record(ruling, jsonb_build_object('id', cast(:id as text)))).* from ruling where id = :kept"
    with engine.connect() as connection:
        connection.execute(sa.text(copy), {"id": other, "kept": kept})
        delete_rulings(connection, [kept], who="Ann", why="x")
        with pytest.raises(sa.exc.IntegrityError, match="never changes"):
            connection.execute(sa.text("delete from ruling"))
        connection.rollback()
    with engine.connect() as connection, pytest.raises(SightlineError, match="says why"):
        delete_rulings(connection, [kept], who="Ann", why="")


def test_what_was_said_of_an_event_outlives_the_ruling(engine: Engine, kept: str) -> None:
    with engine.connect() as connection:
        links = connection.scalars(
            sa.text(
                "select conrelid::regclass::text from pg_constraint"
                " where confrelid = 'ruling'::regclass and contype = 'f'"
            )
        ).all()
    assert links == [], "nothing keeps a ruling from being deleted"
