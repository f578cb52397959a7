"""An upgrade beside a live server: whoever asks meanwhile waits or is told to ask again, and nobody waits in a circle."""

from __future__ import annotations

import itertools
import json
import threading
import urllib.error
import urllib.request
from collections import Counter

from db.database import make_engine
from importers.demo.load import add_demo
from tests.conftest import Databases
from tests.faults.house import rounds
from tests.processes import serving, sightline
from tests.test_upgrade import address, outdate


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
    number = rounds(2, costs=2)
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
        for _ in range(number):
            outdate(url)
            told = sightline("db", "upgrade", environment=environment, timeout=120)
            assert told.returncode == 0, told.stderr
        stop.set()
        for client in clients:
            client.join(60)
        assert ask(server.address, "games/live/verify", {}) == 200
    assert set(statuses) <= {200, 201, 503}, statuses
    assert statuses[200] + statuses[201] > number
    print(f"upgrades beside a live server: {number} rounds, answers {dict(statuses)}")
