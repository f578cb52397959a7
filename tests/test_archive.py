"""The archive's nouns: versions that stay, places that cannot be two, orders of battle that are trees."""

from __future__ import annotations

import datetime

import hypothesis.strategies as st
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from sqlalchemy.engine import Connection

DAY = "[1944-07-21 00:00+10,1944-07-22 00:00+10)"


def run(connection: Connection, query: str, **values: object) -> sa.CursorResult[object]:
    return connection.execute(sa.text(query), values)


def refused(connection: Connection, query: str, words: str, **values: object) -> None:
    with pytest.raises(sa.exc.IntegrityError, match=words), connection.begin_nested():
        run(connection, query, **values)


@pytest.fixture
def campaign(connection: Connection) -> int:
    """A campaign with two accounts and three forces."""
    run(
        connection,
        "insert into campaign (name, span, zone) values ('test', '[1944-07-21 00:00+10,)', '+10:00')",
    )
    found: int = run(connection, "select id from campaign where name = 'test'").scalar_one()
    for key in ("one", "two"):
        run(connection, "insert into account (campaign_id, key, title) values (:c, :k, :k)", c=found, k=key)
    for key in ("corps", "division", "regiment"):
        run(
            connection,
            "insert into force (campaign_id, key, name, side) values (:c, :k, :k, 'us')",
            c=found,
            k=key,
        )
    return found


def stand(
    connection: Connection, campaign: int, key: str, account: str, lon: float, during: str = DAY
) -> None:
    run(
        connection,
        "insert into stance (campaign_id, key, force, account, during, geom)"
        " values (:c, :k, 'regiment', :a, cast(:d as tstzrange), st_setsrid(st_point(:lon, 13.4), 4326))",
        c=campaign, k=key, a=account, d=during, lon=lon,
    )  # fmt: skip


def write(connection: Connection, campaign: int, key: str, text: str) -> None:
    run(
        connection,
        "insert into entry (campaign_id, key, title, text, account, during)"
        " values (:c, :k, :k, :t, 'one', cast(:d as tstzrange))",
        c=campaign, k=key, t=text, d=DAY,
    )  # fmt: skip


def known_texts(connection: Connection, campaign: int, moment: object = None) -> dict[str, str]:
    rows = run(
        connection,
        "select key, text from archive.entries(:c, known => cast(:m as timestamptz))",
        c=campaign,
        m=moment,
    )
    return {row.key: row.text for row in rows}  # type: ignore[attr-defined]


def clock(connection: Connection) -> datetime.datetime:
    found: datetime.datetime = run(connection, "select clock_timestamp()").scalar_one()
    return found


def test_a_correction_keeps_the_old_version_with_who_and_when(connection: Connection, campaign: int) -> None:
    run(connection, "select set_config('sightline.who', 'Ann', true)")
    write(connection, campaign, "landing", "At dawn.")
    before = clock(connection)
    run(connection, "select set_config('sightline.who', 'Ben', true)")
    run(
        connection,
        "update entry set text = 'At half past eight.', why = 'the log says so' where key = 'landing'",
    )
    assert known_texts(connection, campaign, clock(connection)) == {"landing": "At half past eight."}
    assert known_texts(connection, campaign, before) == {"landing": "At dawn."}
    told = run(connection, "select * from archive.versions(:c, 'landing')", c=campaign).all()
    assert [(row.version, row.what["text"], row.writer, row.ended_by, row.why) for row in told] == [
        (1, "At dawn.", "Ann", "Ben", ""),
        (2, "At half past eight.", "Ben", None, "the log says so"),
    ]
    assert told[0].known_until == told[1].known_from


