"""An upgrade beside a live server: whoever asks meanwhile waits or is told to ask again, and nobody waits in a circle."""

from __future__ import annotations

import itertools
import json
import os
import threading
import urllib.error
import urllib.request
from collections import Counter

import psycopg
import pytest
import sqlalchemy as sa
from processes import serving, sightline
from sqlalchemy.engine import URL

from db import schema
from db.database import make_engine
from db.schema import UpgradeError, is_current, upgrade
from importers.demo.load import add_demo
from tests.conftest import Databases

ROUNDS = int(os.environ.get("SIGHTLINE_FAULTS", "2"))


def address(url: URL) -> str:
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


def outdate(url: URL) -> None:
    """Have the database be of another version, so that the next command upgrades it."""
    with psycopg.connect(address(url), autocommit=True) as connection:
        connection.execute("update schema_state set verbs = 'old'")


def ask(server: str, path: str, body: object) -> int:
    request = urllib.request.Request(
        f"{server}/api/v1/{path}",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
        method="POST",
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_upgrades_beside_a_live_server_neither_deadlock_nor_break_anything(
    databases: Databases,
) -> None:
    """More rounds with `SIGHTLINE_FAULTS=12`."""
    url = databases.make()
    engine = make_engine(url)
    with engine.begin() as connection:
        add_demo(connection, lambda told: None)
    engine.dispose()
    environment = {"SIGHTLINE_DATABASE_URL": address(url), "SIGHTLINE_LOG_LEVEL": "error"}
    stop = threading.Event()
    statuses: Counter[int] = Counter()
    fans = {"on": "lipata-landing", "question": {"fan": {"from": "13.15"}}}
    moves = [
        {
            "action": "set",
            "as": "referee",
            "note": "x",
            "arguments": {"effects": [{"unit": "1/161", "at": at}]},
        }
        for at in ("0815", "0716")
    ]

    def busy(path: str, *bodies: object) -> None:
        for body in itertools.cycle(bodies):
            if stop.is_set():
                return
            statuses[ask(server.address, path, body)] += 1

    with serving(environment=environment) as server:
        assert ask(server.address, "games", {"from": "tanaro-assault", "name": "live", "seed": "x"}) == 201
        clients = [
            threading.Thread(target=busy, args=asked, daemon=True)
            for asked in (("ask", fans), ("ask", fans), ("games/live/actions", *moves))
        ]
        for client in clients:
            client.start()
        for _ in range(ROUNDS):
            outdate(url)
            told = sightline("db", "upgrade", environment=environment, timeout=120)
            assert told.returncode == 0, told.stderr
        stop.set()
        for client in clients:
            client.join(60)
        assert ask(server.address, "games/live/verify", {}) == 200
    assert set(statuses) <= {200, 201, 503}, statuses
    assert statuses[200] + statuses[201] > ROUNDS


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
