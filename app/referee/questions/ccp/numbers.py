"""`stats`, `cover`, `points`, `control`, `drift` and `closest` of ccp: numbers of units, Cover, points, who holds what."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from app.referee.questions.geometry import Place
from app.referee.questions.movement import step_of
from app.referee.rulings import Arguments, Asked, Finding, Need, QuestionKind, Ruling
from app.referee.words import clauses, in_words, members, needs_in_words, series
from importers.questions import Names

UnitName = Annotated[str, Names(("unit",))]
Against = Literal["fire", "mortar", "artillery", "aircraft", "flamethrower", "mines"]
Die = Annotated[int, Field(ge=1, le=6)]


class OfUnit(Arguments):
    """Which unit."""

    unit: UnitName = Field(description="A unit's id")


class CoverOf(Arguments):
    """Whose Cover, against what, from where."""

    one_of = ("unit", "hex")
    which = "the Cover of a unit or of a hex: name one of them"
    unit: UnitName | None = Field(None, description="A unit's id")
    hex: Place | None = Field(None, description="A hex, for whoever is in it and in no cave")
    against: Against = Field(
        "fire", description="What is fired: fire, mortar, artillery, aircraft, flamethrower, mines"
    )
    source: Place | None = Field(
        None, alias="from", description="Where it comes from, for a unit inside a cave"
    )
    chosen: str | None = Field(
        None, description="The Cover that the owner picks where there are several (ccp-15): palm, foxholes …"
    )


class PointsOf(Arguments):
    """What is worth points."""

    unit: UnitName | None = Field(
        None, description="A unit that is eliminated, or with `exit` one that leaves"
    )
    objective: Annotated[int, Field(ge=1, le=5)] | None = Field(None, description="An objective's number")
    exit: str | None = Field(None, description="An Exit Point, by its name on the map or its hex")
    with_secret: bool = Field(False, description="Whether secret chits count, too")

    @model_validator(mode="after")
    def one_of_them(self) -> Self:
        if self.objective is not None and (self.unit or self.exit):
            raise ValueError("points of an objective, of a unit or of an exit: name one of them")
        if self.objective is None and not self.unit and not self.exit:
            raise ValueError("points of what? name a unit, an objective or an exit")
        return self


class ControlOf(Arguments):
    """Which objective."""

    objective: Annotated[int, Field(ge=1, le=5)] = Field(description="The objective's number")


class Card(Arguments):
    """A card revealed for its dice."""

    dice: tuple[Die, Die] = Field(description="White and coloured die")


class Drift(Arguments):
    """Where a spotting round was placed, whether it hit, and the card."""

    at: Place = Field(description="The hex of the spotting round")
    hit: bool = Field(description="Whether the Targeting roll was a hit")
    cards: list[Card] = Field(
        description="The card revealed: [{dice: [white, coloured]}]", min_length=1, max_length=1
    )


class Closest(Arguments):
    """Nearest to which hex, and of what."""

    hex: Place = Field(description="The hex")
    what: Literal["unit", "weapon"] = Field("unit", description="unit or weapon")
    filter: dict[str, Any] = Field(
        default_factory=dict, description="What it must be: side, kind, broken … (of a weapon: the weapon's)"
    )
    side: Literal["japan", "allied"] | None = Field(None, description="The same as in the filter: its side")
    broken: bool | None = Field(None, description="The same as in the filter: whether it is broken")


def finding_of(rows: list[Any]) -> Finding:
    """The facts of a ledger's last row with its entries as modifiers, and its steps."""
    facts = dict(rows[-1].facts)
    entries = [row for row in rows[:-1] if row.halves]
    facts.setdefault("modifiers", [_modifier(row) for row in entries])
    return Finding(
        facts,
        [step_of(row) for row in rows],
        [row.point for row in rows if row.point],
        [Need(row.note, row.rule) for row in rows[:-1] if row.effect == "unknown"],
    )


def _modifier(row: Any) -> dict[str, Any]:
    value = row.halves // 2 if row.halves % 2 == 0 else row.halves / 2
    return {"rule": row.rule, "value": value, "note": row.note}


def _stats(asked: Asked, of: OfUnit) -> Finding:
    return finding_of(
        asked.rows("select * from ccp.stats(:position, :unit, :conditions, :policy)", unit=of.unit)
    )


def _cover(asked: Asked, of: CoverOf) -> Finding:
    query = "select * from ccp.cover(:position, :of, :against, :source, :chosen, :conditions, :policy)"
    whose = f"unit:{of.unit}" if of.unit else of.hex
    return finding_of(asked.rows(query, of=whose, against=of.against, source=of.source, chosen=of.chosen))


def _points(asked: Asked, of: PointsOf) -> Finding:
    query = (
        "select * from ccp.points(:position, :unit, :objective, :exit, :with_secret, :conditions, :policy)"
    )
    said = {"unit": of.unit, "objective": of.objective, "exit": of.exit, "with_secret": of.with_secret}
    return finding_of(asked.rows(query, **said))


def _control(asked: Asked, of: ControlOf) -> Finding:
    return _bare(
        asked.rows(
            "select * from ccp.control(:position, :objective, :conditions, :policy)", objective=of.objective
        )
    )


