"""Events that bring pieces or move them: aircraft, teams, Privates, Heroes, reinforcements, wounded (E50, E56, E59, E61,
E70, E71, E74, E75, E79)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from app.play.ccp.arrivals import comes_in, edge_hexes, support_piece
from app.play.ccp.losses import loses_weapon, rallies, settles, team_faces, turns
from app.play.ccp.picks import picked, picked_hex
from app.play.ccp.roll import rolled
from app.play.ccp.table import SIDES, Doing, adds_marker, conditions, counter, now, other, reading
from app.play.procedures import Action, AnswerError, Ask, Change, Choose, Tell, Undecided
from app.referee.rulings import Need, Step
from db.values import canonical

if TYPE_CHECKING:
    from app.play.ccp.events import Card

OF_KIND = """
select unit.code, hex.label, unit.attributes
from unit
left join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
where unit.position_id = :position and unit.side = :side and unit.kind = :kind
order by hex.label is null, unit.code
"""
NEAR = "select * from ccp.hexes_near(:position, :hex, :lowest, 1, :conditions)"
FACES = "select ccp.counter_faces(:position, :side, :kind, :quality, :name) as faces"
BOXED = """
select code, side, kind, attributes -> 'weapon' as weapon from unit
where position_id = :position and jsonb_typeof(attributes -> 'weapon') = 'object'
  and ((attributes -> 'weapon' ->> 'box')::boolean or (attributes ->> 'eliminated')::boolean)
order by code
"""
CASUALTIES = """
select code from unit
where position_id = :position and (attributes ->> 'eliminated')::boolean and kind not in ('weapon', 'aircraft')
order by code
"""


def faces_of(side: str, kind: str, quality: str | None = None, name: str | None = None) -> Doing:
    """What both faces of a counter show, where that is filled in (3.1): numbers of the unbroken one, and `reverse`."""
    [row] = yield Ask(FACES, proves=False, side=side, kind=kind, quality=quality, name=name)
    return row.faces or {}


def quality_of(side: str) -> Doing:
    """The quality of a side's teams (11.3)."""
    told = (yield from conditions()).get("quality")
    return told.get(side) if isinstance(told, Mapping) else told


# Aircraft.


def air_support(card: Card) -> Doing:
    """E50: the enemy's aircraft goes; if there is none, the own one comes to a hex of the card's column or row."""
    told = yield from conditions()
    if told.get("night"):
        yield Tell(Step("18.6", None, "nothing", "no aircraft at night"))
        return
    if not (yield from _in_date(card, told.get("year"))):
        return
    enemy = [
        row for row in (yield Ask(OF_KIND, proves=False, side=other(card.side), kind="aircraft")) if row.label
    ]
    if enemy:
        yield card.happens("removed", "the aircraft of the other side")
        yield from leaves_the_sky(enemy[0].code)
        return
    ground = yield from card.hex("the aircraft")
    rows = yield Ask("select * from ccp.lines_of(:position, :hex)", proves=False, hex=ground.label)
    hexes = [row.label for row in rows]
    yield Tell(hexes=hexes)
    at = yield from picked_hex(card.side, "where the aircraft is placed", hexes)
    own = yield Ask(OF_KIND, proves=False, side=card.side, kind="aircraft")
    code = own[0].code if own else f"aircraft of {card.side}"
    if not own:
        yield Change({"unit": code, "side": card.side, "kind": "aircraft"}, kept=True)
    yield card.happens("placed", f"the aircraft of {SIDES[card.side]}", at)
    yield Change({"unit": code, "at": at})
    yield Change({"unit": code, "countermix": False}, kept=True)


def leaves_the_sky(code: str) -> Doing:
    """8.3: an aircraft goes back to the countermix."""
    yield Change({"unit": code, "countermix": True})
    yield Change({"unit": code, "at": None}, kept=True)


