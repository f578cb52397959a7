"""A restore is whole or not at all, and says truly which (killed at any moment: `tests/faults`)."""

from __future__ import annotations

import fcntl
import os
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from processes import sightline
from sqlalchemy.engine import URL

from db import backup
from db.backup import BackupError, _sweep_backups, _unfinished, backup_database, mend, restore_database
from tests.conftest import Databases


@pytest.fixture
def url(databases: Databases) -> URL:
    return databases.make()


def address(url: URL) -> str:
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


def mark(url: URL, text: str) -> None:
    """Write something that tells one state of the database from another."""
    with psycopg.connect(address(url), autocommit=True) as connection:
        connection.execute("create table if not exists public.mark (text text)")
        connection.execute("truncate public.mark")
        connection.execute("insert into public.mark values (%s)", [text])


def marked(url: URL) -> str:
    with psycopg.connect(address(url)) as connection:
        row = connection.execute("select text from public.mark").fetchone()
        assert row is not None
        return str(row[0])


def beside(url: URL) -> list[str]:
    """The databases that lie beside ours."""
    with psycopg.connect(address(url.set(database="postgres")), autocommit=True) as connection:
        found = connection.execute(
            "select datname from pg_database where datname like %s order by 1", [f"{url.database}_%"]
        )
        return [row[0] for row in found]


@pytest.fixture
def saved(url: URL, tmp_path: Path) -> Path:
    """A backup of the state `old`; the database is in the state `now`."""
    mark(url, "old")
    file = tmp_path / "old.dump"
    backup_database(url, file)
    mark(url, "now")
    return file


def test_a_restore_replaces_everything_and_leaves_nothing_beside(url: URL, saved: Path) -> None:
    restore_database(url, saved, lambda step: None)
    assert marked(url) == "old"
    assert beside(url) == []


def test_one_that_fails_before_the_swap_changes_nothing_and_says_so(
    url: URL, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise psycopg.OperationalError("no")

    monkeypatch.setattr(backup, "_swap", fails)
    with pytest.raises(BackupError) as told:
        restore_database(url, saved, lambda step: None)
    assert "The database is as it was" in told.value.remedy
    assert marked(url) == "now"
    assert beside(url) == []


def test_one_that_cannot_remove_the_old_database_has_restored_all_the_same(
    url: URL, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise psycopg.OperationalError("no")

    with monkeypatch.context() as patched:
        patched.setattr(backup, "_drop", fails)
        restore_database(url, saved, lambda step: None)
    assert marked(url) == "old"
    assert [name.replace(str(url.database), "")[:5] for name in beside(url)] == ["_old_"]
    [told] = mend(url)
    assert "had replaced the database" in told
    assert beside(url) == []


def test_two_restores_at_once_do_not_meet(url: URL, saved: Path) -> None:
    told: list[str] = []

    def second(step: str) -> None:
        if not told:
            with pytest.raises(BackupError, match="right now") as refused:
                restore_database(url, saved, lambda step: None)
            told.append(refused.value.message)
            assert mend(url) == [], "what somebody works on is not swept"

    restore_database(url, saved, second)
    assert told
    assert marked(url) == "old"


def test_a_database_that_was_left_closed_is_opened_by_the_next_command(url: URL) -> None:
    mark(url, "now")
    with psycopg.connect(address(url.set(database="postgres")), autocommit=True) as connection:
        connection.execute(f'alter database "{url.database}" allow_connections false')
        connection.execute(f'create database "{url.database}_new_{secrets.token_hex(4)}"')
    told = sightline("maps", "list", environment={"SIGHTLINE_DATABASE_URL": address(url)})
    assert told.returncode == 0, told.stderr
    assert "opened it again" in told.stderr
    assert "had not replaced anything" in told.stderr
    assert marked(url) == "now"
    assert beside(url) == []


def test_backups_to_one_file_at_once_are_each_whole(url: URL, tmp_path: Path) -> None:
    file = tmp_path / "same.dump"
    with ThreadPoolExecutor(3) as several:
        for backup in [several.submit(backup_database, url, file) for _ in range(3)]:
            backup.result(60)
    restore_database(url, file, lambda step: None)
    assert [path.name for path in tmp_path.iterdir()] == ["same.dump"]


def test_a_backup_that_begins_sweeps_no_other_that_has_only_just_begun(tmp_path: Path) -> None:
    file, ended = tmp_path / "x.dump", threading.Event()

    def sweep() -> None:
        while not ended.is_set():
            _sweep_backups(file)

    with ThreadPoolExecutor(1) as other:
        sweeping = other.submit(sweep)
        try:
            for _ in range(500):
                with _unfinished(file) as handle:
                    assert os.path.samestat(os.stat(handle.name), os.fstat(handle.fileno()))
        finally:
            ended.set()
        sweeping.result()
    assert not list(tmp_path.iterdir())


def test_what_a_killed_backup_left_is_swept_and_what_another_writes_is_not(url: URL, tmp_path: Path) -> None:
    file = tmp_path / "x.dump"
    left, busy = (tmp_path / f".x.dump.{name}.unfinished" for name in ("0123abcd", "4567abcd"))
    left.write_text("half")
    with busy.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        backup_database(url, file)
        assert sorted(path.name for path in tmp_path.iterdir()) == [busy.name, file.name]
