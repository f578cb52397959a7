"""Games on the command line: every command, what it tells, how it ends, and the page that shows them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from command_line import CommandLine, Told
from sqlalchemy.engine import URL

from app.play.actions import actions_of
from app.play.dice import commitment, read_seed
from app.play.sequence import State, walk_of
from db.database import make_engine
from importers.demo.load import add_demo
from tests.conftest import ROOT, Databases

SEED = ("--seed", "a game for tests")
SET_UP = [name for name in walk_of("fpb").actions(State({})) if name in actions_of("fpb")]


@pytest.fixture(scope="module")
def demo(databases: Databases) -> URL:
    """A database with the demo, to be cloned: whoever connects to it would be in the way."""
    url = databases.make()
    engine = make_engine(url)
    with engine.begin() as connection:
        add_demo(connection, lambda told: None)
    engine.dispose()
    return url


@pytest.fixture
def sightline(demo: URL, databases: Databases) -> Iterator[CommandLine]:
    return CommandLine(databases.make(template=demo.database))  # type: ignore[return-value]


@pytest.fixture
def game(sightline: CommandLine) -> CommandLine:
    assert sightline("game", "new", "tanaro-assault", "--name", "tanaro", *SEED).status == 0
    return sightline


def refused(told: Told, *words: str, status: int = 2) -> None:
    assert told.status == status, (told.out, told.err)
    for word in words:
        assert word in told.err + told.out


# Beginning


def test_a_game_begins_from_a_saved_position(sightline: CommandLine) -> None:
    told = sightline("game", "new", "tanaro-assault", "--seat", "us=Anna", "--seat", "japan=Ben", *SEED)
    assert told.lines == [
        "tanaro-assault-1: East from the airstrip",
        f"  the seed's SHA-256 is {commitment(read_seed('a game for tests'))}",
        "  now: set up",
        f"  next: {', '.join(SET_UP)}",
    ]
    again = sightline("game", "new", "tanaro-assault", "--dice", "typed", "--json").json
    assert (again["game"], again["dice"]) == ("tanaro-assault-2", "typed")
    assert "seed_sha256" not in again
    shown = sightline("game", "show", "tanaro-assault-1", "--json").json
    assert shown["seats"] == {"japan": "Ben", "us": "Anna"}
    assert "seed" not in shown
    assert [one["game"] for one in sightline("game", "list", "--json").json] == [
        "tanaro-assault-2",
        "tanaro-assault-1",
    ]
    assert sightline("game", "list", "--ruleset", "css").out == ""


def test_a_game_that_cannot_begin_says_why(game: CommandLine) -> None:
    refused(game("game", "new", "tanaro-asault"), "no position and no scenario", "Is it tanaro-assault?")
    refused(game("game", "new", "tanaro-assault", "--name", "tanaro"), "There is a game 'tanaro' already")
    refused(game("game", "new", "tanaro-assault", "--name", "Ta naro"), "cannot be the name of a game")
    refused(game("game", "new", "tanaro-assault", "--seat", "germany=X"), "no seat 'germany'", "us, japan")
    refused(
        game("game", "new", "tanaro-assault", "--dice", "typed", "--seed", "x"), "Typed dice have no seed"
    )
    refused(game("game", "new", "nowhere.yaml"), "nowhere.yaml")
    refused(game("game", "new", "tanaro-assault", "--option", "mode=solitaire"), "has no options")
    assert len(game("game", "list", "--json").json) == 1


def test_the_position_that_a_game_began_from_stays_and_is_alone_in_the_list(game: CommandLine) -> None:
    before = game("positions", "show", "tanaro-assault", "--json").json
    listed = game("positions", "list", "--json").json
    effects = "{effects: [{unit: 1/161, at: 0914}]}"
    assert game("game", "act", "tanaro", "set", effects, "--note", "agreed").status == 0
    assert game("positions", "show", "tanaro-assault", "--json").json == before
    assert game("positions", "list", "--json").json == listed
    assert "tanaro" not in {entry["name"] for entry in listed}


def test_a_game_begins_from_a_scenario_with_its_options(sightline: CommandLine) -> None:
    told = sightline("game", "new", "angaur", "--option", "mode=solitaire", "--json").json
    assert (told["game"], told["scenario"], told["house"]) == ("angaur-1", "angaur", True)
    [begun] = sightline("game", "log", "angaur-1", "--json").json
    assert begun["arguments"]["setup"]
    assert sightline("game", "new", "angaur", "--json").json["game"] == "angaur-2"
    refused(sightline("game", "new", "angaur", "--option", "mode=alone"), "'alone' is no mode")
    assert "angaur" not in {entry["name"] for entry in sightline("positions", "list", "--json").json}


def test_random_play_of_what_cannot_begin_is_one_error_and_no_broken_games(
    sightline: CommandLine, tmp_path: Path
) -> None:
    told = sightline("game", "fuzz", "nowhere", "--folder", str(tmp_path))
    refused(told, "no position and no scenario 'nowhere'", "orote", "angaur")
    assert "game 1" not in told.out + told.err
    told = sightline("game", "fuzz", "angaur", "--option", "mode=alone", "--folder", str(tmp_path))
    refused(told, "'alone' is no mode")
    assert list(tmp_path.iterdir()) == []


# Acting


def test_what_happened_is_told_like_a_ruling(game: CommandLine) -> None:
    told = game("game", "act", "tanaro", "end_phase")
    assert told.status == 0
    assert told.lines == [
        "2 referee end_phase: The support fire phase begins",
        "  4.1: begins: Support Fire Phase",
        "  effect conditions turn 1, phase support_fire, no active",
        "  now: turn 1, support fire",
        "  next: end_phase",
    ]
    data = game("game", "act", "tanaro", "end_phase", "--as", "us", "--json").json
    assert data["event"]["verdict"] == "The movement phase begins"
    assert data["now"] == {"turn": 1, "phase": "movement", "active": "us"}
    # now it is somebody's phase, and that side is meant where nobody is named
    stood = game("game", "act", "tanaro", "end_phase", "--stands", "illegal_stood", "--json").json
    assert stood["event"]["actor"] == "us"


def test_what_the_rules_do_not_allow_is_told_with_its_rule_and_ends_with_1(game: CommandLine) -> None:
    for _ in range(2):
        game("game", "act", "tanaro", "end_phase")
    told = game("game", "act", "tanaro", "end_phase", "--as", "japan")
    refused(told, "japan does not act now", "  5.1: refused: the Movement Phase is us's", status=1)
    refused(
        game("game", "act", "tanaro", "end_phase", "--as", "japan", "--json"), '"steps"', '"5.1"', status=1
    )
    assert game("game", "show", "tanaro", "--json").json["events"] == 3
    stood = game("game", "act", "tanaro", "end_phase", "--as", "japan", "--stands", "illegal_stood")
    assert "[against the rules, and it stood]" in stood.out


def test_what_cannot_be_done_is_told_and_ends_with_2(game: CommandLine) -> None:
    refused(game("game", "act", "tanaro", "end_fase"), "no action 'end_fase'", "Is it end_phase?")
    refused(game("game", "act", "tanarro", "end_phase"), "no game 'tanarro'", "Is it tanaro?")
    refused(game("game", "act", "tanaro", "end_phase", "[1]"), "no mapping", "as a case file does")
    refused(game("game", "act", "tanaro", "end_phase", "{a: b: c}"), "ARGUMENTS:1: not YAML")
    refused(game("game", "act", "tanaro", "end_phase", "{by: [x]}"), "unknown", "by")
    refused(game("game", "act", "tanaro", "end_phase", "--as", "nobody"), "'nobody' does not act")
    refused(game("game", "act", "tanaro", "end_phase", "--expect", 7), "no event 7 yet; its last is 1")
    refused(game("game", "act", "tanaro", "end_phase", "{rolls: [1]}", "--roll", 2), "told twice")
    refused(game("game", "act", "tanaro", "end_phase", "--roll", 2), "1 roll too many: 2")
    refused(game("game", "answer", "tanaro", "--roll", 2), "Nothing in tanaro waits for an answer")
    refused(game("game", "abandon", "tanaro", "--note", "x"), "Nothing in tanaro waits for an answer")
    assert game("game", "show", "tanaro", "--json").json["events"] == 1


@pytest.mark.parametrize(
    ("effects", "word"),
    [
        ('[{unit: 1/161, at: "9999"}]', "there is no hex 9999"),
        ("[{unit: nobody, depleted: true}]", "there is no unit nobody"),
        ("[{unit: 1/161, attack: lots}]", "attack"),
        ("[{unit: 1/161, speed: 3}]", "speed"),
        ("[{conditions: {turn: soon}}]", "turn"),
        ("[]", "takes a list of effects"),
    ],
)
def test_what_cannot_be_set_by_hand_is_told(game: CommandLine, effects: str, word: str) -> None:
    refused(game("game", "act", "tanaro", "set", f"{{effects: {effects}}}", "--note", "x"), word)
    assert game("game", "verify", "tanaro").status == 0
    assert game("game", "show", "tanaro", "--json").json["events"] == 1


def test_a_label_that_is_written_as_a_number_is_a_label(game: CommandLine) -> None:
    effects = "{effects: [{unit: 1/161, at: 1113}, {marker: captured, at: 1113}]}"
    told = game("game", "act", "tanaro", "set", effects, "--note", "agreed")
    assert told.status == 0, told.err
    assert (
        "2 referee set: The referee sets unit 1/161, at 1113 and marker captured, at 1113  [overruled]"
        in told.out
    )
    assert game("game", "act", "tanaro", "end_phase").status == 0
    units = {unit["id"]: unit for unit in game("game", "at", "tanaro", 2, "--json").json["units"]}
    assert units["1/161"]["at"] == "1113"
    assert game("game", "verify", "tanaro").status == 0


def test_a_request_with_the_same_key_is_done_once(game: CommandLine) -> None:
    first = game("game", "act", "tanaro", "end_phase", "--key", "k1", "--json").json
    again = game("game", "act", "tanaro", "end_phase", "--key", "k1", "--json")
    # on turn is the same, since the support fire phase is nobody's
    assert again.json == first | {"repeated": True}
    assert "answered before" in game("game", "act", "tanaro", "end_phase", "--key", "k1").err
    assert game("game", "undo", "tanaro", "--key", "k2").status == 0
    assert game("game", "undo", "tanaro", "--key", "k2", "--json").json["repeated"]
    assert game("game", "redo", "tanaro", "--key", "k3").status == 0
    assert game("game", "redo", "tanaro", "--key", "k3", "--json").json["repeated"]


def test_an_action_that_lacks_a_roll_waits_for_it(sightline: CommandLine) -> None:
    sightline("game", "new", "tanaro-assault", "--name", "tanaro", "--dice", "typed")
    march = '{effects: [{unit: 1/161, at: "0914"}, {conditions: {turn: 1, phase: combat, active: us}}]}'
    assert sightline("game", "act", "tanaro", "set", march, "--note", "here we begin").status == 0
    attack = ("game", "act", "tanaro", "attack", '{by: [1/161], at: "1014"}')
    told = sightline(*attack)
    assert told.status == 0
    assert told.lines[0] == "attack waits for the roll 1d6 (the attack) in attack"
    assert told.lines[1].startswith("  so far: ")
    assert sightline("game", "show", "tanaro", "--json").json["actions"] == ["answer"]
    assert "waits for the roll 1d6" in sightline("game", "legal", "tanaro").out
    refused(sightline("game", "act", "tanaro", "end_phase"), "waits for the roll 1d6", "abandon")
    refused(sightline("game", "answer", "tanaro", "--roll", 9), "shows 1 to 6, never 9")
    refused(sightline("game", "answer", "tanaro", "--roll", 5, "--as", "japan"), "for us to answer")
    abandoned = sightline("game", "abandon", "tanaro", "--note", "the wrong hex")
    assert abandoned.lines[0] == "3 referee abandon: The referee abandons attack"
    sightline(*attack)
    done = sightline("game", "answer", "tanaro", "--roll", 5)
    assert done.lines[0].startswith("4 us attack: The attack on 1014")
    assert "  rolled 1d6 for the attack: 5 (typed)" in done.lines
    assert sightline("game", "verify", "tanaro").status == 0


def test_every_action_of_a_scenario_is_told_in_a_sentence_of_its_own(sightline: CommandLine) -> None:
    sightline("game", "new", "angaur", "--name", "angaur", "--seed", "x")
    for _ in range(10):
        first = sightline("game", "legal", "angaur", "--json").json["actions"][0]
        told = sightline("game", "act", "angaur", first["action"], json.dumps(first["arguments"]))
        assert told.status == 0, told.err
    log = sightline("game", "log", "angaur", "--json").json
    assert {"assault_boats", "placement", "end_phase", "landing"} <= {event["action"] for event in log}
    # told key by key, an answer says whether it is allowed
    assert [event["verdict"] for event in log if "allowed" in event["verdict"]] == []
    assert sightline("game", "verify", "angaur").status == 0


# Looking and taking back


def test_the_log_is_a_line_an_event_and_its_rules_where_wanted(game: CommandLine) -> None:
    game("game", "act", "tanaro", "end_phase", "--note", "all is set up")
    game("game", "act", "tanaro", "end_phase")
    game("game", "undo", "tanaro", "--note", "too early")
    game("game", "note", "tanaro", 2, "a good beginning", "--author", "Anna")
    assert game("game", "log", "tanaro").lines == [
        "1 referee begin: The game begins from a position on tanaro-island; the server rolls",
        "2 referee end_phase: The support fire phase begins",
        "3 referee end_phase: The movement phase begins  [taken back by 4]",
        "4 referee undo: Takes back event 3",
    ]
    told = game("game", "log", "tanaro", "-v", "--first", 2, "--last", 2).lines
    assert "  4.1: begins: Support Fire Phase" in told
    assert "  note all is set up" in told
    assert told[-1] == "  said by Anna: a good beginning"
    data = game("game", "log", "tanaro", "--json").json
    assert [event.get("struck_out_by") for event in data] == [None, None, 4, None]
    assert data[1]["annotations"][0]["text"] == "a good beginning"
    redone = game("game", "redo", "tanaro")
    assert redone.lines[0] == "5 referee redo: Does again what was undone by event 4"
    refused(game("game", "redo", "tanaro"), "is no undo")
    refused(game("game", "undo", "tanaro", "--events", 9), "can be taken back, not 9")
    refused(game("game", "undo", "tanaro", "--free-dice", "--as", "us"), "Only the referee frees dice")
    refused(game("game", "undo", "tanaro", "--as", "nobody"), "'nobody' does not act")
    refused(game("game", "note", "tanaro", 2, "x", "--ruling", "none"), "There is no ruling 'none'")
    refused(game("game", "note", "tanaro", 99, "x"), "no event 99")


def test_a_moment_can_be_looked_at_and_asked(game: CommandLine) -> None:
    effects = '{effects: [{unit: 1/161, at: "0914"}]}'
    game("game", "act", "tanaro", "set", effects, "--note", "a long march")
    question = "{range: {from: 1/161, to: I/41}}"
    then = game("game", "at", "tanaro", 1, "--ask", question, "--json").json
    now = game("game", "at", "tanaro", "--ask", question, "--json").json
    assert (then["answer"]["range"], now["answer"]["range"]) == (2, 1)
    assert (then["after"], now["after"]) == (1, 2)
    assert "range 2" in game("game", "at", "tanaro", 1, "--ask", question).out or then["verdict"]
    told = game("game", "at", "tanaro", 1)
    assert "after\t1" in told.lines
    assert any(line.startswith("1/161\tus\tinfantry\t0815") for line in told.lines)
    refused(game("game", "at", "tanaro", 9), "no event 9", "1 to 2")
    refused(game("game", "at", "tanaro", "--ask", "{range: {from: 1/999, to: I/41}}"), "1/999")
    refused(game("game", "at", "tanaro", "--ask", "range"), "no mapping")


def test_what_may_be_done_now_can_be_entered_as_it_stands(sightline: CommandLine) -> None:
    sightline("game", "new", "tanaro-assault", "--name", "tanaro")
    conditions = "{effects: [{conditions: {turn: 2, phase: movement, active: us}}]}"
    sightline("game", "act", "tanaro", "set", conditions, "--note", "here we begin")
    told = sightline("game", "legal", "tanaro", "--unit", "1/161", "--json").json
    assert {"move", "end_phase"} <= set(told["names"])
    offered = [one for one in told["actions"] if one["action"] == "move"]
    assert offered
    [line, *_] = [line for line in sightline("game", "legal", "tanaro").lines if line.startswith("move ")]
    action, _, arguments = line.partition(" ")
    assert sightline("game", "act", "tanaro", action, arguments).status == 0
    refused(sightline("game", "legal", "tanaro", "--unit", "9/9"), "9/9")
    refused(sightline("game", "legal", "tanaro", "--side", "germany"), "germany")


def test_a_game_is_branched_off_and_deleted(game: CommandLine) -> None:
    game("game", "act", "tanaro", "end_phase")
    told = game("game", "fork", "tanaro", 1, "tanaro-b")
    assert told.lines == [
        "tanaro-b: East from the airstrip, from event 1",
        "  now: set up",
        f"  next: {', '.join(SET_UP)}",
    ]
    refused(game("game", "fork", "tanaro", 7, "tanaro-c"), "no event 7")
    refused(game("game", "fork", "tanaro", 1, "tanaro-b"), "already")
    assert game("game", "delete", "tanaro", typed="n\n").status == 2
    assert game("game", "delete", "tanaro", "--yes").status == 0
    assert [one["game"] for one in game("game", "list", "--json").json] == ["tanaro-b"]
    refused(game("game", "delete", "tanaro", "--yes"), "no game 'tanaro'")


# Proof and records


def test_a_game_is_verified_and_what_was_bent_ends_with_1(game: CommandLine) -> None:
    game("game", "act", "tanaro", "end_phase")
    assert game("game", "verify", "tanaro").lines == ["tanaro: all holds; 2 events; the seed is sealed"]
    with game.engine() as engine, engine.begin() as connection:
        connection.execute(sa.text("alter table event disable trigger immutable"))
        connection.execute(sa.text("update event set actor = 'japan' where number = 2"))
    told = game("game", "verify", "tanaro")
    refused(told, "something does not hold", "event 2 was changed", status=1)


def test_a_game_is_ruled_again(game: CommandLine) -> None:
    game("game", "act", "tanaro", "end_phase")
    told = game("game", "readjudicate", "tanaro")
    assert (told.status, told.lines) == (0, ["tanaro: no events of 2 would be ruled otherwise"])
    refused(game("game", "readjudicate", "tanaro", "--policy", "fpb-999=a"), "no contested point 'fpb-999'")
    refused(game("game", "readjudicate", "tanaro", "--policy", "fpb-9=z"), "has no reading 'z'")
    with game.engine() as engine, engine.begin() as connection:
        connection.execute(sa.text("alter table event disable trigger immutable"))
        connection.execute(sa.text("update event set answer = '{}' where number = 2"))
    refused(game("game", "readjudicate", "tanaro"), "1 event of 2", "event 2, end_phase: answer", status=1)


def test_a_title_of_two_lines_breaks_no_record(sightline: CommandLine, tmp_path: Path) -> None:
    sightline("game", "new", "tanaro-assault", "--name", "tanaro", "--title", "East\nand west")
    file = tmp_path / "tanaro.txt"
    assert sightline("game", "export", "tanaro", file).status == 0
    assert sightline("game", "import", file, "--name", "copy", "--json").json["title"] == "East and west"


def test_a_record_goes_to_a_file_and_comes_back(game: CommandLine, tmp_path: Path) -> None:
    game("game", "act", "tanaro", "end_phase")
    file = tmp_path / "tanaro.txt"
    assert game("game", "export", "tanaro", file).status == 0
    assert game("game", "export", "tanaro").out == file.read_text()
    refused(game("game", "export", "tanaro", file), "exists already", "--force")
    refused(game("game", "import", file), "There is a game 'tanaro' already")
    told = game("game", "import", file, "--name", "copy")
    assert told.lines == ["copy: East from the airstrip; 2 events, all of which hold"]
    shown = [game("game", "show", name, "--json").json["digest"] for name in ("tanaro", "copy")]
    assert shown[0] == shown[1]


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("Ruleset   fpb", "Ruleset   xyz", "Ruleset is 'xyz'"),
        ("Dice      server", "Dice      loaded", "Dice is 'loaded'"),
        ("Dice      server", "Dice      server\nSeed      zz", "Seed is not 64 hexadecimal digits"),
        ("Dice      server", "Dice      server\nSeats     [1]", "Seats is no JSON object"),
        ('   at: "', '   when: "', "The record cannot be read"),
        ('{"units": {', '{"unitz": {', "The record was not brought in"),
        ('   at: "2', '   at: "x2', "The record was not brought in"),
    ],
)
def test_a_record_that_was_bent_is_refused(
    game: CommandLine, tmp_path: Path, old: str, new: str, word: str
) -> None:
    text = game("game", "export", "tanaro").out
    assert old in text
    file = tmp_path / "bent.txt"
    file.write_text(text.replace(old, new, 1))
    refused(game("game", "import", file, "--name", "bent"), word)
    assert len(game("game", "list", "--json").json) == 1


# What is beside


def test_a_map_on_which_a_game_is_played_stays(game: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "island.yaml"
    assert game("export", "map", "tanaro-island", file).status == 0
    word = "games are played that would be lost: tanaro"
    refused(game("maps", "delete", "tanaro-island", "--with-positions", "--yes"), word, "game delete")
    refused(game("import", "map", file, "--replace"), word)
    assert game("maps", "show", "tanaro-island", "--json").json["positions"] == ["tanaro-assault"]
    game("game", "delete", "tanaro", "--yes")
    assert game("maps", "delete", "tanaro-island", "--with-positions", "--yes").status == 0


def test_a_game_survives_a_backup(game: CommandLine, tmp_path: Path) -> None:
    game("game", "act", "tanaro", "end_phase")
    before = game("game", "show", "tanaro", "--json").json
    file = tmp_path / "games.dump"
    assert game("db", "backup", file).status == 0
    game("game", "delete", "tanaro", "--yes")
    told = game("db", "restore", file, "--yes")
    assert told.status == 0, told.err
    assert game("game", "show", "tanaro", "--json").json == before
    assert game("game", "verify", "tanaro").status == 0
    assert game("game", "act", "tanaro", "end_phase").status == 0


# The page

PAGE = (
    (ROOT / "docs" / "games.md").read_text(encoding="utf-8") if (ROOT / "docs" / "games.md").exists() else ""
)


def transcript() -> list[tuple[str, list[str]]]:
    """The commands that the page shows, each with what it prints."""
    shown: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                shown.append((line.removeprefix("$ ./sightline "), []))
            else:
                shown[-1][1].append(line)
    return shown


def is_like(shown: list[str], printed: list[str]) -> bool:
    """Whether it is what the page shows; … stands for what differs from time to time."""
    pattern = re.escape("\n".join(shown)).replace("…", ".*?")
    return re.fullmatch(pattern, "\n".join(printed), re.DOTALL) is not None


def test_the_page_shows_what_the_commands_print(
    sightline: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = transcript()
    assert len(commands) > 8
    for command, shown in commands:
        told = sightline(*shlex.split(command))
        assert is_like(shown, told.lines), f"{command}\n{told.out}{told.err}"
