"""Combat in fpb: sums and odds against a count by hand, and random attacks that are decided at random to their end."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from sqlalchemy.engine import Connection

from app.play.dice import read_seed
from app.play.effects import inverse
from app.play.games import act, new_game
from app.play.log import Deed
from app.play.procedures import Choose, Draw, Outcome, ProcedureKind, Roll, apply, tried
from app.play.tables import open_game
from app.referee.cases import rule_text
from app.referee.questions import forms, kinds_of
from app.referee.rulings import Asked
from importers.cases import case_of, store_position
from tests.rounds import rounds
from tests.test_movement_fpb import CORNER, SCHEME, bounded, seeds
from tests.test_play import digest, tree

LINES = {
    "mountain": 1,
    "reef": 1,
    "hill_jungle": 2,
    "jungle": 3,
    "hill": 4,
    "marsh": 4,
    "light_jungle": 4,
    "clear": 5,
}
RESULTS = (
    "(A) A3 A2 NE Ex Ex D2 D2 D2 D3 De De De",
    "(A) (A) A3 A2 NE Ex Ex Ex D2 D2 D3 De De",
    "(A) (A) (A) A3 A2 NE Ex Ex Ex D2 D2 D3 De",
    "Ae (A) (A) (A) A3 A2 NE Ex Ex Ex D2 D2 D3",
    "Ae Ae (A) (A) (A) A3 A2 NE Ex Ex Ex D2 D2",
    "Ae Ae Ae (A) (A) (A) (A) A1 NE Ex Ex Ex Ex",
)
TERRAIN = (*("clear",) * 10, *LINES, "sea", "sea")
CHOSEN = ("fpb-3", "fpb-6", "fpb-7", "fpb-9", "fpb-15", "fpb-16", "fpb-17", "fpb-18", "fpb-20", "fpb-30", "fpb-31", "fpb-36", "fpb-37", "fpb-42", "fpb-44")  # fmt: skip


def column(line: int, differential: int) -> int:
    """The column by counting: one a point up to +1, then one for two points; +10 is the last of its line."""
    zero = line + 2
    if differential < 2:
        return max(1, zero + differential)
    return zero + 1 + min(differential, 10) // 2


def chances(line: int, differential: int) -> dict[str, str]:
    found = Counter(row.split()[column(line, differential) - 1] for row in RESULTS)
    return {result: str(Fraction(count, 6)) for result, count in found.items()}


@settings(bounded, max_examples=rounds(50, 500))
@given(seed=seeds)
def test_sums_and_odds_are_what_a_count_by_hand_finds(connection: Connection, seed: int) -> None:
    dice = random.Random(seed)
    terrain = dice.choice([one for one in LINES if one != "reef"])
    attackers = [dice.randint(0, 8) for _ in range(dice.randint(1, 3))]
    defense = dice.randint(0, 9)
    engineer = dice.random() < 0.2
    fortified = dice.random() < 0.4
    fire, cover = ([dice.randint(0, 9) for _ in range(dice.randint(0, 2))] for _ in range(2))
    total = dice.random() < 0.5
    case = f"""
        case: sums
        ruleset: fpb
        policy: {{fpb-31: {"b" if total else "a"}}}
        map: {{extent: ["2008", "2617"], hexes: {{"2312": {terrain}}}}}
        markers: [{'{kind: fortification, at: "2312"}' if fortified else ""}]
        units:
          - {{id: J, side: japan, at: "2312", defense: {defense}}}
          {
        "".join(
            f'''
          - {{id: A{n}, side: us, kind: {"engineer" if engineer and not n else "infantry"}, at: "{at}", attack: {strength}}}'''
            for n, (strength, at) in enumerate(zip(attackers, ("2311", "2412", "2213"), strict=False))
        )
    }
        ask:
          - attack: {{by: [{", ".join(f"A{n}" for n in range(len(attackers)))}], at: J, support: {{attacker: {
        fire
    }, defender: {cover}}}}}
    """
    [ruling] = rule_text(connection, case, "sums.yaml")[1]
    doubled = fortified and not engineer
    if doubled:
        fire = [sum(fire) // 2] if total else [one // 2 for one in fire]
    attack = sum(attackers) + sum(fire)
    against = defense * (2 if doubled else 1) + sum(cover)
    answer = ruling.answer
    assert (answer["attack"], answer["defense"]) == (attack, against)
    assert answer["line"] == LINES[terrain]
    assert answer["column"] == column(LINES[terrain], attack - against)
    assert answer["odds"] == chances(LINES[terrain], attack - against)


class Whim:
    """Dice, draws and decisions at random: one of what is offered, or what may always be answered."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice

    def roll(self, want: Roll) -> Any:
        return self._dice.choice(list(want.falls()))

    def draw(self, want: Draw) -> Any:
        assert want.pool
        return self._dice.choice(list(want.pool))

    def choice(self, want: Choose) -> Any:
        if want.options:
            if want.many:
                return self._dice.sample(list(want.options), self._dice.randint(0, len(want.options)))
            return self._dice.choice(list(want.options))
        assert want.default is not None, f"nobody can answer {want.name}"
        return want.default


