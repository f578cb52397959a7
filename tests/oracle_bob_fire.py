"""Infantry fire in bob once more, in plain Python: what the SQL ledger is held against.

Written from the rulebook, without a database: one firer, one target hex with one or two units, nothing between
that blocks or hinders. An unknown number (the card's) is None, and so is what would be summed up from it.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction

Cell = tuple[int, int]
"""A hex (q, r)."""
GROUND = {
    "open_ground": 0, "stone_building": -2, "wooden_building": -1, "hut": -1, "jungle": -2, "swamp": -2, "wheat_field": -1,
    "orchard": 0, "palm_trees": -1, "surf": 1, "sandbar": 0,
}  # fmt: skip
"""What the ground of the target does to direct fire: 40.1, 43.0, 46.0, 45.6, 52.0, 67.0."""
WORKS = {"foxhole": -2, "pillbox": -3, "bunker": -3, "sangar": -1}
OPEN = ("open_ground", "surf", "sandbar")
CORNERS = ((1, -1), (2, 0), (1, 1), (-1, 1), (-2, 0), (-1, -1))
"""Corners 1 to 6 of a hex, as halves of its width and of a step along a column."""


@dataclasses.dataclass(frozen=True)
class Man:
    """A Squad or WT."""

    id: str
    kind: str = "squad"
    japanese: bool = False
    fp: tuple[int, int] = (6, 5)
    range: int = 4
    casualty: tuple[int, ...] = (4, 7)
    reduced: bool = False
    suppressed: bool = False
    facing: int | None = None
    op_fire: bool = False
    moving: bool = False
    on_path: bool = False
    concealed: int = 0


@dataclasses.dataclass(frozen=True)
class Scene:
    """A shot with all that bears on it."""

    firer: Man
    at: Cell
    targets: tuple[Man, ...]
    to: Cell
    manner: str
    ground: str = "open_ground"
    works: str | None = None
    own_ground: str = "open_ground"
    own_works: str | None = None
    level: int = 0
    own_level: int = 0
    side: str | None = None
    """What stands on the side of the target's hex that the line crosses."""
    smoke: str | None = None
    wire: bool = False
    visibility: int | None = None
    monsoon: bool = False
    pacific: bool = False
    turned_to: int | None = None
    cp: str | None = None
    policy: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def away(self) -> int:
        dq, dr = self.to[0] - self.at[0], self.to[1] - self.at[1]
        return max(abs(dq), abs(dr), abs(dq + dr))

    @property
    def reacts(self) -> bool:
        return self.manner in ("op_fire", "final_op_fire")

    @property
    def veil(self) -> str | None:
        """Smoke on the line; there is none in the deluge (55.2)."""
        return None if self.monsoon else self.smoke

    def reading(self, point: str) -> str:
        return self.policy.get(point, "a")


@dataclasses.dataclass(frozen=True)
class Found:
    """What the rules say of a shot."""

    allowed: bool | None
    fp: int | None = None
    values: dict[str, int | None] = dataclasses.field(default_factory=dict)


def ahead(facing: int, at: Cell, to: Cell) -> Fraction:
    """Before the line through a counter: positive; behind it: negative (2.2)."""
    x, y = Fraction(3, 2) * (to[0] - at[0]), (to[1] - at[1]) + Fraction(to[0] - at[0], 2)
    corner = CORNERS[facing - 1]
    return x * corner[0] / 2 + 3 * y * Fraction(corner[1], 2)


def in_front(scene: Scene, facing: int, at: Cell, to: Cell) -> bool:
    """bob-34: the line itself is front, or flank."""
    where = ahead(facing, at, to)
    return where > 0 or (where == 0 and scene.reading("bob-34") == "a")


def judge(scene: Scene) -> Found:
    """Whether the shot may be made, and its FP against each target."""
    firer = scene.firer
    proficient = scene.manner != "fire"
    fp = changed_fp(scene, proficient)
    values = {man.id: value(scene, man, fp) for man in scene.targets}
    if forbidden(scene, proficient):
        return Found(False, fp, values)
    if scene.away > firer.range and all(one is not None and one < 1 for one in values.values()):
        return Found(False, fp, values)
    return Found(None if None in values.values() else True, fp, values)


def turns(scene: Scene) -> bool:
    """6.0: it faces elsewhere afterwards; who moves or is Concealed has no facing to change."""
    faceless = scene.firer.moving or scene.firer.concealed > 0
    boxed = scene.own_works in ("pillbox", "bunker") and not scene.firer.moving
    return (
        scene.turned_to not in (None, scene.firer.facing)
        and scene.firer.facing is not None
        and not faceless
        and not boxed
    )


def forbidden(scene: Scene, proficient: bool) -> bool:
    firer, final = scene.firer, scene.manner == "final_op_fire"
    facing = scene.turned_to or firer.facing
    free = facing is None or firer.moving or firer.concealed > 0 or scene.own_works in ("pillbox", "bunker")
    limit = 3 if scene.monsoon else firer.range if scene.visibility is not None else 2 * firer.range
    bare = changed(scene, proficient, with_cp=False)
    return any(
        (
            scene.manner == "assault_fire" and firer.kind == "wt",
            firer.kind == "wt" and scene.own_ground in ("swamp", "surf"),
            not free and not in_front(scene, facing or 1, scene.at, scene.to),
            final and turns(scene) and (firer.kind == "wt" or firer.japanese),
            final and scene.away > 1 and scene.cp != "range",
            final and scene.cp == "range" and scene.away > firer.range,
            scene.away > limit,
            scene.visibility is not None and scene.away > scene.visibility,
            scene.cp == "fp" and (not proficient or bare >= firer.fp[0]),
        )
    )  # fmt: skip