def _in_date(card: Card, year: int | None) -> Doing:
    """Whether the card's years hold that of the scenario; not known, the event is taken to occur."""
    years = _years(card.said.get("years") or card.said.get("event_value"))
    if years is None and year is not None:
        rows = yield Ask("select ccp.air_dates(:position, :side) as years", proves=False, side=card.side)
        years = _years(rows[0].years)
    if years is None and year is None:
        yield Tell(Step("E50", None, "assumed", "neither the year nor the dates on the card are told"))
        return True
    if years is None or year is None:
        what = "air_support_dates" if years is None else "the year of the scenario"
        raise Undecided(Need(what, "E50"))
    first, last = years
    if not first <= year <= last:
        yield card.nothing(f"{year} is not in {first} to {last}")
        return False
    return True


def _years(told: Any) -> tuple[int, int] | None:
    """The first and the last year that something names, such as 1942-1944; None where it names none at all."""
    parts = re.split("[-–]", told) if isinstance(told, str) else told if isinstance(told, list) else [told]
    words = [str(part).strip() for part in parts if part is not None and str(part).strip()]
    if not all(word.isdecimal() for word in words):
        raise AnswerError(f"{told!r} names no years; write them as 1942-1944.")
    return (int(words[0]), int(words[-1])) if words else None


# Own pieces.


def deploy(card: Card) -> Doing:
    """E56: a squad makes way for two teams of its side's quality, as it was; its markers go to one of them."""
    code = yield from card.unit("which squad deploys", may=True)
    if code is None:
        yield card.nothing("no squad, or not wanted")
        return
    squad = yield from counter(code)
    yield card.happens("deploys", f"{code}: two teams take its place", squad.label)
    yield Change({"unit": code, "replaced_by": ["team", "team"]}, told=True)
    yield from _teams(card, squad)


def _teams(card: Card, squad: Any) -> Doing:
    said = squad.attributes
    quality = yield from quality_of(squad.side)
    faces = yield from team_faces(squad.side, quality, bool(said.get("broken")))
    common = {"kind": "team", "quality": quality, **faces}
    second: dict[str, Any] = {
        "unit": f"{squad.code} (2)",
        "side": squad.side,
        "at": squad.label,
        **common,
        **{key: said[key] for key in ("nation", "broken", "activated", "in_cave") if key in said},
    }
    first: dict[str, Any] = {"unit": squad.code, **common}
    for marker in ("weapon", "suppressed", "veteran"):
        if said.get(marker):
            team = yield Choose(
                marker, squad.side, f"which team keeps the {marker}", options=[1, 2], default=1, unsaid=1
            )
            if team == 2:
                second[marker] = said[marker]
                first[marker] = None if marker == "weapon" else False
    yield Change(
        first, {key: value for key, value in second.items() if value not in (None, False)}, kept=True
    )
    twins = (yield from now()).tracks.get("twins") or {}
    yield Change({"track": "twins", "value": {**twins, squad.code: second["unit"]}}, kept=True)


def field_promotion(card: Card) -> Doing:
    """E59: the Private joins a broken unit, if not on the map."""
    leaders = yield Ask(OF_KIND, proves=False, side=card.side, kind="leader")
    privates = [row for row in leaders if row.code.casefold().startswith("private")]
    if any(row.label for row in privates):
        yield card.nothing("the Private is on the map")
        return
    broken = yield Ask(
        "select distinct label from ccp.event_units(:position, 'kia', :side, :conditions, :policy)"
        " where side = :side order by label",
        proves=False,
        side=card.side,
    )
    at = yield from picked_hex(card.side, "where the Private comes", [row.label for row in broken], may=True)
    if at is None:
        yield card.nothing("no own unit is broken, or not wanted")
        return
    code = privates[0].code if privates else "Private"
    if privates:
        yield from _renewed(code)
    else:
        faces = yield from faces_of(card.side, "leader", None, "private")
        yield from created(code, card.side, "leader", faces | {"morale": 6, "command": 2})
    yield from comes_in(code, at, card.rule)


def created(code: str, side: str, kind: str, faces: Mapping[str, Any]) -> Doing:
    """A counter out of the countermix, off the map so far."""
    said = {key: value for key, value in faces.items() if value is not None}
    yield Change({"unit": code, "side": side, "kind": kind, **said}, kept=True)


