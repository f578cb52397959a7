"""`adjacent`, `arc`, `cover` and `armor` in bob: where units face, and what ground and armor do to fire (2.2, 6.2, 20.4, 20.6)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from app.referee.questions.geometry import Ends, Place
from app.referee.questions.movement import step_of
from app.referee.rulings import Arguments, Asked, Finding, Need, QuestionKind, Ruling
from app.referee.words import not_known, series
from db.values import canonical
from importers.questions import Names

Unit = Annotated[str, Names(("unit",))]


def ledger(asked: Asked, query: str, **values: Any) -> Finding:
    """What a ledger finds: the facts of its last row, each row a step, modifiers with their values."""
    rows = asked.rows(query, **values)
    answer = dict(rows[-1].facts)
    return Finding(
        answer,
        [step_of(row) for row in rows],
        [row.point for row in rows if row.point],
        [Need(row.note, row.rule) for row in rows if row.effect == "unknown"],
    )


def modifiers(rows: list[Any]) -> list[dict[str, Any]]:
    """The entries of a ledger that add something, as an answer tells them."""
    return [
        {"rule": row.rule, "value": row.halves // 2, "note": row.note}
        for row in rows
        if row.halves and row.facts is None and row.effect[:1] in "+-"
    ]


def _adjacent(asked: Asked, of: Ends) -> Finding:
    query = "select * from bob.adjacent(:position, :start, :target, :conditions, :policy)"
    return ledger(asked, query, start=of.start, target=of.target)


def _adjacent_verdict(ruling: Ruling) -> str:
    of = ruling.question["adjacent"]
    are = "are" if ruling.answer["adjacent"] else "are not"
    return f"{of['from']} and {of['to']} {are} adjacent: {ruling.answer['why']}"


class ArcOf(Arguments):
    """Whose front."""

    unit: Unit = Field(description="A unit's id")


def _arc(asked: Asked, of: ArcOf) -> Finding:
    found = ledger(asked, "select * from bob.arc(:position, :unit, :conditions, :policy)", unit=of.unit)
    if "unknown" in found.answer:
        # bob-34 c: the figure tells, and is not in the text; what is sure of it stands beside
        sure = {name: found.answer[name] for name in ("front", "flank")}
        found.answer |= {"front": None, "flank": None, "sure": sure}
    return found


def _arc_verdict(ruling: Ruling) -> str:
    unit, answer = ruling.question["arc"]["unit"], ruling.answer
    if answer["front"] is None:
        return not_known(f"the front of {unit}", ruling)
    parts = [
        f"{name} {series(answer[name])}" for name in ("front", "flank", "side", "rear") if answer.get(name)
    ]
    return f"Of the hexes around {unit}: {'; '.join(parts)}"


class Cover(Arguments):
    """At whom or where, from where, and by what kind of fire."""

    one_of = ("unit", "at")
    which = "at whom? Give a unit or a hex (at), one of them"
    unit: Annotated[str | None, Names(("unit",))] = Field(None, description="The unit that is fired at")
    at: Annotated[str | None, Names(("hex", "unit"))] = Field(None, description="Or the hex that is fired at")
    start: Place = Field(alias="from", description="A hex label or a unit's id")
    by: Literal["infantry", "mortar", "v_gun", "artillery", "aircraft"] = Field(
        "infantry", description="Whose fire: a column of the Player Aid Card"
    )
    moving: bool = Field(False, description="Whether the target moves there")


def _cover(asked: Asked, of: Cover) -> Finding:
    query = "select * from bob.cover(:position, :at, :start, :by, :moving, '{}', :conditions, :policy)"
    at = f"unit:{of.unit}" if of.unit is not None else of.at
    rows = asked.rows(query, at=at, start=of.start, by=of.by, moving=of.moving)
    finding = ledger(asked, query, at=at, start=of.start, by=of.by, moving=of.moving)
    finding.answer["modifiers"] = modifiers(rows)
    return finding


def _cover_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["cover"], ruling.answer
    at = of.get("unit") or of["at"]
    if answer["value"] is None:
        return not_known(f"what the ground at {at} does to fire from {of['from']}", ruling)
    kind = "Beneficial Terrain" if answer["beneficial"] else "no Beneficial Terrain"
    return f"Against fire from {of['from']} the ground at {at} counts {answer['value']:+d}: {kind}"


class ArmorOf(Arguments):
    """Which Vehicle, and from where it is shot at."""

    unit: Unit = Field(description="A Vehicle's id")
    start: Place = Field(alias="from", description="A hex label or a unit's id")


def _armor(asked: Asked, of: ArmorOf) -> Finding:
    query = "select * from bob.armor(:position, :unit, :start, :conditions, :policy)"
    return ledger(asked, query, unit=of.unit, start=of.start)


def _armor_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["armor"], ruling.answer
    if answer["armor"] is None:
        return not_known(f"the armor of {of['unit']} against {of['from']}", ruling)
    return f"A shot from {of['from']} meets the {answer['facing']} of {of['unit']}: armor {canonical(answer['armor'])}"


KINDS = [
    QuestionKind(
        name="adjacent", title="Adjacent", arguments=Ends, rulesets=("bob",), rule=_adjacent,
        answers={"adjacent": "whether two places are adjacent", "why": "why, or why not"},
        verdict=_adjacent_verdict, points=("bob-26",), example="adjacent: {from: E4, to: E5}",
    ),
    QuestionKind(
        name="arc", title="Arc", arguments=ArcOf, rulesets=("bob",), rule=_arc,
        answers={
            "front": "adjacent hexes in front; null where the facing is not told, or a reading leaves some open",
            "flank": "of infantry: adjacent hexes on its flank",
            "sure": "front and flank as far as every reading has them, under one that leaves the rest open (bob-34 c)",
            "unknown": "adjacent hexes of which nothing is said, under a reading that leaves them open",
            "side": "of a Gun or Vehicle: adjacent hexes at its side",
            "rear": "of a Gun or Vehicle: adjacent hexes behind it",
            "fire": "of a Gun or Vehicle: all hexes of its arc",
        },
        verdict=_arc_verdict, points=("bob-34", "bob-35"), example="arc: {unit: A}", draws="hexes",
    ),
    QuestionKind(
        name="cover", title="Cover", arguments=Cover, rulesets=("bob",), rule=_cover,
        answers={
            "value": "what is added to the FP; null where a chart that is not printed decides",
            "beneficial": "whether it is Beneficial Terrain against this fire",
            "open_ground": "whether a unit that moves there moves in Open Ground, as far as the ground goes",
            "modifiers": "each part with its rule",
        },
        verdict=_cover_verdict, points=("bob-15", "bob-26", "bob-27", "bob-51"), example="cover: {unit: A, from: E4}",
    ),
    QuestionKind(
        name="armor", title="Armor", arguments=ArmorOf, rulesets=("bob",), rule=_armor,
        answers={"armor": "the armor that counts", "facing": "front, side or rear"},
        verdict=_armor_verdict, example="armor: {unit: T-34, from: E4}",
    ),
]  # fmt: skip
