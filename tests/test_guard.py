"""The guard at the door: no other site's page gets in, no request takes more than its share, nobody is shut out."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
import sqlalchemy as sa
from flask import Flask, Response, request
from flask.testing import FlaskClient
from playwright.sync_api import Browser
from processes import folder_of, free_port, get, serving, sightline, wait_until
from sqlalchemy.engine import URL, Engine

from app.referee.conformance import SUITE
from app.terminal.commands.serve import _kept_alive
from app.web import guard
from app.web.guard import HEADERS, MOST
from app.web.lanes import HandedServer, Lanes, bound
from app.web.site import MOST_SENT, create_app, database, engine
from db.cluster import Cluster
from db.database import make_engine, psycopg_connection, server_limits
from db.refusals import REFUSALS
from db.settings import Settings
from tests.conftest import Databases, web_engine

CROSS_SITE = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
OLD_BROWSER = {"Origin": "https://elsewhere.example"}
OTHER_PORT = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Origin": "http://127.0.0.1:1"}
LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
FRAME = LINK | {"Sec-Fetch-Dest": "iframe"}
SPINE = (SUITE / "css" / "css-7.1-sameB.yaml").read_text(encoding="utf-8")
MANY_HEXES = """
case: many
ruleset: css
map: {extent: ["10.10", "509.509"], fill: {terrain: clear, level: 1}}
ask: [{range: {from: "10.10", to: "11.11"}}]
"""
RAISING = """
create or replace function pg_temp.refuse(state text) returns text language plpgsql
as $$ begin raise exception 'refused' using errcode = state; end $$
"""


@pytest.fixture(scope="module")
def own(databases: Databases) -> Iterator[Engine]:
    engine = make_engine(databases.make())
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def web(own: Engine) -> Flask:
    return create_app(Settings(log_level="error"), web_engine(own))


@pytest.fixture
def client(web: Flask) -> FlaskClient:
    return web.test_client()


def addresses(web: Flask, *methods: str) -> list[tuple[str, str]]:
    """Every route of the app that takes one of these methods, with something in the place of each name."""
    found = []
    for rule in web.url_map.iter_rules():
        path = re.sub(r"<int:\w+>", "1", rule.rule)
        path = re.sub(r"<[^>]+>", "x", path)
        found += [(method, path) for method in methods if method in (rule.methods or ())]
    return sorted(found)


# Other sites


@pytest.mark.parametrize("headers", [CROSS_SITE, OLD_BROWSER, OTHER_PORT, LINK, FRAME])
def test_no_route_that_writes_takes_anything_from_a_page_elsewhere(
    web: Flask, client: FlaskClient, headers: dict[str, str]
) -> None:
    writing = addresses(web, "POST", "PUT", "PATCH", "DELETE")
    assert len(writing) >= 20
    for method, path in writing:
        answer = client.open(path, method=method, headers=headers)
        assert answer.status_code == 403, (method, path)
        assert "another site" in answer.text


def test_no_route_that_reads_is_embedded_elsewhere(web: Flask, client: FlaskClient) -> None:
    reading = addresses(web, "GET")
    assert len(reading) >= 50
    for method, path in reading:
        for headers in (CROSS_SITE, FRAME, OTHER_PORT):
            assert client.open(path, method=method, headers=headers).status_code == 403, path


@pytest.mark.parametrize(
    "headers",
    [{}, LINK, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {"Origin": "http://localhost"}],
)
def test_programs_links_and_our_own_pages_read(client: FlaskClient, headers: dict[str, str]) -> None:
    for path in ("/", "/rules", "/api/v1/questions"):
        assert client.get(path, headers=headers).status_code == 200


def test_behind_a_proxy_with_tls_our_own_page_is_known(own: Engine) -> None:
    proxied = create_app(
        Settings(log_level="error", names="sightline.example.org"), web_engine(own)
    ).test_client()
    headers = {"Host": "sightline.example.org", "Origin": "https://sightline.example.org"}
    assert proxied.post("/cases", data={"text": SPINE}, headers=headers).status_code == 200
    other = headers | {"Origin": "https://sightline.example.org.evil.example"}
    assert proxied.post("/cases", data={"text": SPINE}, headers=other).status_code == 403


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None]
)
def test_the_api_reads_no_form_that_a_page_may_send_unasked(client: FlaskClient, kind: str | None) -> None:
    answer = client.post("/api/v1/rulings", data=SPINE.encode(), content_type=kind)
    assert answer.status_code == 415
    assert "application/json" in answer.json["remedy"]


def test_a_page_reads_its_own_forms_only(client: FlaskClient) -> None:
    assert client.post("/cases", data=SPINE.encode(), content_type="text/plain").status_code == 415
    assert client.post("/cases", data={"text": SPINE}).status_code == 200


@pytest.mark.parametrize("path", ["/cases", "/games/x/act"])
def test_a_form_has_so_many_fields(client: FlaskClient, path: str) -> None:
    """Eight megabytes of empty fields would be made some hundred of memory."""
    form = b"a=&" * 2_000
    answer = client.post(path, data=form, content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 413
    assert "1,000 fields" in answer.text


def test_every_answer_keeps_other_sites_out(client: FlaskClient) -> None:
    for path in ("/", "/api/v1/questions", "/healthz", "/static/sightline.css", "/nowhere"):
        told = client.get(path).headers
        assert {name: told.get(name) for name in HEADERS} == HEADERS, path


class Elsewhere(BaseHTTPRequestHandler):
    """A site of somebody else, on another port: its page sends what it can to every route."""

    target = ""
    routes: ClassVar[list[tuple[str, str]]] = []

    def do_GET(self) -> None:
        script = """
        const say = (text) => fetch("/seen?" + encodeURIComponent(text));
        (async () => {
          for (const [method, path] of ROUTES) {
            for (const type of ["text/plain", "application/json"]) {
              try { await fetch(TARGET + path, {method, mode: type === "text/plain" ? "no-cors" : "cors",
                headers: {"Content-Type": type}, body: method === "GET" ? undefined : BODY}); } catch (error) {}
            }
          }
          const form = document.createElement("form");
          form.method = "post"; form.action = TARGET + "/cases"; form.target = "frame"; form.enctype = "text/plain";
          form.innerHTML = '<input name="text" value="x"><input name="keep" value="yes">';
          document.body.append(form); form.submit();
          setTimeout(() => { document.title = "done"; }, 500);
        })();
        """
        script = script.replace("ROUTES", json.dumps(self.routes)).replace("TARGET", json.dumps(self.target))
        script = script.replace("BODY", json.dumps(SPINE))
        page = f"<title>evil</title><iframe name=frame></iframe><script>{script}</script>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def test_a_page_elsewhere_changes_nothing_in_a_real_browser(
    browser: Browser,
    databases: Databases,
) -> None:
    engine = make_engine(databases.make())
    counts = sa.text(
        "select (select count(*) from ruling), (select count(*) from game), (select count(*) from map),"
        " (select count(*) from position)"
    )
    web = create_app(Settings(log_level="error"), web_engine(engine))
    seen: list[tuple[str, str, int]] = []

    @web.after_request
    def note(response: Response) -> Response:
        seen.append((request.method, request.path, response.status_code))
        return response

    with engine.connect() as connection:
        before = tuple(connection.execute(counts).one())
    with listened(web) as address, ExitStack() as stack:
        Elsewhere.target = address
        Elsewhere.routes = addresses(web, "POST", "DELETE")
        other = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
        stack.callback(other.shutdown)
        threading.Thread(target=other.serve_forever, daemon=True).start()
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{other.server_port}/")
        page.wait_for_function("document.title === 'done'", timeout=60_000)
        page.close()
    # what a browser asks beforehand (OPTIONS) is refused too, and then it sends nothing
    posted = {("POST", path, 403) for method, path in Elsewhere.routes if method == "POST"}
    assert posted <= set(seen)
    assert {status for _, _, status in seen} == {403}
    with engine.connect() as connection:
        assert tuple(connection.execute(counts).one()) == before
    engine.dispose()


# Budgets


def test_a_few_bytes_cannot_ask_for_a_quarter_of_a_million_hexes(client: FlaskClient) -> None:
    answer = client.post("/api/v1/rulings", data=MANY_HEXES, content_type="application/yaml")
    assert answer.status_code == 422
    assert f"one request may have {MOST['hexes of a map']:,}" in answer.json["detail"]


def test_a_case_at_the_door_has_so_many_questions(client: FlaskClient) -> None:
    questions = '  - range: {from: "22.80", to: "24.77"}\n' * (MOST["questions"] + 1)
    case = SPINE.partition("ask:")[0] + "ask:\n" + questions
    answer = client.post("/api/v1/rulings", data=case, content_type="application/yaml")
    assert answer.status_code == 422
    assert "301 questions" in answer.json["detail"]


def test_the_command_line_has_no_such_limit(tmp_path: Path, databases: Databases) -> None:
    questions = '  - range: {from: "22.80", to: "24.77"}\n' * (MOST["questions"] + 1)
    file = tmp_path / "many.yaml"
    file.write_text(SPINE.partition("ask:")[0] + "ask:\n" + questions)
    url = databases.make().set(drivername="postgresql").render_as_string(hide_password=False)
    told = sightline("rule", str(file), "--json", environment={"SIGHTLINE_DATABASE_URL": url})
    assert told.returncode == 0, told.stderr
    assert len(json.loads(told.stdout)) == MOST["questions"] + 1


def test_of_many_mistakes_some_are_told_and_the_rest_counted(client: FlaskClient) -> None:
    wrong = "units: [" + ", ".join(f"{{id: u{n}, at: nowhere}}" for n in range(5000)) + "]\n"
    case = SPINE.replace("ask:", wrong + "ask:", 1)
    answer = client.post("/api/v1/rulings", data=case, content_type="application/yaml")
    assert answer.status_code == 422
    assert len(answer.json["problems"]) == 201
    assert "more problems" in answer.json["problems"][-1]["message"]
    assert len(answer.data) < 200_000


def test_movement_is_what_a_counter_may_print_and_a_reach_takes_little_memory(
    demo_url: URL,
) -> None:
    engine = make_engine(demo_url)
    client = create_app(Settings(log_level="error"), web_engine(engine)).test_client()

    def asked(movement: int) -> Any:
        changes = {"units": {"C/1/31": {"movement": movement}}}
        body = {"on": "lipata-landing", "question": {"reach": {"unit": "C/1/31"}}, "changes": changes}
        return client.post("/api/v1/ask", json=body)

    refused = asked(31)
    assert refused.status_code == 422
    assert "less than or equal to 30" in refused.text
    with engine.begin() as connection:
        position = connection.scalar(sa.text("select id from position where name = 'lipata-landing'"))
        connection.execute(
            sa.text(
                """update unit set attributes = attributes || '{"movement": 30}'"""
                " where position_id = :position and code = 'C/1/31'"
            ),
            {"position": position},
        )
        backend = connection.scalar(sa.text("select pg_backend_pid()"))
        connection.scalar(
            sa.text("select count(*) from css.reach(:it, 'C/1/31', '{\"points\": 4}')"), {"it": position}
        )
        before = Path(f"/proc/{backend}/status").read_text()
        found = connection.scalar(sa.text("select count(*) from css.reach(:it, 'C/1/31')"), {"it": position})
        status = Path(f"/proc/{backend}/status").read_text()
        connection.rollback()
    engine.dispose()
    assert found is not None
    assert found > 500, "most of the island"
    least, most = (int(re.findall(r"VmHWM:\s+(\d+) kB", told)[0]) for told in (before, status))
    assert most < 128 * 1024
    # by the hexes that are reached, not by the square around them: some 15,000 with 366 ways to be in each
    assert most - least < 100 * found


@contextmanager
def listened(web: Flask, **settings: Any) -> Iterator[str]:
    """The address of an app that a real server serves, with its lanes."""
    port = free_port()
    sockets: dict[int, Any] = {}
    told = Settings(log_level="error", port=port, **settings)
    server = HandedServer(web, told, sockets, bound(told))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.close()
        thread.join(timeout=5)


def slow_app(engine: Engine, seconds: float, **settings: Any) -> Flask:
    """An app with a page that sleeps in the database."""
    web = create_app(Settings(log_level="error", **settings), engine)

    def slow() -> str:
        database().execute(sa.text("select pg_sleep(:seconds)"), {"seconds": seconds})
        return "slept"

    web.add_url_rule("/slow", "slow", slow)
    return web


def sleepers(engine: Engine) -> int:
    with engine.connect() as connection:
        found = connection.scalar(
            sa.text(
                "select count(*) from pg_stat_activity where state = 'active' and query like '%pg_sleep%'"
                " and datname = current_database() and pid <> pg_backend_pid()"
            )
        )
    return int(found or 0)


def test_a_request_that_has_had_its_time_is_stopped_in_the_database_too(own: Engine) -> None:
    client = slow_app(own, 30, request_seconds=0.3).test_client()
    began = time.monotonic()
    answer = client.get("/slow", headers={"Accept": "application/json"})
    assert answer.status_code == 503
    assert "longer than the 0.3 s" in answer.json["detail"]
    assert time.monotonic() - began < 10
    assert sleepers(own) == 0
    assert client.get("/healthz").status_code == 200, "the connection that was told to stop is not used again"


def test_a_request_ends_in_time_even_where_its_backend_does_nothing_any_more(own: Engine) -> None:
    """As when the server's disk hangs: it hears no word to stop."""
    with listened(slow_app(own, 30, request_seconds=0.5)) as address, own.connect() as connection:
        answers: list[Any] = []
        thread = asking(address, answers)
        wait_until(lambda: sleepers(own) == 1)
        backend = connection.scalar(
            sa.text(
                "select pid from pg_stat_activity where query like '%pg_sleep%' and pid <> pg_backend_pid()"
            )
        )
        os.kill(int(backend or 0), signal.SIGSTOP)
        try:
            thread.join(15)
        finally:
            os.kill(int(backend or 0), signal.SIGCONT)
    assert [status for status, _ in answers] == [503]


