"""Kept rulings: the list, a page for each that can be printed, and the same question asked again today."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from flask import Blueprint, redirect, render_template, request, url_for
from flask import Response as AnyResponse
from markupsafe import Markup
from werkzeug.wrappers import Response

from app.referee.precedents import precedents
from app.referee.questions import kinds
from app.referee.rulings import contested_points
from app.referee.saved import (
    MOODS,
    Wanted,
    as_ruled,
    asked_as,
    conditions_of,
    facets,
    kept_ruling,
    kept_summary,
    read_again,
    rule_again,
    same_answer,
    same_proof,
    save,
    saved_rulings,
)
from app.referee.version import version_in
from app.referee.words import arguments_in_words, verdict
from app.web.proof import choice, chosen_readings, drawing, proof, title
from app.web.site import database, day, engine
from db import SightlineError
from db.rulesets import CODES
from db.values import to_json
from importers.cases import CaseDraft

pages = Blueprint("rulings", __name__, url_prefix="/rulings")
NAVIGATION = [(40, "Rulings", "rulings.rulings")]

PER_PAGE = 20
LAST_PAGE = 1_000_000
FILTERS = ("ruleset", "kind", "rule", "point", "verdict", "text", "since", "until")
MOST_ROWS = 10_000
"""Rulings of a table."""


@pages.get("")
def rulings() -> str:
    """The kept rulings that are looked for, the latest first."""
    given = _given()
    wanted = _wanted(given)
    page = min(max(request.args.get("page", 1, type=int), 1), LAST_PAGE)
    total, rows = saved_rulings(database(), wanted, page, PER_PAGE)
    used = {name: text for name, text in given.items() if text}
    return render_template(
        "rulings/list.html",
        rulings=[summary(row) for row in rows],
        given=given,
        used=used,
        games=CODES,
        kinds=sorted({kind.name for kind in kinds()}),
        facets=_facets(facets(database(), wanted), used),
        moods=MOODS,
        total=total,
        page=page,
        pages=max(1, -(-total // PER_PAGE)),
        address=_address(used),
    )


def _given() -> dict[str, str]:
    """What the address says of each filter."""
    return {name: request.args.get(name, "").replace("\0", "").strip()[:200] for name in FILTERS}


def _wanted(given: dict[str, str]) -> Wanted:
    days = {name: day(given[name]) for name in ("since", "until")}
    words = {name: text or None for name, text in given.items() if name not in days}
    return Wanted(**words, **days)  # type: ignore[arg-type]


def _facets(counts: dict[str, dict[str, int]], used: dict[str, str]) -> list[dict[str, Any]]:
    """What the list can be narrowed down to, with how many there are; what is chosen leads back."""
    return [
        {
            "name": name,
            "values": [
                {
                    "value": value,
                    "count": count,
                    "chosen": used.get(name) == value,
                    "address": _narrowed(used, name, value),
                }
                for value, count in values.items()
            ],
        }
        for name, values in counts.items()
        if values
    ]


def _narrowed(used: dict[str, str], name: str, value: str) -> str:
    """The list with a value chosen, or no longer."""
    others: dict[str, Any] = {word: text for word, text in used.items() if word != name}
    return url_for(".rulings", **(others if used.get(name) == value else others | {name: value}))


COLUMNS = (
    "ruling", "created_at", "ruleset", "kind", "case", "question_id", "title", "question", "conditions", "readings",
    "verdict", "rules", "points", "terrain",
)  # fmt: skip


@pages.get("/rulings.csv")
def table() -> AnyResponse:
    """The kept rulings that are looked for as a table."""
    _, rows = saved_rulings(database(), _wanted(_given()), 1, MOST_ROWS)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        told = kept_summary(row) | {"readings": row["policy"], "terrain": row["terrain"]}
        told["points"] = [touched["point"] for touched in row["contested"]]
        writer.writerow(_cell(told[column]) for column in COLUMNS)
    return AnyResponse(text.getvalue(), content_type="text/csv; charset=utf-8")


def _cell(value: Any) -> str:
    """A value as a cell; none is taken for a formula by a spreadsheet."""
    if isinstance(value, list):
        return " ".join(map(str, value))
    text = to_json(value, indent=None) if isinstance(value, dict) and value else str(value or "")
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t")) else text


def _address(used: dict[str, Any]) -> Callable[[int], str]:
    """The list as it is filtered, at any of its pages."""
    return lambda page: url_for(".rulings", **(used | {"page": page}))


def summary(row: sa.RowMapping) -> dict[str, Any]:
    """A kept ruling in a line of a list."""
    ruled = as_ruled(row)
    arguments = arguments_in_words(ruled.question[ruled.kind])
    return {
        "id": ruled.id,
        "ruleset": ruled.ruleset,
        "title": row["title"] or ruled.case,
        "asked": f"{title(ruled.ruleset, ruled.kind)} {' '.join(arguments)}",
        "asked_as": asked_as(row),
        "beside": arguments_in_words(conditions_of(row) | _chosen(row)),
        "verdict": verdict(ruled),
        "rules": list(dict.fromkeys(step.rule for step in ruled.steps)),
        "when": row["created_at"],
    }


def _chosen(row: sa.RowMapping) -> dict[str, str]:
    """Readings other than the default ones."""
    points = contested_points(row["ruleset"])
    return {
        point: letter
        for point, letter in row["policy"].items()
        if point not in points or letter != points[point].default
    }


@pages.get("/<id>")
def ruling(id: str) -> str:
    """A kept ruling, whole: to read, to print, to send on."""
    row = kept_ruling(database(), id)
    ruled = as_ruled(row)

    def other_reading(point: str, letter: str) -> str:
        return url_for(".again", id=id, policy=choice(point, letter))

    picture, doubt = _picture(row)
    return render_template(
        "rulings/ruling.html",
        row=row,
        proof=proof(ruled, database(), switch=other_reading, steps=None),
        drawing=picture,
        doubt=doubt,
        address=url_for(".ruling", id=id, _external=True),
        conditions=arguments_in_words(conditions_of(row)),
        precedents=precedents(database(), ruled, row["terrain"]),
        today=version_in(database(), row["ruleset"]),
    )


@pages.get("/<id>/again")
def again(id: str) -> str:
    """The question of a kept ruling asked again, by the rules of today, in another reading if wanted."""
    row = kept_ruling(database(), id)
    readings = chosen_readings(request.args.getlist("policy"))

    def other_reading(point: str, letter: str) -> str:
        chosen = readings | {point: letter}
        return url_for(".again", id=id, policy=[choice(*reading) for reading in chosen.items()])

    with engine().connect() as connection:
        try:
            case, ruled = rule_again(connection, row, readings)
        except SightlineError as error:
            return render_template("rulings/again.html", row=row, error=error, readings=readings)
        # what the case expected is not what is asked here
        ruled.expected = None
        return render_template(
            "rulings/again.html",
            row=row,
            readings=readings,
            choices=[choice(*reading) for reading in readings.items()],
            proof=proof(ruled, connection, switch=other_reading),
            drawing=drawing(ruled, case.position, connection),
            before=verdict(as_ruled(row)),
            same_answer=same_answer(row, ruled),
            same_proof=same_proof(row, ruled),
            same_rules=version_in(database(), row["ruleset"]) == row["ruleset_version"],
            same_position=_digest(case) == row["position_digest"],
        )


@pages.post("/<id>/again")
def keep(id: str) -> Response:
    """Keep the answer of today beside the one that was kept before."""
    row = kept_ruling(database(), id)
    with engine().begin() as connection:
        case, ruled = rule_again(connection, row, chosen_readings(request.form.getlist("policy")))
        save(connection, case, [ruled])
    return redirect(url_for(".ruling", id=ruled.id), code=303)


def _picture(row: sa.RowMapping) -> tuple[Markup | None, str]:
    """The position as it was ruled on, drawn; or why it is not."""
    try:
        case = read_again(database(), row)
    except SightlineError as error:
        return None, f"The position cannot be drawn any more: {error.message}"
    if _digest(case) != row["position_digest"]:
        return None, f"The map {case.position.saved_map} has changed since, so it is not drawn here."
    return drawing(as_ruled(row), case.position, database()), ""


def _digest(case: CaseDraft) -> str:
    [question] = case.questions
    return case.position.digest(case.position.conditions | question.conditions)
