"""Searching the rules: sixty things players type, and what no query may do."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.engine import Connection

from db import reference
from db.measuring import measure, read_queries
from db.reference import NotInReference
from db.rulesets import CODES, read_ruleset
from importers.rulebook_import import import_rulebook

SEARCHES = yaml.safe_load((Path(__file__).parent / "data" / "searches.yaml").read_text(encoding="utf-8"))[
    "searches"
]


def found(connection: Connection, words: str, ruleset: str | None = None, limit: int = 10) -> list[str]:
    hits = reference.search(connection, words, ruleset, limit).hits
    return [f"{hit.ruleset} {hit.number}" for hit in hits]


def test_there_are_sixty_searches_over_all_games() -> None:
    assert len(SEARCHES) >= 60
    assert {rule.split()[0] for item in SEARCHES for rule in item["expect"]} == set(CODES)


@pytest.mark.parametrize("item", SEARCHES, ids=[f"{i['query']}-{i.get('ruleset', 'all')}" for i in SEARCHES])
def test_the_first_answer_is_a_good_one(connection: Connection, item: dict[str, object]) -> None:
    hits = found(connection, str(item["query"]), item.get("ruleset"))  # type: ignore[arg-type]
    within = int(item.get("within", 1))  # type: ignore[call-overload]
    assert set(hits[:within]) & set(item["expect"]), hits[:5]  # type: ignore[call-overload]


def test_the_first_answers_stay_good_beside_imported_texts(connection: Connection, rulebooks: Path) -> None:
    for code in CODES:
        import_rulebook(connection, code, next(rulebooks.glob(f"{code}-*.txt")))
    worse = [
        (item["query"], hits[:3])
        for item in SEARCHES
        if (hits := found(connection, item["query"], item.get("ruleset"))) and hits[0] not in item["expect"]
    ]
    assert worse == []


def test_words_of_an_imported_text_are_found_and_shown(connection: Connection) -> None:
    assert found(connection, "wicks lantern") == []
    import_rulebook(connection, "css", Path(__file__).parent / "data" / "rulebooks" / "css.txt")
    hit = reference.search(connection, "lantern").hits[0]
    assert hit.ruleset == "css"
    assert "‹" in hit.headline
    assert "antern" in hit.headline


def test_a_number_alone_gives_the_rule_and_what_stands_below(connection: Connection) -> None:
    assert found(connection, "css 7.1") == ["css 7.1", "css 7.1.1", "css 7.1.2"]
    assert found(connection, "021") == ["ccp O21"]
    assert {hit.split()[0] for hit in found(connection, "7.1")[:5]} == set(CODES)


def test_a_number_among_words_comes_first(connection: Connection) -> None:
    assert found(connection, "what does css 7.1.2 say on spines")[:2] == ["css 7.1.2", "css 7.1.1"]


def test_a_game_among_the_words_narrows_the_search(connection: Connection) -> None:
    hits = found(connection, "Bob smoke")
    assert hits[0] == "bob 48.0"
    assert {hit.split()[0] for hit in hits} == {"bob"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("LOS", "line of sight"),
        ("opportunity fire", "op fire"),
        ("zone of control", "ZOC"),
        ("Minefield", "mines"),
        ("STACKING", "stacking"),
        ("flame-thrower", "flamethrower"),
    ],
)
def test_other_names_find_the_same(connection: Connection, one: str, other: str) -> None:
    first, second = found(connection, one, limit=5), found(connection, other, limit=5)
    assert len(set(first) & set(second)) >= 2, (first, second)


def test_accents_and_case_do_not_matter(connection: Connection) -> None:
    assert found(connection, "GYOKUSAÏ") == found(connection, "gyokusai") != []


def test_each_letter_more_still_finds_it(connection: Connection) -> None:
    for length in range(4, len("hedgerow") + 1):
        assert found(connection, "hedgerow"[:length], "bob")[0] == "bob 44.0"


def test_words_without_meaning_still_answer(connection: Connection) -> None:
    assert found(connection, "how do I")
    assert found(connection, "the")


def test_nothing_answers_to_nothing(connection: Connection) -> None:
    assert found(connection, "") == found(connection, "  … ?! ") == []


def test_the_headline_marks_the_words(connection: Connection) -> None:
    hit = reference.search(connection, "hidden wire", "ccp").hits[0]
    assert "‹" in hit.headline
    assert hit.headline.count("‹") == hit.headline.count("›")


def test_the_limit_is_kept(connection: Connection) -> None:
    assert len(found(connection, "unit", limit=3)) == 3
    assert found(connection, "unit", limit=50)[:3] == found(connection, "unit", limit=3)


def test_an_unknown_game_is_refused(connection: Connection) -> None:
    with pytest.raises(NotInReference):
        reference.search(connection, "smoke", "xyz")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.one_of(st.text(max_size=60), st.from_regex(r"[\w '\":&|!()<>*\\.%-]{0,50}", fullmatch=True)))
def test_no_query_breaks_the_search(connection: Connection, words: str) -> None:
    for hit in reference.search(connection, words).hits:
        assert hit.number


def test_the_vocabulary_has_no_empty_words(connection: Connection) -> None:
    query = "select count(*) from word where stem = '' or word <> lower(word)"
    assert connection.scalar(sa.text(query)) == 0


# What players type


@pytest.mark.parametrize(
    ("typed", "rule"),
    [
        ("O27-3-1", "ccp O27.3.1"),
        ("o27/3/1", "ccp O27.3.1"),
        ("A-41", "ccp A41"),
        ("t 89 4 1", "ccp T89.4.1"),
        ("ddp 8,65", "ddp 8.65"),
        ("css 7 1 2", "css 7.1.2"),
        ("fpb 8,2,4", "fpb 8.2.4"),
        ("rule 43 4 bob", "bob 43.4"),
        ("what does O27-3-1 say of ordnance", "ccp O27.3.1"),
        ("T/89/4/1", "ccp T89.4.1"),
        ("css 6_2_2", "css 6.2.2"),
        ("ddp 6:31", "ddp 6.31"),
        ("fpb 8;3;1", "fpb 8.3.1"),
        ("css 12 . 4 . 2", "css 12.4.2"),
        ("(8.63)", "ddp 8.63"),
        ("bob sec. 32.1", "bob 32.1"),
        ("chapter 24 css", "css 24.0"),
    ],
)
def test_a_number_is_found_with_any_separator(connection: Connection, typed: str, rule: str) -> None:
    assert found(connection, typed)[0] == rule


@pytest.mark.parametrize("typed", ["odds 3-1 assault", "2 units in 1 hex", "roll 7-9"])
def test_a_number_that_may_be_something_else_is_no_rule(connection: Connection, typed: str) -> None:
    assert reference.search(connection, typed, "css", 1).hits[0].score < 5


def test_what_a_game_does_not_have_is_said_with_what_comes_nearest(connection: Connection) -> None:
    answer = reference.search(connection, "opportunity fire", "fpb")
    assert answer.absent is not None
    assert (answer.absent.concept, answer.absent.games) == ("opportunity_fire", ["bob", "ccp", "css", "ddp"])
    assert [hit.number for hit in answer.hits[:2]] == ["6.1", "6.0"]
    assert reference.search(connection, "fpb reaction fire").absent is not None, "the game among the words"
    assert reference.search(connection, "opportunity fire", "css").absent is None
    assert reference.search(connection, "opportunity fire").absent is None
    assert reference.search(connection, "fire at a moving unit from a landing beach", "fpb").absent is None


@pytest.mark.parametrize(
    ("typed", "game", "rule"),
    [
        ("firelanes", "bob", "43.0"),  # two words in one
        ("handgrenades", "ccp", "A42"),
        ("cross fire", "ccp", "A37"),  # one word in two
        ("counter attack setup", "ddp", "13.41"),
        ("pzfaust", "bob", "33.0"),  # an abbreviation
        ("regt hq", "ddp", "10.2"),
        ("whats a bocage", "bob", "44.0"),  # slang, and words that decide nothing
    ],
)
def test_a_word_is_known_by_its_parts_and_by_other_names(
    connection: Connection, typed: str, game: str, rule: str
) -> None:
    assert found(connection, typed, game, 1) == [f"{game} {rule}"]


def test_weights_are_data_and_every_feature_has_one(connection: Connection) -> None:
    told = connection.execute(
        sa.text(
            "select distinct feature from (values ('smoke through the woods'), ('unused section')) as typed (words),"
            " lateral rules._features(rules._understood(words))"
        )
    ).scalars()
    weights = dict(connection.execute(sa.text("select feature, weight from ranking")).all())  # type: ignore[arg-type]
    assert {"title", "digest", "phrase", "unused"} <= set(told) <= set(weights)
    before = found(connection, "smoke", "bob")
    connection.execute(sa.text("update ranking set weight = -weight"))
    assert found(connection, "smoke", "bob") != before


@pytest.mark.parametrize(
    ("words", "game", "concept"),
    [
        ("which way does a squad face", "ccp", "facing"),
        ("is there overwatch in the enemy turn", "fpb", "opportunity_fire"),
        ("naval gunfire from cruisers", "bob", "naval_fire"),
    ],
)
def test_what_a_game_lacks_is_told_though_it_is_half_of_the_words(
    connection: Connection, words: str, game: str, concept: str
) -> None:
    lacking = reference.search(connection, words, game).absent
    assert lacking is not None
    assert lacking.concept == concept
    assert game not in lacking.games


def test_a_rule_below_one_that_answers_is_likelier_to(connection: Connection) -> None:
    told = connection.execute(
        sa.text(
            "select rule.number, found.value from rules._features(rules._understood('sealing caves')) as found"
            " join rule on found.id = rule.id where rule.ruleset = 'ccp' and found.feature = 'parent'"
        )
    ).all()
    assert {number for number, _ in told} >= {"F102.1", "F102.2"}
    assert all(0 < value <= 1 for _, value in told)
    before = found(connection, "cave cover", "ccp")
    connection.execute(sa.text("update ranking set weight = 100 * weight where feature = 'parent'"))
    assert found(connection, "cave cover", "ccp") != before


@pytest.mark.parametrize(("name", "least"), [("queries", 300), ("more_queries", 300), ("third_queries", 250)])
def test_the_search_is_measured_on_queries_that_it_was_not_tuned_on(
    connection: Connection, name: str, least: int
) -> None:
    queries = read_queries(Path(__file__).parent / "data" / f"{name}.yaml")
    assert len(queries) >= least
    assert {query.game for query in queries} == set(CODES)
    held = sum(query.part == "held_out" for query in queries)
    assert 0.28 < held / len(queries) < 0.38
    numbers = {(rule.ruleset, rule.number) for code in CODES for rule in rules_in(connection, code)}
    for query in queries:
        named = [(query.game, number) for number in query.want] + [
            (game, number) for game, _, number in (rule.partition(" ") for rule in query.also)
        ]
        assert set(named) <= numbers, query.words
    figures = measure(connection, [query for query in queries if query.game == "fpb"])
    within, over_all = figures.within["held_out"], figures.over_all["held_out"]
    assert figures.within["tuned"] is not None
    assert figures.within["tuned"].first >= 0.75
    assert within is not None
    assert within.first_three >= 0.75
    assert over_all is not None
    assert over_all.reciprocal_rank >= 0.6
    assert all(miss.words for miss in figures.misses)


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parent / "data").glob("*queries.yaml")), ids=lambda path: path.stem
)
def test_queries_name_rules_that_exist_and_the_fifth_repeats_none(path: Path) -> None:
    queries = read_queries(path)
    assert {query.game for query in queries} == set(CODES)
    numbers = {f"{code} {rule.number}" for code in CODES for rule in read_ruleset(code).rules}
    for query in queries:
        assert {f"{query.game} {number}" for number in query.want} | set(query.also) <= numbers, query.words
    if path.stem == "fifth_queries":
        others = [read_queries(other) for other in path.parent.glob("*queries.yaml") if other != path]
        assert not {query.words.lower() for query in queries} & {
            q.words.lower() for file in others for q in file
        }


def test_a_file_may_be_kept_wholly_aside(connection: Connection) -> None:
    queries = read_queries(Path(__file__).parent / "data" / "fourth_queries.yaml")
    assert len(queries) >= 120
    assert {query.game for query in queries} == set(CODES)
    assert {query.part for query in queries} == {"held_out"}
    figures = measure(connection, [query for query in queries if query.game == "fpb"])
    assert figures.within["tuned"] is None
    assert figures.misses == []  # nobody is told what to tune on
    assert figures.within["held_out"] is not None
    assert figures.within["held_out"].first_three >= 0.75


def test_a_word_that_players_say_often_of_a_rule_speaks_for_it(connection: Connection) -> None:
    said = "select share, often from rules._by_phrase((rules._understood('charge')).words) where id = :id"
    rule = connection.scalar(sa.text("select id from rule where ruleset = 'css' and number = '9.6'"))
    share, often = connection.execute(sa.text(said), {"id": rule}).one()
    connection.execute(
        sa.text(
            "insert into synonym (phrase, stems, rule_id, mass)"
            " select 'wild ' || phrase, stems, rule_id, mass from synonym where rule_id = :id"
        ),
        {"id": rule},
    )
    again, oftener = connection.execute(sa.text(said), {"id": rule}).one()
    assert again == share
    assert often < oftener < 1


def rules_in(connection: Connection, code: str) -> list[reference.RuleName]:
    tree = reference.tree(connection, code)
    return [reference.RuleName(ruleset=code, number=rule.number, title=rule.title) for rule in tree.rules]
