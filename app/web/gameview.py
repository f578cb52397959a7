"""A game as its page shows it: read from the address, seen from a seat, drawn at a moment, with what may be done."""

from __future__ import annotations

import dataclasses
import functools
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flask import render_template, request, url_for
from markupsafe import Markup
from sqlalchemy.engine import Connection

from app.drawing import svg
from app.play.branches import board_at
from app.play.log import event_tree, log, moment
from app.play.orders import Order, Prospect, after_choice, prospect, read_orders
from app.play.prospects import actions_now, legal
from app.play.story import MARKS, Wanted, changed, events, turns
from app.play.tables import Table, Tree, awaited, open_game, seats
from app.play.views import View, check_seat, seats_of
from app.play.words import happenings, moment_in_words, ruling_of, sentence
from app.referee.rulings import contested_points
from app.referee.words import in_words
from app.web.notes import BOOKMARK, note_markup
from app.web.proof import proof
from db import SightlineError
from db.counters import UNITS
from db.games import REFEREE
from db.labels import Axial
from db.position_draft import PositionDraft
from db.values import canonical, to_json
from importers.documents import read_document
from importers.map_writing import flow

SHOWN_EVENTS = 60
"""Events of the log around the moment that is looked at."""
MOST_OFFERS = 400
FEW_OPTIONS = 8
"""Options of a choice of which is told what each would bring."""
SPEEDS = (("slow", 3000), ("even", 1500), ("quick", 600))
"""Milliseconds a step of a game that plays by itself."""


