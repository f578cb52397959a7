"""The private cluster, with real servers and real accidents."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from processes import folder_of, needs_root, python, sightline, wait_until
from sqlalchemy.engine import make_url

from db.cluster import Account, Cluster, ClusterError, Server, installed_servers
from db.database import DatabaseError, check_server, make_engine, reached
from tests.conftest import Databases

AWKWARD = "with spaces, a 'quote' and $(touch nothing)"
"""A folder name that a shell would not leave alone."""


@pytest.fixture(scope="module")
def private() -> Iterator[Cluster]:
    """A cluster in an awkward folder, started; tests leave it running."""
    with folder_of() as folder:
        cluster = Cluster(folder / AWKWARD, durable=False)
        assert cluster.start()
        yield cluster
        cluster.destroy()


def value(cluster: Cluster, query: str) -> object:
    with psycopg.connect(cluster.url()) as connection:
        row = connection.execute(query).fetchone()
        assert row is not None
        return row[0]


def postmaster(cluster: Cluster) -> int:
    return int((cluster.data / "postmaster.pid").read_text().splitlines()[0])


def state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


def test_a_started_server_answers_and_a_second_start_does_nothing(private: Cluster) -> None:
    assert private.alive()
    assert private.start() is False
    assert value(private, "select current_database()") == "sightline"
    assert private.status()["running"] is True


def test_a_stopped_server_is_gone_and_starts_again_with_its_content(private: Cluster) -> None:
    with psycopg.connect(private.url(), autocommit=True) as connection:
        connection.execute("create table if not exists kept as select 42 as answer")
    assert private.stop() is True
    assert not private.alive()
    assert private.status() == {**private.status(), "running": False, "initialised": True}
    assert private.stop() is False
    assert private.start() is True
    assert value(private, "select answer from kept") == 42


def test_the_server_listens_on_no_network_and_nobody_else_reaches_its_socket(private: Cluster) -> None:
    assert value(private, "show listen_addresses") == ""
    assert private.socket_folder.stat().st_mode & 0o777 == 0o700
    assert private.data.stat().st_mode & 0o777 == 0o700


def test_its_data_pages_have_checksums(private: Cluster) -> None:
    assert value(private, "show data_checksums") == "on"


def test_an_awkward_path_is_a_path_like_any_other(private: Cluster) -> None:
    assert value(private, "show data_directory") == str(private.data)
    assert AWKWARD in str(private.data)
    assert not (private.folder / "nothing").exists()


def test_a_killed_server_starts_again(private: Cluster) -> None:
    os.kill(postmaster(private), signal.SIGKILL)
    assert private.start() is True
    assert value(private, "select 1") == 1


def test_a_server_killed_under_a_client_starts_again(private: Cluster) -> None:
    idle = psycopg.connect(private.url())
    busy = psycopg.connect(private.url(), autocommit=True)
    # a backend that computes does not notice its postmaster's death, and holds the memory
    work = threading.Thread(target=busy.execute, args=("select count(*) from generate_series(1, 8000000)",))
    work.start()
    wait_until(
        lambda: value(private, f"select count(*) from pg_stat_activity where pid = {busy.info.backend_pid}"
                               " and state = 'active'") == 1
    )  # fmt: skip
    os.kill(postmaster(private), signal.SIGKILL)
    assert private.start() is True
    assert value(private, "select 1") == 1
    assert "shared memory block" in private.log.read_text()
    idle.close()
    busy.close()
    work.join()


def test_a_server_left_as_a_zombie_is_not_taken_for_alive(private: Cluster) -> None:
    """A postmaster whose parent never asks for its exit status stays in the process table."""
    private.stop()
    account = Account.for_server()
    server = installed_servers()[0]
    private._make_socket_folder()
    options = [
        f"-c{name}={setting}" for name, setting in private._server_settings().items() if setting != "''"
    ]
    child = subprocess.Popen(
        [server.bin / "postgres", "-D", private.data, "-clisten_addresses=", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **({"user": account.uid, "group": account.gid, "extra_groups": []} if os.geteuid() == 0 else {}),
    )
    try:
        wait_until(private.alive)
        assert postmaster(private) == child.pid
        os.kill(child.pid, signal.SIGKILL)
        wait_until(lambda: state_of(child.pid) == "Z")
        assert (private.data / "postmaster.pid").exists()
        assert not private.alive()
        assert private.start() is True
        assert state_of(child.pid) == "Z"
        assert postmaster(private) != child.pid
    finally:
        child.wait()


def test_stop_clears_what_a_killed_server_left(private: Cluster) -> None:
    pid = postmaster(private)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: state_of(pid) in ("gone", "Z"))
    assert private.stop() is False
    assert not (private.data / "postmaster.pid").exists()
    assert not private.socket_folder.exists()
    private.start()


def test_a_pid_file_that_names_a_stranger_is_cleared(private: Cluster) -> None:
    """After a reboot the number may belong to any process; here it is this test's own."""
    private.stop()
    (private.data / "postmaster.pid").write_text(f"{os.getpid()}\n{private.data}\n")
    assert private.start() is True
    assert postmaster(private) != os.getpid()


