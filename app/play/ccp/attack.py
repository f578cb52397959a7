"""The attack itself, as fire, artillery, aircraft and mines make it: the roll, then a Defense roll for each unit: O27.3.3, O27.3.4."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Any

from app.play.ccp.cards import asked_to_play, could_play
from app.play.ccp.caves import goes_inside
from app.play.ccp.giving import pieces_named, refused_by
from app.play.ccp.losses import Wounds, breaks, breaks_weapon, eliminates, settles
from app.play.ccp.roll import Chances, Rolled, rolled
from app.play.ccp.table import Doing, adds_marker, counter, counters, now, reading, removes_marker
from app.play.procedures import Action, AnswerError, Ask, Change, Choose, Refused, Tell, Undecided
from app.referee.rulings import Step
from db.values import canonical

DEFENSE = "select * from ccp.defense(:position, :unit, cast(:said as jsonb), :conditions, :policy)"
RESULT = "select * from ccp.defense_result(:unit, :label, :attack, :morale, :roll, :tie)"
OVER = "select ccp.figures_over(:position, :label) as excess"
TARGETING_ODDS = "select * from ccp.targeting_odds(:position, :side, :at_least)"
ATTACK_ODDS = "select * from ccp.attack_odds(:position, :units, cast(:said as jsonb), :conditions, :policy)"
OTHER_ROLL = (
    "select * from ccp.other_roll(:position, :label, :units, :moving, :actions, :conditions, :policy)"
)
HIDDEN = {"hidden_cave": "cave", "hidden_pillbox": "pillbox", "hidden_trenchline": "trench"}
"""What a Hidden action places before a Defense roll (A43.1, A43.4, A43.5)."""


class Asker:
    """What was given with a procedure: whether rolls are left, and choices that may be made or not."""

    def __init__(self, of: Action) -> None:
        self._rolls = len(of.rolls)
        self._choices = dict(of.choices)

    def rolled(self) -> None:
        """A roll was called for."""
        self._rolls -= 1

    @property
    def has_rolls(self) -> bool:
        return self._rolls > 0

    def gives(self, name: str) -> bool:
        return name in self._choices

    def several(self, name: str, by: str, purpose: str) -> Doing:
        """Some units, where they were named; one of them needs no list."""
        said = yield from self.optional(name, by, purpose, [])
        return said if isinstance(said, list) else [said]

    def optional(self, name: str, by: str, purpose: str, default: Any = None) -> Doing:
        """A choice that is asked for only where it was made, and once."""
        if self._choices.pop(name, None) is None:
            return default
        return (yield Choose(name, by, purpose))

    def said(self, name: str, things: Sequence[str]) -> list[str]:
        """Those things in the order that is told with the action, or as they stand."""
        return next((list(said) for said in self._choices.values() if _names_all(said, things)), list(things))

    def order(self, name: str, by: str, purpose: str, things: Sequence[str]) -> Doing:
        """All of some things in the order that a player wants; as they stand, where the rolls are told without one."""
        told = any(_names_all(said, things) for key, said in self._choices.items() if key.startswith(name))
        if not told and (len(things) < 2 or self.has_rolls):
            return list(things)
        return (
            yield Choose(
                name, by, purpose, check=lambda said: _in_order(name, said, things), form=f"[{', '.join(things)}]",
                default=list(things),
            )
        )  # fmt: skip


def _names_all(said: Any, things: Sequence[str]) -> bool:
    return isinstance(said, list) and sorted(map(str, said)) == sorted(things)


def _in_order(name: str, said: Any, things: Sequence[str]) -> str | None:
    if not _names_all(said, things):
        return f"{name} names each of {', '.join(things)} once"
    return None


@dataclasses.dataclass
class Attack:
    """An attack on a hex, ready to be rolled."""

    side: str
    hex: str
    value: int
    source: str
    """fire, flamethrower, ordnance, mortar, artillery, dive_bomber, fighter or mines: for Cover."""
    targets: list[str]
    to_total: int = 0
    multiplied: bool = False
    purpose: str = "the Fire Attack"
    rule: str = "O27.3.3"
    fort: str | None = None
    sustained: list[str] = dataclasses.field(default_factory=list)
    actions: Counter[str] = dataclasses.field(default_factory=Counter)
    movers: Sequence[str] = ()
    viewers: Sequence[str] = ()
    """By whose eyes it is fired, for a cave that appears in the midst of it (ccp-46)."""
    order: str = "order"
    """The name of the choice in which order the units roll."""
    destroyed_by: int | None = None
    """The roll that destroys a fortification in the hex (O24.3.4)."""


def targets_hit(
    side: str, at_least: int, asker: Asker, hit: str, missed: str = "miss", purpose: str = "Targeting"
) -> Doing:
    """O27.2.3: the product of the dice must reach so much; gives whether it does, and tells it.

    `hit` and `missed` are the words for it in the odds.
    """
    yield Tell(targeting={"at_least": at_least})
    chances = Chances(
        Ask(TARGETING_ODDS, proves=False, side=side, at_least=at_least), (("hit", hit), ("miss", missed))
    )
    fallen: Rolled = yield from rolled(side, purpose, chances=chances)
    asker.rolled()
    on_target = fallen.product >= at_least
    yield Tell(
        Step(
            "O27.2.3", None, "hit" if on_target else "miss", f"{fallen.product}, and {at_least} or more hits"
        ),
        targeting={"at_least": at_least, "roll": fallen.product, "hit": on_target},
    )
    return on_target


def attacked(of: Attack, asker: Asker, tell: bool = True) -> Doing:
    """The Attack roll and every Defense roll; gives what is told of them."""
    fallen: Rolled = yield from rolled(of.side, of.purpose, chances=_attack_chances(of, asker))
    asker.rolled()
    roll = fallen.product if of.multiplied else fallen.sum
    total = of.value + roll + of.to_total
    told: dict[str, Any] = {"roll": roll, "total": total}
    yield Tell(Step(of.rule, of.hex, str(total), f"the Attack Total: {of.value} FP and a roll of {roll}"))
    if tell:
        yield Tell(**told)
    [over] = yield Ask(OVER, proves=False, label=of.hex)
    if of.destroyed_by is not None:
        told["destroyed"] = yield from _destroyed(of, roll)
    if fallen.doubles:
        yield from _doubles(of, asker)
    caves = yield from _hidden(of)
    told["defense"] = yield from _defended(of, asker, total, over.excess, caves, tell)
    return told


def other_roll(label: str, units: Sequence[str], moving: bool, actions: Sequence[str]) -> Doing:
    """ccp-49: what actions of a Fire Attack roll add to one of artillery or mines; refused where they may not be played."""
    if not actions:
        return 0
    rows = yield Ask(OTHER_ROLL, label=label, units=list(units), moving=moving, actions=list(actions))
    if (bar := refused_by(rows)) is not None:
        raise bar
    return sum(row.facts["value"] for row in rows)


def _attack_chances(of: Attack, asker: Asker) -> Chances:
    """Before the roll: how each of those who will roll fares, in the order that is told."""
    told = asker.said(of.order, of.targets)
    units = {code: {"source": of.source, "mover": code in of.movers} for code in told}
    said = {
        "side": of.side, "source": of.source, "value": of.value + of.to_total, "multiplied": of.multiplied, "units": units,
    }  # fmt: skip
    return Chances(Ask(ATTACK_ODDS, proves=False, units=told, said=canonical(said)))


def _prospect(of: Attack, code: str, proves: bool = False, **said: Any) -> Doing:
    """What a unit would defend with now."""
    asked = {"source": of.source, "mover": code in of.movers, **said}
    [*_, row] = yield Ask(DEFENSE, proves=proves, unit=code, said=canonical(asked))
    return row.facts


def prospects(of: Attack) -> Doing:
    """Cover and morale of every unit that would roll now."""
    told = {}
    for code in of.targets:
        facts = yield from _prospect(of, code)
        told[code] = {"cover": facts["cover"], "morale": facts["morale"]}
    return told


def _destroyed(of: Attack, roll: int) -> Doing:
    """O24.3.4, F100.2: exactly the Vulnerability number takes the fortification, before anybody defends."""
    if of.fort is None or roll != of.destroyed_by:
        return False
    yield Tell(Step("O24.3.4", of.hex, "destroyed", f"the roll is the Vulnerability number {roll}"))
    yield from removes_marker(of.fort, of.hex)
    return True


def _doubles(of: Attack, asker: Asker) -> Doing:
    """A48: each Sustained Fire breaks a weapon; A40: an Explosive Charge takes the fortification before anybody defends."""
    for nth in range(of.actions["sustained_fire"]):
        holders = yield from counters(of.sustained)
        firing = [unit.code for unit in holders if unit.attributes.get("weapon")]
        if not firing:
            break
        name = "weapon" if nth == 0 else f"weapon_{nth + 1}"
        code = yield from _jammed(of, asker, name, firing)
        yield from breaks_weapon(code, "A48", "doubles after Sustained Fire")
    if of.actions["explosive_charge"] and of.fort is not None:
        yield Tell(Step("A40", of.hex, "eliminated", f"doubles: the Explosive Charge takes the {of.fort}"))
        yield from removes_marker(of.fort, of.hex)


def _jammed(of: Attack, asker: Asker, name: str, firing: Sequence[str]) -> Doing:
    """The firing player's choice of several weapons, by their units or as pieces."""
    purpose = "the weapon that Sustained Fire breaks"
    if asker.gives(name):
        [piece] = yield from pieces_named([str((yield Choose(name, of.side, purpose)))])
        if piece.code not in firing:
            raise AnswerError(f"{piece.code} fires no machine gun or mortar in this attack.")
        return piece.code
    return firing[0] if len(firing) == 1 else (yield Choose(name, of.side, purpose, firing))


