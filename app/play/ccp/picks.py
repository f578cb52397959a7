"""What events, orders and actions choose: one of what is offered, random hexes, smoke, and where pieces are put."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from app.play.ccp.cards import revealed
from app.play.ccp.table import SIDES, Doing, adds_marker, now, reading, removes_marker
from app.play.procedures import NOTHING, AnswerError, Ask, Change, Choose, Draw, Tell
from app.referee.rulings import Step
from app.referee.words import series
from db.values import canonical

AT = ("at", "hex", "to")
"""Words under which a chosen hex may stand."""
SIGHTINGS = """
select hex.label, count(*) as number
from marker
join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r
where marker.position_id = :position and marker.kind = 'sighting'
group by hex.label order by hex.label
"""


@dataclasses.dataclass(frozen=True)
class Pick(Choose):
    """A choice of which the options may be told in other words, too."""

    words: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """The option that is meant, by another word for it."""

    def mistake(self, value: Any) -> str | None:
        return None if canonical(value) in self.words else super().mistake(value)


@dataclasses.dataclass(frozen=True)
class Offer(Choose):
    """A choice of which some options are named, and any other that fits may be told."""

    def mistake(self, value: Any) -> str | None:
        return self.check(value) if self.check is not None else None


def picked(
    name: str,
    by: str,
    purpose: str,
    options: Iterable[Any],
    *,
    may: bool = False,
    also: Sequence[str] = (),
    words: Mapping[str, Any] | None = None,
) -> Doing:
    """One of what there is; None where there is nothing or, if it only may be, nothing is wanted."""
    offered = list(options)
    if not offered:
        return None
    known = dict(words or {})
    value = yield Pick(
        name, by, purpose, options=[*offered, NOTHING] if may else offered, obvious=not may, also=tuple(also),
        words=known,
    )  # fmt: skip
    value = known.get(canonical(value), value)
    return None if value == NOTHING else value


def picked_hex(
    by: str, purpose: str, options: Iterable[str], *, may: bool = False, name: str = "at"
) -> Doing:
    """A hex, under any of the words for one."""
    return (
        yield from picked(name, by, purpose, options, may=may, also=[word for word in AT if word != name])
    )


def random_hex(side: str, purpose: str) -> Doing:
    """1.8.1: the hex on the top card."""
    card = yield from revealed(side, purpose)
    label = card.get("hex")
    if label is None:
        raise AnswerError(f"The card for {purpose} tells its hex: {{hex: C2}}.")
    found = yield Ask("select * from ccp.hex_now(:position, :hex, :conditions)", proves=False, hex=label)
    if not found:
        raise AnswerError(f"There is no hex {label} on this map.")
    yield Tell(Step("1.8.1", label, "random hex", f"{SIDES[side]} reveal it: {purpose}"))
    return found[0]


def smoke_drawn(purpose: str) -> Doing:
    """T95: a smoke marker at random; its value is typed in where the mix is not told."""
    [row] = yield Ask("select ccp.smoke_cup() as cup", proves=False)
    value = yield Draw("the smoke cup", purpose, row.cup)
    if isinstance(value, Mapping):
        value = value.get("value", value.get("smoke"))
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 8:
        raise AnswerError(f"A smoke marker has a Hindrance of 1 to 8: {value!r}.")
    return value


def smoke_placed(ground: Any, value: int, rule: str) -> Doing:
    """15.1.4: of two smoke markers the one with the largest Hindrance stays."""
    if ground.smoke is not None and ground.smoke >= value:
        yield Tell(Step("15.1.4", ground.label, "not placed", f"smoke of {ground.smoke} lies there already"))
        return
    yield from adds_marker("smoke", ground.label, value)
    yield Tell(Step(rule, ground.label, "smoke", f"smoke of {value}"))
    if ground.smoke is not None:
        yield from removes_marker("smoke", ground.label, ground.smoke)
        yield Tell(Step("15.1.4", ground.label, "removed", f"of two the larger stays, not {ground.smoke}"))


def fortified(ground: Any, kind: str, rule: str) -> Doing:
    """A fortification, where neither water nor blaze nor another is (15.1.3, 15.1.5, F100.3): whether it is placed."""
    why = (
        "water" if ground.water
        else "a blaze" if ground.blaze
        else ground.fortification if ground.fortification
        else None
    )  # fmt: skip
    if why is not None:
        yield Tell(Step(rule, ground.label, "not placed", f"no {kind}: {why} is there"))
        return False
    yield Tell(Step(rule, ground.label, kind, f"{kind} placed"))
    yield from adds_marker(kind, ground.label)
    return True


class Sightings:
    """Random hexes of one trigger, into which the Japanese move Sighting markers (1.8.2, ccp-10)."""

    def __init__(self) -> None:
        self.hexes: list[str] = []

    def reveal(self, side: str, purpose: str) -> Doing:
        """A random hex; by one reading the marker moves at once."""
        ground = yield from random_hex(side, purpose)
        if (yield from _lying()):
            if (yield from reading("ccp-10")) == "b":
                yield from sighted(ground.label)
            else:
                self.hexes.append(ground.label)
        return ground

    def conclude(self) -> Doing:
        """As the trigger ends."""
        for label in self.hexes:
            yield from sighted(label)


def _lying() -> Doing:
    return (yield Ask(SIGHTINGS, proves=False))


def sighted(label: str) -> Doing:
    """One Sighting marker goes into the hex; one that is not there yet, if possible."""
    lying = yield from _lying()
    others = [row.label for row in lying if row.label != label]
    if not others:
        return
    came = yield from picked(
        "sighting", "japan", f"which Sighting marker goes to {label}", others, also=["marker"]
    )
    yield Tell(Step("1.8.2", label, "moves", f"the Sighting marker of {came}"))
    yield Change({"marker": "sighting", "at": came, "to": label})


# Placing several.


def placed_by(
    name: str,
    by: str,
    purpose: str,
    units: Sequence[str],
    hexes: Mapping[str, Sequence[str]],
    told: Mapping[str, str],
) -> Doing:
    """Where the owner puts each of his units; what was told with another's answer holds."""
    left = [unit for unit in units if unit not in told and len(hexes[unit]) > 0]
    if not left:
        return dict(told)
    if all(len(hexes[unit]) == 1 for unit in left):
        sole = {unit: hexes[unit][0] for unit in left}
        value = yield Choose(name, by, purpose, options=[sole], obvious=True, check=_fits(left, hexes))
        return {**told, **value}
    value = yield Choose(
        name,
        by,
        purpose,
        check=_fits(left, hexes),
        form="{unit: hex}",
        default={unit: hexes[unit][0] for unit in left},
    )
    return {**told, **value}


def _fits(units: Sequence[str], hexes: Mapping[str, Sequence[str]]) -> Callable[[Any], str | None]:
    def check(value: Any) -> str | None:
        if not isinstance(value, Mapping):
            return f"{{unit: hex}} is wanted for {series(units)}"
        for unit in units:
            if unit not in value:
                return f"where {unit} goes is not told"
            if value[unit] not in hexes[unit]:
                return f"{unit} cannot be put into {value[unit]}: there is {series(hexes[unit])}"
        return None

    return check


def inactive_first() -> Doing:
    """The inactive side, then the active one (glossary); Japan first where that is not told."""
    active = (yield from now()).conditions.get("active")
    return ["allied", "japan"] if active == "japan" else ["japan", "allied"]
