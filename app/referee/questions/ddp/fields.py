"""`field_of_fire`, `dots` and `hit_limit`: where a Japanese position fires, and how many units it may hit."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.referee.questions.ddp.ledger import JapanesePosition, found
from app.referee.rulings import Arguments, Asked, Finding, QuestionKind, Ruling
from app.referee.words import clauses, members, series
from importers.questions import Names

Purpose = Literal[
    "fire", "move", "us_communication", "garrison", "command_post", "growth", "silence", "barrage", "ambush"
]


class FieldOf(Arguments):
    """Whose field of fire, and for what."""

    position: JapanesePosition = Field(
        description="A Japanese position: its key, an ID, a hex or a unit in it"
    )
    purpose: Purpose = Field(
        "fire",
        alias="for",
        description="What the field is looked at for: fire, move, us_communication, garrison, command_post (to set one up),"
        " growth (of a command range), silence (of a post), barrage, ambush",
    )


class DotsIn(Arguments):
    """Which hex."""

    hex: Annotated[str, Names(("hex", "unit"))] = Field(description="A hex label, or a unit in it")


class LimitOf(Arguments):
    """Which position, and how it fires."""

    position: JapanesePosition = Field(
        description="A Japanese position: its key, an ID, a hex or a unit in it"
    )
    fire: Literal["position", "mortar", "ambush"] = Field(
        "position", description="What fires: the position (the default), its mortars, or an ambush"
    )


def _field_of_fire(asked: Asked, of: FieldOf) -> Finding:
    return found(
        asked.rows(
            "select * from ddp.field_of_fire(:position, :place, :purpose, :conditions, :policy)",
            place=of.position,
            purpose=of.purpose,
        )
    )


def _dots(asked: Asked, of: DotsIn) -> Finding:
    return found(asked.rows("select * from ddp.dots(:position, :hex, :conditions, :policy)", hex=of.hex))


def _hit_limit(asked: Asked, of: LimitOf) -> Finding:
    return found(
        asked.rows(
            "select * from ddp.hit_limit(:position, :place, :fire, :conditions, :policy)",
            place=of.position,
            fire=of.fire,
        )
    )


def _field_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["field_of_fire"], ruling.answer
    purpose = of.get("for", "fire").replace("_", " ")
    if not answer["active"]:
        return f"{of['position']} has no field of fire for {purpose}: {ruling.steps[0].note}"
    return clauses(
        f"For {purpose} {of['position']} has intense fire in {members(answer['intense'], 'hex')}",
        f"steady fire in {members(answer['steady'], 'hex')}",
        f"a tank adds {members(answer['extended'], 'hex')}" if answer["extended"] else None,
    )


def _dots_verdict(ruling: Ruling) -> str:
    answer, label = ruling.answer, ruling.question["dots"]["hex"]
    kinds = [
        f"{kind} dots of {series(answer[kind])}" for kind in ("intense", "steady", "extended") if answer[kind]
    ]
    return f"{label} has {'; '.join(kinds)}" if kinds else f"{label} has no fire dot"


def _limit_verdict(ruling: Ruling) -> str:
    of, limit = ruling.question["hit_limit"], ruling.answer["limit"]
    who = (
        f"The {of['fire']} of {of['position']}"
        if of.get("fire", "position") != "position"
        else of["position"]
    )
    return f"{who} may hit {'no unit' if limit == 0 else '1 unit' if limit == 1 else f'{limit} units'}"


KINDS = [
    QuestionKind(
        name="field_of_fire",
        title="Field of fire",
        arguments=FieldOf,
        rulesets=("ddp",),
        rule=_field_of_fire,
        answers={
            "active": "whether its dots count for that",
            "intense": "labels of the hexes with its intense dots",
            "steady": "labels of the hexes with its steady dots",
            "extended": "labels of the hexes that a tank adds, steady fire as well (6.23)",
        },
        verdict=_field_verdict,
        points=("ddp-3", "ddp-37", "ddp-48", "ddp-49", "ddp-52"),
        example="field_of_fire: {position: B5}",
        draws="hexes",
    ),
    QuestionKind(
        name="dots",
        title="Fire dots in a hex",
        arguments=DotsIn,
        rulesets=("ddp",),
        rule=_dots,
        answers={
            "intense": "positions with an intense dot there",
            "steady": "positions with a steady dot there",
            "extended": "positions whose field a tank widens to it",
            "active": "those of them that can fire into it now",
        },
        verdict=_dots_verdict,
        example='dots: {hex: "0314"}',
    ),
    QuestionKind(
        name="hit_limit",
        title="Hit limit",
        arguments=LimitOf,
        rulesets=("ddp",),
        rule=_hit_limit,
        answers={"limit": "how many US units it may hit in one fire"},
        verdict=_limit_verdict,
        points=("ddp-15", "ddp-52"),
        example="hit_limit: {position: B3/B4}",
    ),
]
