"""Errata and house rules: what they refuse, what they keep, and that rulings, searches and pages speak of them."""

from __future__ import annotations

import datetime

import pytest
from flask.testing import FlaskClient
from sqlalchemy.engine import Connection, Engine

from app.play.openings import begin
from app.referee.cases import rule_text
from app.referee.rulings import Ruling
from app.referee.saved import as_ruled, save, saved_ruling
from app.referee.words import erratum_in_words, point_in_words
from app.web.site import create_app
from db import SightlineError, errata, reference
from db.citations import rule_index
from db.database import make_engine
from db.reference import NotInReference
from db.rulesets import CODES, read_ruleset
from db.settings import Settings
from tests.command_line import CommandLine
from tests.conftest import Databases, web_engine

DAY = datetime.date.fromisoformat
TODAY = datetime.date.today()
PADDIES = """
case: paddies
ruleset: css
map: {extent: ["20.10", "20.14"], fill: {terrain: clear}, hexes: {"20.12": {terrain: rice_paddy}, "20.13": {terrain: rice_paddy}}}
ask:
  - los: {from: "20.10", to: "20.14"}
"""
"""Two paddies in a row: whether the line passes is contested (css-12)."""


def added(
    connection: Connection, number: str, effect: str = "It is otherwise.", **said: object
) -> errata.ErratumEntry:
    given = {"source": "a test", "since": DAY("2020-01-01"), "effect": effect} | said
    return errata.add_erratum(connection, "css", number, **given)  # type: ignore[arg-type]


def ruled(connection: Connection, text: str = PADDIES) -> Ruling:
    return rule_text(connection, text, "paddies.yaml")[1][0]


# What is refused


def test_a_clause_is_kept_and_one_that_is_not_there_is_refused(connection: Connection) -> None:
    kept = added(connection, "7.1.2 b")
    assert (kept.number, kept.clause, kept.cited) == ("7.1.2", "b", "7.1.2 b")
    with pytest.raises(NotInReference, match=r"css 7\.1\.2 has no item q\.\nIt has a, b, c, d, e\."):
        added(connection, "7.1.2 q")
    with pytest.raises(NotInReference, match=r"css 8\.6 has no item b\.\nAttach it to 8\.6"):
        added(connection, "8.6b")
    with pytest.raises(NotInReference, match=r"css has no rule 7\.1\.9"):
        added(connection, "7.1.9")


@pytest.mark.parametrize("code", CODES)
def test_every_item_that_the_code_tells_may_be_changed(code: str) -> None:
    index = rule_index(code)
    for number in index.cited():
        for place in index.places(number):
            assert {clause.lower() for clause in place.clauses} <= set(errata.known_clauses(code, number))


def test_the_same_twice_is_refused_and_may_be_entered_again_once_withdrawn(connection: Connection) -> None:
    first = added(connection, "8.6")
    with pytest.raises(SightlineError, match=f"Erratum {first.id} says the same of css 8.6"):
        added(connection, "8.6", "it is OTHERWISE.")
    other = added(connection, "8.6", kind="house_rule")
    assert other.id != first.id
    errata.withdraw_erratum(connection, first.id)
    assert added(connection, "8.6").id > other.id


def test_a_reading_is_for_house_rules_and_has_to_be_there(connection: Connection) -> None:
    with pytest.raises(SightlineError, match="An erratum chooses no reading"):
        added(connection, "7.1.1 c", reading="css-12:b")
    for wrong in ("css-12:z", "css-999:a", "bob-1:a", "12"):
        with pytest.raises(NotInReference, match="css has no reading"):
            added(connection, "7.1.1 c", kind="house_rule", reading=wrong)
    added(connection, "7.1.1 c", kind="house_rule", reading="css-12:b")
    with pytest.raises(SightlineError, match="reads css-12 as b in these days"):
        added(connection, "7.1", "Other.", kind="house_rule", reading="css-12:a")


# Edited with history, withdrawn


def test_an_edit_keeps_what_was_said_before(connection: Connection) -> None:
    first = added(connection, "8.6", "One shot.")
    errata.edit_erratum(connection, first.id, effect="Two shots.")
    now = errata.edit_erratum(connection, first.id, source="a sheet", ends=DAY("2030-01-01"))
    assert (now.effect, now.source, now.edits) == ("Two shots.", "a sheet", 2)
    told = errata.history(connection, first.id)
    assert [(old.n, old.effect, old.source) for old in told.before] == [
        (1, "One shot.", "a test"),
        (2, "Two shots.", "a test"),
    ]
    assert errata.edit_erratum(connection, first.id, effect="Two shots.").edits == 2, "nothing is no edit"
    with pytest.raises(SightlineError, match="needs an effect"):
        errata.edit_erratum(connection, first.id, effect=" ")