def _renewed(code: str) -> Doing:
    """A counter that comes anew: unbroken, without markers and weapon."""
    unit = yield from counter(code)
    if (unit.attributes.get("weapon") or {}).get("box"):
        yield from loses_weapon(unit)
        unit = yield from counter(code)
    if unit.attributes.get("broken"):
        yield from turns(unit, broken=False, told=False)
    yield Change({"unit": code, "suppressed": False, "veteran": False, "activated": None}, kept=True)


def hero(card: Card) -> Doing:
    """E61: the Hero comes to any friendly hex, and may rally one broken unit there."""
    heroes = yield Ask(OF_KIND, proves=False, side=card.side, kind="hero")
    if any(row.label for row in heroes):
        yield card.nothing("the Hero is on the map")
        return
    rows = yield Ask(
        "select * from ccp.friendly_hexes(:position, :side, :conditions)", proves=False, side=card.side
    )
    at = yield from picked_hex(card.side, "where the Hero comes", [row.label for row in rows], may=True)
    if at is None:
        yield card.nothing("no friendly hex, or not wanted")
        return
    code = yield from _hero(card.side, heroes)
    yield from comes_in(code, at, card.rule)
    broken = yield Ask(
        "select code from ccp.event_units(:position, 'kia', :side, :conditions, :policy)"
        " where side = :side and label = :at",
        proves=False,
        side=card.side,
        at=at,
    )
    unit = yield from picked(
        "unit", card.side, "whom he rallies", [row.code for row in broken], may=True, also=("rally",)
    )
    if unit is not None:
        yield from rallies(unit, card.rule, "by the Hero")


def _hero(side: str, heroes: list[Any]) -> Doing:
    """The Hero counter of a side, fresh from the countermix."""
    if heroes:
        yield from _renewed(heroes[0].code)
        return heroes[0].code
    code = f"Hero of {side}"
    yield from created(code, side, "hero", (yield from faces_of(side, "hero")))
    return code


def spider_hole(card: Card) -> Doing:
    """E74: the Japanese Hero comes from wherever he is in or beside a random hex, unbroken and unsuppressed."""
    heroes = yield Ask(OF_KIND, proves=False, side="japan", kind="hero")
    here = heroes[0] if heroes and heroes[0].label else None
    ground = yield from card.hex("the Hero")
    near = yield Ask(NEAR, proves=False, hex=ground.label, lowest=0)
    at = yield from picked_hex(
        card.side, "where the Hero appears", [row.label for row in near if not row.blaze]
    )
    if at is None:
        yield card.nothing("a blaze is everywhere there", ground.label)
        return
    code = here.code if here else (yield from _hero("japan", heroes))
    if here is not None and here.attributes.get("broken"):
        yield from turns((yield from counter(code)), broken=False)
    if here is not None and here.attributes.get("suppressed") and (yield from reading("ccp-8")) == "a":
        yield Change({"unit": code, "suppressed": False})
    yield from comes_in(code, at, card.rule)
    if here is not None and here.label != at:
        yield from settles(here.label)


def stealth(card: Card) -> Doing:
    """E75: an own unit, or a Japanese Sighting marker, goes to an adjacent hex; no mines."""
    units = yield from card.units()
    sightings = yield Ask(
        "select distinct hex.label from marker"
        " join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r"
        " where marker.position_id = :position and marker.kind = 'sighting' order by hex.label",
        proves=False,
    )
    lying = {f"sighting in {row.label}": row.label for row in sightings if card.side == "japan"}
    words = {canonical(label): word for word, label in lying.items()}
    chosen = yield from picked(
        "unit",
        card.side,
        "who or what moves unseen",
        [*units, *lying],
        may=True,
        also=("marker",),
        words=words,
    )
    if chosen is None:
        yield card.nothing("nobody, or not wanted")
        return
    start = lying[chosen] if chosen in lying else (yield from counter(chosen)).label
    near = yield Ask(NEAR, proves=False, hex=start, lowest=1)
    open_ = [row.label for row in near if chosen in lying or not row.blaze]
    at = yield from picked_hex(card.side, "to which adjacent hex", open_)
    if at is None:
        yield card.nothing("no hex beside it can be entered", start)
    elif chosen in lying:
        yield card.happens("moves", "a Sighting marker", at)
        yield Change({"marker": "sighting", "at": start, "to": at})
    else:
        yield from comes_in(chosen, at, card.rule)
        yield from settles(start)


