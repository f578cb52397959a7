"""What the chapters of Band of Brothers ask of the position, and of the players, in the same way."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from typing import Any

from app.play.bob.checks import MORALE, check, rolls_again
from app.play.procedures import Action, Ask, Choose, Roll, Tell, Want
from app.referee.rulings import Step

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
        "select bob._of_side(state, :side, :name) as number from positions.state(:position, :conditions, :policy) as state",
        proves=False,
        side=side,
        name=name,
    )
    return row.number if isinstance(row.number, int) else None


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


def checked(unit: str, purpose: str, of: Action, *, played: bool = False, dice: type[Roll] = Roll) -> Asking:
    """A Morale Check: passed, failed or automatic, with the Morale and the margin.

    A Command Point rolls it again (3.0 (1)): `choices: {cp: reroll}`, in a game asked for when it has failed.
    """
    again = rolls_again(of.choices.get("cp"), unit)
    if again:
        yield Choose("cp", "referee", "a Command Point for the check")
    rows = yield Ask(MORALE, proves=False, unit=unit, purpose=purpose)
    facts = rows[-1].facts
    if facts["automatic"] is None and (yield from _is_fresh(unit)) and purpose != "withdraw":
        # 5.0: what is normal for a unit that is neither Suppressed nor Reduced
        yield Tell(
            Step("5.0", None, "assumed", f"the Morale of {unit} is not told, and taken to be 10"), morale=10
        )
        return {"morale": 10, "mc": "automatic", "margin": None}
    yield Tell(morale=facts["morale"])
    done = yield from check(unit, purpose, reroll=again, asks=played, dice=dice)
    return {"morale": facts["morale"], "mc": done.mc, "margin": None if done.passed else done.margin}


def _is_fresh(unit: str) -> Asking:
    own = yield from counter(unit)
    return not own.attributes.get("suppression") and not own.attributes.get("reduced")


def step_lost(fighter: Mapping[str, Any]) -> dict[str, Any]:
    """What a casualty does (8.0): a Weapon Team or Gun in Melee, or a Reduced unit, is eliminated (12.0)."""
    if fighter["reduced"] or fighter["kind"] in ("wt", "gun"):
        return {"unit": fighter["unit"], "eliminated": True}
    return {"unit": fighter["unit"], "reduced": True, "suppression": "full"}