def changed(scene: Scene, proficient: bool, with_cp: bool = True) -> int:
    """9.0: Prof FP and what changes it, before the limit; Normal FP only by turning."""
    base = scene.firer.fp[1 if proficient else 0]
    if scene.reading("bob-36") == "b" and scene.away > scene.firer.range:
        base //= 2
    more = -1 if turns(scene) else 0
    if scene.reacts:
        more += (scene.away == 1) + scene.firer.op_fire
    return base + more + (with_cp and scene.cp == "fp")


def changed_fp(scene: Scene, proficient: bool) -> int:
    fp = changed(scene, proficient)
    if proficient:
        fp = min(fp, scene.firer.fp[0])
    if scene.away > scene.firer.range and scene.reading("bob-36") == "a":
        fp //= 2
    return fp


def value(scene: Scene, man: Man, fp: int) -> int | None:
    """6.2: terrain and situation for one target."""
    cover = covered(scene, man)
    height = (scene.own_level > scene.level) - (scene.level > scene.own_level)
    beneficial = (
        any(part < 0 for part in cover.values()) or height < 0 or "orchard" in cover or "lane" in cover
    )
    parts = [*cover.values(), height, 3 * (scene.away == 1), flank(scene, man)]
    parts.append(-1 if scene.veil == "smoke" else 0)
    parts.append(-2 if scene.manner == "final_op_fire" else 0)
    parts.append(-1 if scene.wire else 0)
    parts.append(-concealment(scene, man, beneficial))
    parts.append(open_bonus(scene, man, beneficial) if man.moving else 0)  # type: ignore[arg-type]
    return None if None in parts else fp + sum(parts)


def covered(scene: Scene, man: Man) -> dict[str, int]:
    """What terrain does, by what it is; a fortification instead of all other terrain, for who does not move (43.0)."""
    if scene.works and not man.moving:
        return {scene.works: WORKS[scene.works]}
    found: dict[str, int] = {}
    if scene.ground == "swamp" and man.moving:
        found["swamp"] = 0
    elif (
        man.moving
        and man.on_path
        and scene.ground not in OPEN
        and (scene.away == 1 or scene.reading("bob-15") == "b")
    ):
        found["path"] = 0
    else:
        found[scene.ground] = GROUND[scene.ground]
    if scene.side:
        found[scene.side] = 0 if man.moving and scene.away == 1 else -2
    lanes = scene.pacific and scene.own_works in ("foxhole", "bunker") and not scene.firer.moving
    if lanes and man.moving and scene.away == 1:
        lost = [
            key
            for key, part in found.items()
            if part < 0 and key not in ("stone_building", "wooden_building", "hut")
        ]
        found |= dict.fromkeys(lost, 0) | ({"lane": 0} if lost else {})
    return found


def flank(scene: Scene, man: Man) -> int:
    if man.facing is None or man.moving or man.concealed:
        return 0
    return 0 if in_front(scene, man.facing, scene.to, scene.at) else 1


def concealment(scene: Scene, man: Man, beneficial: bool) -> int:
    """15.0, 51.1: lost in the open, next to an enemy (not for who lies still in the Jungle), or Suppressed."""
    if not man.concealed:
        return 0
    finder = scene.away == 1 and (not scene.firer.moving or scene.manner == "assault_fire")
    shown = finder and (man.moving or scene.ground != "jungle")
    # as things stand, not as the firer's lanes have it
    in_open = (
        scene.ground in OPEN
        and not any(part < 0 for part in covered(scene, man).values())
        and scene.level <= scene.own_level
    )
    if man.suppressed or shown or in_open or scene.ground == "surf":
        return 0
    resting = man.japanese and man.concealed == 1 and not man.moving
    return 2 if resting and scene.reading("bob-2") == "b" else man.concealed


def open_bonus(scene: Scene, man: Man, beneficial: bool) -> int | None:
    """41.0, 50.2, 55.2: moving in Open Ground, by range."""
    if not scene.reacts or scene.ground not in OPEN or beneficial or scene.veil:
        return 0
    if scene.monsoon or scene.visibility is not None:
        return {1: 2, 2: 1}.get(scene.away, 0)
    if scene.away == 2 or (scene.reading("bob-37") == "b" and scene.away <= 4):
        return 4
    return None


def result(man: Man, value: int, die: int, away: int, within: bool) -> str:
    """6.1, 6.2: what a roll does."""
    if die == 10:
        return "no_effect"
    if not man.reduced and die + man.casualty[1] <= value:
        return "eliminated"
    if die + man.casualty[0] <= value or (die == 1 and away == 1 and within):
        return "eliminated" if man.reduced else "reduced"
    return "suppressed" if die <= value or (die == 1 and within) else "no_effect"