# Pieces from elsewhere.


def reinforcements(card: Card) -> Doing:
    """E70: a unit or Sighting marker of the Support Table comes in on the own edge, free."""
    dice = yield from rolled(card.side, "the Support Table", triggers=False)
    yield Tell(roll=dice.sum)
    of = card.said.get("of")
    piece = yield from support_piece(of if isinstance(of, Action) else None, card.side, dice.sum, card.rule)
    if piece is None:
        yield card.nothing("nothing on the table can be chosen")
        return
    hexes, edge = yield from edge_hexes(card.side)
    if not edge:
        raise Undecided(Need(f"the friendly map edge of {SIDES[card.side]}", card.rule))
    # a Sighting marker may lie in a blaze (E70, 15.1.5)
    at = yield from picked_hex(card.side, "where it comes in", edge if piece.is_sighting else hexes)
    if at is None:
        yield card.nothing("every hex of the edge burns")
    elif piece.is_sighting:
        yield from adds_marker("sighting", at)
    else:
        yield Change(piece.unit, kept=True)
        yield from comes_in(piece.unit["unit"], at, card.rule)


def scrounge(card: Card) -> Doing:
    """E71: a weapon of the Weapons Box, of either side, comes back broken, to an own unit without one."""
    boxed = {row.code: row for row in (yield Ask(BOXED, proves=False))}
    units = yield from card.units()
    if not boxed or not units:
        yield card.nothing("no weapon in the Weapons Box, or nobody without one")
        return
    names = [row.weapon["name"] for row in boxed.values()]
    words = {
        canonical(row.weapon["name"]): code
        for code, row in boxed.items()
        if names.count(row.weapon["name"]) == 1
    }
    code = yield from picked("weapon", card.side, "which weapon is scrounged", boxed, may=True, words=words)
    if code is None:
        yield card.nothing("not wanted")
        return
    source = boxed[code]
    able = yield Ask(
        "select code from unit where position_id = :position and code = any(:units)"
        " and (kind in ('squad', 'team') or :light) order by code",
        proves=False,
        units=units,
        light=(source.weapon.get("movement") or 0) >= 0,
    )
    unit = yield from picked("unit", card.side, "who takes it", [row.code for row in able])
    if unit is None:
        yield card.nothing("nobody may carry it")
        return
    yield card.happens("scrounged", f"{source.weapon['name']}, broken, by {unit}")
    yield Change({"unit": unit, "weapon": "broken"}, told=True)
    weapon = {key: value for key, value in source.weapon.items() if key != "box"} | {"broken": True}
    yield Change({"unit": unit, "weapon": weapon}, kept=True)
    gone = {"unit": code, "removed": True} if source.kind == "weapon" else {"unit": code, "weapon": None}
    yield Change(gone, kept=True)


def walking_wounded(card: Card) -> Doing:
    """E79: one unit of the Casualty Track, of either side, comes back broken in or beside a random hex."""
    rows = yield Ask(CASUALTIES, proves=False)
    code = yield from picked("unit", card.side, "who comes back", [row.code for row in rows])
    # E49: what is possible is done, so the hex is revealed, and draws a Sighting marker (9.2), though nobody comes
    ground = yield from card.hex("where the wounded come")
    if code is None:
        yield card.nothing("the Casualty Track is empty")
        return
    near = yield Ask(NEAR, proves=False, hex=ground.label, lowest=0)
    at = yield from picked_hex(card.side, "where it is put", [row.label for row in near if not row.blaze])
    if at is None:
        yield card.nothing("a blaze is everywhere there", ground.label)
        return
    unit = yield from counter(code)
    if unit.attributes.get("weapon"):
        yield from loses_weapon(unit)
        unit = yield from counter(code)
    if not unit.attributes.get("broken"):
        yield from turns(unit, broken=True, told=False)
    yield from comes_in(code, at, card.rule, broken=True)
