"""The data of each ruleset: what its rulebook states, as typed and checked YAML.

Each folder `db/rulesets/<code>/` holds the facts of one game, in our own words:

- `ruleset.yaml`    title, version, label scheme, sides, mobilities, levels and what a hex may hold
- `terrain.yaml`    terrain, hexside and path kinds with every printed number and its rule
- `rules.yaml`      every numbered rule with a digest
- `terms.yaml`      the words the rulebook defines
- `contested.yaml`  the points where the rulebook disagrees with itself
- `charts.yaml`     the charts the rulebook mentions, printed or not, with their cells
- `sequence.yaml`   the sequence of play: phases and their steps, in order
- `counters.py`     what its units, markers and conditions may say, as checked forms

Beside them there may be what games begin from, read by `importers.scenarios`: `scenarios/`, the `maps/` they
are played on, counters, and charts of the `house`. No ruling rests on these but by what a database is given.

`read_ruleset(code)` reads and checks them all; a mistake names the file and the place.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from db import SightlineError
from db.labels import Scheme

CODES = ("css", "ccp", "fpb", "bob", "ddp")
FOLDER = Path(__file__).parent

Word = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Number = Annotated[str, Field(min_length=1, pattern=r"^[A-Z]?[0-9][0-9A-Za-z.]*$")]
Aspect = Literal["cost", "defense", "cover", "hindrance", "height", "fire", "strength", "assault"]


class RulesetDataError(SightlineError):
    """A ruleset's data file breaks its form; the message names file and place."""


class Strict(BaseModel):
    """A form in which an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RulesetFile(Strict):
    """`ruleset.yaml`."""

    ruleset: str
    title: str
    base_level: int
    """The level of ground that a map says nothing about."""
    sides: tuple[Word, ...]
    mobilities: tuple[Word, ...]
    scheme: Scheme
    levels: tuple[int, int]
    """The lowest and the highest level of a hex; the same twice where the game has no elevation."""
    features: tuple[Word, ...] = ()
    """What may be printed in a hex beside its terrain, such as a cave."""
    only_features: tuple[Word, ...] = ()
    """Kinds of terrain that are printed on top of another and never fill a hex alone."""
    flags: tuple[Word, ...] = ()
    """Those features that a map file writes as `cave: true`."""
    kept: tuple[Word, ...] = ()
    """What a position keeps of a hex, and a file may write with it, such as the side that controls it."""
    printed_positions: bool = False
    """Whether positions with their fields of fire are printed on the map."""
    printed_beaches: bool = False
    """Whether landing beaches with naval zones are printed on the map."""

    @model_validator(mode="after")
    def words_agree(self) -> RulesetFile:
        low, high = self.levels
        if not low <= self.base_level <= high:
            raise ValueError(f"base_level {self.base_level} is not between the levels {low} and {high}")
        for key in ("flags", "only_features"):
            lost = [word for word in getattr(self, key) if word not in self.features]
            if lost:
                raise ValueError(f"{key} names what is not among the features: {', '.join(lost)}")
        return self


class Rule(Strict):
    """A numbered rule: where it stands in the tree and what it says, digested."""

    number: Number
    title: str
    parent: Number | None = None
    kind: Literal["rule", "section", "unused"] = "rule"
    digest: str
    see: tuple[Number, ...] = ()
    """Rules of the same rulebook that the printed rule refers to by number."""
    asked: tuple[str, ...] = ()
    """What players say when they look for it."""
    clauses: Annotated[str | None, Field(pattern="^[a-z]$")] = None
    """The last of its lettered items, where it has them: d for a to d."""


class Term(Strict):
    """A word the rulebook uses in a sense of its own."""

    term: str
    definition: str
    rule: Number | None = None
    """Where the rulebook defines it; absent where only its unnumbered glossary does."""
    aliases: tuple[str, ...] = ()


class Reading(Strict):
    """One way to read a contested point."""

    title: str
    effect: str


class ContestedPoint(Strict):
    """A point where a rulebook disagrees with itself or is silent."""

    id: Annotated[str, Field(pattern=r"^(css|ccp|fpb|bob|ddp)-[0-9]+$")]
    title: str
    severity: Literal["high", "medium", "low"]
    cites: Annotated[tuple[str, ...], Field(min_length=1)]
    """Rule numbers, or `glossary`, `index`, `chart` where the rulebook numbers nothing."""
    readings: Annotated[dict[Annotated[str, Field(pattern="^[a-e]$")], Reading], Field(min_length=1)]
    default: str
    why: str
    affects: tuple[Word, ...] = ()
    """Question kinds whose answer may turn on this point."""

    @model_validator(mode="after")
    def default_is_a_reading(self) -> ContestedPoint:
        if self.default not in self.readings:
            raise ValueError(f"{self.id}: default {self.default!r} is not among the readings")
        return self


ValueKind = Literal["text", "whole", "points", "flag"]
WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]*)")
POINTS = re.compile(r"[-+]?(0|[1-9][0-9]*)(\.5)?")
NOWHERE = "-"
"""In a row of cells: the chart has no such cell. As an owner's value: the cell is blank on the player aid."""
UNPRINTED = "~"


