"""The web app: health, errors in one shape, logs, headers, and a server that stops gracefully."""

from __future__ import annotations

import json
import logging
import re
import signal
import socket
import threading
import time
from collections.abc import Iterator

import flask
import psycopg
import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from processes import (
    ROOT,
    SOMEBODY,
    folder_of,
    free_port,
    get,
    needs_root,
    python,
    serving,
    sightline,
    wait_until,
)
from sqlalchemy.engine import Engine
from werkzeug.test import TestResponse

from app.web.site import create_app, database
from db import SightlineError, __version__
from db.database import make_engine
from db.schema import head_revision
from db.settings import Settings
from tests.conftest import Databases, web_engine

PAGE = {"Accept": "text/html,application/xhtml+xml"}
JSON = {"Accept": "application/json"}


def broken_routes(web: flask.Flask) -> None:
    """Routes that fail in every way a route can."""

    def raises(error: Exception) -> str:
        raise error

    web.add_url_rule("/broken", "broken", lambda: raises(ZeroDivisionError("secret detail")))
    web.add_url_rule(
        "/refused", "refused", lambda: raises(SightlineError("No hex 99.99.", "Use 1.1 to 9.9."))
    )
    web.add_url_rule("/slow", "slow", lambda: str(database().scalar(sa.text("select pg_sleep(0.05)"))))


@pytest.fixture(scope="module")
def client(engine: Engine) -> FlaskClient:
    web = create_app(Settings(log_format="json"), web_engine(engine))
    broken_routes(web)
    return web.test_client()


@pytest.fixture(scope="module")
def lost() -> FlaskClient:
    """An app whose database has gone away."""
    web = create_app(Settings(), make_engine(sa.make_url("postgresql+psycopg://me:secret@127.0.0.1:1/none")))
    return web.test_client()


def test_health_tells_server_postgis_and_revision(client: FlaskClient) -> None:
    answer = client.get("/healthz")
    assert answer.status_code == 200
    facts = answer.get_json()
    assert facts["status"] == "ok"
    assert facts["version"] == __version__
    assert facts["revision"] == head_revision()
    assert re.match(r"\d+\.\d+", facts["server"])
    assert re.match(r"3\.\d+", facts["postgis"])


def test_the_home_page_says_what_sightline_is_and_what_is_loaded(client: FlaskClient) -> None:
    page = client.get("/").get_data(as_text=True)
    assert "referee's database" in page.replace("&#39;", "'")
    for code in ("css", "ccp", "fpb", "bob", "ddp"):
        assert f"<code>{code}</code>" in page


PROBLEMS = [
    ("GET", "/no/such/page", 404, "Not Found"),
    ("DELETE", "/", 405, "Method Not Allowed"),
    ("GET", "/broken", 500, "Internal Server Error"),
    ("GET", "/refused", 400, "This cannot be done as asked"),
]


@pytest.mark.parametrize(("method", "path", "status", "title"), PROBLEMS)
def test_an_error_is_problem_details_for_programs(
    client: FlaskClient, method: str, path: str, status: int, title: str
) -> None:
    answer = client.open(path, method=method, headers=JSON)
    assert answer.status_code == status
    assert answer.content_type == "application/problem+json"
    problem = answer.get_json()
    assert set(problem) <= {"type", "title", "status", "detail", "remedy", "instance", "problems"}
    assert problem["type"] == "about:blank"
    assert problem["title"] == title
    assert problem["status"] == status
    assert problem["detail"]
    assert problem["instance"] == answer.headers["X-Request-ID"]
    assert "secret detail" not in answer.text


@pytest.mark.parametrize(("method", "path", "status", "title"), PROBLEMS)
def test_an_error_is_a_page_for_people(
    client: FlaskClient, method: str, path: str, status: int, title: str
) -> None:
    answer = client.open(path, method=method, headers=PAGE)
    assert answer.status_code == status
    assert answer.content_type == "text/html; charset=utf-8"
    assert f"<h1>{title}</h1>" in answer.text
    assert f"<code>{answer.headers['X-Request-ID']}</code>" in answer.text
    assert "secret detail" not in answer.text
    assert "Traceback" not in answer.text