def test_a_withdrawn_one_holds_on_no_day_and_is_kept(connection: Connection) -> None:
    entry = added(connection, "8.6")
    gone = errata.withdraw_erratum(connection, entry.id, "printed by now")
    assert gone.withdrawn
    assert reference.rule(connection, "css", "8.6", as_of=DAY("2021-01-01")).errata == []
    assert errata.errata(connection, "css") == []
    assert [old.withdrawn_why for old in errata.errata(connection, "css", withdrawn=True)] == [
        "printed by now"
    ]
    for refused in (errata.withdraw_erratum, errata.edit_erratum):
        with pytest.raises(SightlineError, match="was withdrawn"):
            refused(connection, entry.id)


# Rulings


def test_a_ruling_names_the_erratum_of_a_rule_that_it_applies(connection: Connection) -> None:
    assert ruled(connection).errata == []
    here, elsewhere = added(connection, "7.1.1", "Paddies are tall."), added(connection, "9.4")
    item, ended = (
        added(connection, "7.1.1 c", "C."),
        added(connection, "7.1.1", "Past.", ends=DAY("2021-01-01")),
    )
    ruling = ruled(connection)
    told = {entry["id"] for entry in ruling.as_dict()["errata"]}
    assert told == {here.id, item.id}
    assert not told & {elsewhere.id, ended.id}
    assert str(erratum_in_words(ruling.errata[0])).startswith(
        f"erratum {here.id} to 7.1.1: Paddies are tall."
    )


def test_an_erratum_of_an_item_bears_on_that_item_alone() -> None:
    entry = errata.Amendment(1, "erratum", "7.1.1", "c", "2020-01-01", "s", "e")
    assert entry.bears_on("7.1.1", "c")
    assert entry.bears_on("7.1.1", None), "a step without an item may be about any"
    assert not entry.bears_on("7.1.1", "b")
    assert not entry.bears_on("7.1.2", "c")
    assert errata.Amendment(1, "erratum", "7.1.1", None, "2020-01-01", "s", "e").bears_on("7.1.1", "b")


def test_a_house_rule_chooses_the_reading_unless_the_case_does(connection: Connection) -> None:
    before = ruled(connection)
    [point] = [entry for entry in before.contested if entry["point"] == "css-12"]
    assert point["decides"]
    other = "b" if point["reading"] == "a" else "a"
    rule = added(connection, "7.1.1 c", kind="house_rule", reading=f"css-12:{other}")
    after = ruled(connection)
    assert after.answer["visible"] is not before.answer["visible"]
    [touched] = [entry for entry in after.contested if entry["point"] == "css-12"]
    assert (touched["reading"], touched["house_rule"]) == (other, rule.id)
    assert f"by house rule {rule.id}" in str(point_in_words("css", touched))
    assert rule.id in {entry["id"] for entry in after.errata}
    chosen = ruled(connection, PADDIES + f"policy: {{css-12: {point['reading']}}}\n")
    assert chosen.answer == before.answer
    assert "house_rule" not in next(entry for entry in chosen.contested if entry["point"] == "css-12")
    errata.withdraw_erratum(connection, rule.id)
    assert ruled(connection).answer == before.answer


def test_a_kept_ruling_keeps_what_changed_its_rules(connection: Connection) -> None:
    case, [plain] = rule_text(connection, PADDIES, "paddies.yaml")
    save(connection, case, [plain])
    added(connection, "7.1.1", "Paddies are tall.")
    case, [changed] = rule_text(connection, PADDIES, "paddies.yaml")
    save(connection, case, [changed])
    assert plain.id != changed.id, "another ruling, beside the first"
    assert plain.id
    assert changed.id
    for kept, count in ((plain.id, 0), (changed.id, 1)):
        row = saved_ruling(connection, kept)
        assert row is not None
        assert len(as_ruled(row).errata) == count


def test_a_game_keeps_the_readings_that_held_when_it_began(connection: Connection) -> None:
    point = next(point for point in read_ruleset("fpb").contested if len(point.readings) > 1)
    other = next(letter for letter in point.readings if letter != point.default)
    rule = errata.add_erratum(
        connection,
        "fpb",
        "8.2.2",
        effect="So.",
        source="us",
        since=TODAY,
        kind="house_rule",
        reading=f"{point.id}:{other}",
    )
    assert begin(connection, "engebi").policy[point.id] == other
    errata.withdraw_erratum(connection, rule.id)
    assert begin(connection, "engebi").policy.get(point.id) != other


