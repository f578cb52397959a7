"""`legal`: what a unit or a side may do now; and `drawn`, one of it at random.

Of a unit the names are told with their targets; of a side every action with arguments that can be entered as
they are. What only a procedure can judge is tried in it, up to its first roll.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from typing import Annotated, Any

from pydantic import Field

from app.play.bob.conceal import DECOYS
from app.play.bob.fire import SHOOTERS
from app.play.bob.interruption import AROUND
from app.play.bob.support import has_grenades
from app.play.procedures import Given, ProcedureKind, tried
from app.play.sequence import END_PHASE, state_of, walk_of
from app.referee.questions import kinds_of
from app.referee.rulings import Arguments, Asked, Finding, QuestionKind, Ruling, Step
from app.referee.words import counted, series
from importers.questions import Names

Offer = dict[str, Any]
ASSETS = {
    "artillery": ("indirect_fire", "at"),
    "aircraft": ("air_attack", "target"),
    "illumination": ("illumination", "at"),
}
"""What an asset is for, and how its target is told."""
ARGUMENTS = {
    **{name: ("by", argument) for name, argument in ASSETS.values()},
    "satw": ("by", "target"),
    "mount": ("unit", "carrier"),
    "dismount": ("unit", "carrier"),
    "clear": ("unit", "what"),
    "crush": ("unit", "target"),
    "decoy": ("unit", "decoy"),
}
"""How the arguments of an action are called: who does it, and to whom or what."""
IN_THE_WAY = """
select 'wire' as what from marker
where marker.position_id = :position and marker.q = :q and marker.r = :r and marker.kind = 'wire'
union
select 'roadblock' from position
cross join lateral lattice.neighbours(:q, :r) as beside
join hexside on hexside.map_id = position.map_id and hexside.kind = 'roadblock'
  and hexside.x = :q + beside.nq and hexside.y = :r + beside.nr
where position.id = :position
order by what
"""
"""What a unit might clear out of its hex, and off its sides (43.6, 43.7)."""
LIGHTS = (
    "select distinct hex.label from bob._pieces(:position) as friend join position on position.id = :position"
    " join hex on hex.map_id = position.map_id and lattice.distance(hex.q, hex.r, friend.q, friend.r) <= 5"
    " where friend.side = :side and not friend.melee order by hex.label"
)
MANNERS = ("retreat", "seishin")
"""Manners of a move that are offered beside a plain one (5.3, 59.5): hexes under their names, the action is `move`."""
LANDS = """
select hex.label
from positions.state(:position, :conditions, :policy) as state
cross join lateral bob._counter(state, :unit) as squad
join hex on hex.map_id = state.map_id
  and lattice.distance(hex.q, hex.r, squad.q, squad.r) <= bob._far(bob._shown(squad.attributes, 'range'))
where (bob._of_side(state, squad.side, 'smoke'))::integer > 0
order by hex.label
"""
"""Hexes within the Range of a grenade discharger whose side has Smoke counters (59.3)."""
TEAMS = (
    "select (bob._of_side(state, :side, 'satt'))::integer as held, enemy.code"
    " from positions.state(:position, :conditions, :policy) as state"
    " join bob._pieces(:position) as enemy on enemy.side <> :side and enemy.vehicle order by enemy.code"
)
"""Vehicles that a suicide team might go for, and how many teams there are (59.4)."""
RESERVES = """
select hex.label
from positions.state(:position, :conditions, :policy) as state
join unit as fresh on fresh.position_id = state.position_id and fresh.code = :unit
join hex on hex.map_id = state.map_id
where (
  select bool_and(told.effect <> 'forbids')
  from bob.placement(
    state.position_id, fresh.code, fresh.side, coalesce(fresh.kind, 'squad'), coalesce(fresh.attributes ->> 'nation', fresh.side),
    hex.label, 'fow', '{}', null, state.conditions, state.readings
  ) as told
)
order by hex.label
"""
"""Where a unit of the FOW cup may be placed in its own side's Operations Range (16.2)."""
CUP = (
    "select cup.next from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral bob._cups(state) as cup where cup.side = :side"
)
WAITING = """
select unit.code
from position
join unit on unit.position_id = position.id and unit.side = :side and unit.attributes ->> 'status' = 'fow'
where position.id = :position
  and position.tracks -> :side -> 'fow' is not null
  and not position.tracks -> :side -> 'fow' ? unit.code
order by unit.code
"""
"""Who has been drawn and not been placed yet (16.2)."""
FORWARD = 0.6
"""How often a random player goes toward the enemy: else nobody would meet anybody in the dark."""
IN_RESERVE = 0.3
"""How often a random player sends a suicide team or draws from the cup where it may."""


