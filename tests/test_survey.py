"""`sightline survey`: what is found out ahead of need, and that it serves whoever asks."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from app.referee import survey as surveying
from app.referee.boards import open_board
from app.referee.survey import SurveyError, survey
from db.database import make_engine
from db.labels import Axial
from db.map_draft import HexDraft, MapDraft
from db.position_draft import PositionDraft
from importers.cases import store_position
from tests import test_sight
from tests.drawn_positions import drawn
from tests.rounds import rounds
from tests.small_map import scheme_of

POSITION = "lipata-landing"
Rows = dict[str, tuple[Any, ...]]


@pytest.fixture(scope="module")
def engine(demo_url: sa.URL) -> Iterator[Engine]:
    """The demo; what a survey has found is forgotten again."""
    engine = make_engine(demo_url)
    yield engine
    with engine.begin() as connection:
        connection.execute(sa.text("delete from viewshed"))
    engine.dispose()


@pytest.fixture
def connection(engine: Engine) -> Iterator[Connection]:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text("delete from viewshed"))
        yield connection


def kept(connection: Connection) -> set[tuple[str, int, bool]]:
    rows = connection.execute(sa.text("select viewer, radius, reasons is not null from viewshed"))
    return {tuple(row) for row in rows}


@pytest.fixture
def undone(engine: Engine) -> Iterator[Connection]:
    """A transaction of which nothing stays."""
    with engine.connect() as connection:
        yield connection
        connection.rollback()


def viewers_of(connection: Connection, position: int) -> list[str]:
    query = sa.text("select name from positions.viewers(:id)")
    return list(connection.scalars(query, {"id": position}))


def surveyed(connection: Connection, position: int, viewers: list[str]) -> tuple[int, int]:
    query = sa.text("select added, seen from positions.survey(:id, :viewers)")
    added, seen = connection.execute(query, {"id": position, "viewers": viewers}).one()
    return added, seen


def rows_kept(connection: Connection, position: int) -> Rows:
    """All that is kept of a position, by viewer, with its lists in their order."""
    query = """
        select viewer, position_id, radius, q, r, map_id, qs, rs, labels, ranges, reasons from viewshed
        where position_id = :id
    """
    return {viewer: tuple(row) for viewer, *row in connection.execute(sa.text(query), {"id": position})}


def rows_asked(connection: Connection, position: int, viewers: list[str]) -> Rows:
    """The same where everybody is asked for alone."""
    connection.execute(sa.text("delete from viewshed where position_id = :id"), {"id": position})
    for viewer in viewers:
        query = sa.text("select count(*) from positions.viewshed(:id, :viewer)")
        connection.execute(query, {"id": position, "viewer": viewer})
    return rows_kept(connection, position)


def told_apart(connection: Connection, draft: PositionDraft, dice: random.Random) -> None:
    """A survey of a position in batches keeps what questions would keep."""
    position = store_position(connection, draft)
    viewers = viewers_of(connection, position)
    asked = rows_asked(connection, position, viewers)
    connection.execute(sa.text("delete from viewshed where position_id = :id"), {"id": position})
    size = dice.choice((7, 40, len(viewers)))
    batches = [viewers[n : n + size] for n in range(0, len(viewers), size)]
    told = [surveyed(connection, position, batch) for batch in batches]
    assert rows_kept(connection, position) == asked
    assert sum(added for added, _ in told) == len(viewers)
    assert sum(seen for _, seen in told) == sum(len(row[5]) for row in asked.values())


@pytest.mark.parametrize("ruleset", ["css", "ccp", "bob", "ddp"])
def test_a_batch_keeps_what_is_kept_one_by_one(undone: Connection, ruleset: str) -> None:
    """Ground, counters, markers, conditions and readings drawn at random, anew in every run."""
    for _ in range(rounds(8 if ruleset == "css" else 2, 200 if ruleset == "css" else 20)):
        seed = random.randrange(2**32)
        dice = random.Random(seed)
        try:
            told_apart(undone, drawn(ruleset, dice, undone), dice)
        except AssertionError as error:
            raise AssertionError(f"{ruleset}, seed {seed}") from error


def test_a_batch_sees_over_all_that_bears_on_sight_in_css(undone: Connection) -> None:
    """The ground of the sight tests: caves, barrages, fires, lights, steep slopes, holes in the map, all readings."""
    for _ in range(rounds(12, 400)):
        seed = random.randrange(2**32)
        dice = random.Random(seed)
        size = dice.randint(3, 12), dice.randint(3, 12)
        try:
            told_apart(undone, test_sight.draft(test_sight.paint(seed, size)), dice)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, size {size}") from error


def test_every_unit_and_what_it_fires_at_is_kept(connection: Connection) -> None:
    board = open_board(connection, POSITION)
    told: list[tuple[int, int]] = []
    found = survey(connection, board, units_only=True, tick=lambda *at: told.append(at))
    codes = set(
        connection.scalars(
            sa.text("select code from unit where position_id = :id and q is not null"),
            {"id": board.position_id},
        )
    )
    there = kept(connection)
    assert {viewer for viewer, radius, _ in there if radius == 24} == codes
    assert {viewer for viewer, radius, _ in there if radius < 24} <= {f"unit:{code}" for code in codes}
    assert found.viewers == len(codes)
    assert found.found == len(there)
    assert told == [(0, len(codes)), (len(codes), len(codes))]


def test_a_second_survey_finds_nothing_new(connection: Connection) -> None:
    board = open_board(connection, POSITION)
    first = survey(connection, board, units_only=True)
    again = survey(connection, board, units_only=True)
    assert (again.found, again.seen) == (0, first.seen)


def test_a_second_survey_looks_for_nobody(connection: Connection) -> None:
    """What is kept is not found again: broken on purpose, it stays."""
    board = open_board(connection, POSITION)
    survey(connection, board)
    connection.execute(sa.text("update viewshed set labels = '{here}' where radius = 24"))
    survey(connection, board)
    wrong = connection.scalar(
        sa.text("select count(*) from viewshed where radius = 24 and labels <> '{here}'")
    )
    assert wrong == 0


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surveying, "FEWEST", dict.fromkeys(surveying.FEWEST, 100))
    monkeypatch.setattr(surveying, "MOST", 100)


def stop_at(hexes: int) -> Callable[[int, int], None]:
    def tick(done: int, total: int) -> None:
        if done >= hexes:
            raise KeyboardInterrupt

    return tick


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("name", ["pagasa-coast", "orange-beach"])
def test_a_survey_that_is_stopped_keeps_what_it_had_and_goes_on(connection: Connection, name: str) -> None:
    board = open_board(connection, name)
    viewers = viewers_of(connection, board.position_id)
    with pytest.raises(KeyboardInterrupt):
        survey(connection, board, tick=stop_at(100))
    half = rows_kept(connection, board.position_id)
    assert set(half) == set(viewers[:100])
    told: list[tuple[int, int]] = []
    found = survey(connection, board, tick=lambda *at: told.append(at))
    assert found.found == len(viewers) - 100
    assert told == [(n, len(viewers)) for n in [*range(0, len(viewers), 100), len(viewers)]]
    whole = rows_kept(connection, board.position_id)
    assert (set(whole), {name: whole[name] for name in half}) == (set(viewers), half)


@pytest.mark.usefixtures("small_batches")
def test_a_survey_whose_connection_is_cut_loses_one_batch(engine: Engine, connection: Connection) -> None:
    board = open_board(connection, "pagasa-coast")
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as other:
        process = other.scalar(sa.text("select pg_backend_pid()"))

        def cut(done: int, total: int) -> None:
            if done == 300:
                connection.execute(sa.text("select pg_terminate_backend(:id, 5000)"), {"id": process})

        with pytest.raises(sa.exc.OperationalError):
            survey(other, board, tick=cut)
        other.invalidate()
    assert set(rows_kept(connection, board.position_id)) == set(
        viewers_of(connection, board.position_id)[:300]
    )


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("at", [400, 981])
def test_what_an_edit_touches_is_dropped_and_found_anew(connection: Connection, at: int) -> None:
    """An edit while a survey goes on, or after it: nothing that it touches stays as it was."""
    board = open_board(connection, POSITION)
    viewers = viewers_of(connection, board.position_id)
    marker = {"position": board.position_id, "map": board.map_id}
    add = """
        insert into marker (position_id, map_id, kind, q, r)
        select :position, :map, 'smoke_barrage', q, r from hex where map_id = :map and label = '01.05' returning id
    """
    smoke: list[int] = []

    def edit(done: int, total: int) -> None:
        if done >= at and not smoke:
            smoke.extend(connection.scalars(sa.text(add), marker))

    try:
        survey(connection, board, tick=edit)
        left = {name: row for name, row in rows_kept(connection, board.position_id).items() if row[1] == 24}
        survey(connection, board)
        whole = rows_kept(connection, board.position_id)
        some = viewers[::5]
        asked = rows_asked(connection, board.position_id, some)
    finally:
        connection.execute(sa.text("delete from marker where id = any(:ids)"), {"ids": smoke})
    assert smoke
    assert 0 < len(left) < len(viewers)
    assert {name: row for name, row in asked.items() if name in left} == {
        name: left[name] for name in some if name in left
    }
    assert {name: whole[name] for name in some} == asked
    assert set(viewers) <= set(whole)


def test_an_edit_waits_for_a_batch_and_then_drops_it(engine: Engine, connection: Connection) -> None:
    board = open_board(connection, "pagasa-coast")
    viewers = viewers_of(connection, board.position_id)[:300]
    done: list[str] = []

    def edit() -> None:
        with engine.begin() as other:
            query = "update hex set level = level where map_id = :map and label = :label"
            other.execute(sa.text(query), {"map": board.map_id, "label": viewers[150]})
            done.append("edited")

    with engine.connect() as looking:
        surveyed(looking, board.position_id, viewers)
        editor = threading.Thread(target=edit)
        editor.start()
        editor.join(0.5)
        assert editor.is_alive()
        done.append("found")
        looking.commit()
    editor.join()
    assert done == ["found", "edited"]
    assert viewers[150] not in rows_kept(connection, board.position_id)


def test_under_a_stricter_isolation_nothing_is_kept(engine: Engine, connection: Connection) -> None:
    board = open_board(connection, "pagasa-coast")
    viewers = viewers_of(connection, board.position_id)[:20]
    with engine.connect().execution_options(isolation_level="REPEATABLE READ") as strict:
        assert surveyed(strict, board.position_id, viewers) == (0, 0)
        strict.commit()
    assert not rows_kept(connection, board.position_id)


def test_a_large_map_takes_no_more_memory_than_a_batch(engine: Engine) -> None:
    """The server's process after a survey of 7,694 hexes, beside what it had after one batch of as many as there may be."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        process = connection.scalar(sa.text("select pg_backend_pid()"))
        connection.execute(sa.text("delete from viewshed"))
        board = open_board(connection, "campaign-island")
        sizes: list[int] = []
        grown: list[int] = []

        def look(done: int, total: int) -> None:
            sizes.append(done)
            grown.append(peak(process))

        survey(connection, board, tick=look)
        connection.execute(sa.text("delete from viewshed"))
    batches = [after - before for before, after in pairwise(sizes)]
    assert len(batches) > 3
    assert max(batches) <= surveying.MOST
    assert grown[-1] - grown[0] < 100 * 1024