def _hidden(of: Attack) -> Doing:
    """A43.1, A43.4, A43.5: a fortification appears before the Defense rolls; units that now are in a cave from upslope."""
    for action, fort in HIDDEN.items():
        if not of.actions[action] and not (yield from _hides(of, action)):
            continue
        yield Tell(
            Step(
                {"cave": "A43.1", "pillbox": "A43.4", "trench": "A43.5"}[fort], of.hex, "placed", f"a {fort}"
            )
        )
        yield from adds_marker(fort, of.hex)
        yield from settles(of.hex)
        if fort == "cave":
            # F102.1.1: at once; what that helps against fire from upslope is contested
            return (yield from goes_inside(of.targets))
    return []


def _hides(of: Attack, action: str) -> Doing:
    """In a game: the Defender may play a Hidden action for a hex of his without a fortification (A43)."""
    if of.fort is not None or not of.targets:
        return False
    owner = (yield from counter(of.targets[0])).side
    if not (yield from could_play(owner, action)):
        return False
    if ((yield from now()).conditions.get("posture") or {}).get(owner) != "defender":
        return False
    [row] = yield Ask(
        "select ccp.could_hide(:position, :hex, :word, :conditions) as could",
        proves=False,
        hex=of.hex,
        word=action,
    )
    if not row.could:
        return False
    return (yield from asked_to_play(owner, action, f"{action.replace('_', ' ')} in {of.hex}", "A43"))