def test_the_api_answers_in_json_even_to_a_browser(client: FlaskClient) -> None:
    assert client.get("/api/v1/no-such-thing", headers=PAGE).content_type == "application/problem+json"


def test_a_remedy_is_told_to_both(client: FlaskClient) -> None:
    assert client.get("/refused", headers=JSON).get_json()["remedy"] == "Use 1.1 to 9.9."
    assert "Use 1.1 to 9.9." in client.get("/refused", headers=PAGE).text


def test_a_wrong_method_tells_the_right_ones(client: FlaskClient) -> None:
    assert "GET" in client.delete("/", headers=JSON).headers["Allow"]


def test_a_body_that_is_too_large_is_a_problem_too(client: FlaskClient) -> None:
    def read() -> str:
        return str(len(flask.request.get_data()))

    web = create_app(Settings(), client.application.config["ENGINE"])
    web.add_url_rule("/read", "read", read, methods=["POST"])
    answer = web.test_client().post("/read", data={"x": "x" * (9 * 1024 * 1024)}, headers=JSON)
    assert answer.status_code == 413
    assert answer.content_type == "application/problem+json"


def test_a_database_that_is_away_is_503_and_no_secret_is_told(lost: FlaskClient) -> None:
    for path, headers in (("/healthz", JSON), ("/", PAGE)):
        answer = lost.get(path, headers=headers)
        assert answer.status_code == 503
        assert "The database does not answer" in answer.text
        assert "secret" not in answer.text


def test_every_answer_has_a_request_id_and_keeps_a_good_one_it_was_given(client: FlaskClient) -> None:
    first, second = (client.get("/healthz").headers["X-Request-ID"] for _ in range(2))
    assert first != second
    assert client.get("/healthz", headers={"X-Request-ID": "mine-1"}).headers["X-Request-ID"] == "mine-1"
    for bad in ("a b", "x" * 65, "<script>", ""):
        assert client.get("/healthz", headers={"X-Request-ID": bad}).headers["X-Request-ID"] != bad


@pytest.fixture
def logged(engine: Engine, request: pytest.FixtureRequest) -> Iterator[tuple[FlaskClient, list[str]]]:
    """A client, and the lines that its app logs."""
    lines: list[str] = []
    web = create_app(Settings(log_format=request.param), web_engine(engine))
    broken_routes(web)
    handler = logging.getLogger("sightline").handlers[0]
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(_Lines(lines))  # type: ignore[arg-type]
    yield web.test_client(), lines
    logging.getLogger("sightline").handlers.clear()


class _Lines:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    def write(self, text: str) -> None:
        self.lines += text.splitlines()

    def flush(self) -> None: ...


@pytest.mark.parametrize("logged", ["json"], indirect=True)
def test_a_json_log_line_tells_the_request_and_its_id(logged: tuple[FlaskClient, list[str]]) -> None:
    client, lines = logged
    answer = client.get("/healthz?n=1")
    (line,) = (json.loads(line) for line in lines)
    assert line["request_id"] == answer.headers["X-Request-ID"]
    assert (line["method"], line["path"], line["status"], line["level"]) == ("GET", "/healthz", 200, "info")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}", line["time"])


@pytest.mark.parametrize("logged", ["json"], indirect=True)
def test_a_log_line_tells_how_long_the_answer_took(logged: tuple[FlaskClient, list[str]]) -> None:
    client, lines = logged
    start = time.perf_counter()
    client.get("/slow")
    taken = 1000 * (time.perf_counter() - start)
    (line,) = (json.loads(line) for line in lines)
    assert 50 <= line["milliseconds"] <= taken


@pytest.mark.parametrize("logged", ["json"], indirect=True)
def test_a_fault_of_ours_is_logged_with_its_traceback_in_one_line(
    logged: tuple[FlaskClient, list[str]],
) -> None:
    client, lines = logged
    answer = client.get("/broken")
    fault, request = (json.loads(line) for line in lines)
    assert fault["request_id"] == request["request_id"] == answer.headers["X-Request-ID"]
    assert "ZeroDivisionError: secret detail" in fault["traceback"]


