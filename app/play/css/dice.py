"""The one die of css, read 0 to 9, and how it may be thrown again: by war dogs (12.5), Mason (14.1), whiskey and sake (31.0).

Every roll of the game goes through `d10`. In a case a roll is a number, or a mapping that tells what was thrown
again: `{die: 1, rerolls: [{by: war_dogs, alert: 3, die: 0}, {by: whiskey, die: 7}]}`. In a game whoever may throw
it again is asked.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from app.play.procedures import Ask, Change, Choose, Refused, Roll, Tell, Want
from app.referee.rulings import Step
from db.values import canonical

Doing = Generator[Want, Any, Any]
FACES = range(10)
DOGS, MASON, WHISKEY, SAKE = "war_dogs", "mason", "whiskey", "sake"
BOTTLES = {WHISKEY: "us", SAKE: "japan"}
"""31.0: whose bottle it is; the American decides first."""
TRACKS = "select tracks from position where id = :position"


@dataclasses.dataclass(frozen=True)
class D10(Roll):
    """One die, a number from 0 to 9 or a mapping with what was thrown again."""

    dice: str = "1d10"
    purpose: str = ""
    lowest: int = 0
    chances: Mapping[str, str] | None = None
    """Chance of each result where the ledger knows them; None: all ways in which dice fall are tried."""

    def odds(self) -> dict[str, Any] | None:
        return None if self.chances is None else {"odds": dict(self.chances)}

    def mistake(self, value: Any) -> str | None:
        if not isinstance(value, Mapping):
            return super().mistake(value)
        if value.keys() - {"die", "rerolls"} or "die" not in value:
            return (
                f"a roll for {self.purpose} is a number or {{die: n, rerolls: […]}}, not {canonical(value)}"
            )
        for again in value.get("rerolls", ()):
            if (wrong := self._again(again)) is not None:
                return wrong
        return super().mistake(value["die"])

    def _again(self, again: Any) -> str | None:
        if not isinstance(again, Mapping) or again.get("by") not in (DOGS, MASON, *BOTTLES):
            return (
                "a roll is thrown again by war_dogs, mason, whiskey or sake: {by: whiskey, die: 7},"
                f" not {canonical(again)}"
            )
        wanted = {"by", "die", "alert"} if again["by"] == DOGS else {"by", "die"}
        if again.keys() - wanted:
            return f"a roll thrown again by {again['by']} has {', '.join(sorted(wanted))}"
        dice = [again[key] for key in ("alert", "die") if key in again]
        return next(filter(None, map(super().mistake, dice)), None)


def d10(purpose: str, *, dogs: int | None = None, chances: Mapping[str, str] | None = None) -> Doing:
    """The die that counts in the end; `dogs` is the number of an Alert weapon that may have this one thrown again.

    `chances` are those of the procedure's results, where they hang on this die alone.
    """
    shown = yield D10(purpose=purpose, chances=chances)
    if isinstance(shown, Mapping):
        return (yield from _told(shown, purpose, dogs))
    return (yield from _offered(shown, purpose, dogs))


def _told(shown: Mapping[str, Any], purpose: str, dogs: int | None, mason: str | None = None) -> Doing:
    """What was thrown again, as somebody wrote it down: dogs or Mason first, then whiskey, then sake, each once."""
    die, order = shown["die"], [DOGS, MASON, WHISKEY, SAKE]
    for again in shown.get("rerolls", ()):
        by = again["by"]
        if by not in order:
            raise Refused("31.0", f"{by} comes too late, or a second time: dogs, whiskey and sake, each once")
        order = order[order.index(by) + 1 :]
        if by == DOGS:
            die = yield from _by_dogs(die, again, purpose, dogs)
        elif by == MASON:
            yield from _by_mason(purpose, mason)
            die = again["die"]
        else:
            yield from _drink(by, purpose)
            die = again["die"]
    return die


def _by_dogs(die: int, again: Mapping[str, Any], purpose: str, dogs: int | None) -> Doing:
    if dogs is None:
        raise Refused("12.5", f"no alert weapon may have the {purpose} roll thrown again")
    if again.get("alert", 0) > dogs:
        yield Tell(Step("12.5", None, "fails", f"the dogs are not alert on {again['alert']}"))
        return die
    yield Tell(Step("12.5", None, "rolls again", f"alert dogs undo the {die} for {purpose}"))
    return again.get("die", die)


def _by_mason(purpose: str, mason: str | None) -> Doing:
    """14.1: once in the game he has a Japanese die of an assault of 3 RCT thrown again."""
    if mason is None:
        raise Refused("14.1", f"Mason does not have the {purpose} roll thrown again")
    yield Tell(Step("14.1", None, "rolls again", f"Mason for {purpose}"))
    if mason:
        yield Change({"unit": mason, "eliminated": True})
    [row] = yield Ask(TRACKS, proves=False)
    yield Change({"track": "once", "value": [*((row.tracks or {}).get("once") or []), MASON]}, kept=True)


def _drink(bottle: str, purpose: str) -> Doing:
    side = BOTTLES[bottle]
    [row] = yield Ask(TRACKS, proves=False)
    if row.tracks.get(side, {}).get(bottle) is False:
        raise Refused("31.0", f"the {bottle} of the day is gone")
    yield Tell(Step("31.0", None, "rolls again", f"{bottle} for {purpose}"))
    yield Change({"side": side, bottle: False})


def _offered(die: int, purpose: str, dogs: int | None, mason: str | None = None) -> Doing:
    """Ask those who may throw it again, in turn."""
    if mason is not None and (yield _offer(MASON, "us", die, purpose)) == MASON:
        yield from _by_mason(purpose, mason)
        die = yield D10(purpose=f"{purpose}, again")
    if dogs is not None and (yield _offer(DOGS, "us", die, purpose)) == DOGS:
        alert = yield D10(purpose=f"alert against {purpose}")
        again = (yield D10(purpose=f"{purpose}, again")) if alert <= dogs else die
        die = yield from _by_dogs(die, {"alert": alert, "die": again}, purpose, dogs)
    [row] = yield Ask(TRACKS, proves=False)
    for bottle, side in BOTTLES.items():
        if row.tracks.get(side, {}).get(bottle) and (yield _offer(bottle, side, die, purpose)) == bottle:
            yield from _drink(bottle, purpose)
            die = yield D10(purpose=f"{purpose}, after {bottle}")
    return die


def _offer(means: str, side: str, die: int, purpose: str) -> Choose:
    options: Sequence[str] = ("keep", means)
    return Choose(
        f"{means}: {purpose}", side, f"whether the {die} for {purpose} is thrown again", options,
        default="keep", unsaid="keep",
    )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Pair(Roll):
    """Two dice thrown together, `[attacker, defender]`; each may tell what was thrown again."""

    dice: str = "2d10"
    purpose: str = ""
    lowest: int = 0
    chances: Mapping[str, str] | None = None
    """Chance of each result where the ledger knows them."""

    def odds(self) -> dict[str, Any] | None:
        return None if self.chances is None else {"odds": dict(self.chances)}

    def mistake(self, value: Any) -> str | None:
        if not isinstance(value, list) or len(value) != 2:
            return super().mistake(value)
        return next(filter(None, (D10(purpose=self.purpose).mistake(die) for die in value)), None)


def pair(
    purpose: str, whose: Sequence[str], chances: Mapping[str, str] | None = None, mason: str | None = None
) -> Doing:
    """Two dice that count in the end, each with what may be thrown again (31.0), the Japanese one by `mason` too."""
    shown = yield Pair(purpose=purpose, chances=chances)
    counted = []
    for die, side in zip(shown, whose, strict=True):
        of = f"{purpose} of {side}"
        hero = mason if side == "japan" else None
        again = _told(die, of, None, hero) if isinstance(die, Mapping) else _offered(die, of, None, hero)
        counted.append((yield from again))
    return counted