def scene(dice: random.Random) -> dict[str, Any]:
    """A position full of neighbours."""
    cells = [(CORNER.q + q, CORNER.r + r - q // 2) for q in range(6) for r in range(6)]
    hexes = {SCHEME.label(cell): dice.choice(TERRAIN) for cell in cells}
    places = list(hexes)
    dice.shuffle(places)
    phase = dice.choice(("combat", "mobile_combat", "bombardment"))
    units: list[dict[str, Any]] = []
    for n, at in enumerate(places[: dice.randint(5, 20)]):
        side = dice.choice(("us", "japan"))
        if hexes[at] == "sea":
            continue
        units.append(unit(dice, f"{side[0]}{n}", side, at))
        if side == "us" and dice.random() < 0.2:
            units.append({**unit(dice, f"t{n}", side, at), "zoc": False})
    beaches = dice.sample(places, 4)
    markers = [
        {"kind": kind, "at": at} for kind, at in zip(("landing_beach", "captured") * 2, beaches, strict=True)
    ]
    cup = {
        side: [{"value": dice.randint(1, 6)} for _ in range(dice.randint(0, 4))]
        + ([{"value": 10, "type": "naval"}] if side == "us" else [{"value": 2, "type": "banzai"}])
        for side in ("us", "japan")
    }
    conditions = {"turn": dice.randint(1, 3), "phase": phase, "active": dice.choice(("us", "japan"))}
    if dice.random() < 0.4:
        conditions["mode"] = "solitaire"
    if dice.random() < 0.6:
        conditions["scenario"] = "individual"
    return {
        "case": "melee", "ruleset": "fpb", "policy": {point: "b" for point in CHOSEN if dice.random() < 0.3},
        "map": {"extent": [min(places), max(places)], "fill": {"terrain": "sea"}, "hexes": hexes}, "units": units,
        "markers": markers, "tracks": {"cup": cup}, "conditions": conditions,
        "ask": [{"range": {"from": places[0], "to": places[1]}}],
    }  # fmt: skip


def unit(dice: random.Random, code: str, side: str, at: str) -> dict[str, Any]:
    told = {
        "id": code, "side": side, "at": at, "attack": dice.randint(1, 8), "defense": dice.randint(1, 6), "movement": 8,
        "mobility": dice.choice(("leg", "leg", "mobile")), "one_step": dice.random() < 0.2, "zoc": dice.random() < 0.9,
    }  # fmt: skip
    if dice.random() < 0.5:
        told["back"] = {"attack": 1, "defense": 1, "movement": 8}
    return told


def attempt(asked: Asked, dice: random.Random, start: dict[str, Any]) -> Outcome | None:
    """An attack or a bombardment that is decided at random; None where nobody is beside an enemy."""
    by_hex = {SCHEME.hex(one["at"]): one["side"] for one in start["units"]}
    active = start["conditions"]["active"]
    targets = sorted(cell for cell, side in by_hex.items() if side != active)
    if not targets:
        return None
    name = "bombardment" if start["conditions"]["phase"] == "bombardment" else "attack"
    kind = kinds_of("fpb")[name]
    assert isinstance(kind, ProcedureKind)
    target = dice.choice(targets)
    arguments: dict[str, Any] = {"at": SCHEME.label(target)}
    if name == "attack":
        beside = [
            one["id"]
            for one in start["units"]
            if one["side"] == active
            and SCHEME.hex(one["at"]).distance(target) == 1
            and (start["conditions"]["phase"] == "combat" or one["mobility"] == "mobile")
        ]
        if not beside:
            return None
        arguments["by"] = dice.sample(beside, dice.randint(1, len(beside)))
    of = kind.arguments(**arguments)
    return tried(asked, lambda: kind.begin(of), Whim(dice), lambda: kinds_of("fpb"))  # type: ignore[arg-type]


@settings(bounded, max_examples=rounds(80, 1_000))
@given(seed=seeds)
def test_random_combats_come_to_an_end_that_the_rules_allow(connection: Connection, seed: int) -> None:
    dice = random.Random(seed)
    start = scene(dice)
    with connection.begin_nested() as savepoint:
        case = case_of(start, "melee", forms(), connection)
        position = store_position(connection, case.position)
        asked = Asked(connection, position, "fpb", dict(start["conditions"]), dict(start["policy"]))
        outcome = attempt(asked, dice, start)
        if outcome is not None:
            assert outcome.pending is None
            # whatever is offered may be chosen: what is refused was refused before the die
            assert outcome.allowed or not outcome.rolls, outcome.answer
            was = digest(connection, position)
            apply(asked, outcome.changes)
            lawful(tree(connection, position), start)
            apply(asked, inverse(outcome.changes))
            assert digest(connection, position) == was
        savepoint.rollback()


def lawful(now: dict[str, Any], start: dict[str, Any]) -> None:
    """Nobody stands with an enemy, in the sea, or with more friends than before; a lost unit is off the map."""
    hexes: dict[str, list[str]] = {}
    for code, one in now["units"].items():
        if one.get("status") == "eliminated":
            assert "at" not in one
        else:
            hexes.setdefault(one["at"], []).append(code)
    for at, codes in hexes.items():
        assert len({now["units"][code]["side"] for code in codes}) == 1, at
        assert start["map"]["hexes"].get(at) != "sea", at
        assert len(codes) <= 2
        if len(codes) == 2:
            before = {one["id"]: one["at"] for one in start["units"]}
            assert {before[code] for code in codes} == {at}, "who retreats or advances ends alone"
    beaches = {marker["at"] for marker in now["markers"] if marker["kind"] == "landing_beach"}
    held = {at for at, codes in hexes.items() if now["units"][codes[0]]["side"] == "japan"}
    stayed = {one["at"] for one in start["units"] if one["side"] == "japan"}
    assert not beaches & (held - stayed), "a Japanese unit destroys the beach that it enters"


@pytest.fixture
def landing(connection: Connection) -> str:
    start = {
        "case": "game", "ruleset": "fpb", "map": {"extent": ["2008", "2617"], "fill": {"terrain": "clear"}},
        "conditions": {"turn": 2, "phase": "combat", "active": "us"},
        "tracks": {"cup": {"us": [{"value": 3}, {"value": 4, "type": "naval"}], "japan": [{"value": 1}]}},
        "units": [
            {"id": "A", "side": "us", "at": "2311", "attack": 6, "defense": 4, "movement": 4},
            {"id": "B", "side": "us", "at": "2412", "attack": 6, "defense": 4, "movement": 4},
            {"id": "J", "side": "japan", "at": "2312", "attack": 2, "defense": 3, "movement": 8},
        ],
        "ask": [{"range": {"from": "2311", "to": "2312"}}],
    }  # fmt: skip
    position = store_position(connection, case_of(start, "game", forms(), connection).position)
    new_game(connection, "beach", position, seed=read_seed("beach"))
    return "beach"


def test_an_attack_in_a_game_asks_both_sides_and_keeps_cups_and_flags(
    connection: Connection, landing: str
) -> None:
    entry = act(connection, landing, Deed("attack", {"by": ["A"], "at": "2312"}, "us"))
    for choice, by, value in (
        ("attacker_marker_1", "us", "marker"),
        ("defender_marker_1", "japan", "marker"),
        ("attacker_marker_2", "us", "marker"),
    ):
        assert entry.pending is not None
        prompt = entry.pending["prompt"]
        assert (prompt["choice"], prompt["by"], prompt["options"]) == (choice, by, ["none", "marker"])
        entry = act(connection, landing, Deed("answer", {"choices": {choice: value}}, by))
    while entry.event is None:
        assert entry.pending is not None
        prompt = entry.pending["prompt"]
        options = prompt.get("options")
        chosen = ([] if prompt.get("many") else options[0]) if options else prompt["default"]
        entry = act(
            connection, landing, Deed("answer", {"choices": {prompt["choice"]: chosen}}, prompt["by"])
        )
    assert entry.event["answer"]["attack"] == 13
    table = open_game(connection, landing)
    now = tree(connection, table.position_id)
    assert now["tracks"]["used"] == {"us": [{"value": 3}], "japan": [{"value": 1}]}
    assert now["tracks"]["removed"]["us"] == [{"value": 4, "type": "naval"}]
    assert "cup" not in now["tracks"]
    assert now["units"]["A"]["attacked"] == "combat"
    assert now["units"]["J"]["hit"] == ["combat"]
    with pytest.raises(Exception, match="attacked in this phase already"):
        act(
            connection,
            landing,
            Deed("attack", {"by": ["B"], "at": now["units"]["J"].get("at", "2312")}, "us"),
        )
    # nobody sees in the log what is left in a cup
    log = connection.scalar(sa.text("select string_agg(effects::text, '') from event"))
    assert "cup" not in str(log)


def test_a_depleted_unit_without_a_back_has_no_strength_any_more(
    connection: Connection, landing: str
) -> None:
    act(
        connection, landing,
        Deed("set", {"effects": [{"unit": "A", "depleted": True, "attack": None}]}, "referee", note="to begin with"),
    )  # fmt: skip
    with pytest.raises(Exception, match="counters"):
        act(
            connection, landing,
            Deed("attack", {"by": ["A"], "at": "2312", "support": {}}, "us"),
        )  # fmt: skip