@dataclasses.dataclass(frozen=True)
class Shown:
    """What of a game is shown: the moment, the seat that looks, and what is about to be done."""

    connection: Connection
    table: Table
    view: View
    at: int
    since: int | None = None
    unit: str = ""
    order: str = ""
    orders: str = ""
    wanted: Wanted = dataclasses.field(default_factory=Wanted)

    @classmethod
    def of(cls, connection: Connection, table: Table, view: View) -> Shown:
        """The game as it stands."""
        return cls(connection, table, view, table.events)

    @property
    def now(self) -> bool:
        """Whether the last moment is looked at, in which something can be done."""
        return self.at == self.table.events

    def address(self, **others: Any) -> str:
        """The page with some words otherwise; None leaves one out."""
        words: dict[str, Any] = {
            "at": None if self.now else self.at, "since": self.since, "unit": self.unit or None,
            "order": self.order or None, "as": None if self.view.whole else self.view.seat,
            **{key: value or None for key, value in dataclasses.asdict(self.wanted).items()},
        }  # fmt: skip
        words |= others
        given = {key: value for key, value in words.items() if value not in (None, "")}
        return url_for("games.game", name=self.table.name, **given)

    @functools.cached_property
    def event(self) -> Tree:
        """The event of the moment, as the seat sees it."""
        return self.view.event(self.connection, self.table, event_tree(self.connection, self.table, self.at))

    @functools.cached_property
    def tree(self) -> Tree:
        """The position of the moment, as the seat sees it."""
        return self.view.position(moment(self.connection, self.table, self.at))

    @functools.cached_property
    def before(self) -> Tree:
        """The position that it is compared with: of `since`, else of the event before."""
        number = self.since or max(self.at - 1, 1)
        return self.view.position(moment(self.connection, self.table, number))

    def last(self) -> Tree:
        """The last event and what is awaited, for a list."""
        return {
            "number": self.at,
            "sentence": sentence(self.table.ruleset, self.event),
            "waits": self.waits(),
        }

    def waits(self) -> str | None:
        """What is awaited, in words."""
        return f"waits for {awaited(self.table.pending)}" if self.table.pending is not None else None

    # The map.

    def drawing(self, order: Prospect | None = None) -> Markup:
        """The map of the moment: ghosts where units stood, what changed and what an order would do."""
        with board_at(self.connection, self.table, self.at) as board:
            position = self._seen(board.position(self.connection))
            place = position.board.scheme.hex
            marks = {place(label): "answer" for label in self._touched() if self._is_label(position, label)}
            ghosts, path = self._moved(position)
            if order is not None:
                said = list(order.order.arguments.values())
                marks |= {place(label): "end" for label in _labels(said) if self._is_label(position, label)}
            return svg(
                position,
                marks,
                path=path,
                ghosts=ghosts,
                picked=True,
                window=position.board.size > 1500,
            )

    def _seen(self, position: PositionDraft) -> PositionDraft:
        """The position as the seat sees it."""
        if self.view.whole:
            return position
        units = {}
        for code, (unit, place) in position.units.items():
            seen = self.view.unit(unit.model_dump(mode="json", by_alias=True, exclude_none=True))
            if seen is not None:
                units[code] = (_counter(self.table.ruleset, seen, unit), place)
        return dataclasses.replace(position, units=units, tracks=self.view.tracks(position.tracks))

    def _touched(self) -> list[str]:
        """Hexes in which something is otherwise than before."""
        found: list[str] = []
        for one in changed(self.before, self.tree):
            for value in (one.was, one.now):
                if one.key == "at" and isinstance(value, str):
                    found.append(value)
                elif one.key == "marker" and value:
                    found.append(str(read_document(value, "marker").plain().get("at")))
            units = self.tree["units"].get(one.what) or self.before["units"].get(one.what)
            if units and units.get("at"):
                found.append(str(units["at"]))
        return found

    @staticmethod
    def _is_label(position: PositionDraft, label: str) -> bool:
        try:
            return position.board.scheme.hex(label) in position.board.hexes
        except (SightlineError, ValueError):
            return False

    def _moved(self, position: PositionDraft) -> tuple[list[tuple[Any, Axial]], list[Axial]]:
        """Counters where they stood before; of a single one, its way."""
        ghosts, ways = [], []
        place = position.board.scheme.hex
        for one in changed(self.before, self.tree):
            if one.key != "at" or not isinstance(one.was, str) or not self._is_label(position, one.was):
                continue
            unit = self.before["units"][one.what]
            ghosts.append((_counter(self.table.ruleset, {"id": one.what, **unit}, None), place(one.was)))
            if isinstance(one.now, str) and self._is_label(position, one.now):
                ways.append([place(one.was), place(one.now)])
        path = self.event.get("answer", {}).get("path") if self.since is None else None
        if (
            isinstance(path, list)
            and len(path) > 1
            and all(self._is_label(position, str(label)) for label in path)
        ):
            return ghosts, [place(str(label)) for label in path]
        return ghosts, ways[0] if len(ways) == 1 else []

    # What may be done.

    def offers(self) -> list[Tree]:
        """The actions of the chosen unit, or of whoever acts, that can be entered as they stand."""
        if not self.now or self.table.over or self.table.pending is not None or not self._acts():
            return []
        asked: Tree = {"unit": self.unit} if self.unit else {}
        found = legal(self.connection, self.table, **asked).get("actions", [])[:MOST_OFFERS]
        return [self._offer(one) for one in found]

    def _acts(self) -> bool:
        """Whether the seat may act now."""
        active = self.table.moment.active
        return self.view.whole or self.table.moment.alone or active in (None, self.view.seat)

    def _offer(self, offer: Tree) -> Tree:
        arguments = offer.get("arguments", {})
        text = f"{offer['action']} {flow(arguments)}" if arguments else offer["action"]
        return {
            "action": offer["action"].replace("_", " "),
            "text": text,
            "words": ", ".join(f"{key} {_short(value)}" for key, value in arguments.items() if key != "unit"),
            "hexes": " ".join(_labels(list(arguments.values()))),
            "address": self.address(order=text, at=None),
        }

    def prospect(self) -> Prospect | None:
        """What would come of the order in the order line."""
        if not self.order or not self.now:
            return None
        found = read_orders(self.order, self.table.ruleset)
        if len(found) != 1:
            return Prospect(
                Order(1, self.order), "unread", "One order at a time; several are entered as a list."
            )
        order = found[0]
        if not self.view.whole:
            # nobody looks ahead for another side
            order = dataclasses.replace(order, actor=self.view.seat)
        return prospect(self.connection, self.table, order)

    def prompt(self) -> Tree | None:
        """What is awaited, with what each choice would be; whose it is."""
        pending = self.table.pending
        if pending is None or not self.now:
            return None
        prompt = pending["prompt"]
        mine = (
            self.view.whole or self.table.moment.alone or prompt.get("by", pending["actor"]) == self.view.seat
        )
        told = {
            "words": awaited(pending),
            "action": pending["action"].replace("_", " "),
            "by": prompt.get("by", pending["actor"]),
            "mine": mine,
            "many": prompt.get("many", False),
            "form": prompt.get("form"),
            "name": prompt.get("choice"),
            "kind": next(word for word in ("choice", "roll", "card", "draw") if word in prompt),
            "known": [
                f"{key.replace('_', ' ')} {in_words(value)}"
                for key, value in pending["answer"].items()
                if isinstance(value, int | str) and not isinstance(value, bool)
            ],
        }
        if mine:
            options = prompt.get("options") or (
                [prompt["default"]] if "default" in prompt and not prompt.get("form") else []
            )
            told["options"] = [
                {
                    "value": to_json(one, indent=None),
                    "words": _short(one),
                    "brings": after_choice(self.connection, self.table, one)
                    if self._tells(prompt, options)
                    else "",
                }
                for one in options
            ]
            told["default"] = to_json(prompt["default"], indent=None) if "default" in prompt else ""
        return told

    @staticmethod
    def _tells(prompt: Tree, options: Sequence[Any]) -> bool:
        """Whether it is told what each option would bring: where one of a few is chosen."""
        return "choice" in prompt and not prompt.get("many") and len(options) <= FEW_OPTIONS