# Searches, pages, commands


def test_errata_are_searched_and_flagged(connection: Connection) -> None:
    assert reference.search(connection, "quicksand", "css").hits == []
    added(connection, "8.6", "Quicksand swallows the shooter.")
    [hit] = reference.search(connection, "quicksand", "css").hits
    assert (hit.number, hit.errata) == ("8.6", 1)
    assert "‹Quicksand›" in hit.headline
    unchanged = next(hit for hit in reference.search(connection, "rout", "css").hits if hit.number == "8.5.1")
    assert unchanged.errata == 0


@pytest.fixture
def site(databases: Databases) -> FlaskClient:
    engine: Engine = make_engine(databases.make())
    return create_app(Settings(log_level="error"), web_engine(engine)).test_client()


def test_an_erratum_is_written_edited_and_withdrawn_on_pages(site: FlaskClient) -> None:
    assert "enter an erratum" in site.get("/rules/css/7.1.1").text
    assert "item c" in site.get("/rules/css/7.1.1/errata/new").text
    form = {
        "kind": "house_rule", "clause": "c", "effect": "Paddies <never> block.", "source": "our club",
        "since": "2024-05-01", "ends": "", "reading": "css-12:b",
    }  # fmt: skip
    refused = site.post("/rules/css/7.1.1/errata/new", data=form | {"source": ""})
    assert refused.status_code == 422
    assert "needs an effect and a source" in refused.text
    assert "Paddies &lt;never&gt; block." in refused.text, "what was filled in is still there"
    entered = site.post("/rules/css/7.1.1/errata/new", data=form)
    assert (entered.status_code, entered.location) == (303, "/rules/css/7.1.1#erratum-1")
    page = site.get("/rules/css/7.1.1").text
    assert page.index("In our words") < page.index('id="erratum-1"') < page.index("Referred to by")
    assert "House rule to c" in page
    assert "reads css-12 as b" in page
    assert site.post("/rules/errata/1", data=form | {"effect": "They never do."}).status_code == 303
    edited = site.get("/rules/errata/1").text
    assert "Paddies &lt;never&gt; block." in edited
    assert "said so until" in edited
    assert "They never do." in site.get("/rules/css/errata").text
    told = site.get("/api/v1/rules/css/errata/1").get_json()
    assert [old["effect"] for old in told["before"]] == ["Paddies <never> block."]
    assert site.post("/rules/errata/1/withdraw", data={"why": "enough"}).status_code == 303
    assert "withdrawn" in site.get("/rules/errata/1").text
    assert 'id="erratum-1"' not in site.get("/rules/css/7.1.1").text
    assert site.get("/rules/errata/99").status_code == 404
    stranger = {"Sec-Fetch-Site": "cross-site"}
    assert site.post("/rules/css/7.1.1/errata/new", data=form, headers=stranger).status_code == 403


def test_a_ruling_on_a_page_links_the_erratum(site: FlaskClient) -> None:
    form = {"kind": "erratum", "effect": "Tall.", "source": "s", "since": "2024-05-01"}
    site.post("/rules/css/7.1.1/errata/new", data=form)
    answer = site.post("/api/v1/rulings", data=PADDIES, content_type="application/yaml").get_json()
    assert answer[0]["errata"][0]["effect"] == "Tall."
    page = site.get(f"/rulings/{answer[0]['ruling']}").text
    assert 'href="/rules/css/7.1.1#erratum-1"' in page


def test_a_ruling_on_a_page_links_the_charts_of_the_rules_that_it_applied(site: FlaskClient) -> None:
    march = PADDIES[: PADDIES.index("ask:")] + (
        'units: [{id: A, side: us, at: "20.10", mobility: leg, movement: 5, posture: column}]\n'
        'ask: [move: {unit: A, path: ["20.11", "20.12"]}]\n'
    )
    [answer, *_] = site.post("/api/v1/rulings", data=march, content_type="application/yaml").get_json()
    page = site.get(f"/rulings/{answer['ruling']}").text
    assert 'href="/rules/css/charts/terrain_types"' in page[page.index("Charts of these rules") :]


def test_a_rule_links_the_rulings_that_applied_it(site: FlaskClient) -> None:
    [answer, *_] = site.post("/api/v1/rulings", data=PADDIES, content_type="application/yaml").get_json()
    rule = site.get("/rules/css/7.1.1").text
    assert "Rulings that applied it" in rule
    assert f'href="/rulings/{answer["ruling"]}"' in rule


