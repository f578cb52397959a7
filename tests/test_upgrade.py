"""An upgrade beside others: it says that they are there, and gives up clearly (a live server: `tests/faults`)."""

from __future__ import annotations

import psycopg
import pytest
import sqlalchemy as sa
from processes import serving, sightline
from sqlalchemy.engine import URL

from db import schema
from db.database import make_engine
from db.schema import UpgradeError, is_current, upgrade
from tests.conftest import Databases


def address(url: URL) -> str:
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


def outdate(url: URL) -> None:
    """Have the database be of another version, so that the next command upgrades it."""
    with psycopg.connect(address(url), autocommit=True) as connection:
        connection.execute("update schema_state set verbs = 'old'")


def test_a_command_says_that_others_use_what_it_upgrades(databases: Databases) -> None:
    url = databases.make()
    environment = {"SIGHTLINE_DATABASE_URL": address(url), "SIGHTLINE_LOG_LEVEL": "error"}
    with serving(environment=environment):
        outdate(url)
        told = sightline("maps", "list", environment=environment)
    assert told.returncode == 0, told.stderr
    assert "others use this database" in told.stderr


def test_an_upgrade_gives_up_clearly_where_somebody_never_lets_go(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = databases.make()
    outdate(url)
    monkeypatch.setattr(schema, "PATIENCE_SECONDS", 0.5)
    engine = make_engine(url)
    with psycopg.connect(address(url)) as other, engine.connect() as connection:
        other.execute("select count(*) from map")
        with pytest.raises(UpgradeError, match="kept the database busy"):
            upgrade(connection, lambda step: None)
        connection.rollback()
        other.rollback()
        upgrade(connection, lambda step: None)
        assert is_current(connection)
        assert connection.scalar(sa.text("show lock_timeout")) == "0"
    engine.dispose()
