"""Victory (18.0): Victory markers by control, eliminations; the rest is the scenario's."""

from __future__ import annotations

import functools

from app.play.bob.turn import NothingMore
from app.play.procedures import Ask, Procedure, Tell, Undecided, procedure_kind
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling


def victory(_: NothingMore) -> Procedure:
    """17.0, 18.0: who has won, as far as the scenario is told."""
    rows = yield Ask("select * from bob.victory(:position, :conditions, :policy)")
    facts = rows[-1].facts
    yield Tell(facts=facts)
    if rows[-1].effect == "unknown":
        raise Undecided(**facts)


def _verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is None:
        return "What the scenario wants is not told, and so not who wins"
    return f"{answer['winner']} wins" if answer["winner"] else "Nobody has won yet"


KINDS = [
    procedure_kind(
        victory,
        kinds=functools.partial(kinds_of, "bob"),
        name="victory",
        title="Victory",
        arguments=NothingMore,
        rulesets=("bob",),
        answers={
            "winner": "the side that has won; null where it is not decided",
            "met": "whether the side that the scenario names has what it wants",
            "markers": "Victory markers that each side controls",
            "over": "whether the game is over",
        },
        verdict=_verdict,
        acts=False,
        example="victory: {}",
    ),
]