def test_the_list_tells_source_and_day_and_what_is_read_otherwise(site: FlaskClient) -> None:
    form = {
        "kind": "house_rule",
        "effect": "Never.",
        "source": "our club",
        "since": "2024-05-01",
        "reading": "css-12:b",
        "clause": "c",
    }
    site.post("/rules/css/7.1.1/errata/new", data=form)
    listed = site.get("/rules/css/errata").text
    for words in ("Never.", "house rule, our club", "2024-05-01", "reads css-12 as b"):
        assert words in listed, words


def test_the_list_leads_to_the_form_of_any_rule(site: FlaskClient) -> None:
    assert 'action="/rules/css/errata/new"' in site.get("/rules/css/errata").text
    begun = site.get("/rules/css/errata/new", query_string={"rule": "7,1,2 b"})
    assert (begun.status_code, begun.location) == (303, "/rules/css/7.1.2%20b/errata/new")
    assert '<option value="b" selected>' in site.get(begun.location).text
    form = {"kind": "erratum", "effect": "Seven.", "source": "s", "since": "2024-05-01"}
    for clause, kept in (("b", "b"), ("", None), ("c", "c")):  # the form's word, not the address's
        entered = site.post(begun.location, data=form | {"clause": clause, "effect": f"Seven {clause}."})
        assert entered.status_code == 303
        told = site.get("/api/v1/rules/css/errata").get_json()
        assert {entry["effect"]: entry["clause"] for entry in told["errata"]}[f"Seven {clause}."] == kept
    unknown = site.get("/rules/css/errata/new", query_string={"rule": "7.1.9<"})
    assert unknown.status_code == 404
    assert "css has no rule 7.1.9&lt;." in unknown.text
    assert 'value="7.1.9&lt;"' in unknown.text, "what was typed is still there"
    assert site.get("/rules/css/errata/new").status_code == 404
    assert site.get("/rules/xyz/errata/new", query_string={"rule": "1"}).status_code == 404


def test_pages_refuse_what_is_not_there_and_what_is_there_already(site: FlaskClient) -> None:
    form = {"kind": "erratum", "effect": "Tall.", "source": "s", "since": "2024-05-01"}
    assert site.get("/rules/css/7.1.9/errata/new").status_code == 404
    assert site.post("/rules/css/8.6/errata/new", data=form | {"clause": "b"}).status_code == 422
    assert site.post("/rules/css/7.1.1/errata/new", data=form).status_code == 303
    twice = site.post("/rules/css/7.1.1/errata/new", data=form)
    assert twice.status_code == 422
    assert "Erratum 1 says the same of css 7.1.1" in twice.text
    wrong = site.post("/rules/css/7.1.1/errata/new", data=form | {"reading": "css-12:b"})
    assert "An erratum chooses no reading" in wrong.text


def test_hits_on_pages_and_in_the_api_are_flagged(site: FlaskClient) -> None:
    form = {
        "kind": "erratum",
        "effect": "Quicksand swallows the shooter.",
        "source": "s",
        "since": "2024-05-01",
    }
    site.post("/rules/css/8.6/errata/new", data=form)
    told = site.get("/api/v1/rules/search", query_string={"q": "quicksand"}).get_json()
    assert [(hit["number"], hit["errata"]) for hit in told["hits"]] == [("8.6", 1)]
    assert "changed" in site.get("/rules/search", query_string={"q": "quicksand"}).text


@pytest.fixture
def sightline(databases: Databases) -> CommandLine:
    return CommandLine(databases.make())


def test_the_command_line_edits_and_tells_the_history(sightline: CommandLine) -> None:
    entered = sightline(
        "rules", "errata", "add", "css", "7.1.2b", "--source", "s", "--effect", "One.", "--json"
    ).json
    id = str(entered["id"])
    assert entered["clause"] == "b"
    sightline("rules", "errata", "edit", id, "--effect", "Two.")
    told = sightline("rules", "errata", "history", id, "--json").json
    assert ([old["effect"] for old in told["before"]], told["now"]["effect"]) == (["One."], "Two.")
    shown = sightline("rules", "show", "css", "7.1.2").out
    assert f"erratum {id} to b since" in shown
    sightline("rules", "errata", "withdraw", id, "--why", "enough")
    assert "withdrawn" in sightline("rules", "errata", "list", "css", "--withdrawn").out
