"""`control`, `communication` and `secure`: who holds the ground of D-Day at Peleliu, and who is cut off."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.referee.questions.ddp.ledger import JapanesePosition, found
from app.referee.rulings import Arguments, Asked, Finding, QuestionKind, Ruling
from app.referee.words import clauses, members, rest_unknown, series
from importers.questions import Names


class ControlOf(Arguments):
    """Whose control, and for what."""

    side: Literal["us"] = Field(
        "us", description="The side that controls: us; Japanese units control nothing"
    )
    purpose: Literal["communication"] = Field(
        "communication", alias="for", description="What it is looked at for: Japanese communication"
    )


class CommunicationOf(Arguments):
    """Which position or hex, and whose communication."""

    one_of = ("position", "hex")
    which = "of what? Give a position or a hex, one of them"
    position: Annotated[str | None, Names(("map_feature", "hex", "unit"))] = Field(
        None, description="A Japanese position: its key, an ID, a hex or a unit in it"
    )
    hex: Annotated[str | None, Names(("hex", "unit"))] = Field(
        None, description="A hex label or a unit's id, instead of a position"
    )
    side: Literal["us", "japan"] | None = Field(
        None, description="Whose communication; without it that of the unit named, else the Japanese"
    )


class SecureOf(Arguments):
    """Which position hex."""

    hex: JapanesePosition = Field(description="A position hex, its ID, or a unit in it")


def _control(asked: Asked, of: ControlOf) -> Finding:
    return found(asked.rows("select * from ddp.control(:position, :conditions, :policy)"))


def _communication(asked: Asked, of: CommunicationOf) -> Finding:
    name = of.position or of.hex
    side = of.side
    if side is None:
        units = asked.rows("select side from positions.place(:position, :name)", name=name)
        side = next((row.side for row in units if row.side), None) or "japan"
    return found(
        asked.rows(
            "select * from ddp.communication(:position, :name, :side, :conditions, :policy)",
            name=name,
            side=side,
        )
    )


def _secure(asked: Asked, of: SecureOf) -> Finding:
    return found(asked.rows("select * from ddp.secure(:position, :hex, :conditions, :policy)", hex=of.hex))


def _control_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    return clauses(
        f"US units control {members(answer['hexes'], 'hex')}",
        f"Japanese units free {members(answer['negated'], 'hex')}" if answer["negated"] else None,
        rest_unknown(ruling),
    )


def _communication_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["communication"], ruling.answer
    what = of.get("position") or of.get("hex")
    held = "is in" if answer["in_communication"] else "is out of"
    reaches = f"it reaches {series(answer['reaches'])}" if answer["reaches"] else None
    return clauses(f"{what} {held} communication: {ruling.steps[-1].note}", reaches)


def _secure_verdict(ruling: Ruling) -> str:
    label, answer = ruling.question["secure"]["hex"], ruling.answer
    if answer["secure"]:
        return f"{label} is secure"
    open_positions = [spot for spot, held in answer["intense_from"].items() if not held]
    return clauses(
        f"{label} is not secure",
        None if answer["occupied"] else "no US unit or garrison holds it",
        f"intense fire may come from {series(open_positions)}" if open_positions else None,
        None if answer["us_communication"] else "no US communication can be traced from it",
    )


KINDS = [
    QuestionKind(
        name="control",
        title="US control",
        arguments=ControlOf,
        rulesets=("ddp",),
        rule=_control,
        answers={
            "hexes": "labels of all hexes that US units control",
            "by": "the hexes of each unit",
            "negated": "those that a Japanese unit frees for Japanese communication (11.21)",
        },
        verdict=_control_verdict,
        example="control: {side: us}",
        draws="hexes",
        names_units=("by",),
    ),
    QuestionKind(
        name="communication",
        title="Communication",
        arguments=CommunicationOf,
        rulesets=("ddp",),
        rule=_communication,
        answers={
            "in_communication": "whether it is in communication",
            "reaches": "the occupied positions that its paths reach; of the US side the landing beach hex",
            "paths": "a shortest path to each of them, both ends included",
        },
        verdict=_communication_verdict,
        points=("ddp-39", "ddp-48", "ddp-49"),
        example="communication: {position: B5, side: japan}",
        draws="hexes",
    ),
    QuestionKind(
        name="secure",
        title="A secured position hex",
        arguments=SecureOf,
        rulesets=("ddp",),
        rule=_secure,
        answers={
            "secure": "whether it is secure (15.2)",
            "occupied": "whether a US unit or garrison holds it",
            "intense_from": "the other position hexes that project intense fire into it, and whether each is US-held",
            "us_communication": "whether US communication can be traced from it",
        },
        verdict=_secure_verdict,
        points=("ddp-39", "ddp-48", "ddp-49"),
        example='secure: {hex: "0314"}',
    ),
]
