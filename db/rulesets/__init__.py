"""The data of each ruleset: what its rulebook states, as typed and checked YAML.

Each folder `db/rulesets/<code>/` holds the facts of one game, in our own words:

- `ruleset.yaml`    title, version, label scheme, sides, mobilities
- `terrain.yaml`    terrain, hexside and path kinds with every printed number and its rule
- `rules.yaml`      every numbered rule with a digest
- `terms.yaml`      the words the rulebook defines
- `contested.yaml`  the points where the rulebook disagrees with itself
- `charts.yaml`     the charts the rulebook mentions, printed or not

`read_ruleset(code)` reads and checks them all; a mistake names the file and the place.
"""

from __future__ import annotations

import functools
import hashlib
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
    cites: dict[Word, Number]
    """For questions that no rule of its own answers: the rule that says how it is counted."""


class Rule(Strict):
    """A numbered rule: where it stands in the tree and what it says, digested."""

    number: Number
    title: str
    parent: Number | None = None
    kind: Literal["rule", "section", "unused"] = "rule"
    digest: str
    see: tuple[Number, ...] = ()
    """Rules of the same rulebook that the printed rule refers to by number."""


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


class Chart(Strict):
    """A chart the rulebook mentions; one it does not print must be imported by its owner."""

    title: str
    rule: Number
    printed: bool
    note: str = ""


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


class Concept(Strict):
    """A thing that several games treat, such as line of sight: where, and how they differ."""

    title: str
    aliases: tuple[str, ...] = ()
    comparison: str
    """How the games differ, in our own words."""
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
        files_digest(sorted(folder.glob("*.yaml"))),
    )


def rulesets_digest() -> str:
    """Digest of every data file of every ruleset."""
    return files_digest(sorted(FOLDER.glob("**/*.yaml")))


def files_digest(paths: list[Path]) -> str:
    """SHA-256 over names and contents."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
