"""What the chapters of Band of Brothers ask of the position, and of the players, in the same way."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from typing import Any

from app.play.procedures import Action, Ask, Change, Choose, Refused, Roll, Tell, Undecided, Want
from app.referee.rulings import Need, Step

Asking = Generator[Want, Any, Any]
GAME = (
    "select cast(:conditions as jsonb) as conditions, positions.readings(:position, :policy) as readings, tracks"
    " from position where id = :position"
)
PIECES = "select * from bob._pieces(:position)"
UNIT = "select code, side, kind, attributes from unit where position_id = :position and code = :unit"


def game() -> Asking:
    """Conditions, readings and tracks as they are now."""
    [row] = yield Ask(GAME, proves=False)
    return row


def pieces() -> Asking:
    """Every unit on the map."""
    return (yield Ask(PIECES, proves=False))


def piece(code: str) -> Asking:
    """A unit on the map; None where it is not."""
    return next((one for one in (yield from pieces()) if one.code == code), None)


def counter(code: str) -> Asking:
    """A unit, on the map or off it."""
    [row] = yield Ask(UNIT, proves=False, unit=code)
    return row


def of_side(side: str, name: str) -> Asking:
    """A number that a side has, such as its Command Points; None where nobody has told it."""
    [row] = yield Ask(
        "select bob._tally(:position, cast(:conditions as jsonb), :side, :name) as number",
        proves=False,
        side=side,
        name=name,
    )
    return row.number


def modifiers(rows: Iterable[Any]) -> list[dict[str, Any]]:
    """The signed entries of a ledger as an answer tells them."""
    return [
        {"rule": row.rule, "value": row.halves // 2, "note": row.note}
        for row in rows
        if row.effect == "adds" and row.halves is not None
    ]


def optional(of: Action, want: Choose, otherwise: Any, *, played: bool) -> Asking:
    """A choice that need not be made: in a game it is asked for, in a question only where it is given."""
    if played or want.name in of.choices:
        return (yield want)
    return otherwise


def checked(unit: str, purpose: str, of: Action, *, played: bool = False) -> Asking:
    """A Morale Check: passed, failed or automatic, with the Morale, the roll and the margin.

    A Command Point rolls it again (3.0 (1)): `choices: {cp: reroll}`, in a game asked for when it has failed.
    """
    again = of.choices.get("cp") == "reroll"
    if again and not played:
        yield Choose("cp", "referee", "a Command Point for the check", options=["reroll"])
    rows = yield Ask(
        "select * from bob.morale(:position, :unit, :purpose, :conditions, :policy)",
        unit=unit,
        purpose=purpose,
    )
    facts = rows[-1].facts
    checker = facts.get("unit") or unit
    if facts["automatic"] is None:
        own = yield from counter(unit)
        if own.attributes.get("suppression") or own.attributes.get("reduced") or purpose == "withdraw":
            raise Undecided(Need("counter", "7.0"), morale=None)
        # 5.0: what is normal for a unit that is neither Suppressed nor Reduced
        yield Tell(Step("5.0", None, "assumed", f"the Morale of {unit} is not told, and taken to be 10"))
        return {"morale": 10, "mc": "automatic", "roll": None, "margin": None}
    if facts["automatic"]:
        return {"morale": facts["morale"], "mc": "automatic", "roll": None, "margin": None}
    yield Tell(morale=facts["morale"])
    found = yield from _rolled(unit, facts["morale"])
    if found["mc"] == "failed" and (again or played):
        found = yield from _rerolled(checker, facts["morale"], found, played=played)
    return found


def _rolled(unit: str, morale: int) -> Asking:
    die = yield Roll("1d10", f"the Morale Check of {unit}")
    passed = die <= morale
    yield Tell(Step("7.1", None, "passed" if passed else "failed", f"{unit} rolls {die} against {morale}"))
    margin = None if passed else die - morale
    return {"morale": morale, "mc": "passed" if passed else "failed", "roll": die, "margin": margin}


def _rerolled(unit: str, morale: int, found: dict[str, Any], *, played: bool) -> Asking:
    """3.0: one Command Point a unit and turn, never a Gun's; out of command none."""
    own = yield from counter(unit)
    left = yield from of_side(own.side, "cps")
    able = own.kind in (None, "squad", "wt") and not own.attributes.get("cp") and left != 0
    if played:
        if not able or not left:
            return found
        name = f"cp:{unit}"
        if (
            yield Choose(
                name, own.side, f"a Command Point for {unit}", options=["none", "reroll"], default="none"
            )
        ) == "none":
            return found
    elif not able:
        raise Refused("3.0", f"no Command Point can be used on {unit}")
    yield Change({"unit": unit, "cp": True})
    if left is not None:
        yield Change({"side": own.side, "cps": left - 1})
    return (yield from _rolled(unit, morale))


def step_lost(fighter: Mapping[str, Any]) -> dict[str, Any]:
    """What a casualty does (8.0): a Weapon Team or Gun in Melee, or a Reduced unit, is eliminated (12.0)."""
    if fighter["reduced"] or fighter["kind"] in ("wt", "gun"):
        return {"unit": fighter["unit"], "eliminated": True}
    return {"unit": fighter["unit"], "reduced": True, "suppression": "full"}
