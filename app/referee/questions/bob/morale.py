"""`morale` and `spotters` in bob: the number that a unit rolls against (7.0, 7.1), and who may spot for Artillery (32.0)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from app.referee.questions.bob.ground import Unit, ledger, modifiers
from app.referee.questions.geometry import Place
from app.referee.rulings import Arguments, Asked, Finding, QuestionKind, Ruling
from app.referee.words import not_known, series

Purpose = Literal["move", "fire", "op_fire", "withdraw", "retreat", "mid_move", "rout", "satw"]
QUERY = "select * from bob.morale(:position, :unit, :purpose, :conditions, :policy)"
POINTS = ("bob-23", "bob-30", "bob-47")


class MoraleOf(Arguments):
    """Whose Morale, and for what."""

    unit: Unit = Field(description="A unit's id")
    purpose: Purpose = Field("move", alias="for", description="What it attempts")


def _morale(asked: Asked, of: MoraleOf) -> Finding:
    rows = asked.rows(QUERY, unit=of.unit, purpose=of.purpose)
    finding = ledger(asked, QUERY, unit=of.unit, purpose=of.purpose)
    facts = finding.answer
    told = {"morale": facts["morale"], "automatic": facts["automatic"], "modifiers": modifiers(rows)}
    finding.answer = told | ({"by": facts["unit"]} if facts["unit"] != of.unit else {})
    return finding


def _verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["morale"], ruling.answer
    if answer["automatic"] is None:
        return not_known(f"the Morale of {of['unit']}", ruling)
    if answer["automatic"]:
        return f"{of['unit']} passes without a roll"
    return f"{of['unit']} has a Morale of {answer['morale']} for this"


class Spotters(Arguments):
    """Whose battery, and where it would fire."""

    asset: Unit = Field(description="The Artillery asset")
    at: Place = Field(description="The hex")


def _spotters(asked: Asked, of: Spotters) -> Finding:
    query = "select * from bob.spotters(:position, :asset, :at, :conditions, :policy)"
    return ledger(asked, query, asset=of.asset, at=of.at)


def _spotters_verdict(ruling: Ruling) -> str:
    of, by = ruling.question["spotters"], ruling.answer["by"]
    return (
        f"{of['at']} is spotted for {of['asset']} by {series(by)}"
        if by
        else f"Nobody spots {of['at']} for {of['asset']}"
    )


KIND_OF_SPOTTERS = QuestionKind(
    name="spotters", title="Spotters", arguments=Spotters, rulesets=("bob",), rule=_spotters,
    answers={"by": "ids of the units that may spot it"},
    verdict=_spotters_verdict, points=("bob-3", "bob-5", "bob-33"), example="spotters: {asset: battery, at: E4}", names_units=("by",),
)  # fmt: skip

KIND_OF_MORALE = QuestionKind(
    name="morale", title="Morale", arguments=MoraleOf, rulesets=("bob",), rule=_morale,
    answers={
        "morale": "what is rolled against; null where a counter does not tell, or none is taken",
        "automatic": "whether no roll is needed",
        "modifiers": "each with its rule",
        "by": "who checks, where it is a passenger",
    },
    verdict=_verdict, points=POINTS, example="morale: {unit: A, for: move}",
)  # fmt: skip

KINDS = [KIND_OF_MORALE, KIND_OF_SPOTTERS]