def test_health_is_told_soon_even_where_the_connection_at_hand_hangs(databases: Databases) -> None:
    engine = make_engine(databases.make())
    client = create_app(Settings(log_level="error"), engine).test_client()
    with engine.connect() as connection:
        backend = connection.scalar(sa.text("select pg_backend_pid()"))
    os.kill(int(backend or 0), signal.SIGSTOP)
    try:
        time.sleep(1.1)
        began = time.monotonic()
        assert client.get("/healthz").status_code == 503
        assert time.monotonic() - began < 15
        assert client.get("/healthz").status_code == 200, "the next has a connection of its own"
    finally:
        os.kill(int(backend or 0), signal.SIGCONT)
    engine.dispose()


def test_work_between_statements_ends_too(own: Engine) -> None:
    web = create_app(Settings(log_level="error", request_seconds=0.2), web_engine(own))

    def busy() -> str:
        for _ in range(1_000):
            database().execute(sa.text("select 1"))
            time.sleep(0.02)
        return "done"

    web.add_url_rule("/busy", "busy", busy)
    answer = web.test_client().get("/busy", headers={"Accept": "application/json"})
    assert answer.status_code == 503
    assert "was stopped" in answer.json["detail"]


def test_a_statement_has_its_time_as_well(databases: Databases) -> None:
    limits = server_limits(Settings(statement_seconds=0.2))
    engine = make_engine(databases.make(), limits=limits)
    answer = slow_app(engine, 30).test_client().get("/slow", headers={"Accept": "application/json"})
    assert answer.status_code == 503
    assert "longer than one statement may" in answer.json["detail"]
    assert answer.headers["Retry-After"] == "1"
    engine.dispose()