def _keys(value: Any) -> Any:
    """Keys of rows and columns are text, whatever they look like."""
    return {_text(key): entry for key, entry in value.items()} if isinstance(value, dict) else value


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def _columns(value: Any) -> Any:
    """Let `columns: [1, 2]` stand for columns that hold what `values` says."""
    return dict.fromkeys(map(_text, value)) if isinstance(value, list) else _keys(value)


class Cell(Strict):
    """What a chart has at one place; no value where the book does not print it."""

    value: Annotated[str | None, BeforeValidator(_text)] = None
    rule: Number | None = None
    """Where it stands, if not at the rule of the chart itself."""
    example: bool = False
    """Whether no sentence tells it, but a worked example of that rule."""


Values = ValueKind | tuple[str, ...]
"""What a cell may hold: a kind of value, or one of some words."""


class Tally(Strict):
    """What checks a list of rows: a printed chart that says how many rows there are with each word of a column."""

    chart: Word
    """The printed chart: its rows are column/word, its columns the words of `by`."""
    by: Word
    of: tuple[Word, ...]


class Chart(Strict):
    """A chart the rulebook mentions, with its cells; what is not printed is for its owner to fill in.

    `cells` has a row a line. A row is a text of words by column, `~` where the book does not
    print it and `-` where the chart has no such cell; or a list; or a mapping by column, where a
    column that is not named is not printed. A cell is a value, or a value with its rule. A row of
    nothing is not printed at all.
    """

    title: str
    rule: Number
    printed: bool
    place: str = ""
    """Where it stands, if not among the numbered rules: on the back cover, on the map, on a player aid."""
    note: str = ""
    row: Word | None = None
    """What a row is, such as `die`; none for a chart without cells."""
    column: Word | None = None
    """What a column is, where all are of one kind, such as `differential`."""
    columns: Annotated[dict[str, Values | None], BeforeValidator(_columns)] = {}
    """The columns in order, each with what its cells hold; none: what `values` says."""
    values: Values = "text"
    open: bool = False
    """Whether an owner adds rows, such as counters; else the rows are all there."""
    cells: Annotated[dict[str, Any], BeforeValidator(_keys)] = {}
    costs: dict[str, Word] = {}
    """Columns that hold what a kind of terrain, hexside or path (the row) costs, with the mobility of each."""
    tally: Tally | None = None
    """How many rows there may be of each kind, such as the cards of a deck."""
    needed_for: tuple[str, ...] = ()
    """What a ruling says that it needs when this chart is wanting; `*` stands for any words."""

    @model_validator(mode="after")
    def cells_fit(self) -> Chart:
        if bool(self.row) != bool(self.columns):
            raise ValueError("a chart with cells has both row and columns")
        if self.cells and not self.row:
            raise ValueError("cells need row and columns")
        lost = [column for column in self.costs if column not in self.columns]
        if lost:
            raise ValueError(f"costs: no such column: {', '.join(lost)}")
        for row, column, cell in self.each_cell():
            if cell.value is not None:
                mistake = self.mistake(column, cell.value)
                if mistake:
                    raise ValueError(f"cells.{row}.{column}: {mistake}")
        return self

    def holds(self, column: str) -> Values:
        """What the cells of a column hold."""
        return self.columns[column] or self.values

    def mistake(self, column: str, value: str) -> str | None:
        """Why a value cannot stand in a column; None where it can."""
        wanted = self.holds(column)
        if isinstance(wanted, tuple):
            return None if value in wanted else f"{value!r} is not one of {', '.join(wanted)}"
        fits = {
            "text": bool(value),
            "whole": WHOLE.fullmatch(value) is not None,
            "points": POINTS.fullmatch(value) is not None or value in ("prohibited", "all"),
            "flag": value in ("true", "false"),
        }
        return None if fits[wanted] else f"{value!r} is not {KINDS[wanted]}"

    def each_cell(self) -> Iterator[tuple[str, str, Cell]]:
        """Every cell as (row, column, cell), in order."""
        for row, written in self.cells.items():
            for column, cell in self._row(row, written).items():
                yield row, column, cell

    def _row(self, row: str, written: Any) -> dict[str, Cell]:
        if written is None or isinstance(written, dict):
            said = _keys(written or {})
            lost = [column for column in said if column not in self.columns]
            if lost:
                raise ValueError(f"cells.{row}: no such column: {', '.join(lost)}")
            found = {column: said.get(column) for column in self.columns}
        else:
            words = _text(written)
            if isinstance(words, str):
                words = [words] if len(self.columns) == 1 else words.split()
            if len(words) != len(self.columns):
                raise ValueError(f"cells.{row}: {len(words)} cells, but {len(self.columns)} columns")
            found = dict(zip(self.columns, words, strict=True))
        return {column: _cell(value) for column, value in found.items() if value != NOWHERE}


