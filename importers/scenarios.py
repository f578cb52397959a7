"""Scenarios: what a game begins from, read and checked as a case is, and put into the database when it is wanted.

    scenario = read_scenario("angaur").chosen({"mode": "solitaire"})
    install(connection, scenario)
    position = store_position(connection, scenario.position)

Those that come with Sightline are in `db/rulesets/<code>/scenarios`; anybody may write one of their own. A
scenario names its map, its house charts and groups of counters by their files: beside it, or among those that
come with its game (`maps`, `house`, and counters in the game's own folder).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Self

import sqlalchemy as sa
from pydantic import Field, ValidationError, model_validator
from sqlalchemy.engine import Connection

from db import SightlineError
from db.counter_forms import Form, Name
from db.counters import CONDITIONS
from db.labels import nearest
from db.map_draft import MapDraft, vocabulary
from db.maps import Map
from db.position_draft import PositionDraft
from db.rulesets import CODES, FOLDER, read_ruleset
from importers.cases import position_on
from importers.charts import ChartDraft, blanks_of, fill_blanks, read_chart
from importers.documents import Node, Problems, read_document
from importers.forms import fill
from importers.map_formats import read_written
from importers.map_reading import NAME, is_name, read_map
from importers.maps import load_draft, store_map

KEYS = (
    "name", "title", "ruleset", "source", "note", "map", "charts", "include", "length", "conditions", "policy",
    "options", "tracks", "units", "markers", "setup", "arrivals", "victory", "sources",
)  # fmt: skip
REQUIRED = ("name", "title", "ruleset", "source", "map", "length")
SOURCES = ("house", "printed")
LONGEST_GAME = 200
"""Turns."""
LOCK = 0x51647413
"""Advisory lock: two who install at once take turns."""
LAND = "land"
"""In what is to be captured: every hex that is not sea."""
EVERY = "all"
"""In arrivals: every unit of the side that is off the map."""


class ScenarioError(SightlineError):
    """A scenario that is not there, or cannot be read or played as asked."""

    status = 404


class Step(Form):
    """A step of the set-up: which procedure is called, for whom, and who or what decides."""

    side: str
    choice: str | None = None
    """A procedure in which the side decides."""
    die: str | None = None
    """A procedure in which dice decide."""
    fixed: str | None = None
    """A procedure in which nothing is left to decide."""
    rule: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    """What the procedure is given, as a game gives it; dice and choices come when it is called."""
    note: str = ""

    @model_validator(mode="after")
    def one_procedure(self) -> Self:
        if sum(word is not None for word in (self.choice, self.die, self.fixed)) != 1:
            raise ValueError("a step names one procedure, under choice, die or fixed")
        return self

    @property
    def procedure(self) -> str:
        return self.choice or self.die or self.fixed or ""

    @property
    def by(self) -> str:
        """Who or what decides: choice, die or fixed."""
        return "choice" if self.choice else "die" if self.die else "fixed"


class Arrival(Form):
    """Units that come onto the map during the game."""

    side: str
    turn: int | Literal["any"]
    units: Literal["all"] | tuple[Name, ...]
    rule: str
    note: str = ""


class Wants(Form):
    """What must be so for a side to win."""

    capture: tuple[Name, ...] = ()
    """Hexes by a feature printed in them, by the name of a marked place, or `land`."""
    eliminate: str | None = None
    """The side of which no unit may be left."""


class Victory(Form):
    """Who wins when."""

    rule: str
    side: str
    """The side that wins if it has what it wants at the end, and loses otherwise."""
    wants: Wants
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Scenario:
    """A scenario, read and checked."""

    name: str
    title: str
    ruleset: str
    source: str
    """Whether it is the publisher's or, in part, of a house: printed or house."""
    note: str
    length: int
    """Turns."""
    options: Mapping[str, tuple[Any, ...]]
    """Conditions that players choose before they begin; the first value is the usual one."""
    setup: tuple[Step, ...]
    arrivals: tuple[Arrival, ...]
    victory: Victory | None
    sources: tuple[str, ...]
    charts: tuple[ChartDraft, ...]
    """House charts that it is played with."""
    position: PositionDraft
    """How it begins, on its map by name; `install` first, then `store_position`."""

    @property
    def house(self) -> bool:
        return self.source == "house"

    @property
    def map(self) -> str:
        """What its map is called in a database."""
        return self.position.saved_map or ""

    def chosen(self, options: Mapping[str, Any]) -> Scenario:
        """The same with options chosen; what is not among them is refused."""
        for option, value in options.items():
            if option not in self.options:
                raise ScenarioError(
                    f"The scenario {self.name} has no option {option!r}.", f"It has {_listed(self.options)}."
                )
            if value not in self.options[option]:
                raise ScenarioError(
                    f"{value!r} is no {option} of the scenario {self.name}.",
                    f"Choose one of {_listed(self.options[option])}.",
                )
        conditions = self.position.conditions | dict(options)
        return dataclasses.replace(self, position=dataclasses.replace(self.position, conditions=conditions))

    def as_dict(self) -> dict[str, Any]:
        """The scenario for people and programs, without its map."""
        units = [
            unit.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
            for unit, _ in self.position.units.values()
        ]
        told: dict[str, Any] = {
            key: getattr(self, key) for key in ("name", "title", "ruleset", "source", "note", "map", "length")
        }
        return told | {
            "charts": [draft.chart for draft in self.charts],
            "conditions": self.position.conditions,
            "policy": self.position.policy,
            "options": {option: list(values) for option, values in self.options.items()},
            "setup": [step.model_dump(mode="json", exclude_defaults=True) for step in self.setup],
            "arrivals": [arrival.model_dump(mode="json", exclude_defaults=True) for arrival in self.arrivals],
            "victory": self.victory and self.victory.model_dump(mode="json", exclude_defaults=True),
            "sources": list(self.sources),
            "units": units,
        }


