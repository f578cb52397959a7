"""A ruling as pages show it: the verdict in words, and everything that the macro `proof` needs.

The macro is in `templates/rulings/macros.html`. Map page, case desk and the pages of kept
rulings all show a ruling by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from markupsafe import Markup
from sqlalchemy.engine import Connection

from app.drawing import svg
from app.referee import words
from app.referee.picture import picture
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step, contested_points
from db import SightlineError, reference
from db.charts import charts_citing
from db.errata import in_force
from db.position_draft import PositionDraft
from db.rulesets import CODES

STEPS = 24
"""Steps that are shown at once; the rest are a click away."""
LOOKS = {
    "stops": ("blocks", "blocked", "hides", "illegal", "prohibited", "does not command", "not in command"),
    "allows": ("passes", "visible", "legal", "commands", "in command"),
    "open": ("unknown", "assumed"),
}
"""Effects that have a colour."""


def proof(
    ruling: Ruling,
    connection: Connection,
    *,
    switch: Callable[[str, str], str] | None = None,
    anchor: str = "proof",
    steps: int | None = STEPS,
) -> dict[str, Any]:
    """What the macro shows of a ruling.

    `switch(point, reading)` is an address that rules anew with that reading. `anchor` begins
    the ids on the page, so that several proofs can stand on one. So many `steps` are shown at
    once; with None nothing is folded away.
    """
    cited = [step.rule for step in ruling.steps] + [need.rule for need in ruling.needs]
    return {
        "anchor": anchor,
        "whole": steps is None,
        "ruleset": ruling.ruleset,
        "kind": ruling.kind,
        "title": title(ruling.ruleset, ruling.kind),
        "asked": words.arguments_in_words(ruling.question[ruling.kind]),
        "verdict": words.verdict(ruling),
        "mood": words.mood(ruling.answer, ruling.needs),
        "lists": words.lists(ruling),
        "steps": [_step(step) for step in ruling.steps],
        "shown": len(ruling.steps) if steps is None else steps,
        "rules": reference.digests(connection, ruling.ruleset, cited),
        "charts": charts_citing(connection, ruling.ruleset, cited),
        "contested": [_point(ruling.ruleset, touched, switch) for touched in ruling.contested],
        "errata": [
            words.erratum_in_words(entry) for entry in ruling.errata or _errata_now(ruling, connection)
        ],
        "needs": [words.need_in_words(ruling, need) for need in ruling.needs],
        "expected": words.answer_in_words(ruling.expected or {}, words.LISTED),
        "ok": ruling.ok,
        "differences": ruling.differences(),
    }


def _errata_now(ruling: Ruling, connection: Connection) -> list[dict[str, Any]]:
    """What changes the rules that it cites by today: of events of a game, and of rulings kept before there was any."""
    return [
        entry.as_dict()
        for entry in in_force(connection, ruling.ruleset)
        if any(entry.bears_on(step.rule, step.clause) for step in ruling.steps)
    ]


def choice(point: str, letter: str) -> str:
    """A reading as forms and addresses have it: css-12:a."""
    return f"{point}:{letter}"


def chosen_readings(choices: Iterable[str]) -> dict[str, str]:
    """Readings that forms or addresses choose, the last word on each point."""
    readings: dict[str, str] = {}
    for chosen in choices:
        point, _, letter = chosen.partition(":")
        ruleset = point.partition("-")[0]
        known = contested_points(ruleset).get(point) if ruleset in CODES else None
        if known is None or letter not in known.readings:
            raise SightlineError(f"There is no reading {chosen[:40]!r}.", "Write it as css-12:a.")
        readings[point] = letter
    return readings


def drawing(
    ruling: Ruling, position: PositionDraft, connection: Connection, *, living: bool = False
) -> Markup:
    """The map around a ruling, with its line, its way or what it found; `living` for a script to ask again upon it."""
    shown = picture(ruling, position)
    place = position.board.scheme.hex
    return svg(
        position,
        shown.marks(position.board, connection),
        line=(place(shown.line[0]), place(shown.line[1])) if shown.line else None,
        path=[place(label) for label in shown.path],
        costs={at: words.in_words(cost) for at, cost in shown.costs(position.board).items()},
        picked=living,
        about_units=living,
    )


def title(ruleset: str, name: str) -> str:
    """What a kind of question is called in a game; one that this version does not know by its name."""
    kind = kinds_of(ruleset).get(name)
    return kind.title if kind is not None else name.replace("_", " ")


def _step(step: Step) -> dict[str, Any]:
    look = next((look for look, effects in LOOKS.items() if step.effect in effects), "")
    said = words.step_in_words(step)
    return {**said._asdict(), "rule": step.rule, "look": look if isinstance(step.effect, str) else "number"}


def _point(
    ruleset: str, touched: Mapping[str, Any], switch: Callable[[str, str], str] | None
) -> dict[str, Any]:
    """A contested point that the ruling touches; one that a later version no longer has is told by its id."""
    point = words.contested_point(ruleset, touched["point"])
    readings = [
        {
            "letter": letter,
            "title": reading.title,
            "effect": reading.effect,
            "used": letter == touched["reading"],
            "default": point is not None and letter == point.default,
            "address": switch(touched["point"], letter) if switch and letter != touched["reading"] else None,
        }
        for letter, reading in (point.readings.items() if point else ())
    ]
    said = words.point_in_words(ruleset, touched)
    return {**said._asdict(), "decides": touched["decides"], "readings": readings}