KINDS: dict[ValueKind, str] = {
    "text": "text",
    "whole": "a whole number",
    "points": "a number of whole or half points, prohibited or all",
    "flag": "true or false",
}


def _cell(value: Any) -> Cell:
    if isinstance(value, dict):
        return Cell.model_validate(value)
    return Cell() if value in (None, UNPRINTED) else Cell(value=_text(value))


class Phase(Strict):
    """A phase of the sequence of play, or a step within one."""

    code: Word
    title: str
    rule: Number
    who: Word | None = None
    """Who acts: a side, `both`, or a word of the game such as `active`; none where nobody decides."""
    actions: tuple[Word, ...] = ()
    """What may be done in it: procedures by name."""
    enter: tuple[Word, ...] = ()
    """Procedures that happen by themselves when it begins."""
    leave: tuple[Word, ...] = ()
    """And when it ends."""
    passes: bool = False
    """Whether nobody decides anything in it: once begun, it ends by itself."""
    steps: tuple[Phase, ...] = ()


class SequenceFile(Strict):
    """`sequence.yaml`."""

    ruleset: str
    set_up: tuple[Word, ...] = ()
    """What may be done before the first phase: procedures by name."""
    stepped: bool = False
    """Whether a moment of the game names the phase and the step within it, not the step alone."""
    phases: Annotated[tuple[Phase, ...], Field(min_length=1)]

    def each_phase(self) -> Iterator[tuple[str, str | None, Phase]]:
        """Every phase and step as (path, path of its parent, phase), in order."""

        def below(phases: tuple[Phase, ...], parent: str | None) -> Iterator[tuple[str, str | None, Phase]]:
            for phase in phases:
                path = f"{parent}/{phase.code}" if parent else phase.code
                yield path, parent, phase
                yield from below(phase.steps, path)

        return below(self.phases, None)

    @model_validator(mode="after")
    def paths_differ(self) -> SequenceFile:
        paths = [path for path, _, _ in self.each_phase()]
        twice = sorted({path for path in paths if paths.count(path) > 1})
        if twice:
            raise ValueError(f"phases listed twice: {', '.join(twice)}")
        return self