def _counter(ruleset: str, seen: Tree, whole: Any) -> Any:
    """A counter to be drawn, with no more than is seen of it."""
    form = UNITS[ruleset]
    try:
        return form.model_validate(seen)
    except ValueError:
        fields = {name: field.default for name, field in form.model_fields.items() if not field.is_required()}
        side = seen.get("side", getattr(whole, "side", None))
        return form.model_construct(
            **fields | {"id": seen.get("id", "?"), "side": side, "kind": seen.get("kind", "decoy")}
        )


def _labels(values: Sequence[Any]) -> list[str]:
    found: list[str] = []
    for value in values:
        if isinstance(value, str):
            found.append(value.removeprefix("hex:"))
        elif isinstance(value, list):
            found += _labels(value)
        elif isinstance(value, Mapping):
            found += _labels(list(value.values()))
    return found


def _short(value: Any) -> str:
    """A value as people read it."""
    if isinstance(value, list) and all(isinstance(one, str | int) for one in value):
        return ", ".join(map(str, value)) or "none"
    return (
        value
        if isinstance(value, str)
        else flow(value)
        if isinstance(value, dict | list)
        else in_words(value)
    )


def shown_of(
    connection: Connection,
    name: str,
    *,
    at: int | None = None,
    seat: str | None = None,
    order: str | None = None,
    orders: str = "",
) -> Shown:
    """What the address says is to be shown of a game."""
    table = open_game(connection, name)
    said = request.args
    view = View(table.ruleset, check_seat(table.ruleset, seat or said.get("as", REFEREE)))
    number = at if at is not None else said.get("at", table.events, type=int)
    since = said.get("since", type=int)
    wanted = Wanted(*(said.get(field.name, "") for field in dataclasses.fields(Wanted)))
    return Shown(
        connection, table, view, min(max(number, 1), table.events),
        since if since and 1 <= since <= table.events else None,
        said.get("unit", ""), said.get("order", "") if order is None else order, orders, wanted,
    )  # fmt: skip


def page_of(
    connection: Connection,
    shown: Shown,
    wrong: SightlineError | None = None,
    *,
    prospects: Sequence[Prospect] = (),
    done: Sequence[str] = (),
) -> str:
    """The page of a game, or the part of it that a script asks for."""
    table = shown.table
    coming = shown.prospect()
    context = {
        "shown": shown,
        "table": table,
        "told": table.as_dict(),
        "wrong": wrong,
        "now": "over" if table.over else moment_in_words(table.moment.as_dict()),
        "seats": seats_of(table.ruleset),
        "names": seats(connection, table),
        "turns": turns(connection, table),
        "marks": MARKS,
        "events": _log(connection, shown),
        "event": shown.event,
        "sentence": sentence(table.ruleset, shown.event),
        "when": moment_in_words(shown.event["phase"]),
        "lines": happenings(shown.event),
        "proof": _proof(connection, shown),
        "changes": [_changed(one) for one in changed(shown.before, shown.tree)] if shown.since else [],
        "drawing": shown.drawing(coming),
        "offers": shown.offers() if shown.unit or request.args.get("legal") else None,
        "actions": actions_now(table),
        "coming": coming,
        "coming_proof": proof(coming.ruling, connection, anchor="coming")
        if coming is not None and coming.ruling
        else None,
        "odds": _odds(coming),
        "prompt": shown.prompt(),
        "prospects": [_prospect(one, connection) for one in prospects],
        "done": done,
        "key": secrets.token_urlsafe(12),
        "units": sorted(shown.tree["units"]),
        "speeds": SPEEDS,
        "address": url_for("games.event", name=table.name, number=shown.at, _external=True),
        "picture": url_for("games.moment_picture", name=table.name, number=shown.at, _external=True),
    }
    return render_template("games/part.html" if request.values.get("part") else "games/game.html", **context)