def _drift(asked: Asked, of: Drift) -> Finding:
    white, coloured = of.cards[0].dice
    query = "select * from ccp.drift(:position, :at, :hit, :white, :coloured)"
    return _bare(asked.rows(query, at=of.at, hit=of.hit, white=white, coloured=coloured))


def _closest(asked: Asked, of: Closest) -> Finding:
    from db.values import canonical

    query = "select * from ccp.closest(:position, :hex, :what, cast(:filter as jsonb))"
    plain = {key: value for key, value in (("side", of.side), ("broken", of.broken)) if value is not None}
    return _bare(asked.rows(query, hex=of.hex, what=of.what, filter=canonical({**of.filter, **plain})))


def _bare(rows: list[Any]) -> Finding:
    """A finding that has no ledger of values."""
    return Finding(rows[-1].facts, [step_of(row) for row in rows], [row.point for row in rows if row.point])


def _stats_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    numbers = series(
        f"{key} {in_words(answer[key])}"
        for key in ("fp", "range", "movement", "morale")
        if answer[key] is not None
    )
    whose = ruling.question["stats"]["unit"]
    if ruling.needs:
        return clauses(f"Not all numbers of {whose} are known", needs_in_words(ruling.needs))
    return clauses(f"{whose} has {numbers}" if numbers else f"{whose} has no numbers told")


def _cover_verdict(ruling: Ruling) -> str:
    of, cover = ruling.question["cover"], ruling.answer["cover"]
    whose = of.get("unit") or of.get("hex")
    return f"{whose} has no Cover" if cover is None else f"The Cover of {whose} is {cover}"


def _points_verdict(ruling: Ruling) -> str:
    value = ruling.answer["value"]
    if value is None:
        return clauses("What it is worth is not told", needs_in_words(ruling.needs))
    return f"It is worth {value} Victory Point{'' if value == 1 else 's'}"


def _control_verdict(ruling: Ruling) -> str:
    number, side = ruling.question["control"]["objective"], ruling.answer["control"]
    return f"Objective {number} is held by {side}" if side else f"Nobody holds objective {number}"


def _drift_verdict(ruling: Ruling) -> str:
    landed = ruling.answer["sr"]
    return f"The spotting round lands in {landed}" if landed else "The spotting round leaves the map"


def _closest_verdict(ruling: Ruling) -> str:
    ids, what = ruling.answer["ids"], ruling.question["closest"].get("what", "unit")
    whose = ruling.question["closest"]["hex"]
    if not ids:
        return f"No such {what} is on the map"
    return f"Nearest to {whose} are {members(ids, what)}, {ruling.answer['range']} away"


MODIFIERS = {"modifiers": "what each rule adds, with rule, value and note"}
KINDS = [
    QuestionKind(
        name="stats",
        title="Numbers of a unit as they are now",
        arguments=OfUnit,
        rulesets=("ccp",),
        rule=_stats,
        answers={
            "fp": "its FP",
            "range": "its range",
            "movement": "its movement, less what its weapon takes",
            "morale": "its morale with Cover",
            "cover": "the Cover in it",
            "weapon": "fp, range and may_fire of its weapon",
            **MODIFIERS,
        },
        verdict=_stats_verdict,
        points=("ccp-29",),
        example="stats: {unit: 1 Squad}",
    ),
    QuestionKind(
        name="cover",
        title="Cover",
        arguments=CoverOf,
        rulesets=("ccp",),
        rule=_cover,
        answers={
            "cover": "the Cover that counts",
            "choices": "every Cover there is to choose from",
            **MODIFIERS,
        },
        verdict=_cover_verdict,
        points=("ccp-15", "ccp-16"),
        example="cover: {unit: 1 Squad, against: mortar}",
    ),
    QuestionKind(
        name="points",
        title="What a unit, an objective or an exit is worth",
        arguments=PointsOf,
        rulesets=("ccp",),
        rule=_points,
        answers={"value": "Victory Points", **MODIFIERS},
        verdict=_points_verdict,
        points=("ccp-22",),
        example="points: {objective: 3}",
    ),
    QuestionKind(
        name="control",
        title="Who controls an objective",
        arguments=ControlOf,
        rulesets=("ccp",),
        rule=_control,
        answers={"control": "the side that holds it, or null", "hexes": "the hexes it lies in"},
        verdict=_control_verdict,
        points=(),
        example="control: {objective: 3}",
    ),
    QuestionKind(
        name="drift",
        title="Drift of a spotting round",
        arguments=Drift,
        rulesets=("ccp",),
        rule=_drift,
        answers={"path": "hexes entered, in order", "sr": "where it lands; null: off the map"},
        verdict=_drift_verdict,
        points=(),
        example="drift: {at: D4, hit: true, cards: [{dice: [2, 5]}]}",
    ),
    QuestionKind(
        name="closest",
        title="What is nearest to a hex",
        arguments=Closest,
        rulesets=("ccp",),
        rule=_closest,
        answers={
            "ids": "the units, or holders of the weapons",
            "range": "how far",
            "tie": "whether there are several",
        },
        verdict=_closest_verdict,
        points=(),
        example="closest: {hex: D4, what: weapon, filter: {broken: false}}",
    ),
]