def test_who_waits_for_somebody_elses_change_is_told_so(databases: Databases) -> None:
    url = databases.make()
    engine = make_engine(url, limits=server_limits(Settings(lock_seconds=0.2)))
    web = create_app(Settings(log_level="error"), engine)

    def changing() -> str:
        with engine.begin() as connection:
            connection.execute(sa.text("lock table map in exclusive mode"))
        return "changed"

    web.add_url_rule("/change", "change", changing)
    other = make_engine(url)
    with other.begin() as connection:
        connection.execute(sa.text("lock table map in exclusive mode"))
        answer = web.test_client().get("/change", headers={"Accept": "application/json"})
    assert answer.status_code == 503
    assert "Somebody else is changing" in answer.json["detail"]
    engine.dispose()
    other.dispose()


def test_work_for_somebody_who_has_gone_is_stopped(own: Engine) -> None:
    with listened(slow_app(own, 30)) as address:
        port = int(address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as caller:
            caller.sendall(b"GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
            wait_until(lambda: sleepers(own) == 1)
        wait_until(lambda: sleepers(own) == 0, 5)


# What the database refuses, and what is too much to send


@pytest.mark.parametrize(("state", "status"), [(state, told.status) for state, told in REFUSALS.items()])
@pytest.mark.parametrize("in_copy", [False, True])
def test_what_the_database_refuses_is_told_as_what_it_is(
    own: Engine, state: str, status: int, in_copy: bool
) -> None:
    web = create_app(Settings(log_level="error"), own)

    def refused() -> str:
        with engine().begin() as connection:
            connection.execute(sa.text(RAISING))
            if in_copy:
                with (
                    psycopg_connection(connection).cursor() as cursor,
                    cursor.copy(f"copy (select pg_temp.refuse('{state}')) to stdout") as copied,
                ):
                    list(copied)
            else:
                connection.execute(sa.text("select pg_temp.refuse(:state)"), {"state": state})
        return "not refused"

    web.add_url_rule("/refused", "refused", refused)
    answer = web.test_client().get("/refused", headers={"Accept": "application/json"})
    assert answer.status_code == status
    assert answer.headers.get("Retry-After") == ("1" if status == 503 else None)
    assert answer.get_json()["remedy"]


def test_an_answer_that_nobody_can_use_is_not_sent(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "MOST_BYTES", 1000)
    answer = client.get("/api/v1/rules")
    assert answer.status_code == 422
    assert "one may have 1,000" in answer.get_json()["detail"]


# Lanes


def asking(address: str, answers: list[Any]) -> threading.Thread:
    def ask() -> None:
        try:
            with urllib.request.urlopen(f"{address}/slow", timeout=30) as answer:
                answers.append((answer.status, None))
        except urllib.error.HTTPError as error:
            answers.append((error.code, error.headers.get("Retry-After")))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    return thread


def test_health_never_waits_behind_rulings_and_who_is_too_many_is_told(own: Engine) -> None:
    released = threading.Event()
    web = create_app(Settings(log_level="error"), own)
    web.add_url_rule("/slow", "slow", lambda: str(released.wait(60)))
    answers: list[Any] = []
    with listened(web, threads=2, waiting=3, streams=0) as address:
        threads = [asking(address, answers) for _ in range(8)]
        # two are worked on and three wait, whoever they are; the others are refused meanwhile
        wait_until(lambda: len(answers) == 3)
        assert answers == [(429, "1")] * 3
        assert get(f"{address}/healthz")[0] == 200
        assert get(f"{address}/static/sightline.css")[0] == 200
        assert len(answers) == 3
        released.set()
        for thread in threads:
            thread.join(20)
    assert [status for status, _ in answers].count(200) == 5


def test_half_sent_requests_shut_nobody_out(web: Flask) -> None:
    with listened(web) as address, ExitStack() as stack:
        port = int(address.rpartition(":")[2])
        for _ in range(150):
            half = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            half.sendall(
                b"POST /api/v1/rulings HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf"
            )
        assert get(f"{address}/healthz", timeout=2)[0] == 200
        assert get(f"{address}/rules", timeout=5)[0] == 200


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(web: Flask) -> None:
    with listened(web) as address:
        port = int(address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=5) as caller:
            head = f"POST /api/v1/rulings HTTP/1.1\r\nHost: localhost\r\nContent-Length: {100 * MOST_SENT}\r\n\r\n"
            caller.sendall(head.encode())
            assert b" 413 " in caller.recv(200)


def test_lanes_end_with_the_server() -> None:
    lanes = Lanes(2, 4)
    assert lanes.shutdown(timeout=5)
    assert not lanes.threads


# The server's own database


def test_serve_starts_its_own_postgresql_again_when_it_died_but_not_when_it_was_stopped() -> None:
    with folder_of(mode=0o755) as folder:
        environment = {"SIGHTLINE_HOME": str(folder / "home"), "SIGHTLINE_LOG_LEVEL": "error"}
        try:
            with serving(environment=environment) as server:
                data = Path(
                    json.loads(sightline("db", "status", "--json", environment=environment).stdout)["data"]
                )
                pid = int((data / "postmaster.pid").read_text().splitlines()[0])
                os.kill(pid, signal.SIGKILL)
                wait_until(lambda: "started it again" in server.told(), 30)
                wait_until(server.answers, 20)
                sightline("db", "stop", environment=environment)
                time.sleep(3)
                assert get(f"{server.address}/healthz")[0] == 503
                assert server.told().count("started it again") == 1
                sightline("db", "start", environment=environment)
                wait_until(server.answers, 20)
        finally:
            sightline("db", "stop", environment=environment)


class Stumbling(Cluster):
    """A private server that is gone again before its second start has ended."""

    def _create_database(self) -> None:
        starts.append(self.alive())
        if len(starts) == 2:
            kill_postmaster(self)
            (self.data / "postmaster.pid").unlink()
        super()._create_database()


starts: list[bool] = []


def kill_postmaster(cluster: Cluster) -> None:
    os.kill(int((cluster.data / "postmaster.pid").read_text().splitlines()[0]), signal.SIGKILL)


def test_a_server_that_dies_while_it_is_started_again_is_started_again() -> None:
    with folder_of(mode=0o755) as folder:
        cluster = Stumbling(folder / "home", durable=False)
        cluster.start()
        try:
            with _kept_alive(cluster):
                kill_postmaster(cluster)
                wait_until(lambda: len(starts) == 3 and cluster.alive(), 60)
        finally:
            cluster.stop()