def scenarios(ruleset: str | None = None) -> list[str]:
    """The names of the scenarios that come with Sightline, of a game or of all."""
    return sorted(_built_in(ruleset))


def _built_in(ruleset: str | None = None) -> dict[str, Path]:
    codes = CODES if ruleset is None else (ruleset,)
    return {
        path.stem: path for code in codes for path in sorted((FOLDER / code / "scenarios").glob("*.yaml"))
    }


def read_scenario(name_or_path: str | Path) -> Scenario:
    """A scenario that comes with Sightline by its name, or one in a file of your own.

    Raises `Problems` with everything that is wrong with it.
    """
    known = _built_in()
    path = known.get(str(name_or_path), Path(name_or_path))
    try:
        content = path.read_bytes()
    except OSError as error:
        if path.suffix in (".yaml", ".yml", ".json") or len(path.parts) > 1:
            raise ScenarioError(f"Cannot read {path}: {error.strerror}.") from error
        near = nearest(str(name_or_path), known)
        meant = f"Did you mean {' or '.join(near)}? " if near else ""
        raise ScenarioError(
            f"There is no scenario {str(name_or_path)!r}.", f"{meant}All of them: sightline scenarios list"
        ) from error
    problems = Problems()
    reader = _Reader(read_document(content, str(path), problems), path, problems)
    scenario = reader.read()
    problems.raise_if_any()
    assert scenario is not None
    return scenario


