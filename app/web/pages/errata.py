"""Errata and house rules on pages: the list of a game, and forms that enter, edit and withdraw one."""

from __future__ import annotations

import datetime
from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.web.site import database, day, engine
from db import SightlineError, errata, reference
from db.errata import ErratumEntry
from db.rule_numbers import NotInReference, found_rule

pages = Blueprint("errata", __name__, url_prefix="/rules")

LONGEST = {"effect": 4000, "source": 400, "reading": 20, "why": 400}
"""Characters of a field that are taken."""


@pages.get("/<ruleset>/errata")
def listed(ruleset: str) -> str:
    """Every erratum and house rule of a game, those that hold no longer too."""
    return _list(ruleset)


@pages.get("/<ruleset>/errata/new")
def begun(ruleset: str) -> Response | tuple[str, int]:
    """To the form of the rule whose number was typed; a number that no rule has brings the list back."""
    number = request.args.get("rule", "").strip()[:40]
    try:
        rule = found_rule(database(), ruleset, number)
    except NotInReference as error:
        return _list(ruleset, number, error), error.status
    named = f"{rule.number} {rule.clause}" if rule.clause else rule.number
    return redirect(url_for(".new", ruleset=ruleset, number=named), code=303)


@pages.get("/<ruleset>/<number>/errata/new")
def new(ruleset: str, number: str) -> str:
    """An empty form for a rule."""
    return _form(ruleset, number, {"kind": "erratum", "since": datetime.date.today().isoformat()})


@pages.post("/<ruleset>/<number>/errata/new")
def add(ruleset: str, number: str) -> Response | tuple[str, int]:
    """Enter an erratum or a house rule; a mistake brings the form back as it was filled in."""
    given = _given()
    rule = found_rule(database(), ruleset, number)  # the address may name an item too: the form decides
    clause = request.form.get("clause", rule.clause or "")[:1]
    try:
        with engine().begin() as connection:
            added = errata.add_erratum(
                connection,
                ruleset,
                f"{rule.number} {clause}" if clause else rule.number,
                kind="house_rule" if given["kind"] == "house_rule" else "erratum",
                **_wording(given),
            )
    except SightlineError as error:
        return _form(ruleset, number, given | {"clause": clause}, error), 422
    return _at_rule(added)


@pages.get("/errata/<int:id>")
def erratum(id: int) -> str:
    """An erratum with its history, and the forms to edit and to withdraw it."""
    return _page(id)


@pages.post("/errata/<int:id>")
def edit(id: int) -> Response | tuple[str, int]:
    """Word an erratum otherwise."""
    given = _given()
    try:
        with engine().begin() as connection:
            wording = _wording(given)
            wording["reading"] = wording["reading"] or ""
            edited = errata.edit_erratum(connection, id, **wording)
    except SightlineError as error:
        return _page(id, given, error), 422
    return _at_rule(edited)


@pages.post("/errata/<int:id>/withdraw")
def withdraw(id: int) -> Response:
    """Let an erratum hold no longer."""
    with engine().begin() as connection:
        gone = errata.withdraw_erratum(connection, id, _field("why"))
    return redirect(url_for(".erratum", id=gone.id), code=303)


def _field(name: str) -> str:
    return request.form.get(name, "").replace("\0", "").strip()[: LONGEST.get(name, 40)]


def _given() -> dict[str, str]:
    return {name: _field(name) for name in ("kind", "effect", "source", "since", "ends", "reading")}


def _wording(given: dict[str, str]) -> dict[str, Any]:
    return {
        "effect": given["effect"],
        "source": given["source"],
        "since": day(given["since"]) or datetime.date.today(),
        "ends": day(given["ends"]),
        "reading": given["reading"] or None,
    }


def _list(ruleset: str, number: str = "", error: SightlineError | None = None) -> str:
    return render_template(
        "rules/errata.html",
        ruleset=ruleset,
        title=reference.game_title(database(), ruleset),
        entries=errata.errata(database(), ruleset, withdrawn=True),
        today=datetime.date.today(),
        number=number,
        error=error,
    )


def _form(ruleset: str, number: str, given: dict[str, str], error: SightlineError | None = None) -> str:
    rule = found_rule(database(), ruleset, number)
    return render_template(
        "rules/erratum_new.html",
        ruleset=ruleset,
        title=reference.game_title(database(), ruleset),
        rule=rule,
        given=given | {"clause": given.get("clause") or rule.clause or ""},
        clauses=errata.known_clauses(ruleset, rule.number),
        points=reference.contested(database(), ruleset).points,
        error=error,
    )


def _page(id: int, given: dict[str, str] | None = None, error: SightlineError | None = None) -> str:
    answer = errata.history(database(), id)
    now = answer.now
    filled = given or {
        "kind": now.kind,
        "effect": now.effect,
        "source": now.source,
        "since": now.since.isoformat(),
        "ends": now.ends.isoformat() if now.ends else "",
        "reading": f"{now.point}:{now.reading}" if now.point else "",
    }
    return render_template(
        "rules/erratum.html",
        answer=answer,
        title=reference.game_title(database(), now.ruleset),
        given=filled,
        points=reference.contested(database(), now.ruleset).points,
        error=error,
    )


def _at_rule(entry: ErratumEntry) -> Response:
    anchor = f"erratum-{entry.id}"
    address = url_for("rules.rule", ruleset=entry.ruleset, number=entry.number, _anchor=anchor)
    return redirect(address, code=303)
