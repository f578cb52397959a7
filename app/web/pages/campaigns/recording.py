"""Recording a campaign: forms for entries, stances, forces and accounts, new ones and corrections; nothing is lost."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from flask import Response, make_response, redirect, render_template, request, url_for
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as AnyResponse

from app.drawing.campaign import shape_of
from app.web.pages.campaigns.history import THINGS, thing_address
from app.web.pages.campaigns.view import View, choices, pages, read_view, stage
from app.web.site import database, engine
from db import SightlineError, chronicle
from db.inventory import NotThereError
from importers.archive.campaigns import store_record, take_away
from importers.archive.reading import slug
from importers.archive.times import write_when
from importers.archive.writing import entry_tree, stance_tree
from importers.documents import Problems, read_document, read_values
from importers.map_writing import flow

Tree = dict[str, Any]
FIELDS = {
    "entry": ("key", "when", "kind", "title", "text", "event", "certainty", "at", "uncertainty", "place", "forces", "account", "page", "why"),
    "stance": ("key", "force", "when", "state", "at", "uncertainty", "place", "strength", "account", "page", "note", "why"),
    "force": ("key", "name", "side", "kind", "note", "counters", "why"),
    "account": ("key", "author", "title", "year", "publisher", "kind", "reliability", "url", "note", "why"),
}  # fmt: skip
SECTIONS = {"entry": "entries", "stance": "stances", "force": "forces", "account": "accounts"}
UNDER = ("force", "account", "page", "when")
"""What a row of the table tells under whom a force stood."""
INVOLVED = ("force", "role", "strength", "losses", "killed", "wounded", "missing")
"""What a row of the table tells of a force that took part."""
NUMBERS = ("uncertainty", "year")
NOBODY = "somebody on the web"
YEAR = 365 * 24 * 3600


@pages.get("/<name>/record", defaults={"kind": "entry"})
@pages.get("/<name>/record/<kind>")
def record_form(name: str, kind: str) -> str:
    """A form: for something new, or for a correction of what is there or was there."""
    view = read_view(name)
    _check_kind(kind)
    key = request.args.get("key", "")
    filled: Tree = {"when": f"{view.moment:%Y-%m-%d}"}
    if key:
        filled = _filled(view, kind, key) | {"seen": _standing(view, kind, key)}
    filled |= {field: request.args[field] for field in FIELDS[kind] if request.args.get(field)}
    return _form_page(view, kind, filled, bool(key), [])


def _check_kind(kind: str) -> None:
    if kind not in THINGS:
        raise NotThereError(f"There is no form for {kind[:40]!r}.", f"There are {', '.join(THINGS)}.")


def _standing(view: View, kind: str, key: str) -> str:
    """Since when the version of today stands; nothing where there is none."""
    versions = chronicle.versions(database(), view.campaign.id, key, kind)
    return versions[-1].known_from.isoformat() if versions and versions[-1].known_until is None else ""


def _filled(view: View, kind: str, key: str) -> Tree:
    """Something as the fields of its form have it: as it stands, or stood when it is looked at."""
    row = chronicle.find(database(), view.campaign, THINGS[kind], key, view.as_known)
    told = dict(row) | {"geom": None, "why": ""}
    if kind == "force":
        told["counters"] = flow(row["counters"]) if row["counters"] else ""
        told["under"] = [
            {word: one[word] for word in ("account", "page")}
            | {"force": one["superior"], "when": write_when(one["during"], one["precision"], one["about"], view.zone)}
            for one in chronicle.subordinations(database(), view.campaign.id, key, view.as_known)
        ]  # fmt: skip
        return told
    if kind == "account":
        return told
    shape = shape_of(row["shape"])
    tree = entry_tree(key, told, view.zone) if kind == "entry" else stance_tree(key, told, view.zone)
    if kind == "entry":
        tree["forces"] = " ".join(row["forces"])
        tree["involved"] = [
            {word: _written_numbers(one[word]) for word in INVOLVED if word in one} for one in row["involved"]
        ]
    if isinstance(tree.get("strength"), list):
        tree["strength"] = _written_numbers(tree["strength"])
    if row["hex"] is None and shape is not None:
        tree["at"] = _written_shape(shape)
    return tree


def _written_numbers(value: Any) -> Any:
    """A number with its range, as a form has it: 2800-3200, or 40."""
    return "-".join(str(number) for number in dict.fromkeys(value)) if isinstance(value, list) else value


def _written_shape(shape: Mapping[str, Any]) -> str:
    if shape["type"] == "Point":
        return "{:.6f}, {:.6f}".format(*shape["coordinates"])
    lines = shape["coordinates"] if shape["type"] == "Polygon" else [shape["coordinates"]]
    written = [", ".join(f"{lon:.6f} {lat:.6f}" for lon, lat in line) for line in lines]
    return f"POLYGON(({written[0]}))" if shape["type"] == "Polygon" else f"LINESTRING({written[0]})"


def _form_page(
    view: View, kind: str, filled: Mapping[str, Any], correcting: bool, wrong: list[tuple[str, str]]
) -> str:
    placed = kind in ("entry", "stance")
    drawn = (
        stage(view, [], f"Map of {view.campaign.title}: click where it was") if placed else {"drawn": None}
    )
    return render_template(
        f"campaigns/record_{kind}.html", view=view, campaign=view.campaign, kind=kind, filled=filled, correcting=correcting,
        wrong=wrong, bad={field for field, _ in wrong}, writer=filled.get("who") or request.cookies.get("who", ""), **drawn, **choices(view),
    )  # fmt: skip


@pages.post("/<name>/record", defaults={"kind": "entry"})
@pages.post("/<name>/record/<kind>")
def record(name: str, kind: str) -> str | AnyResponse | tuple[str, int]:
    """Record something, or a new version of it; what is wrong is told beside the form."""
    view = read_view(name)
    _check_kind(kind)
    form = request.form
    told: Tree = {
        field: text
        for field in (*FIELDS[kind], "seen", "who")
        if (text := form.get(field, "").replace("\r\n", "\n").strip())
    }
    if kind == "force":
        told["under"] = _table(form, "under", UNDER)
    if kind == "entry" and "involved_force" in form:
        told["involved"] = _table(form, "involved", INVOLVED)
    correcting = bool(form.get("correct")) or (kind in ("entry", "stance") and "key" in told)
    problems = Problems()
    section: Any = []
    try:
        _check_seen(view, kind, told, correcting and "seen" in form)
        section = _section(view, kind, told, correcting)
        node = read_values({SECTIONS[kind]: section}, "form", problems)
        with engine().begin() as connection:
            report = store_record(
                connection, name, node, problems,
                who=told.get("who") or NOBODY, new=not correcting, whole_forces=kind == "force",
            )  # fmt: skip
    except Problems as found:
        key = next(iter(section)) if isinstance(section, dict) else ""
        wrong = [_told_problem(kind, key, problem) for problem in found.sorted()]
        return _form_page(view, kind, told, correcting, wrong), 422
    except SightlineError as error:
        return _form_page(
            view, kind, told, correcting, [("", f"{error.message} {error.remedy}".strip())]
        ), 422
    # a correction that changes nothing is no version
    written = report.keys[kind][0] if report.keys[kind] else told["key"]
    return _gone_on(thing_address(view, kind, written), told.get("who", ""))


def _gone_on(address: str, who: str) -> Response:
    """To the page of what was written; who wrote is remembered for the next form."""
    answer = make_response(redirect(address, code=303))
    if who:
        answer.set_cookie("who", who, max_age=YEAR, httponly=True, samesite="Lax", path="/campaigns")
    return answer


def _check_seen(view: View, kind: str, told: Mapping[str, Any], correcting: bool) -> None:
    """Refuse a correction of what somebody else has corrected since the form was opened."""
    if correcting and _standing(view, kind, told.get("key", "")) != told.get("seen", ""):
        raise SightlineError(
            "Somebody has changed it since this form was opened.",
            "Look at its page, take over what is right, and send the form again from there.",
        )


def _section(view: View, kind: str, told: Mapping[str, Any], correcting: bool) -> Any:
    """What the form tells, as a campaign file has it."""
    thing = {field: told[field] for field in FIELDS[kind] if field in told}
    for field in NUMBERS:
        if re.fullmatch(r"\d{1,9}", thing.get(field, "")):
            thing[field] = int(thing[field])
    if kind == "entry":
        if "involved" in told:
            thing["forces"] = _counted_forces(thing.get("forces", ""), told["involved"])
        elif correcting:
            thing["forces"] = _kept_forces(view, thing["key"], thing.get("forces", ""))
        elif "forces" in thing:
            thing["forces"] = _words(thing["forces"])
        return [thing]
    if kind == "stance":
        return [thing]
    key = thing.pop("key", "") or _short(thing.get("title" if kind == "account" else "name", ""))
    if kind == "force":
        thing["under"] = told["under"]
        if "counters" in thing:
            thing["counters"] = _counters(thing["counters"])
    return {key: thing}


def _short(title: str) -> str:
    """A key made of a title."""
    return slug(title)[:30].strip("-") or "unnamed"


def _counters(text: str) -> Any:
    """Counters as a campaign file writes them: {fpb: {id: "3", kind: infantry}}."""
    problems = Problems()
    node = read_document(text, "counters", problems)
    problems.raise_if_any()
    return node.plain()


def _table(form: MultiDict[str, str], name: str, words: Sequence[str]) -> list[Tree]:
    """The rows of a table of a form; one that names no force tells nothing."""
    columns = [form.getlist(f"{name}_{word}") for word in words]
    rows = [
        {word: cell.strip() for word, cell in zip(words, cells, strict=True) if cell.strip()}
        for cells in itertools.zip_longest(*columns, fillvalue="")
    ]
    return [row for row in rows if "force" in row]


def _counted_forces(text: str, rows: Sequence[Tree]) -> list[Any]:
    """The forces of the form in their order, each with what the table tells of it; then those of the table alone."""
    told = {row["force"]: row for row in rows}
    return [told.get(force, force) for force in dict.fromkeys([*_words(text), *told])]


def _told_problem(kind: str, key: str, problem: Any) -> tuple[str, str]:
    """A mistake by the field it is in."""
    inner = problem.place
    inner = inner.removeprefix(f"{SECTIONS[kind]}/{key or 1}").strip("/")
    nearest = f" (did you mean {' or '.join(problem.nearest)}?)" if problem.nearest else ""
    said = problem.message if not inner else f"{inner}: {problem.message}"
    return inner.partition("/")[0], f"{said}{nearest}"


def _words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _kept_forces(view: View, key: str, text: str) -> list[Any]:
    """The forces of the form; strengths and losses that the form does not show stay as they are."""
    versions = chronicle.versions(database(), view.campaign.id, key)
    there = {one["force"]: one for one in versions[-1].what["involved"]} if versions else {}
    return [there.get(force, force) for force in _words(text)]


@pages.post("/<name>/remove")
def remove(name: str) -> AnyResponse:
    """Take something away; its versions stay."""
    view = read_view(name)
    kind, key = request.form.get("kind", ""), request.form.get("key", "")
    _check_kind(kind)
    who = request.form.get("who", "").strip()
    with engine().begin() as connection:
        take_away(connection, name, kind, key, who=who or NOBODY)
    return _gone_on(url_for(".changes", name=view.campaign.name), who)