@pytest.mark.parametrize("content", ["", "garbage\n"])
def test_a_broken_pid_file_is_cleared(private: Cluster, content: str) -> None:
    private.stop()
    (private.data / "postmaster.pid").write_text(content)
    assert private.start() is True


def test_a_server_reached_by_a_link_is_the_same_server(private: Cluster) -> None:
    """Taken for another, it would get a second server on the same data."""
    link = private.home.parent / "link"
    link.symlink_to(private.home)
    linked = Cluster(link, durable=False)
    assert linked.start() is False
    assert linked.socket_folder == private.socket_folder


def test_a_database_that_a_broken_first_start_did_not_make_is_made(private: Cluster) -> None:
    with psycopg.connect(private.url("postgres"), autocommit=True) as connection:
        connection.execute("drop database sightline with (force)")
    assert private.start() is False
    assert value(private, "select current_database()") == "sightline"


def test_a_server_that_does_not_answer_can_be_stopped(private: Cluster) -> None:
    """Its socket may be lost to somebody who cleans /tmp."""
    shutil.rmtree(private.socket_folder)
    assert not private.alive()
    assert private.stop() is True
    assert private.start() is True


def test_a_server_that_cannot_start_says_why(private: Cluster) -> None:
    private.stop()
    configuration = private.data / "postgresql.conf"
    good = configuration.read_text()
    try:
        configuration.write_text(good + "\nno_such_setting = on\n")
        with pytest.raises(ClusterError) as refused:
            private.start()
        assert "no_such_setting" in str(refused.value) or "configuration file" in str(refused.value)
        assert str(private.log) in refused.value.remedy
    finally:
        configuration.write_text(good)
    assert private.start() is True


def test_data_of_another_major_version_is_named(private: Cluster) -> None:
    private.stop()
    version = private.data / "PG_VERSION"
    good = version.read_text()
    try:
        version.write_text("14\n" if int(good) != 14 else "15\n")
        with pytest.raises(ClusterError, match=r"is of PostgreSQL 1[45], and only"):
            private.start()
    finally:
        version.write_text(good)
    assert private.start() is True


def test_a_socket_folder_of_somebody_else_is_refused() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a folder for somebody else")
    with folder_of() as folder:
        cluster = Cluster(folder / "home", durable=False)
        cluster.socket_folder.mkdir()
        os.chown(cluster.socket_folder, 65534, 65534)
        try:
            with pytest.raises(ClusterError, match="belongs to somebody else"):
                cluster._make_socket_folder()
        finally:
            cluster.socket_folder.rmdir()


START = textwrap.dedent("""
    import sys
    from pathlib import Path
    from db.cluster import Cluster
    print(Cluster(Path(sys.argv[1]), durable=False).start())
""")


def test_four_racing_starts_from_nothing_all_succeed_and_one_starts() -> None:
    with folder_of() as folder:
        cluster = Cluster(folder / "raced", durable=False)
        try:
            racers = [python("-c", START, str(cluster.home)) for _ in range(4)]
            ends = [racer.communicate(timeout=60) for racer in racers]
            assert [racer.returncode for racer in racers] == [0, 0, 0, 0], ends
            assert sorted(out.strip() for out, _ in ends) == ["False", "False", "False", "True"]
            assert cluster.alive()
        finally:
            cluster.destroy()


def test_a_path_longer_than_a_socket_path_works() -> None:
    with folder_of() as folder:
        cluster = Cluster(folder / ("a" * 100) / ("b" * 100), durable=False)
        try:
            assert cluster.start()
            assert len(str(cluster.data)) > 107
            assert len(str(cluster.socket_folder / ".s.PGSQL.5432.lock")) < 107
        finally:
            cluster.destroy()