SEES_INSIDE = """
select exists (
  select from unnest(cast(:viewers as text[])) as eye (code)
  where ccp._sees(
    (select state from positions.state(:position, :conditions, :policy) as state),
    (select unit.id from unit where unit.position_id = :position and unit.code = eye.code),
    (select unit.q from unit where unit.position_id = :position and unit.code = eye.code),
    (select unit.r from unit where unit.position_id = :position and unit.code = eye.code),
    (select unit.id from unit where unit.position_id = :position and unit.code = :target),
    (select unit.q from unit where unit.position_id = :position and unit.code = :target),
    (select unit.r from unit where unit.position_id = :position and unit.code = :target)
  ) is not true
) as upslope
"""


def _defended(of: Attack, asker: Asker, total: int, excess: int, caves: Sequence[str], tell: bool) -> Doing:
    """O27.3.4: one roll a unit, each with its morale of that moment, in its owner's order."""
    told: dict[str, Any] = {}
    if tell:
        yield Tell(defense={})
    units = yield from counters(of.targets)
    standing = [unit.code for unit in units if unit.label is not None]
    if not standing:
        return told
    owner = units[0].side
    wounds = Wounds(
        of.actions["light_wounds"],
        (yield from asker.several("light_wounds", owner, "the squads that Light Wounds are for")),
    )
    covers = yield from asker.optional("cover", owner, "the Cover that a unit uses", {})
    order = yield from asker.order(of.order, owner, f"the order of the Defense rolls in {of.hex}", standing)
    for code in order:
        unit = yield from counter(code)
        if unit.label is None:
            continue
        said: dict[str, Any] = {"excess": excess, "chosen": covers.get(code)}
        if code in caves and (yield from _is_upslope(of, code)):
            if (yield from reading("ccp-46")) == "b":
                yield Tell(Step("F102.2.2", of.hex, "immune", f"{code} is inside the new cave"))
                continue
            said["cave"] = False
        told[code] = yield from _defends(of, unit, total, said, asker, wounds)
        if tell:
            yield Tell(defense=dict(told))
    return told