def test_every_change_is_told_by_whom_it_was_made_the_newest_first(
    connection: Connection, campaign: int
) -> None:
    for who, change in (
        ("Ann", "update account set title = 'Log' where key = 'one'"),
        ("Ben", "update force set name = 'The Corps', why = 'full name' where key = 'corps'"),
        ("Cal", "delete from force where key = 'division' and upper_inf(known)"),
    ):
        run(connection, "select set_config('sightline.who', :who, true)", who=who)
        run(connection, change)
    stand(connection, campaign, "a", "one", 144.65)
    told = run(connection, "select * from archive.changes(:c)", c=campaign).all()
    assert [(row.who, row.what, row.kind, row.key, row.columns, row.why) for row in told[:4]] == [
        ("Cal", "recorded", "stance", "a", [], ""),
        ("Cal", "taken away", "force", "division", [], ""),
        ("Ben", "corrected", "force", "corps", ["name"], "full name"),
        ("Ann", "corrected", "account", "one", ["title"], ""),
    ]
    assert len(told) == 9, "and the two accounts and three forces that were recorded first"
    moments = [row.moment for row in told]
    assert moments == sorted(moments, reverse=True)
    earlier = run(connection, "select * from archive.changes(:c, 2, :m)", c=campaign, m=told[1].moment).all()
    assert [tuple(row) for row in earlier] == [tuple(row) for row in told[2:4]]
    versions = run(connection, "select * from archive.versions(:c, 'division', 'force')", c=campaign).all()
    assert [(row.what["name"], row.ended_by) for row in versions] == [("division", "Cal")]
    with pytest.raises(sa.exc.DBAPIError, match="a campaign has no hex"), connection.begin_nested():
        run(connection, "select * from archive.versions(:c, 'x', 'hex')", c=campaign)


def test_what_is_deleted_was_known_all_the_same(connection: Connection, campaign: int) -> None:
    write(connection, campaign, "rumour", "A fleet is near.")
    before = clock(connection)
    run(connection, "delete from entry where key = 'rumour'")
    assert known_texts(connection, campaign, clock(connection)) == {}
    assert known_texts(connection, campaign, before) == {"rumour": "A fleet is near."}


def test_the_past_is_neither_changed_nor_deleted(connection: Connection, campaign: int) -> None:
    write(connection, campaign, "landing", "At dawn.")
    run(connection, "update entry set text = 'Later.' where key = 'landing'")
    closed = "not upper_inf(known)"
    refused(connection, f"update entry set text = 'Never.' where {closed}", "never changes")
    refused(connection, f"delete from entry where {closed}", "not deleted")
    refused(connection, "update entry set key = 'other' where upper_inf(known)", "keeps its name")


def test_history_cannot_be_made_up(connection: Connection, campaign: int) -> None:
    run(
        connection,
        "insert into entry (campaign_id, key, title, account, during, known)"
        " values (:c, 'old', 'old', 'one', cast(:d as tstzrange), '[1950-01-01,1960-01-01)')",
        c=campaign, d=DAY,
    )  # fmt: skip
    assert run(connection, "select upper_inf(known) and lower(known) > '2000-01-01' from entry").scalar_one()


def test_one_account_has_a_force_in_one_place_at_a_time(connection: Connection, campaign: int) -> None:
    stand(connection, campaign, "a", "one", 144.65)
    with pytest.raises(sa.exc.IntegrityError, match="stance_one_place_excl"), connection.begin_nested():
        stand(connection, campaign, "b", "one", 144.70, "[1944-07-21 12:00+10,1944-07-21 13:00+10)")
    stand(connection, campaign, "c", "one", 144.70, "[1944-07-22 00:00+10,1944-07-23 00:00+10)")
    stand(connection, campaign, "d", "two", 144.70)


def test_conflicting_accounts_are_allowed_and_shown(connection: Connection, campaign: int) -> None:
    stand(connection, campaign, "a", "one", 144.65)
    stand(connection, campaign, "b", "two", 144.70)
    [found] = run(connection, "select * from archive.differences(:c, 'one', 'two')", c=campaign).all()
    assert (found.what, found.subject, found.first_key, found.second_key) == ("stance", "regiment", "a", "b")
    assert 5_300 < found.meters_apart < 5_500


def test_a_correction_of_a_place_may_take_the_old_ones_time(connection: Connection, campaign: int) -> None:
    stand(connection, campaign, "a", "one", 144.65)
    run(connection, "update stance set geom = st_setsrid(st_point(144.7, 13.4), 4326) where key = 'a'")
    assert run(connection, "select count(*) from stance where key = 'a'").scalar_one() == 2