def peak(process: int) -> int:
    """The most memory that a process has had so far, in kB, what it shares with others included."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def test_viewers_far_apart_are_looked_for_apart(undone: Connection) -> None:
    """Two islands, so far from each other that a field around both would be of millions of hexes."""
    scheme = scheme_of("css")
    corner = scheme.hex("20.20")
    cells = [Axial(corner.q + far + q, corner.r + r) for far in (0, 70) for q in range(6) for r in range(6)]
    board = MapDraft("css", scheme, hexes={cell: HexDraft("clear", 1) for cell in cells})
    told_apart(undone, PositionDraft("css", board), random.Random(1))


def test_what_was_surveyed_answers_a_nearer_look(connection: Connection) -> None:
    """Broken on purpose: who asks for a fan of any radius gets what is kept, not what is there."""
    board = open_board(connection, POSITION)
    survey(connection, board, units_only=True, reasons=True)
    seen = board.ask(connection, {"fan": {"from": "A/1/31", "range": 2}}).ruling.answer["visible"]
    connection.execute(
        sa.text("update viewshed set labels = array_replace(labels, :one, 'here') where viewer = 'A/1/31'"),
        {"one": seen[0]},
    )
    again = board.ask(connection, {"fan": {"from": "A/1/31", "range": 2}}).ruling.answer["visible"]
    assert sorted([*seen[1:], "here"]) == again


def test_reasons_are_kept_where_they_are_wanted(connection: Connection) -> None:
    board = open_board(connection, POSITION)
    survey(connection, board, units_only=True, reasons=True)
    assert all(reasons for _, radius, reasons in kept(connection) if radius == 24)


def test_every_hex_of_a_map_is_kept(connection: Connection) -> None:
    board = open_board(connection, "orange-beach")
    found = survey(connection, board)
    hexes = connection.scalar(sa.text("select count(*) from hex where map_id = :map"), {"map": board.map_id})
    assert (found.viewers, found.found) == (hexes, hexes)


def test_a_hex_called_like_a_unit_off_the_map_is_surveyed_too(connection: Connection) -> None:
    board = open_board(connection, "orange-dawn")
    label = connection.scalar(
        sa.text("select min(label) from hex where map_id = :map"), {"map": board.map_id}
    )
    unit = {"position": board.position_id, "map": board.map_id, "code": label}
    connection.execute(
        sa.text("insert into unit (position_id, map_id, code, side) values (:position, :map, :code, 'us')"),
        unit,
    )
    try:
        survey(connection, board)
        there = {viewer for viewer, _, _ in kept(connection)}
    finally:
        connection.execute(sa.text("delete from unit where position_id = :position and code = :code"), unit)
    assert f"hex:{label}" in there


@pytest.mark.parametrize("surveyed", [False, True])
def test_why_a_nearer_look_sees_no_more_is_kept(connection: Connection, surveyed: bool) -> None:
    """Whether or not the whole fan is kept already: else who asks for a range never has its reasons kept."""
    board = open_board(connection, POSITION)
    if surveyed:
        survey(connection, board, units_only=True)
    near = {"fan": {"from": "A/1/31", "range": 3}}
    first = board.ask(connection, near).ruling
    assert ("A/1/31", 3, True) in kept(connection)
    again = board.ask(connection, near).ruling
    assert (again.answer, again.steps) == (first.answer, first.steps)
    live = board.ask(connection, near | {"conditions": board.conditions}).ruling
    assert (live.answer, live.steps) == (first.answer, first.steps)


def test_a_game_without_sight_is_not_surveyed(connection: Connection) -> None:
    with pytest.raises(SurveyError, match="fpb has no line of sight"):
        survey(connection, open_board(connection, "tanaro-assault"))