RULES = {
    "mark_used": "4.2", "mark_op_fire": "4.3", "move": "5.0", "retreat": "5.3", "seishin": "59.5", "fire": "6.0",
    "op_fire": "9.0", "final_op_fire": "10.0", "assault_fire": "5.2", "fireteam": "58.3", "satchel_charge": "36.0",
    "satw": "33.0", "satt": "59.4", "mount": "21.3", "dismount": "21.3", "clear": "43.7", "crush": "20.12",
    "decoy": "50.3", "indirect_fire": "32.0", "spot": "32.0", "air_attack": "35.0", "illumination": "50.1",
    "draw": "16.2", "placement": "16.2", "pass": "4.1", "banzai": "59.6", "rout": "11.0", "melee": "12.0",
}  # fmt: skip
"""The rule by which each action is open."""


class Legal(Arguments):
    """For whom; without both, for whoever acts now."""

    unit: Annotated[str | None, Names(("unit",))] = Field(None, description="The id of a unit")
    side: str | None = Field(None, description="A side")


def _legal(asked: Asked, of: Legal) -> Finding:
    table = _Table(asked)
    step = Step(table.rule, None, "phase", table.title)
    if of.unit is not None:
        names, targets, why = table.of_unit(of.unit)
        opens = [_opens(name, table.smoke_rule(of.unit)) for name in dict.fromkeys([*names, *targets])]
        return Finding({"actions": names, "targets": targets}, [step, *why, *opens])
    side = of.side or table.active
    if table.active is not None and side != table.active:
        return Finding(
            {"actions": []}, [step, Step(table.rule, None, "waits", "it is the other side's turn to act")]
        )
    offers = list(table.offers(side))
    named = dict.fromkeys(
        (offer["action"], _SMOKES.get(offer["arguments"].get("as"), "48.0")) for offer in offers
    )
    return Finding({"actions": offers}, [step, *(_opens(name, smoke) for name, smoke in named)])


_SMOKES = {"grenade": "48.1", "discharger": "59.3"}
"""By which rule smoke is laid; else by Artillery."""


def _opens(name: str, smoke: str) -> Step:
    """The rule that lets an action be taken."""
    return Step(smoke if name == "smoke" else RULES.get(name, "4.0"), None, "open", name.replace("_", " "))


def drawn(asked: Asked, dice: random.Random) -> Offer | None:
    """One of the actions that may be taken now, each kind as likely as any other; None where there is none."""
    table = _Table(asked)
    return table.chance(dice)