@pytest.mark.parametrize("column", ["account", "force"])
def test_a_stance_names_what_there_is(connection: Connection, campaign: int, column: str) -> None:
    values = {"account": "one", "force": "regiment"} | {column: "nobody"}
    refused(
        connection,
        "insert into stance (campaign_id, key, force, account, during) values (:c, 'x', :force, :account, cast(:d as tstzrange))",
        f"no {column} nobody", c=campaign, d=DAY, **values,
    )  # fmt: skip


def test_what_is_named_is_not_deleted(connection: Connection, campaign: int) -> None:
    stand(connection, campaign, "a", "one", 144.65)
    refused(connection, "delete from force where key = 'regiment'", "still named by a")
    refused(connection, "delete from account where key = 'one'", "still named by a")
    run(connection, "delete from stance where key = 'a'")
    run(connection, "delete from force where key = 'regiment'")


def link(connection: Connection, campaign: int, force: str, superior: str, during: str = DAY) -> None:
    run(
        connection,
        "insert into subordination (campaign_id, key, force, superior, account, during)"
        " values (:c, :k, :f, :s, 'one', cast(:d as tstzrange))",
        c=campaign, k=f"{force}@{superior}@{during[1:11]}", f=force, s=superior, d=during,
    )  # fmt: skip


def test_an_order_of_battle_is_a_tree_that_changes(connection: Connection, campaign: int) -> None:
    later = "[1944-07-22 00:00+10,)"
    link(connection, campaign, "division", "corps")
    link(connection, campaign, "regiment", "division")
    link(connection, campaign, "regiment", "corps", later)
    tree = "select key, depth from archive.order_of_battle(:c, cast(:m as timestamptz))"
    first = run(connection, tree, c=campaign, m="1944-07-21 12:00+10").all()
    assert [tuple(row) for row in first] == [("corps", 0), ("division", 1), ("regiment", 2)]
    second = run(connection, tree, c=campaign, m="1944-07-22 12:00+10").all()
    assert [tuple(row) for row in second] == [("corps", 0), ("regiment", 1), ("division", 0)]


def test_nobody_stands_under_himself(connection: Connection, campaign: int) -> None:
    link(connection, campaign, "division", "corps")
    link(connection, campaign, "regiment", "division")
    with pytest.raises(sa.exc.IntegrityError, match="under itself"), connection.begin_nested():
        link(connection, campaign, "corps", "regiment")
    link(connection, campaign, "corps", "regiment", "[1944-07-23 00:00+10,)")


def test_a_campaign_goes_with_its_past(connection: Connection, campaign: int) -> None:
    write(connection, campaign, "landing", "At dawn.")
    run(connection, "update entry set text = 'Later.' where key = 'landing'")
    run(connection, "update campaign set title = 'New' where upper_inf(known)")
    assert run(connection, "select count(*) from campaign").scalar_one() == 2
    refused(connection, "delete from campaign where not upper_inf(known)", "not deleted")
    run(connection, "delete from campaign where name = 'test' and upper_inf(known)")
    for table in ("campaign", "entry", "account", "force"):
        assert run(connection, f"select count(*) from {table}").scalar_one() == 0


CHANGES = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["write", "delete"]), st.text("xyz", max_size=3)),
    max_size=12,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=CHANGES)
def test_every_past_state_of_knowledge_can_be_had_again(
    connection: Connection, campaign: int, changes: list[tuple[str, str, str]]
) -> None:
    """A model of plain dictionaries, one for every moment, against what the archive says was known then."""
    now: dict[str, str] = {}
    moments: list[tuple[datetime.datetime, dict[str, str]]] = []
    with connection.begin_nested() as savepoint:
        for key, what, text in changes:
            if what == "delete":
                run(connection, "delete from entry where key = :k and upper_inf(known)", k=key)
                now.pop(key, None)
            elif key in now:
                run(
                    connection,
                    "update entry set text = :t where key = :k and upper_inf(known)",
                    k=key,
                    t=text,
                )
                now[key] = text
            else:
                write(connection, campaign, key, text)
                now[key] = text
            moments.append((clock(connection), dict(now)))
        assert [known_texts(connection, campaign, moment) for moment, _ in moments] == [
            state for _, state in moments
        ]
        savepoint.rollback()