@needs_root
def test_root_drops_to_an_account_without_rights(private: Cluster) -> None:
    account = Account.for_server()
    assert account.name in ("postgres", "nobody")
    status = Path(f"/proc/{postmaster(private)}/status").read_text()
    assert re.search(rf"^Uid:\s+{account.uid}\s+{account.uid}\s", status, re.MULTILINE)
    assert re.search(r"^Groups:\s*$", status, re.MULTILINE)


@needs_root
def test_a_tight_umask_of_root_does_not_lock_the_server_out() -> None:
    with folder_of() as folder:
        cluster = Cluster(folder / "new" / "home", durable=False)
        before = os.umask(0o077)
        try:
            assert cluster.start()
            assert cluster.folder == cluster.home
        finally:
            os.umask(before)
            cluster.destroy()


@needs_root
def test_an_unprivileged_user_runs_the_server_as_itself() -> None:
    with folder_of("nobody") as folder:
        environment = {"SIGHTLINE_HOME": str(folder / "home"), "HOME": str(folder)}
        try:
            started = sightline("db", "start", environment=environment, user="nobody")
            assert started.returncode == 0, started.stderr
            assert (folder / "home" / "data").owner() == "nobody"
            status = json.loads(
                sightline("db", "status", "--json", environment=environment, user="nobody").stdout
            )
            assert status["running"] is True
            # what nobody made is not for root to run: PostgreSQL would refuse it in its own words
            foreign = sightline("db", "start", environment=environment)
            assert foreign.returncode == 2
            assert "belongs to the user nobody" in foreign.stderr
            assert "Traceback" not in foreign.stderr
        finally:
            stopped = sightline("db", "stop", environment=environment, user="nobody")
        assert stopped.returncode == 0, stopped.stderr


@needs_root
def test_what_root_made_is_not_for_others_and_they_are_told(private: Cluster) -> None:
    for command in ("start", "stop", "status"):
        refused = sightline("db", command, environment={"SIGHTLINE_HOME": str(private.home)}, user="nobody")
        assert refused.returncode == 2
        assert "Traceback" not in refused.stderr
        assert "SIGHTLINE_HOME" in refused.stderr


@needs_root
def test_under_a_home_that_others_cannot_enter_the_data_goes_to_var_tmp() -> None:
    with folder_of(mode=0o700) as folder:
        cluster = Cluster(folder / "home", durable=False)
        try:
            assert cluster.start()
            assert cluster.folder.parent == Path("/var/tmp")
            assert not (folder / "home").exists()
            # once entered, the same data is found, not an empty home begun
            folder.chmod(0o755)
            again = Cluster(folder / "home", durable=False)
            assert again.folder == cluster.folder
            assert again.start() is False
        finally:
            cluster.destroy()
        assert not cluster.folder.exists()


@needs_root
def test_data_that_the_server_can_no_longer_enter_is_not_begun_anew_elsewhere() -> None:
    with folder_of() as folder:
        (folder / "home" / "data").mkdir(parents=True)
        folder.chmod(0o700)
        with pytest.raises(ClusterError, match="cannot enter"):
            Cluster(folder / "home").start()


@needs_root
def test_a_folder_in_var_tmp_that_somebody_else_laid_out_is_refused() -> None:
    with folder_of(mode=0o700) as folder:
        cluster = Cluster(folder / "home", durable=False)
        cluster.folder.mkdir()
        os.chown(cluster.folder, 65534, 65534)
        try:
            with pytest.raises(ClusterError, match="belongs to somebody else"):
                cluster.start()
        finally:
            cluster.folder.rmdir()


@needs_root
def test_a_home_that_cannot_be_written_is_named() -> None:
    with folder_of(mode=0o755) as folder:
        environment = {"SIGHTLINE_HOME": str(folder / "home")}
        refused = sightline("db", "start", environment=environment, user="nobody")
        assert refused.returncode == 2
        assert f"Cannot write to {folder}" in refused.stderr
        assert "SIGHTLINE_HOME" in refused.stderr
        assert "Traceback" not in refused.stderr


def test_another_server_is_used_by_its_address(databases: Databases) -> None:
    url = databases.make(template=None).set(drivername="postgresql").render_as_string()
    environment = {"SIGHTLINE_DATABASE_URL": url}
    before = sightline("db", "status", "--json", environment=environment)
    assert before.returncode == 1
    assert json.loads(before.stdout)["current"] is False
    upgraded = sightline("db", "upgrade", environment=environment)
    assert upgraded.returncode == 0, upgraded.stderr
    after = sightline("db", "status", "--json", environment=environment)
    assert after.returncode == 0
    assert json.loads(after.stdout)["current"] is True
    refused = sightline("db", "stop", environment=environment)
    assert refused.returncode == 2
    assert "not ours to start or stop" in refused.stderr