def _is_upslope(of: Attack, code: str) -> Doing:
    [row] = yield Ask(SEES_INSIDE, proves=False, viewers=list(of.viewers), target=code)
    return row.upslope


def _defends(of: Attack, unit: Any, total: int, said: dict[str, Any], asker: Asker, wounds: Wounds) -> Doing:
    """One Defense roll and what comes of it."""
    code = unit.code
    facts = yield from _prospect(of, code, proves=True, **said)
    if facts["morale"] is None:
        raise Undecided()
    one = {code: {"source": of.source, "mover": code in of.movers, **said}}
    against = {"side": "", "source": of.source, "attack": total, "units": one}
    chances = Chances(Ask(ATTACK_ODDS, proves=False, units=[code], said=canonical(against)))
    before = yield from teams_of(code)
    fallen: Rolled = yield from rolled(unit.side, f"the Defense of {code}", chances=chances)
    asker.rolled()
    # 1.9.1.3: by the morale of the roll, whatever its trigger has changed since
    [row] = yield Ask(
        RESULT,
        unit=code,
        label=unit.label,
        attack=total,
        morale=facts["morale"],
        roll=fallen.sum,
        tie=facts["tie"],
    )
    result = {"cover": facts["cover"], "morale": facts["morale"], "roll": fallen.sum, **row.facts}
    if (yield from counter(code)).label is None:
        return result
    why = f"a Defense Total of {result['total']} against {total}"
    for one in (yield from teams_of(code)) if len(before) == 1 else [code]:
        match result["result"]:
            case "eliminated":
                yield from eliminates([one], "O27.3.4", why)
            case "breaks":
                yield from breaks(one, "O27.3.4", why, wounds)
            case "suppressed":
                yield from suppresses(one, "O27.3.4", why)
    return result


def teams_of(code: str) -> Doing:
    """Who suffers what was pending against a unit: itself and, if it deployed meanwhile, its second team (E56)."""
    twin = ((yield from now()).tracks.get("twins") or {}).get(code)
    return [code] if twin is None else [code, twin]


def suppresses(code: str, rule: str, why: str) -> Doing:
    """A marker is put on a unit that has none; a second does nothing (15.1.1)."""
    unit = yield from counter(code)
    if unit.attributes.get("suppressed"):
        yield Tell(Step("15.1.1", unit.label, "no effect", f"{code} is suppressed already"))
        return
    yield Tell(Step(rule, unit.label, "suppressed", f"{code}: {why}"))
    yield Change({"unit": code, "suppressed": True})


def refuse(facts: dict[str, Any], rows: Sequence[Any]) -> None:
    """End with the first rule that stands against it."""
    bar = next(row for row in rows if row.effect == "forbids")
    raise Refused(bar.rule, facts["why"], bar.at)