def _plain_value(value: Any) -> Any:
    """Let `leg: 2` stand for `leg: {value: 2}`."""
    return value if isinstance(value, dict | list) else {"value": value}


class Effect(Strict):
    """One printed number (or `prohibited`, or `all` points) with the rule that prints it."""

    value: Decimal | Literal["prohibited", "all"]
    rule: Number | None = None
    """Where the value stands, if not at the rule of the feature itself."""
    when: str | None = None
    """A short condition in our words, e.g. `along a road`."""


EffectValue = Annotated[Effect, BeforeValidator(_plain_value)]
Effects = Annotated[
    tuple[EffectValue, ...],
    BeforeValidator(lambda value: value if isinstance(value, list) else [value]),
]


class Feature(Strict):
    """A kind of terrain, hexside or path, with what the rulebook prints about it.

    What is not printed is absent; an absent number is unknown, not zero.
    """

    title: str
    rule: Number
    sight: Literal["open", "hinders", "blocks_at_second", "blocks"] | None = None
    sight_rule: Number | None = None
    cost: dict[Word, Effects] = {}
    """Movement points by mobility: to enter (terrain, path) or extra to cross (hexside)."""
    defense: Effects = ()
    """Modifier to the defender as printed, sign included."""
    cover: Effects = ()
    hindrance: Effects = ()
    height: Effects = ()
    """Levels by which it rises above its hex for sight."""
    fire: Effects = ()
    """Modifier to fire at a unit in or behind it, as printed, sign included."""
    strength: Effects = ()
    """Multiplier of the strength of a unit defending in it."""
    assault: Effects = ()
    """Modifier to an assault into or across it, as printed, sign included."""
    note: str = ""

    def effects(self) -> Iterator[tuple[Aspect, str | None, Effect]]:
        """Every printed number as (aspect, mobility, effect)."""
        for mobility, values in self.cost.items():
            for effect in values:
                yield "cost", mobility, effect
        aspects: tuple[Aspect, ...] = (
            "defense", "cover", "hindrance", "height", "fire", "strength", "assault",
        )  # fmt: skip
        for aspect in aspects:
            for effect in getattr(self, aspect):
                yield aspect, None, effect


class TerrainFile(Strict):
    """`terrain.yaml`."""

    ruleset: str
    terrain: dict[Word, Feature]
    hexsides: dict[Word, Feature] = {}
    paths: dict[Word, Feature] = {}
    overlays: dict[Word, Feature] = {}
    """What lies over the ground and is no word of a map file: hills, which are levels, smoke, a marker."""

    def each_feature(self) -> Iterator[tuple[str, str, Feature]]:
        """Every kind as (terrain, hexside, path or overlay; code; what the book prints of it)."""
        for feature, kinds in (
            ("terrain", self.terrain),
            ("hexside", self.hexsides),
            ("path", self.paths),
            ("overlay", self.overlays),
        ):
            for code, facts in kinds.items():
                yield feature, code, facts


class RulesFile(Strict):
    """`rules.yaml`."""

    ruleset: str
    rules: tuple[Rule, ...]

    @model_validator(mode="after")
    def tree_is_whole(self) -> RulesFile:
        numbers = [rule.number for rule in self.rules]
        twice = sorted({number for number in numbers if numbers.count(number) > 1})
        if twice:
            raise ValueError(f"rules listed twice: {', '.join(twice)}")
        known = set(numbers)
        for rule in self.rules:
            lost = [n for n in (rule.parent, *rule.see) if n is not None and n not in known]
            if lost:
                raise ValueError(f"rule {rule.number} names unknown rules: {', '.join(lost)}")
        return self


class TermsFile(Strict):
    """`terms.yaml`."""

    ruleset: str
    terms: tuple[Term, ...]