class OwnBuild(Cluster):
    """A cluster run by a copy of PostgreSQL that a test has altered."""

    def _server(self) -> Server:
        return Server(installed_servers()[0].version, self.home.parent / "usr/lib/postgresql/x/bin")


@pytest.fixture(scope="module")
def own_build() -> Iterator[OwnBuild]:
    """A private copy of the server's programs; PostgreSQL finds its files relative to them."""
    original = installed_servers()[0].bin
    places = {name: _pg_config(original, name) for name in ("bindir", "sharedir", "pkglibdir")}
    prefix = os.path.commonpath(list(places.values()))
    with folder_of() as folder:
        inside = {name: folder / "usr" / os.path.relpath(path, prefix) for name, path in places.items()}
        inside["bindir"].mkdir(parents=True)
        for program in ("postgres", "initdb", "pg_ctl"):
            shutil.copy(original / program, inside["bindir"])
        inside["pkglibdir"].parent.mkdir(parents=True, exist_ok=True)
        inside["pkglibdir"].symlink_to(places["pkglibdir"])
        (inside["sharedir"] / "extension").mkdir(parents=True)
        for source in (*Path(places["sharedir"]).iterdir(), *Path(places["sharedir"], "extension").iterdir()):
            target = inside["sharedir"] / source.relative_to(places["sharedir"])
            if not target.exists() and not source.name.startswith("postgis"):
                target.symlink_to(source)
        link = folder / "usr/lib/postgresql/x"
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(inside["bindir"].parent)
        cluster = OwnBuild(folder / "home", durable=False)
        cluster.start()  # the data is made by the programs as they are
        cluster.stop()
        yield cluster
        cluster.destroy()


def _pg_config(folder: Path, name: str) -> str:
    version = re.findall(r"\d+", subprocess.check_output([folder / "postgres", "--version"], text=True))[0]
    if (folder / "pg_config").exists():
        return subprocess.check_output([folder / "pg_config", f"--{name}"], text=True).strip()
    debian = {"bindir": f"lib/postgresql/{version}/bin", "sharedir": f"share/postgresql/{version}"}
    return f"/usr/{debian.get(name, f'lib/postgresql/{version}/lib')}"


def refusal(cluster: Cluster) -> DatabaseError:
    cluster.start()
    engine = make_engine(make_url(cluster.url()).set(drivername="postgresql+psycopg"))
    try:
        with reached(engine) as connection, pytest.raises(DatabaseError) as refused:
            check_server(connection)
        return refused.value
    finally:
        engine.dispose()
        cluster.stop()


def test_a_server_without_postgis_is_told_apart(own_build: OwnBuild) -> None:
    refused = refusal(own_build)
    assert refused.message == "The server has no PostGIS."
    assert "postgresql-postgis" in refused.remedy


def test_a_server_with_an_old_postgis_is_told_apart(own_build: OwnBuild) -> None:
    share = next(own_build.home.parent.glob("usr/**/extension"))
    (share / "postgis.control").write_text(
        "comment = 'old'\ndefault_version = '3.1.9'\nrelocatable = false\n"
    )
    (share / "postgis--3.1.9.sql").write_text("select 1;\n")
    refused = refusal(own_build)
    assert "PostGIS 3.1.9" in refused.message
    assert "3.2 or newer" in refused.message


def test_a_server_that_is_too_old_is_told_apart(own_build: OwnBuild) -> None:
    """The same programs, made to say that they are PostgreSQL 13."""
    folder = own_build._server().bin
    printed = subprocess.check_output([folder / "postgres", "--version"], text=True)
    version = re.findall(r"\d+\.\d+", printed)[0].encode()
    aged = dict.fromkeys((folder / "postgres", folder / "pg_ctl"), (version, b"13" + version[2:]))
    aged |= dict.fromkeys(own_build.data.rglob("PG_VERSION"), (version[:2], b"13"))
    young = {path: path.read_bytes() for path in aged}
    try:
        for path, (now, then) in aged.items():
            path.write_bytes(young[path].replace(now, then))
        refused = refusal(own_build)
    finally:
        for path, content in young.items():
            path.write_bytes(content)
    assert refused.message == "The server is PostgreSQL 13; Sightline needs 14 or newer."
