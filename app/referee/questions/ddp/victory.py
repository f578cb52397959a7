"""`victory`: whether a game of D-Day at Peleliu is over, and who has won."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from app.referee.questions.ddp.ledger import found
from app.referee.rulings import Arguments, Asked, Finding, QuestionKind, Ruling
from app.referee.words import not_known
from db.values import canonical

Count = int | Literal["all"]


class Secured(Arguments):
    """How many position hexes are secured, where the map does not tell."""

    A: Count | None = None
    B: Count | None = None
    C: Count | None = None
    D: Count | None = None
    beach: Count | None = Field(None, description="Of those that project fire onto landing beach hexes")
    coral: Literal["none", "some", "all"] | None = None
    A5: bool | None = None
    A6: bool | None = None


class VictoryOf(Arguments):
    """What is secured; without it the map is looked at."""

    secured: Secured | None = Field(
        None, description="Secured position hexes: {A, B, C, D, beach, coral: none|some|all, A5, A6}"
    )


def _victory(asked: Asked, of: VictoryOf) -> Finding:
    told: dict[str, Any] | None = None
    if of.secured is not None:
        told = of.secured.model_dump(exclude_none=True)
    finding = found(
        asked.rows(
            "select * from ddp.victory(:position, cast(:told as jsonb), :conditions, :policy)",
            told=None if told is None else canonical(told),
        )
    )
    if told is not None:
        finding.answer["secured"] = told
    return finding


def _verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["ended"] is None:
        return not_known("the game is over", ruling)
    why = ruling.steps[-1].note
    if not answer["ended"]:
        return f"The game goes on: {why}"
    if answer["winner"] is None:
        return f"The game ends in a draw: {why}"
    side = "The US side wins" if answer["winner"] == "us" else "The US side loses"
    decisively = " decisively" if answer["level"] == "decisive_loss" else ""
    return f"{side}{decisively}: {why}"


KINDS = [
    QuestionKind(
        name="victory",
        title="Victory",
        arguments=VictoryOf,
        rulesets=("ddp",),
        rule=_victory,
        answers={
            "ended": "whether the game is over; null where the Japanese reserve would decide",
            "winner": "us, japan, or null",
            "level": "win, loss, decisive_loss or draw",
            "goals": "each goal and whether it is met",
            "points": "goals met, position hexes secured or what counts as them, or Japanese units left",
            "secured": "position hexes secured",
        },
        verdict=_verdict,
        points=("ddp-30", "ddp-39", "ddp-48", "ddp-49"),
        example="victory: {}",
    )
]