def _log(connection: Connection, shown: Shown) -> list[Tree]:
    """Events of the log: those that are meant, or those around the moment."""
    table = shown.table
    if shown.wanted:
        found = events(connection, table, shown.wanted)
    else:
        last = min(table.events, max(shown.at + SHOWN_EVENTS // 4, SHOWN_EVENTS))
        found = log(connection, table, first=max(1, last - SHOWN_EVENTS + 1), last=last)
    seen = shown.view.events(connection, table, found)
    return [
        {
            **event,
            "sentence": sentence(table.ruleset, event),
            "rules": _rules(event),
            "address": shown.address(at=event["number"]),
            "notes": _notes(shown, event),
            "marked": any(said["text"].strip() == BOOKMARK for said in event.get("annotations", ())),
        }
        for event in seen
    ]


def _notes(shown: Shown, event: Tree) -> list[Tree]:
    """What was said of an event, to be shown."""
    table = shown.table
    return [
        {**said, "html": note_markup(said["text"], table.ruleset, table.name, table.events)}
        for said in event.get("annotations", ())
        if said["text"].strip() != BOOKMARK
    ]


def _rules(event: Tree) -> list[str]:
    return list(dict.fromkeys(step["rule"] for step in event.get("steps", ())))[:4]


def _proof(connection: Connection, shown: Shown) -> dict[str, Any] | None:
    ruled = ruling_of(shown.table.ruleset, shown.event)
    return proof(ruled, connection) if ruled.steps else None


def _changed(one: Any) -> Tree:
    return {
        "what": one.what,
        "key": one.key.replace("_", " "),
        "was": _plain(one.was),
        "now": _plain(one.now),
    }


def _plain(value: Any) -> str:
    return "—" if value is None else value if isinstance(value, str) else canonical(value)


def _odds(coming: Prospect | None) -> list[Tree]:
    """Chances of each result, for a small chart."""
    told = (coming.answer.get("odds") or {}) if coming is not None else {}
    found = []
    for result, chance in _each_chance(told):
        over, _, under = str(chance).partition("/")
        found.append(
            {
                "result": result.replace("_", " "),
                "chance": chance,
                "part": round(100 * int(over) / int(under or 1)),
            }
        )
    return sorted(found, key=lambda one: -one["part"])


def _each_chance(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each result with its chance; where several units have theirs, with the unit before it."""
    for word, chance in told.items():
        if isinstance(chance, Mapping):
            yield from ((f"{word}: {result}", one) for result, one in chance.items())
        else:
            yield word, chance


def _prospect(one: Prospect, connection: Connection) -> Tree:
    answer = one.answer
    pending = answer.get("pending") or {}
    return {
        "order": one.order,
        "standing": one.standing,
        "why": one.why,
        "remedy": one.remedy,
        "cost": answer.get("cost"),
        "fires": [
            fire.get("by") for fire in answer.get("opportunity_fire") or () if isinstance(fire, Mapping)
        ],
        "wants": next(
            (f"{word} {pending[word]}" for word in ("roll", "card", "draw", "choice") if word in pending),
            None,
        ),
        "proof": proof(one.ruling, connection, anchor=f"order-{one.order.line}")
        if one.ruling is not None
        else None,
    }


def answer_of(said: Mapping[str, str], table: Table) -> Tree:
    """What a form answers: dice that were rolled, cards that were drawn, a choice."""
    for word, key in (("roll", "rolls"), ("card", "cards"), ("draw", "draws")):
        if said.get(word):
            return {key: [read_document(said[word], word).plain()]}
    prompt = (table.pending or {}).get("prompt", {})
    if "choice" not in prompt:
        return {}
    if prompt.get("many") and hasattr(said, "getlist"):
        return {
            "choices": {
                prompt["choice"]: [
                    read_document(one, "answer").plain() for one in said.getlist("answer") if one
                ]
            }
        }
    return {"choices": {prompt["choice"]: read_document(said.get("answer", ""), "answer").plain()}}


def report_of(connection: Connection, shown: Shown) -> dict[str, Any]:
    """The whole game as a report: turn by turn, with maps of the moments that are chosen."""
    table = shown.table
    chosen = {number for number in request.args.getlist("map", type=int) if 1 <= number <= table.events}
    if "map" not in request.args:
        chosen = {turn.last for turn in turns(connection, table)}
    told = shown.view.events(connection, table, log(connection, table))
    parts = []
    for turn in turns(connection, table):
        parts.append({
            "title": turn.title,
            "events": [
                {
                    **event,
                    "sentence": sentence(table.ruleset, event),
                    "rules": _rules(event),
                    "notes": _notes(shown, event),
                    "map": dataclasses.replace(shown, at=event["number"]).drawing() if event["number"] in chosen else None,
                }
                for event in told[turn.first - 1 : turn.last]
            ],
        })  # fmt: skip
    return {"table": table, "parts": parts, "shown": shown}


def readings_of(connection: Connection, shown: Shown) -> dict[str, Any]:
    """The contested points of the game: how each is read, which events it touched, which it decided."""
    table = shown.table
    touched: dict[str, dict[str, Any]] = {}
    for event in log(connection, table):
        for one in event.get("contested", ()):
            entry = touched.setdefault(
                one["point"], {"reading": one["reading"], "touched": [], "decided": []}
            )
            entry["decided" if one["decides"] else "touched"].append(event["number"])
    known = contested_points(table.ruleset)
    points = [
        {"point": known[code], **entry}
        for code, entry in sorted(touched.items(), key=lambda item: int(item[0].rpartition("-")[2]))
        if code in known
    ]
    return {"table": table, "shown": shown, "points": points}