class _Reader:
    """One pass over the tree of a scenario."""

    def __init__(self, root: Node, path: Path, problems: Problems) -> None:
        self.path = path
        self.problems = problems
        self.keys = root.mapping(problems, KEYS, REQUIRED)

    def read(self) -> Scenario | None:
        name = self._name()
        source = self._word("source", "source", SOURCES)
        length = self.keys["length"].whole(self.problems, 1, LONGEST_GAME) if "length" in self.keys else None
        self.ruleset = self._word("ruleset", "ruleset", CODES) or ""
        if not self.ruleset:
            return None
        self.facts = read_ruleset(self.ruleset)
        self.board = self._board()
        charts = tuple(draft for node in self._items("charts") if (draft := self._chart(node)) is not None)
        self._include()
        position = position_on(self.keys, self.ruleset, self.board, None, self.problems)
        options = self._options()
        setup = self._forms(Step, "setup")
        arrivals = self._forms(Arrival, "arrivals")
        victory = fill(Victory, self.keys["victory"], self.problems) if "victory" in self.keys else None
        sources = tuple(number for node in self._items("sources") if (number := self._rule(node)) is not None)
        if position is None or self.board is None:
            return None
        self._check_setup(setup, position)
        self._check_arrivals(arrivals, position)
        if victory is not None:
            self._check_victory(victory)
        position.saved_map = self.board.name
        position.conditions = {option: values[0] for option, values in options.items() if values} | (
            position.conditions
        )
        return Scenario(
            name or "", position.title, self.ruleset, source or "", self._text("note"), length or 0, options,
            tuple(step for _, step in setup), tuple(arrival for _, arrival in arrivals), victory, sources, charts,
            position,
        )  # fmt: skip

    # The parts of a file.

    def _name(self) -> str | None:
        name = self.keys["name"].string(self.problems) if "name" in self.keys else None
        if name is not None and not is_name(name):
            self.problems.add(self.keys["name"], f"{name!r}: {NAME}")
        return name

    def _text(self, key: str) -> str:
        return (self.keys[key].string(self.problems) or "") if key in self.keys else ""

    def _word(self, key: str, what: str, known: Iterable[str]) -> str | None:
        return self.keys[key].word(self.problems, what, list(known)) if key in self.keys else None

    def _items(self, key: str) -> list[Node]:
        return self.keys[key].items(self.problems) if key in self.keys else []

    def _forms(self, form: Any, key: str) -> list[tuple[Node, Any]]:
        """The items of a list that are as they should be, each with its place."""
        filled = [(node, fill(form, node, self.problems)) for node in self._items(key)]
        return [(node, entry) for node, entry in filled if entry is not None]

    def _options(self) -> dict[str, tuple[Any, ...]]:
        """Conditions with the values that may be chosen, each as the conditions' form wants it."""
        found: dict[str, tuple[Any, ...]] = {}
        for option, node in (
            self.keys["options"].mapping(self.problems).items() if "options" in self.keys else ()
        ):
            form = CONDITIONS[self.ruleset]
            if option not in form.model_fields:
                self.problems.unknown(node, "condition", option, list(form.model_fields))
                continue
            values = node.items(self.problems)
            if not values:
                self.problems.add(node, f"{option} needs a list of values, the usual one first")
            for value in values:
                try:
                    form.model_validate({option: value.plain()})
                except ValidationError as error:
                    self.problems.add(value, str(error.errors()[0]["msg"]).lower())
            found[option] = tuple(value.plain() for value in values)
        return found

    # Other files.

    def _file(self, node: Node, folder: str, what: str) -> Path | None:
        """The file of a name: beside the scenario, else among those of its game."""
        name = node.string(self.problems)
        if name is None:
            return None
        home = FOLDER / self.ruleset / folder
        for place in (self.path.parent / name, self.path.parent / f"{name}.yaml", home / f"{name}.yaml"):
            if place.is_file() and place.resolve() != self.path.resolve():
                return place
        known = sorted(file.stem for file in home.glob("*.yaml"))
        self.problems.add(
            node,
            f"there is no {what} {name!r} beside the scenario, nor one of that name with {self.ruleset}",
            functools.partial(nearest, name, known),
        )
        return None

    def _board(self) -> MapDraft | None:
        node = self.keys.get("map")
        if node is None:
            return None
        if isinstance(node.value, dict):
            board = read_map(node, self.ruleset, self.problems)
        else:
            file = self._file(node, "maps", "map")
            board = None if file is None else read_written(file, self.problems)
        if board is None:
            return None
        if board.ruleset != self.ruleset:
            self.problems.add(node, f"the map is one of {board.ruleset}, not of {self.ruleset}")
            return None
        if board.name is None:
            self.problems.add(node, "the map has no name, under which it could be kept: give it one")
            return None
        return board

    def _chart(self, node: Node) -> ChartDraft | None:
        file = self._file(node, "house", "chart file")
        if file is None:
            return None
        try:
            draft = read_chart(file.read_bytes(), str(file))
        except Problems as found:
            self.problems.found += found.found
            return None
        if draft.ruleset != self.ruleset:
            self.problems.add(node, f"the chart is one of {draft.ruleset}, not of {self.ruleset}")
            return None
        return draft

    def _include(self) -> None:
        """Put the units of other files behind the scenario's own."""
        units = list(self._items("units"))
        for node in self._items("include"):
            keys = node.mapping(self.problems, ("file", "group"), ("file", "group"))
            if len(keys) < 2 or (file := self._file(keys["file"], "", "counter file")) is None:
                continue
            root = read_document(file.read_bytes(), str(file), self.problems)
            parts = root.mapping(
                self.problems, ("ruleset", "source", "note", "groups"), ("ruleset", "groups")
            )
            groups = parts["groups"].mapping(self.problems) if "groups" in parts else {}
            group = keys["group"].word(self.problems, f"group of {file.name}", list(groups))
            if group in groups:
                units += groups[group].items(self.problems)
        if units:
            listed = self.keys.get("units") or Node([], file=str(self.path), key="units")
            self.keys["units"] = Node(
                units, file=listed.file, line=listed.line, parent=listed.parent, key=listed.key
            )

    # What names something of the game or of the scenario.

    def _rule(self, node: Node) -> str | None:
        number = node.string(self.problems)
        if number is not None and number not in self._rules:
            self.problems.unknown(node, f"rule of {self.ruleset}", number, self._rules)
        return number

    @functools.cached_property
    def _rules(self) -> list[str]:
        return [rule.number for rule in self.facts.rules]

    def _side(self, node: Node) -> None:
        node.word(self.problems, "side", self.facts.facts.sides)

    def _unit(self, node: Node, code: str, position: PositionDraft) -> None:
        if code not in position.units:
            self.problems.add(
                node, f"there is no unit {code!r}", functools.partial(nearest, code, position.units)
            )

    def _check_setup(self, setup: list[tuple[Node, Step]], position: PositionDraft) -> None:
        for node, step in setup:
            self._side(node.at(["side"]))
            self._rule(node.at(["rule"]))
            node.at([step.by]).word(self.problems, "procedure of the set-up", self.facts.sequence.set_up)
            if "unit" in step.arguments:
                self._unit(node.at(["arguments", "unit"]), str(step.arguments["unit"]), position)

    def _check_arrivals(self, arrivals: list[tuple[Node, Arrival]], position: PositionDraft) -> None:
        for node, arrival in arrivals:
            self._side(node.at(["side"]))
            self._rule(node.at(["rule"]))
            for n, code in enumerate(() if arrival.units == EVERY else arrival.units):
                self._unit(node.at(["units", n]), code, position)

    def _check_victory(self, victory: Victory) -> None:
        node = self.keys["victory"]
        self._side(node.at(["side"]))
        self._rule(node.at(["rule"]))
        if victory.wants.eliminate is not None:
            self._side(node.at(["wants", "eliminate"]))
        assert self.board is not None
        known = [LAND, *vocabulary(self.ruleset).features, *self.board.features]
        for n in range(len(victory.wants.capture)):
            node.at(["wants", "capture", n]).word(self.problems, "feature or place of the map", known)


def install(connection: Connection, scenario: Scenario) -> None:
    """Put a scenario's map and house charts into the database, in the caller's transaction.

    Done again it does nothing, and waits for nobody. A cell that the book, an owner or a house has told stays as it is.
    """
    if _is_installed(connection, scenario):
        return
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(LOCK)))
    if connection.scalar(sa.select(Map.id).where(Map.name == scenario.map)) is None:
        store_map(connection, scenario.position.board)
    for draft in scenario.charts:
        fill_blanks(connection, draft, "house")


def _is_installed(connection: Connection, scenario: Scenario) -> bool:
    """Whether nothing is left to do; an error where there is another map of that name."""
    if connection.scalar(sa.select(Map.id).where(Map.name == scenario.map)) is None:
        return False
    if load_draft(connection, scenario.map) != scenario.position.board:
        raise ScenarioError(
            f"There is a map {scenario.map!r} already, and it is not that of the scenario {scenario.name}.",
            f"Keep it under another name (sightline export map, sightline import map --name), then:"
            f" sightline maps delete {scenario.map}",
        )
    return not any(blanks_of(connection, draft) for draft in scenario.charts)


def _listed(words: Iterable[Any]) -> str:
    return ", ".join(str(word) for word in words) or "none"
