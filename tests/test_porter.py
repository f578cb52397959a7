"""The porter: health is told whatever the web process is busy with, and everybody else is handed on."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import time
from collections.abc import Iterator

import pytest
from processes import Serving, get, porter_of, serving, wait_until

from app.web.porter import DEAF_SECONDS, plain_request
from tests.conftest import Databases

NAMES = ["127.0.0.1", "localhost", "::1", "referee.example"]


@pytest.fixture(scope="module")
def server(databases: Databases) -> Iterator[Serving]:
    address = databases.make().set(drivername="postgresql").render_as_string()
    with serving(environment={"SIGHTLINE_DATABASE_URL": address}) as found:
        yield found


def port(server: Serving) -> int:
    return int(server.address.rpartition(":")[2])


@pytest.mark.parametrize(
    "head",
    [
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n",
        "GET /healthz HTTP/1.0\r\nHost: 127.0.0.1:8765\r\n",
        "GET /healthz?n=1 HTTP/1.1\r\nHost: [::1]:8765\r\nAccept: */*\r\n",
        "GET /healthz HTTP/1.1\r\nhost: REFEREE.example\r\nX-Request-ID: mine-1\r\n",
    ],
)
def test_a_plain_request_for_health_is_the_porters(head: str) -> None:
    found = plain_request(f"{head}\r\nGET / HTTP/1.1\r\n".encode(), NAMES)
    assert found is not None
    assert found.length == len(head) + 2
    assert found.keep == ("1.1" in head)


@pytest.mark.parametrize(
    "head",
    [
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /healthzz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n",
        "GET /healthz HTTP/1.1\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: elsewhere.example\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nOrigin: https://elsewhere.example\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n folded: x\r\n\r\n",
    ],
)
def test_anything_else_is_the_web_processes(head: str) -> None:
    assert plain_request(head.encode(), NAMES) is None


def test_porter_and_web_process_tell_health_alike(server: Serving) -> None:
    told = []
    for headers in ({"X-Request-ID": "mine-1"}, {"X-Request-ID": "mine-1", "Sec-Fetch-Site": "none"}):
        caller = http.client.HTTPConnection("127.0.0.1", port(server), timeout=10)
        caller.request("GET", "/healthz", headers=headers)
        answer = caller.getresponse()
        own = {name.lower(): value for name, value in answer.getheaders()}
        for name in ("date", "connection", "content-length", "vary"):
            own.pop(name, None)
        told.append((answer.status, json.loads(answer.read()), own))
        caller.close()
    assert told[0] == told[1]
    assert told[0][1]["status"] == "ok"


def test_a_connection_asks_for_health_and_for_other_things_in_turn(server: Serving) -> None:
    caller = http.client.HTTPConnection("127.0.0.1", port(server), timeout=10)
    for path, status in (("/healthz", 200), ("/healthz", 200), ("/nowhere", 404), ("/healthz", 200)):
        caller.request("GET", path)
        answer = caller.getresponse()
        answer.read()
        assert answer.status == status
    caller.close()


def test_health_is_told_while_the_web_process_does_nothing_and_that_it_does_nothing(server: Serving) -> None:
    web = server.process.pid
    os.kill(web, signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert get(f"{server.address}/healthz", timeout=5)[0] == 200
        assert time.monotonic() - began < 1
        wait_until(lambda: get(f"{server.address}/healthz", timeout=5)[0] == 503, DEAF_SECONDS + 5)
        assert "no sign of life" in get(f"{server.address}/healthz", timeout=5)[1]
    finally:
        os.kill(web, signal.SIGCONT)
    wait_until(server.answers, 5)


def test_another_porter_follows_one_that_was_killed(server: Serving) -> None:
    first = porter_of(server.process.pid)
    os.kill(first, signal.SIGKILL)
    wait_until(server.answers, 20)
    assert get(f"{server.address}/static/sightline.css")[0] == 200
    assert porter_of(server.process.pid) != first
    assert "the porter has ended (-9); another one is started" in server.told()


def test_the_porter_leaves_with_the_web_process(databases: Databases) -> None:
    address = databases.make().set(drivername="postgresql").render_as_string()
    with serving(environment={"SIGHTLINE_DATABASE_URL": address}) as server:
        porter = porter_of(server.process.pid)
        server.process.kill()
        server.process.wait(10)
        wait_until(lambda: not _there(porter), 5)
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", port(server))) != 0


def _there(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            # one that has ended and that nobody has asked about yet is not there any more
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