class ContestedFile(Strict):
    """`contested.yaml`."""

    ruleset: str
    points: tuple[ContestedPoint, ...]

    @model_validator(mode="after")
    def ids_count_up(self) -> ContestedFile:
        for count, point in enumerate(self.points, 1):
            if point.id != f"{self.ruleset}-{count}":
                raise ValueError(f"point {count} must have the id {self.ruleset}-{count}, not {point.id}")
        return self


class ChartsFile(Strict):
    """`charts.yaml`."""

    ruleset: str
    charts: dict[Word, Chart]


class PrintedValue(Strict):
    """A number or word on a counter: what the game calls it, and the rule that speaks of it."""

    name: str
    rule: Number


class PrintedFile(Strict):
    """`printed.yaml`: what is printed on counters, by the keys of their forms, and the rules of markers, by kind."""

    ruleset: str
    values: dict[Word, PrintedValue]
    markers: dict[Word, Number]


class Concept(Strict):
    """A thing that several games treat, such as line of sight: where, and how they differ."""

    title: str
    aliases: tuple[str, ...] = ()
    comparison: str
    """How the games differ, in our own words."""
    nearest: dict[Literal["css", "ccp", "fpb", "bob", "ddp"], tuple[Number, ...]] = {}
    """Of games that do not have it: the rules that come nearest."""
    rules: dict[Literal["css", "ccp", "fpb", "bob", "ddp"], tuple[Number, ...]]


class ConceptsFile(Strict):
    """`concepts.yaml`, common to all games."""

    concepts: dict[Word, Concept]


Form = TypeVar("Form", bound=BaseModel)


def read_form(path: Path, form: type[Form]) -> Form:
    """Read one YAML file into its form, or say where it is wrong."""
    try:
        tree = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise RulesetDataError(f"{path}: not YAML: {error}") from error
    try:
        return form.model_validate(tree)
    except ValidationError as error:
        places = "; ".join(
            f"{'.'.join(str(part) for part in problem['loc']) or 'file'}: {problem['msg']}"
            for problem in error.errors()
        )
        raise RulesetDataError(f"{path}: {places}") from error


class Ruleset(NamedTuple):
    """All data of one game."""

    code: str
    facts: RulesetFile
    terrain: TerrainFile
    rules: tuple[Rule, ...]
    terms: tuple[Term, ...]
    contested: tuple[ContestedPoint, ...]
    charts: dict[str, Chart]
    sequence: SequenceFile
    version: str
    """Digest of its files."""


@functools.cache
def read_ruleset(code: str) -> Ruleset:
    """Read and check all data of one game."""
    folder = FOLDER / code
    if code not in CODES:
        raise RulesetDataError(f"No ruleset {code!r}.", f"Rulesets: {', '.join(CODES)}.")
    return Ruleset(
        code,
        read_form(folder / "ruleset.yaml", RulesetFile),
        read_form(folder / "terrain.yaml", TerrainFile),
        read_form(folder / "rules.yaml", RulesFile).rules,
        read_form(folder / "terms.yaml", TermsFile).terms,
        read_form(folder / "contested.yaml", ContestedFile).points,
        read_form(folder / "charts.yaml", ChartsFile).charts,
        read_form(folder / "sequence.yaml", SequenceFile),
        files_digest(data_files(folder)),
    )


@functools.cache
def printed(code: str) -> PrintedFile:
    """What is printed on the counters of a game, for those who look at one."""
    return read_form(FOLDER / code / "printed.yaml", PrintedFile)


def rulesets_digest() -> str:
    """Digest of every data file of every ruleset."""
    return files_digest(data_files(FOLDER))


def data_files(folder: Path) -> list[Path]:
    """The files that make a ruleset: its data, its counters and the forms that all counters share."""
    return [
        *sorted(folder.glob("**/*.yaml")),
        *sorted(folder.glob("**/counters.py")),
        FOLDER.parent / "counter_forms.py",
    ]


def files_digest(paths: list[Path]) -> str:
    """SHA-256 over names and contents."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