class _Table:
    """A position, and what may be done on it."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.walk, self.state = walk_of("bob"), state_of(asked)
        leaf = self.walk.leaf(self.state)
        self.rule = leaf.phase.rule if leaf is not None else "18.0"
        self.title = leaf.phase.title if leaf is not None else "Set-up"
        self.phase = asked.conditions.get("phase")
        self.active = self.walk.side(leaf.phase, self.state) if leaf is not None else None
        self.units = asked.rows("select * from bob._pieces(:position)")
        self.havens: dict[str, set[str]] = {}
        self.ways: dict[tuple[str, str | None], dict[str, dict[str, Any]]] = {}

    def _range(self, side: str) -> Any:
        [row] = self.asked.rows(
            "select * from bob.range_state(:position, :side, null, cast(:conditions as jsonb))", side=side
        )
        return row

    def _may_use(self, unit: Any, manner: str) -> bool:
        rows = self.asked.rows(
            "select * from bob.activate(:position, :unit, :manner, :conditions, :policy)",
            unit=unit.code,
            manner=manner,
        )
        return bool(rows[-1].effect == "allowed")

    def smoke_rule(self, code: str) -> str:
        """48.0, 48.1, 59.3: how a unit would lay smoke."""
        unit = next((one for one in self.units if one.code == code), None)
        if unit is None:
            return "48.0"
        return "48.1" if "moving" in unit.attributes else "59.3"

    # A unit

    def of_unit(self, code: str) -> tuple[list[str], dict[str, list[Any]], list[Step]]:
        unit = next((one for one in self.units if one.code == code), None)
        if unit is None:
            return self._of_asset(code)
        if self.phase in ("rout", "melee"):
            return self._in_phase(unit)
        if self.phase == "recovery":
            return (
                [],
                {},
                [Step("13.0", unit.label, "waits", "nothing is done with a unit in the Recovery Phase")],
            )
        if (paused := self._paused(unit)) is not None:
            return paused
        if unit.attributes.get("used") or unit.attributes.get("op_fire"):
            return self._spent(unit)
        names, targets = ["mark_used"], {}
        if unit.kind != "satt":
            names.append("mark_op_fire")
        # 5.1, 59.1: Japanese in an enemy's hex are marked, and nothing else
        if self._held(unit) and unit.nation == "japan":
            names = [name for name in names if self._may_use(unit, _manner(name))]
            return (
                names,
                {},
                [
                    Step("5.1", unit.label, "stays", "a Japanese unit in an enemy's hex is marked"),
                    Step("59.1", unit.label, "stays", "no Japanese unit withdraws from Melee"),
                ],
            )
        changes = (offer["arguments"]["path"][-1] for offer in self._changes(unit))
        if ways := dict.fromkeys([*self._ways(unit), *changes]):
            names.append("move")
            targets["move"] = list(ways)
            targets |= {manner: list(ends) for manner in MANNERS if (ends := self._ways(unit, manner))}
        if not unit.decoy and not self._held(unit) and (seen := self._targets(unit)):
            names.append("fire")
            targets["fire"] = seen
        for name, found in self._other_uses(unit):
            names.append(name)
            targets[name] = found
        names = [name for name in names if self._may_use(unit, _manner(name))]
        told = {*names, *(MANNERS if "move" in names else ())}
        return names, {name: found for name, found in targets.items() if name in told}, []

    def _other_uses(self, unit: Any) -> Iterator[tuple[str, list[str]]]:
        """What only some may do: fire an anti-tank weapon, mount, dismount, clear what is in the way, lay smoke."""
        vehicles = [one for one in self.units if one.vehicle]
        if unit.attributes.get("satw"):
            foes = [one.code for one in vehicles if one.side != unit.side]
            if seen := [code for code in foes if self._stands("satw", {"by": unit.code, "target": code})]:
                yield "satw", seen
        if unit.mounted:
            carrier = unit.attributes["in"]
            if self._stands("dismount", {"unit": unit.code, "carrier": carrier}):
                yield "dismount", [carrier]
        elif (unit.infantry or unit.gun) and not self._held(unit):
            own = [one.code for one in vehicles if one.side == unit.side and one.label == unit.label]
            if ready := [code for code in own if self._stands("mount", {"unit": unit.code, "carrier": code})]:
                yield "mount", ready
        if unit.infantry:
            in_the_way = [row.what for row in self.asked.rows(IN_THE_WAY, q=unit.q, r=unit.r)]
            if cleared := [
                what for what in in_the_way if self._stands("clear", {"unit": unit.code, "what": what})
            ]:
                yield "clear", cleared
        if unit.concealed and self.asked.conditions.get("night"):
            gone = [row.code for row in self.asked.rows(DECOYS, side=unit.side)]
            if back := [code for code in gone if self._stands("decoy", {"unit": unit.code, "decoy": code})]:
                yield "decoy", back
        if laid := self._smokes(unit):
            yield "smoke", laid
        if unit.attributes.get("crusher"):
            guns = [one.code for one in self.units if one.gun and one.side != unit.side and not one.mounted]
            if under := [code for code in guns if self._stands("crush", {"unit": unit.code, "target": code})]:
                yield "crush", under

    def _smokes(self, unit: Any) -> list[str]:
        """48.1, 59.3: where a grenade discharger lays smoke, or a Squad on its way a Smoke Grenade."""
        if "moving" in unit.attributes:
            if unit.kind != "squad" or not has_grenades(self.asked.conditions, unit.side):
                return []
            manner, near = "grenade", self.asked.rows(AROUND, unit=unit.code)
        else:
            if not unit.attributes.get("grenade_discharger"):
                return []
            manner, near = "discharger", self.asked.rows(LANDS, unit=unit.code)
        return [
            row.label
            for row in near
            if self._stands("smoke", {"by": unit.code, "at": row.label, "as": manner})
        ]

    def _teams(self, side: str, counter: str | None = None) -> list[str]:
        """59.4: Vehicles that a suicide team of a side may go for, as long as there is one."""
        rows = self.asked.rows(TEAMS, side=side)
        return [
            row.code
            for row in rows
            if (row.held or (counter is not None and row.held is None))
            and self._stands("satt", {"target": row.code})
        ]

    def _of_team(self, team: Any) -> tuple[list[str], dict[str, list[Any]], list[Step]]:
        """59.4: what a suicide team that waits off the map may go for."""
        step = Step(
            "59.4", None, "waits", "a suicide team goes for a Vehicle by itself, near a Japanese unit"
        )
        if team.attributes.get("status") or self.phase in ("rout", "melee", "recovery"):
            return [], {}, [step]
        found = self._teams(team.side, team.code)
        mover = next((one for one in self.units if "moving" in one.attributes), None)
        if mover is not None or self.active not in (None, team.side):
            # as Op Fire, at who is on its way
            found = [code for code in found if mover is not None and code == mover.code]
        return (["satt"], {"satt": found}, [step]) if found else ([], {}, [step])

    def _of_asset(self, code: str) -> tuple[list[str], dict[str, list[Any]], list[Step]]:
        """What an asset may be used for (32.0, 35.0, 50.1), and at which hexes or units."""
        rows = self.asked.rows(
            "select code, side, kind, attributes from unit where position_id = :position and code = :code",
            code=code,
        )
        asset = rows[0] if rows else None
        if asset is not None and asset.kind == "satt":
            return self._of_team(asset)
        if asset is None or asset.kind not in ASSETS:
            return [], {}, [Step("4.0", None, "waits", "it is not on the map")]
        if self.phase in ("rout", "melee", "recovery"):
            return [], {}, [Step("4.0", None, "waits", "assets are used in the Operations Phase")]
        if asset.attributes.get("used") or asset.attributes.get("status"):
            return [], {}, [Step("4.2", None, "used", "it has been used")]
        foes = [one for one in self.units if one.side != asset.side]
        mover = next((one for one in foes if "moving" in one.attributes), None)
        if mover is not None:
            told = self._others(mover)
            found = [row.at for row in told if row.by == code]
            return (["indirect_fire"], {"indirect_fire": found}, []) if found else ([], {}, [])
        name, argument = ASSETS[asset.kind]
        smokes = self._shells(asset)
        wanted = sorted({one.label for one in foes}) if argument == "at" else [one.code for one in foes]
        if asset.kind == "illumination":
            wanted = [row.label for row in self.asked.rows(LIGHTS, side=asset.side)]
        found = [to for to in wanted if self._stands(name, {"by": code, argument: to})]
        names = [
            "mark_used",
            *(["mark_op_fire"] if asset.kind == "artillery" else []),
            *([name] if found else []),
            *(["smoke"] if smokes else []),
        ]
        may = [
            one for one in names if self._may_use(asset, "asset" if one in (name, "smoke") else _manner(one))
        ]
        targets = {name: found, "smoke": smokes}
        return may, {one: targets[one] for one in may if one in targets}, []

    def _shells(self, asset: Any) -> list[str]:
        """48.0: hexes that are spotted for a battery to which the scenario gives Smoke."""
        if asset.kind != "artillery" or not asset.attributes.get("smoke"):
            return []
        hexes = self.asked.rows(
            "select hex.label from position join hex on hex.map_id = position.map_id where position.id = :position"
            " order by hex.label"
        )
        return [
            row.label
            for row in hexes
            if self._stands("smoke", {"by": asset.code, "at": row.label, "as": "artillery"})
        ]

    def _others(self, mover: Any) -> list[Any]:
        return self.asked.rows(
            "select * from bob.interruptions(:position, :unit, :conditions, :policy)", unit=mover.code
        )

    def _paused(self, unit: Any) -> tuple[list[str], dict[str, list[Any]], list[Step]] | None:
        """9.0: while a move is paused, what its unit and its enemies may do; None where none is."""
        mover = next((one for one in self.units if "moving" in one.attributes), None)
        if mover is None:
            return None
        step = Step("9.0", mover.label, "paused", f"{mover.code} is on its way")
        if unit.code == mover.code:
            return self._on_its_way(unit, step)
        if unit.side == mover.side:
            return [], {}, [step]
        fires = self.asked.rows(SHOOTERS, unit=mover.code, at=mover.label)
        names = [
            row.kind
            for row in fires
            if row.who == unit.code and self._stands(row.kind, {"by": [unit.code], "target": mover.code})
        ]
        return names, {name: [mover.label] for name in names}, [step]

    def _on_its_way(self, unit: Any, step: Step) -> tuple[list[str], dict[str, list[Any]], list[Step]]:
        """5.2, 36.0, 48.1, 58.3: it goes on, fires, or places a Smoke Grenade."""
        names, targets = [], {}
        if unit.attributes.get("used"):
            return [], {}, [step]
        if ways := self._ways(unit):
            names, targets = ["move"], {"move": list(ways)}
        fires: dict[str, list[Any]] = {}
        if unit.kind == "squad" or unit.mounted:
            for row in self.asked.rows(
                "select * from bob.assault_targets(:position, :unit, :conditions, :policy)", unit=unit.code
            ):
                if row.fire == "satchel_charge" or self._stands(row.fire, {"by": [unit.code], "at": row.at}):
                    fires.setdefault(row.fire, []).append(row.at)
        if "assault_fire" in fires and unit.attributes.get("fireteam") and not unit.attributes.get("fired"):
            fires["fireteam"] = fires["assault_fire"]
        if laid := self._smokes(unit):
            fires["smoke"] = laid
        return [*names, *fires], targets | fires, [step]

    def _spent(self, unit: Any) -> tuple[list[str], dict[str, list[Any]], list[Step]]:
        """4.2: what a Used unit, or one marked Op Fire, may still do."""
        armed = not unit.decoy and unit.attributes.get("fp") is not None and not self._held(unit)
        if unit.attributes.get("op_fire"):
            names = ["op_fire"] if armed else []
            return names, {}, [Step("4.3", unit.label, "waits", "it is marked Op Fire")]
        able = {
            "final_op_fire": armed,
            "spot": not unit.melee and self._spots_for_guns(unit),
            "illumination": not unit.melee
            and self.asked.conditions.get("weather") != "monsoon"
            and self._has_asset(unit.side, "illumination"),
        }
        names = [name for name, so in able.items() if so]
        return names, {}, [Step("4.2", unit.label, "used", "a Used unit does nothing else")]

    def _spots_for_guns(self, unit: Any) -> bool:
        """32.0, 63.1: whether it might spot: no Vehicle, not Fully Suppressed, in Command, and a battery left to fire."""
        [row] = self.asked.rows(
            "select bob._is_out_of_command(state, bob._counter(state, :unit)) as lost"
            " from positions.state(:position, :conditions, :policy) as state",
            unit=unit.code,
        )
        shaken = unit.attributes.get("suppression") == "full"
        return not (unit.vehicle or shaken or row.lost) and self._has_asset(unit.side, "artillery")

    def _has_asset(self, side: str, kind: str) -> bool:
        """Whether a side has an asset of a kind that is not Used; a position that tells of none leaves it open."""
        rows = self.asked.rows(
            "select attributes from unit where position_id = :position and side = :side and kind = :kind",
            side=side,
            kind=kind,
        )
        return not rows or any(not {"used", "status"} & {*row.attributes} for row in rows)

    def _in_phase(self, unit: Any) -> tuple[list[str], dict[str, list[Any]], list[Step]]:
        if self.phase == "melee":
            return (["melee"], {"melee": [unit.label]}, []) if unit.melee else ([], {}, [])
        rows = self.asked.rows(
            "select * from bob.rout_check(:position, :unit, :conditions, :policy)", unit=unit.code
        )
        return (["rout"], {}, []) if rows[-1].effect == "checks" else ([], {}, [])

    def _held(self, unit: Any) -> bool:
        return any(
            one.side != unit.side
            and (one.q, one.r, one.location) == (unit.q, unit.r, unit.location)
            and not one.mounted
            for one in self.units
        )

    def _ways(self, unit: Any, manner: str | None = None) -> dict[str, dict[str, Any]]:
        """The hexes in which it can end a move, each with a cheapest way and where a Vehicle turns on it (20.3)."""
        if unit.gun or unit.mounted or not self._has_manner(unit, manner):
            return {}
        if (unit.code, manner) not in self.ways:
            rows = self.asked.rows(
                "select * from bob.reach_paths(:position, :unit, :options, :conditions, :policy)",
                unit=unit.code,
                options={} if manner is None else {"as": manner},
            )
            said = {} if manner is None else {"as": manner}
            self.ways[unit.code, manner] = {
                row.label: {"path": list(row.path)} | said | ({"turns": row.turns} if row.turns else {})
                for row in rows
                if manner is None or self._goes(unit, list(row.path), manner)
            }
        return self.ways[unit.code, manner]

    def _has_manner(self, unit: Any, manner: str | None) -> bool:
        """5.3, 59.5: Infantry that is not in an enemy's hex retreats; of Seishin are Squads with an S."""
        if manner is None:
            return True
        able = (
            unit.infantry if manner == "retreat" else unit.kind == "squad" and unit.attributes.get("seishin")
        )
        return bool(able) and not self._held(unit) and "moving" not in unit.attributes

    def _goes(self, unit: Any, path: list[str], manner: str) -> bool:
        """Whether a way may be gone in this manner: to where a Rout would go, or into an enemy's hex."""
        if manner == "seishin":
            ends = {one.label for one in self.units if one.side != unit.side and not one.mounted}
        else:
            ends = self._havens(unit)
        if path[-1] not in ends:
            return False
        rows = self.asked.rows(
            "select effect from bob.move(:position, :unit, :path, :options, :conditions, :policy)",
            unit=unit.code,
            path=path,
            options={"as": manner},
        )
        return bool(rows[-1].effect == "legal")

    def _havens(self, unit: Any) -> set[str]:
        """11.0: where a unit would Rout to."""
        if unit.code not in self.havens:
            rows = self.asked.rows(
                "select * from bob.rout_path(:position, :unit, :conditions, :policy)", unit=unit.code
            )
            self.havens[unit.code] = {*(rows[-1].facts["destinations"] or ())}
        return self.havens[unit.code]

    def _changes(self, unit: Any) -> Iterator[Offer]:
        """Moves that end in a Cave or on another level of a building (40.2, 43.4)."""
        if not unit.infantry or unit.mounted:
            return
        rows = self.asked.rows(
            "select distinct on (label, location) * from bob.reach_locations(:position, :unit, '{}', :conditions, :policy)"
            " order by label, location, halves, path",
            unit=unit.code,
        )
        for row in rows:
            told = {"unit": unit.code, "path": list(row.path), "into": row.location}
            yield {"action": "move", "arguments": told}

    def _near(self, unit: Any) -> list[str]:
        """Hexes of enemies that are near enough to be fired at, and seen."""
        rows = self.asked.rows(
            "select distinct enemy.label from positions.state(:position, :conditions, :policy) as state"
            " cross join lateral (select array(select piece from bob._pieces(:position) as piece) as told) as board"
            " cross join lateral unnest(board.told) as own"
            " cross join lateral unnest(board.told) as enemy"
            " where own.code = :unit and enemy.side <> own.side and not enemy.mounted"
            " and lattice.distance(own.q, own.r, enemy.q, enemy.r)"
            " <= bob._longest(own, jsonb_typeof(state.conditions -> 'night') = 'object')"
            " and bob._too_dark(state, lattice.distance(own.q, own.r, enemy.q, enemy.r)) is not true"
            " and bob._seen(state, 'unit:' || own.code, 'unit:' || enemy.code) order by enemy.label",
            unit=unit.code,
        )
        return [row.label for row in rows]

    def _targets(self, unit: Any) -> list[str]:
        """Hexes of enemies at which the procedure itself lets it fire."""
        return [label for label in self._near(unit) if self._stands("fire", {"by": [unit.code], "at": label})]

    def _stands(self, name: str, arguments: dict[str, Any]) -> bool:
        """Whether the procedure itself allows it."""
        kind = kinds_of("bob").get(name)
        if not isinstance(kind, ProcedureKind):
            return False
        of = kind.arguments.model_validate(arguments)
        outcome = tried(self.asked, lambda: kind.begin(of), Given(), functools.partial(kinds_of, "bob"))  # type: ignore[arg-type]
        return outcome.allowed is True

    # A side

    def offers(self, side: str | None) -> Iterator[Offer]:
        """Every action, with arguments that can be entered as they are."""
        if self.phase == "operations" and side is not None:
            if placed := list(self._placements(side)):
                # 16.2: who was drawn is placed at once
                yield from placed
                return
            yield from self._reserves(side)
            for unit in (*self._available(side), *self._assets(side)):
                yield from self._of(unit)
            if self._may_pass(side):
                yield {"action": "pass", "arguments": {"side": side}}
            return
        yield from self._of_phase(side)

    def _reserves(self, side: str) -> Iterator[Offer]:
        """16.2, 59.4: a suicide team is sent, a unit is drawn from the FOW cup."""
        for code in self._teams(side):
            yield {"action": "satt", "arguments": {"target": code}}
        told = self._range(side)
        if told.most is not None and told.spent >= told.most:
            return  # 16.2: it has to be Used within this Range
        for cup in self.asked.rows(CUP, side=side):
            if self._spots(cup.next):
                yield {"action": "draw", "arguments": {"from": "fow", "side": side}}

    def _spots(self, code: str) -> list[str]:
        """16.2: where a unit of the cup may be placed."""
        return [row.label for row in self.asked.rows(RESERVES, unit=code)]

    def _placements(self, side: str) -> Iterator[Offer]:
        """16.2: the hexes for who has been drawn and waits beside the map."""
        for row in self.asked.rows(WAITING, side=side):
            for label in self._spots(row.code):
                yield {"action": "placement", "arguments": {"unit": row.code, "at": label, "as": "fow"}}

    def _available(self, side: str) -> list[Any]:
        return [
            unit
            for unit in self.units
            if unit.side == side
            and not unit.mounted
            and not unit.attributes.get("used")
            and not unit.attributes.get("op_fire")
        ]

    def _assets(self, side: str) -> list[Any]:
        rows = self.asked.rows(
            "select code, side, kind, attributes from unit where position_id = :position and side = :side"
            " and kind in ('artillery', 'aircraft', 'illumination') order by code",
            side=side,
        )
        return [row for row in rows if not {"used", "op_fire", "status"} & {*row.attributes}]

    def _may_pass(self, side: str) -> bool:
        told = self._range(side)
        if told.due is not None:
            return False  # 16.2: who was placed from the cup is to be Used first
        return told.fitting == 0 or told.fewest is None or told.spent >= told.fewest

    def _of(self, unit: Any) -> Iterator[Offer]:
        names, targets, _ = self.of_unit(unit.code)
        for name in names:
            yield from self._offer(unit, name, targets.get(name, []))
        if "move" in names:
            yield from self._changes(unit)
            for manner in MANNERS:
                yield from self._offer(unit, manner, targets.get(manner, []))

    def _offer(self, unit: Any, name: str, targets: list[Any]) -> Iterator[Offer]:
        if name.startswith("mark_"):
            yield {"action": "mark", "arguments": {"unit": unit.code, "as": name.removeprefix("mark_")}}
        elif name == "fire":
            for label in targets:
                yield {"action": "fire", "arguments": {"by": [unit.code], "at": label}}
        elif name == "move":
            for label in (one for one in targets if one in self._ways(unit)):
                yield {"action": "move", "arguments": {"unit": unit.code, **self._ways(unit)[label]}}
        elif name in MANNERS:
            for label in targets:
                yield {"action": "move", "arguments": {"unit": unit.code, **self._ways(unit, name)[label]}}
        elif name == "smoke":
            for label in targets:
                manner = "artillery" if unit.kind == "artillery" else "discharger"
                yield {"action": "smoke", "arguments": {"by": unit.code, "at": label, "as": manner}}
        elif name in ARGUMENTS:
            who, what = ARGUMENTS[name]
            for target in targets:
                yield {"action": name, "arguments": {who: unit.code, what: target}}

    def _from_enemies(self, unit: Any) -> Callable[[str], int]:
        """How far a hex is from the nearest enemy."""
        rows = self.asked.rows(
            "select hex.label, min(lattice.distance(hex.q, hex.r, enemy.q, enemy.r)) as away"
            " from position join hex on hex.map_id = position.map_id"
            " join bob._pieces(:position) as enemy on enemy.side <> :side"
            " where position.id = :position group by hex.label",
            side=unit.side,
        )
        away = {row.label: int(row.away) for row in rows}
        return lambda label: away.get(label, 0)

    def _of_phase(self, side: str | None) -> Iterator[Offer]:
        if self.phase == "start":
            yield from self._charge(side)
        if self.phase == "rout" and side not in (self.state.tracks.get("routed") or ()):
            yield {"action": "rout", "arguments": {"side": side}}
            return
        if self.phase == "melee":
            fought = self.state.tracks.get("fought") or ()
            rows = self.asked.rows("select label from bob.melees(:position)")
            waiting = [row.label for row in rows if row.label not in fought]
            yield from ({"action": "melee", "arguments": {"at": label}} for label in waiting)
            if waiting:
                return
        yield {"action": END_PHASE.name, "arguments": {}}

    def _charge(self, side: str | None) -> Iterator[Offer]:
        """59.6: a Banzai Charge, where the scenario has one, is called before anything is done."""
        japanese = next((one.side for one in self.units if one.nation == "japan"), None)
        if japanese is None or side not in (None, japanese) or not self.asked.conditions.get("banzai"):
            return
        if self._stands("banzai", {"side": japanese}):
            yield {"action": "banzai", "arguments": {"side": japanese}}

    def chance(self, dice: random.Random) -> Offer | None:
        """A random player's action, found without looking at all there are."""
        if self.phase != "operations" or self.active is None:
            offers = list(self._of_phase(self.active))
            return dice.choice(offers) if offers else None
        if reserves := list(self._placements(self.active)) or list(self._reserves(self.active)):
            sent = dice.choice(reserves)
            if sent["action"] == "placement" or dice.random() < IN_RESERVE:
                return sent
        told = self._range(self.active)
        units = [*self._available(self.active), *self._assets(self.active)]
        if self._may_pass(self.active) and (not units or told.fitting == 0 or dice.random() < 0.3):
            return {"action": "pass", "arguments": {"side": self.active}}
        dice.shuffle(units)
        for unit in units:
            offer = self._random_of(unit, dice)
            if offer is not None:
                return offer
        return {"action": "pass", "arguments": {"side": self.active}} if self._may_pass(self.active) else None

    def _seldom(self, unit: Any) -> list[str]:
        """What a random player thinks of with some units only: who is Suppressed may go back, spirits go forward."""
        marks = unit.attributes
        found = {
            "retreat": marks.get("suppression", "none") != "none",
            "seishin": marks.get("seishin"),
            "smoke": marks.get("grenade_discharger"),
        }
        return [name for name, so in found.items() if so]

    def _random_of(self, unit: Any, dice: random.Random) -> Offer | None:
        if unit.kind in ASSETS:
            offers = list(self._of(unit))
            return dice.choice(offers) if offers else None
        kinds = ["move", "move", "fire", "fire", "mark_used", "mark_op_fire", *self._seldom(unit)]
        dice.shuffle(kinds)
        held = self._held(unit)
        for name in kinds:
            if not self._may_use(unit, _manner(name)):
                continue
            if name == "move" and not (held and unit.nation == "japan"):
                targets = list(self._ways(unit))
                dice.shuffle(targets)
                if dice.random() < FORWARD:
                    targets.sort(key=self._from_enemies(unit))
            elif name == "fire" and not unit.decoy and not held:
                near = self._near(unit)
                dice.shuffle(near)
                fits = (label for label in near if self._stands("fire", {"by": [unit.code], "at": label}))
                targets = [label for label in (next(fits, None),) if label is not None]
            elif name.startswith("mark_"):
                targets = []
            elif name in MANNERS:
                targets = list(self._ways(unit, name))
                dice.shuffle(targets)
            elif name == "smoke":
                targets = self._smokes(unit)
                dice.shuffle(targets)
            else:
                continue
            for offer in self._offer(unit, name, targets[:1]):
                return offer
        return None


def _manner(name: str) -> str:
    manners = {
        "mark_used": "used",
        "mark_op_fire": "op_fire",
        "satw": "fire",
        "decoy": "used",
        "smoke": "used",
    }
    return manners.get(name, "move" if name in ("mount", "dismount", "clear", "crush", *MANNERS) else name)


def _verdict(ruling: Ruling) -> str:
    of, actions = ruling.question["legal"], ruling.answer["actions"]
    whose = of.get("unit") or of.get("side") or "Whoever acts"
    if actions and isinstance(actions[0], str):
        return f"{whose} may now {series(name.replace('_', ' ') for name in actions)}"
    return f"{whose} has {counted(len(actions), 'action') if actions else 'no action'} now"


KIND = QuestionKind(
    name="legal",
    title="What may be done now",
    arguments=Legal,
    rulesets=("bob",),
    rule=_legal,
    answers={
        "actions": "of a unit, names; of a side, every action that may be entered now: `action` and `arguments`",
        "targets": "of a unit: hexes for each of them",
    },
    verdict=_verdict,
    points=(),
    example='legal: {unit: "1/A"}',
)