@pytest.mark.parametrize("logged", ["text"], indirect=True)
def test_a_text_log_line_tells_the_request_and_its_id(logged: tuple[FlaskClient, list[str]]) -> None:
    client, lines = logged
    answer = client.get("/healthz?n=1")
    (line,) = lines
    pattern = rf"\d\d:\d\d:\d\d GET /healthz\?n=1 200 [\d.]+ ms \[{answer.headers['X-Request-ID']}\]"
    assert re.fullmatch(pattern, line)


@pytest.mark.parametrize("logged", ["text", "json"], indirect=True)
def test_a_request_cannot_write_log_lines_of_its_own(logged: tuple[FlaskClient, list[str]]) -> None:
    client, lines = logged
    client.get("/x%0A12:00:00%20GET%20/forged%20200%0D%1B[31m")
    (line,) = lines
    assert "\x1b" not in line


def headers(answer: TestResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in answer.headers.items()}


@pytest.mark.parametrize(
    "path", ["/", "/healthz", "/no/such/page", "/broken", "/static/sightline.css", "/api/docs/"]
)
def test_every_answer_has_the_security_headers(client: FlaskClient, path: str) -> None:
    found = headers(client.get(path))
    policy = dict(part.strip().split(" ", 1) for part in found["content-security-policy"].split(";"))
    assert policy["default-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["object-src"] == "'none'"
    assert "unsafe" not in found["content-security-policy"]
    assert found["x-content-type-options"] == "nosniff"
    assert found["referrer-policy"] == "same-origin"
    assert found["cross-origin-opener-policy"] == "same-origin"


INLINE = re.compile(
    r"<script(?![^>]*\bsrc=)[^>]*>|<style\b|\sstyle\s*=|\son[a-z]+\s*=\s*[\"']|javascript:", re.IGNORECASE
)


@pytest.mark.parametrize(
    "text", ["<script>x</script>", "<p style='a'>", "<a onclick='x'>", "<a href='javascript:x'>"]
)
def test_the_scan_for_inline_code_finds_it(text: str) -> None:
    assert INLINE.search(text)


def test_no_template_has_inline_script_or_style() -> None:
    templates = sorted((ROOT / "app" / "web" / "templates").rglob("*.html"))
    assert templates
    found = {
        str(path.relative_to(ROOT)): match[0]
        for path in templates
        if (match := INLINE.search(path.read_text(encoding="utf-8")))
    }
    assert found == {}


@pytest.mark.parametrize("path", ["/", "/api/docs/", "/api/docs/swagger", "/no/such/page"])
def test_no_page_has_inline_script_or_style_nor_loads_from_elsewhere(client: FlaskClient, path: str) -> None:
    """Nothing on a page needs a network but ours."""
    page = client.get(path, headers=PAGE).text
    assert not INLINE.search(page)
    assert not re.search(r"(?:src|href)\s*=\s*[\"'](?:https?:)?//", page)


# Real servers.


@pytest.fixture(scope="module")
def served(databases: Databases) -> tuple[str, dict[str, str]]:
    url = databases.make().set(drivername="postgresql").render_as_string()
    return url, {"SIGHTLINE_DATABASE_URL": url}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_signal_lets_a_slow_request_finish(
    served: tuple[str, dict[str, str]], number: signal.Signals
) -> None:
    """The home page waits for a table that somebody has locked; meanwhile the signal comes."""
    url, environment = served
    answers: list[tuple[int, str]] = []
    with serving(environment=environment) as server, psycopg.connect(url) as locker:
        locker.execute("lock table ruleset in access exclusive mode")
        asking = threading.Thread(target=lambda: answers.append(get(server.address + "/", timeout=30)))
        asking.start()
        wait_until(lambda: _waiting(url))
        server.process.send_signal(number)
        wait_until(lambda: not _accepts(server.address), 10)
        assert answers == []
        assert server.process.poll() is None
        locker.rollback()
        asking.join(20)
        assert server.process.wait(20) == 0
        assert answers
        assert answers[0][0] == 200
        assert "What is loaded" in answers[0][1]
        assert "requests in progress were finished" in server.told()
        assert "Traceback" not in server.told()


def _waiting(url: str) -> bool:
    with psycopg.connect(url) as connection:
        row = connection.execute("select count(*) from pg_locks where not granted").fetchone()
        return row is not None and row[0] > 0


def _accepts(address: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(address.rpartition(":")[2]))) == 0


def test_a_server_of_its_own_is_started_with_it_and_stopped_with_it() -> None:
    """And by an unprivileged user, as on a player's machine."""
    with folder_of(SOMEBODY) as folder:
        environment = {
            "SIGHTLINE_HOME": str(folder / "home"),
            "HOME": str(folder),
            "SIGHTLINE_LOG_FORMAT": "json",
        }
        with serving(environment=environment, user=SOMEBODY) as server:
            status, text = get(server.address + "/healthz")
            assert status == 200
            assert json.loads(text)["status"] == "ok"
            # a second one on the same data is a guest: it does not stop the server under the first
            with serving(environment=environment, user=SOMEBODY) as guest:
                assert guest.stop() == 0
            assert get(server.address + "/healthz")[0] == 200
            assert server.stop() == 0
        assert "stopped the private server" in server.told()
        assert "stopped the private server" not in guest.told()
        stopped = sightline("db", "status", "--json", environment=environment, user=SOMEBODY)
        assert json.loads(stopped.stdout)["running"] is False
        requests = [json.loads(line) for line in server.lines if line.startswith("{")]
        assert {"/healthz"} == {line["path"] for line in requests}


def test_a_taken_port_is_told_before_anything_is_set_up() -> None:
    with socket.socket() as taken, folder_of() as folder:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = sightline(
            "serve", "--port", str(port), environment={"SIGHTLINE_HOME": str(folder / "home")}
        )
        assert refused.returncode == 2
        assert f"Port {port} on 127.0.0.1 is taken" in refused.stderr
        assert "--port" in refused.stderr
        assert "Traceback" not in refused.stderr
        assert not (folder / "home").exists()


@needs_root
def test_a_home_that_cannot_be_written_is_told() -> None:
    with folder_of(mode=0o555) as folder:
        environment = {"SIGHTLINE_HOME": str(folder / "home"), "SIGHTLINE_PORT": str(free_port())}
        refused = sightline("serve", environment=environment, user="nobody")
    assert refused.returncode == 2
    assert f"Cannot write to {folder}/home: Permission denied." in refused.stderr
    assert "SIGHTLINE_HOME" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://me:secret@127.0.0.1:1/none", "Connection refused"),
        ("postgresql://me:secret@no-such-host.invalid/none", "no-such-host.invalid"),
        ("http://127.0.0.1/none", "names a http database"),
    ],
)
def test_a_broken_address_is_told(url: str, said: str) -> None:
    environment = {"SIGHTLINE_DATABASE_URL": url, "SIGHTLINE_PORT": str(free_port())}
    refused = sightline("serve", environment=environment)
    assert refused.returncode == 2
    assert said in refused.stderr
    assert "SIGHTLINE_DATABASE_URL" in refused.stderr
    assert "secret" not in refused.stderr
    assert "Traceback" not in refused.stderr


OFFLINE = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x40000000):  # CLONE_NEWNET: a world without any network
    sys.exit(77)
import fcntl, socket, struct
with socket.socket() as lo:  # but for the loopback address
    fcntl.ioctl(lo, 0x8914, struct.pack("16sh", b"lo", 0x49))
import threading, urllib.request, time, os, signal
def ask():
    for _ in range(400):
        try:
            answer = urllib.request.urlopen("http://127.0.0.1:8765/healthz")
        except OSError:
            time.sleep(0.1)
            continue
        print(answer.status, flush=True)
        break
    os.kill(os.getpid(), signal.SIGTERM)
threading.Thread(target=ask, daemon=True).start()
sys.argv[1:] = ["serve", "--no-demo"]
import app.terminal.cli
app.terminal.cli.main()
"""


@needs_root
def test_no_network_is_needed(served: tuple[str, dict[str, str]]) -> None:
    """In a network namespace of its own the server has nobody to ask, and serves."""
    _, environment = served
    process = python("-c", OFFLINE, environment=environment)
    out, err = process.communicate(timeout=60)
    if process.returncode == 77:
        pytest.skip("this machine allows no network namespaces")
    assert process.returncode == 0, err
    assert out.strip() == "200", err
