"""`move`, `reach` and `stack`: what a way costs and provokes, where a unit can go, who may stand together.

Costs are halves of a movement point in SQL, so that ½ is exact, and points here.
"""

from __future__ import annotations

import collections
from decimal import Decimal
from typing import Annotated, Any, Literal

import sqlalchemy as sa
from pydantic import Field

from app.referee.rulings import Arguments, Asked, Finding, Need, QuestionKind, Ruling, RulingError, Step
from app.referee.words import (
    LISTED,
    clauses,
    counted,
    in_points,
    in_words,
    is_long,
    members,
    not_known,
    rest_unknown,
    series,
)
from db.charts import chart_needed
from importers.questions import Names

MOVED = ("css", "ccp", "fpb")
"""Rulesets with movement; each has the SQL functions `move`, `reach`, `reach_path`, `reach_reasons`, `stack`."""
WALKED = ("fpb",)
"""Those whose moves are judged whole and no more; in css and ccp a move asked with its answers is done (`app/play`)."""
CSS_POINTS: tuple[str, ...] = (
    "css-6", "css-11", "css-12", "css-16", "css-20", "css-21", "css-28", "css-40", "css-41", "css-42", "css-43", "css-44",
    "css-47", "css-54", "css-57", "css-58", "css-62", "css-63", "css-77",
)  # fmt: skip
"""Contested points that a move turns on in css, and in fpb."""
FPB_POINTS = ("fpb-3", "fpb-4", "fpb-5", "fpb-22", "fpb-28", "fpb-37")
POINTS = (*CSS_POINTS, *FPB_POINTS)
CCP_POINTS = ("ccp-5", "ccp-7", "ccp-11", "ccp-17", "ccp-19", "ccp-24", "ccp-29", "ccp-33", "ccp-34")
"""The same in ccp, whose reach and stacks are asked here."""
LONGEST_LIST = 200
"""Hexes or units that one argument names."""
VERDICTS = {"legal": True, "illegal": False, "unknown": None}
CHANGES: dict[str, tuple[dict[str, Any], ...]] = {
    "captures": ({"marker": "captured"},),
    "reverts": ({"marker": "captured", "removed": True},),
    "removes": ({"marker": "landing_beach", "removed": True},),
    "flips": ({"marker": "assault_boat", "removed": True}, {"marker": "landing_beach"}),
    "lands": ({"assaulting": None},),
}
"""fpb: what a step of a move does to markers and to others, as effects (fpb 12.0, 12.2, 18.1)."""
PLAIN = ("the points suffice", "the whole way", "it advances", "it leaves the map")
"""Reasons that say no more of a move than that it is one."""


class Only:
    """Metadata of an argument that only some games know."""

    def __init__(self, *rulesets: str) -> None:
        self.rulesets = rulesets


class Moved(Arguments):
    """Who moves, and how: what `move` and `reach` have in common."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The id of the unit that moves")
    manner: Annotated[Literal["move", "advance"] | None, Only("css", "ccp")] = Field(
        None, alias="as", description="move (the default) or advance; css: the advance after an assault"
    )
    together: Annotated[list[str] | None, Names(("unit",)), Only("css", "ccp")] = Field(
        None, max_length=LONGEST_LIST, alias="with", description="Ids of units that move along"
    )
    points: Annotated[Decimal | None, Field(ge=0, le=99, multiple_of=Decimal("0.5")), Only("css", "ccp")] = (
        Field(None, description="Movement points it has, where not those of its counter")
    )
    posture: Annotated[Literal["deployed", "column"] | None, Only("css")] = Field(
        None, description="css: it changes to this posture first (6.0)"
    )
    off_road: Annotated[bool | None, Only("css")] = Field(
        None, description="css: it declines every road and trail, and pays for the terrain (6.2.1)"
    )
    night_shift: Annotated[bool | None, Only("css")] = Field(
        None, description="css: Japanese artillery that shifts in the second night turn (27.0)"
    )


class MoveAlong(Moved):
    """A way, hex by hex."""

    path: Annotated[list[str], Names(("hex",)), Field(min_length=1, max_length=LONGEST_LIST)] = Field(
        description="Labels of the hexes entered, in order; the one it stands in may come first"
    )
    hits: Annotated[dict[str, Annotated[int, Field(ge=1, le=9)]] | None, Only("css")] = Field(
        None,
        max_length=LONGEST_LIST,
        description="css: DG that opportunity fire scored on it, by the hex it was fired at in",
    )
    exit: Annotated[bool | None, Only("ccp")] = Field(
        None, description="ccp: from the last hex it leaves the map (14.2)"
    )
    hidden_wire: Annotated[list[str] | None, Names(("hex",)), Only("ccp")] = Field(
        None,
        max_length=LONGEST_LIST,
        description="ccp: hexes where wire is revealed as it enters them (A43.3, A43.7)",
    )
    hidden_mines: Annotated[list[str] | None, Names(("hex",)), Only("ccp")] = Field(
        None,
        max_length=LONGEST_LIST,
        description="ccp: hexes where mines are revealed as it enters them (A43.2, A43.3)",
    )


class ReachOf(Moved):
    """Whose reach, and to which hex a way is wanted."""

    to: Annotated[str | None, Names(("hex",))] = Field(
        None, description="Tell a cheapest way to this hex, too"
    )


class StackAt(Arguments):
    """Which hex."""

    hex: Annotated[str, Names(("hex", "unit"))] = Field(
        description="A hex label, or a unit that stands there"
    )


def points(halves: int | None) -> int | Decimal | None:
    """Halves of a movement point as points: a whole number where it is one."""
    if halves is None:
        return None
    return halves // 2 if halves % 2 == 0 else Decimal(halves) / 2


def step_of(row: sa.Row[Any]) -> Step:
    """A row of a proof; the effect of a cost is its number of points."""
    effect = points(row.halves) if row.effect == "cost" else None
    return Step(row.rule, row.at, row.effect if effect is None else effect, row.note, row.clause)


def needed(rows: list[sa.Row[Any]], verdict: bool | None) -> list[Need]:
    """What the rulebook or a counter does not tell, where the verdict waits for it."""
    return (
        [Need(row.note, row.rule) for row in rows[:-1] if row.effect == "unknown"] if verdict is None else []
    )


def charts_needed(asked: Asked, rows: list[sa.Row[Any]]) -> list[Need]:
    """What is not told, each by the chart that would tell it where there is one."""
    untold = {
        chart_needed(asked.ruleset, row.note) or row.note: row.rule for row in rows if row.effect == "unknown"
    }
    return [Need(what, rule) for what, rule in untold.items()]


def entry_effects(rows: list[sa.Row[Any]], conditions: dict[str, Any]) -> list[dict[str, Any]]:
    """What entering and leaving hexes changes; a captured hex tells its game turn, where that is known (fpb-37)."""
    turn = conditions.get("turn")
    return [
        ({"unit": row.by} if row.effect == "lands" else {})
        | change
        | {"at": row.at}
        | ({"value": turn} if row.effect == "captures" and turn is not None else {})
        for row in rows
        for change in CHANGES.get(row.effect, ())
    ]


def options(asked: Asked, arguments: Arguments) -> dict[str, Any]:
    """What a question says beside unit and way, in the words of case files; a word of another game is refused."""
    told = arguments.model_dump(mode="json", by_alias=True, exclude_none=True)
    for name, field in type(arguments).model_fields.items():
        word = field.alias or name
        only = next((extra for extra in field.metadata if isinstance(extra, Only)), None)
        if only is not None and word in told and asked.ruleset not in only.rulesets:
            raise RulingError(f"{asked.ruleset} knows no {word!r} here; {' and '.join(only.rulesets)} does.")
    return {word: value for word, value in told.items() if word not in ("unit", "path", "to")}


def judged(asked: Asked, along: MoveAlong) -> Finding:
    """What `move` of a game says of a way."""
    rows = asked.rows(
        f"select * from {asked.ruleset}.move(:position, :unit, :path, :options, :conditions, :policy)",
        unit=along.unit,
        path=along.path,
        options=options(asked, along),
    )
    verdict = rows[-1]
    legal = VERDICTS[verdict.effect]
    disorder = {row.at: points(row.halves) for row in rows if row.effect in ("places dg", "removes dg")}
    return Finding(
        {
            "legal": legal,
            "cost": points(verdict.halves),
            "left": points(verdict.remaining),
            "ends_at": verdict.at,
            "why": verdict.note,
            "opportunity_fire": [
                {"by": row.by, "at": row.at} for row in rows if row.effect == "opportunity fire"
            ],
            "rolls": [{"at": row.at, "rule": row.rule} for row in rows if row.effect == "roll"],
        }
        | (
            {"left_alone": [row.by for row in rows if row.effect == "leaves alone"]}
            if asked.ruleset == "css"
            else {}
        )
        | ({"dg": disorder} if disorder else {})
        | ({"effects": entry_effects(rows, asked.conditions)} if asked.ruleset == "fpb" else {}),
        [step_of(row) for row in rows],
        [row.point for row in rows if row.point],
        charts_needed(asked, rows[:-1] if legal is not False else [])
        if asked.ruleset == "fpb"
        # who may fire can be untold of a move that is legal
        else needed([row for row in rows[:-1] if legal is None or row.by is not None] + [verdict], None),
    )


def _reach(asked: Asked, of: ReachOf) -> Finding:
    given = {"unit": of.unit, "options": options(asked, of)}
    rows = asked.rows(
        f"select * from {asked.ruleset}.reach(:position, :unit, :options, :conditions, :policy)", **given
    )
    reasons = asked.reasons(
        f"select * from {asked.ruleset}.reach_reasons(:position, :unit, :options, :conditions, :policy)",
        **given,
    )
    answer: dict[str, Any] = {"hexes": {row.label: points(row.halves) for row in rows}}
    if of.to is not None:
        way = asked.rows(
            f"select * from {asked.ruleset}.reach_path(:position, :unit, :to, :options, :conditions, :policy)",
            to=of.to,
            **given,
        )
        answer["path"] = [row.label for row in way]
    return Finding(
        answer,
        [step_of(row) for row in reasons],
        [row.point for row in reasons if row.point],
        charts_needed(asked, reasons)
        if asked.ruleset == "fpb"
        else [Need(row.note, row.rule) for row in reasons if row.effect == "unknown"],
    )


def _stack(asked: Asked, at: StackAt) -> Finding:
    rows = asked.rows(
        f"select * from {asked.ruleset}.stack(:position, :hex, :conditions, :policy)", hex=at.hex
    )
    verdict = rows[-1]
    legal = VERDICTS[verdict.effect]
    return Finding(
        {"legal": legal, **verdict.facts},
        [step_of(row) for row in rows],
        [row.point for row in rows if row.point],
        # who may stand together can be told where what it does to them cannot
        needed(rows, None),
    )


def _movers(arguments: dict[str, Any]) -> str:
    together = arguments.get("with")
    return f"{arguments['unit']} with {series(together)}" if together else str(arguments["unit"])


def move_verdict(ruling: Ruling) -> str:
    answer, along = ruling.answer, ruling.question["move"]
    movers, act = _movers(along), _act(along, answer)
    spent, left = answer["cost"], answer["left"]
    if answer["legal"] is None:
        return not_known(f"{movers} may {act}", ruling)
    if not answer["legal"]:
        return clauses(
            f"{movers} may not {act}: {_prohibitions(ruling)}",
            None if answer["ends_at"] in (None, along["path"][-1]) else f"it fails at {answer['ends_at']}",
            None if left is None else f"{in_points(spent)} spent, {left} left",
            _incidents(ruling),
            rest_unknown(ruling),
        )
    paid = f" for {in_points(spent)}" if spent or left is not None else ""
    plain = (*PLAIN, f"it changes to {along.get('posture')}")
    return clauses(
        f"{movers} may {act}{paid}",
        None if left is None else f"{left} left",
        None if answer["why"] in plain else answer["why"],
        _incidents(ruling),
        rest_unknown(ruling),
    )


def _act(along: dict[str, Any], answer: dict[str, Any]) -> str:
    """What is asked to be done: whereto, and in what manner."""
    goal = along["path"][-1]
    posture = along.get("posture")
    # in place, a change of posture is not paid for in points
    if posture and answer["left"] is None and len(along["path"]) == 1:
        return f"change to {posture} in {goal}"
    verb = "advance" if along.get("as") == "advance" else "shift" if along.get("night_shift") else "move"
    first = f"change to {posture} and " if posture else ""
    off_road = " off the road" if along.get("off_road") else ""
    if along.get("exit"):
        return f"{first}{verb} off the map from {goal}"
    return f"{first}{verb} to {goal}{off_road}"


def _prohibitions(ruling: Ruling) -> str:
    """What forbids a move or a stack: every rule that does, else what the answer says of it."""
    forbidden = [step.note for step in ruling.steps if step.effect == "forbids"]
    return "; ".join(dict.fromkeys(forbidden)) or ruling.answer.get("why") or ruling.steps[-1].note


def _incidents(ruling: Ruling) -> str | None:
    """What a move meets on its way and leaves behind."""
    answer = ruling.answer
    fire: dict[str, list[str]] = {}
    for shot in answer["opportunity_fire"]:
        fire.setdefault(shot["by"], []).append(shot["at"])
    shots = [f"{by} may fire at it in {series(places)}" for by, places in fire.items()]
    if is_long(shots, LISTED):
        shots = [f"{counted(len(shots), 'unit')} may fire at it"]
    alone, disorder = answer.get("left_alone"), answer.get("dg")
    return clauses(
        *shots,
        _dice(answer["rolls"]),
        f"it leaves {series(alone)} alone" if alone else None,
        f"DG becomes {series(f'{dg} in {place}' for place, dg in disorder.items())}" if disorder else None,
        _changed(answer.get("effects", [])),
    )


def _changed(effects: list[dict[str, Any]]) -> str | None:
    """fpb: what a move does to markers, and who comes ashore for it."""
    told = [
        f"{effect['unit']} comes ashore in {effect['at']}"
        if "unit" in effect
        else f"{effect['marker'].replace('_', ' ')} {'removed' if effect.get('removed') else 'placed'} in {effect['at']}"
        for effect in effects
    ]
    if is_long(told, LISTED):
        return f"{counted(len(told), 'change')} of markers"
    return "; ".join(told) or None


def _dice(rolls: list[dict[str, str]]) -> str | None:
    """Dice to be rolled on the way, by which rule and where."""
    counts = collections.Counter(f"{roll['rule']} in {roll['at']}" for roll in rolls)
    if is_long(list(counts), LISTED):
        return f"dice are rolled {len(rolls)} times"
    by = [f"{roll} ({times} times)" if times > 1 else roll for roll, times in counts.items()]
    return f"dice are rolled by {series(by)}" if by else None


def _reach_verdict(ruling: Ruling) -> str:
    answer, of = ruling.answer, ruling.question["reach"]
    hexes = answer["hexes"]
    verb = "shift to" if of.get("night_shift") else "end its move in"
    verb = "advance to" if of.get("as") == "advance" else verb
    bars = [step for step in ruling.steps if step.effect == "forbids" and step.at in hexes]
    if bars and not any(hexes.values()):
        in_column = "it may in column" if _to_column(ruling) else None
        return clauses(f"{_movers(of)} cannot move: {_prohibitions(ruling)}", in_column, rest_unknown(ruling))
    if not any(hexes.values()):
        found = members(list(hexes), "hex")
    elif is_long(hexes, LISTED):
        found = f"{counted(len(hexes), 'hex')} for up to {in_points(max(hexes.values()))}"
    else:
        found = f"{series(f'{label} for {cost}' for label, cost in hexes.items())} points"
    return clauses(
        f"{_movers(of)} may {verb} {found}",
        _way(of["to"], answer) if "to" in of else None,
        *_command(ruling),
        rest_unknown(ruling),
    )


def _to_column(ruling: Ruling) -> dict[str, str]:
    """css: a deployed unit changes to Column before it moves (css 6.0)."""
    barred = any(step.rule == "6.0" and step.effect == "forbids" for step in ruling.steps)
    return {"posture": "column"} if barred and "posture" not in ruling.question[ruling.kind] else {}


def _command(ruling: Ruling) -> list[str]:
    """ccp: what leaders add counts in their hex, and ends where it is left (ccp 3.3.1.2)."""
    return [
        f"command adds {str(step.effect).lstrip('+')} in {step.at} and ends where it leaves that hex"
        for step in ruling.steps
        if ruling.ruleset == "ccp" and step.rule == "3.3.1.2" and str(step.effect).startswith("+")
    ]


def _way(goal: str, answer: dict[str, Any]) -> str:
    path = answer["path"]
    if not path:
        return f"there is no way to {goal}"
    way = counted(len(path), "hex") if is_long(path, LISTED) else in_words(path)
    cost = answer["hexes"].get(goal)
    return f"cheapest way to {goal}{'' if cost is None else f' for {in_points(cost)}'}: {way}"


def _stack_verdict(ruling: Ruling) -> str:
    # a unit may have been asked about, and be inside a cave: the proof knows the place
    place = ruling.steps[-1].at or ruling.question["stack"]["hex"]
    legal = ruling.answer["legal"]
    crowd = CROWDS[ruling.ruleset](ruling.answer)
    if legal is None:
        return not_known(f"all in {place} may be together", ruling, crowd)
    return clauses(
        f"All in {place} may be together"
        if legal
        else f"Not all in {place} may be together: {_prohibitions(ruling)}",
        crowd,
        rest_unknown(ruling),
    )


def _units(answer: dict[str, Any]) -> str:
    """css: how many, against the limit, and how disorganized they are for it (css 6.1)."""
    added, disorder = answer["added"], answer["dg"]
    return clauses(
        f"{counted(answer['units'], 'unit')}, {_over(answer)}",
        f"mixed, of {counted(answer['formations'], 'formation')}" if answer["mixed"] else None,
        f"DG {disorder}, {added} of it added" if added else f"DG {disorder}" if disorder else None,
        f"{counted(answer['eliminated'], 'unit')} eliminated" if answer["eliminated"] else None,
    )


def _figures(answer: dict[str, Any]) -> str:
    """ccp: how many figures, against the limit, and what cover they have (ccp 15.2.1)."""
    numbers = {word: answer[word] for word in ("cover", "smoke") if answer[word] is not None}
    return clauses(
        f"{counted(answer['figures'], 'figure')}, {_over(answer)}",
        "not so at set-up" if answer["at_setup"] is False else None,
        *(f"{word} {number}" for word, number in numbers.items()),
        f"morale {in_words(answer['morale'])}" if answer["morale"] else None,
    )


def _counters(answer: dict[str, Any]) -> str:
    """fpb: how many, against the limit (fpb 5.3, 10.6)."""
    return f"{counted(answer['units'], 'unit')}, {_over(answer)}"


CROWDS = {"css": _units, "ccp": _figures, "fpb": _counters}
"""How each game tells who stands together."""


def _over(answer: dict[str, Any]) -> str:
    over, limit = answer["over"], answer["limit"]
    return f"{over} over the limit of {limit}" if over else f"within the limit of {limit}"


MOVE_ANSWERS = {
    "legal": "true, false, or null where the rulebook or a counter does not tell what would decide it",
    "cost": "movement points spent; of an illegal move, up to where it fails",
    "left": "movement points left",
    "ends_at": "where it ends; of an illegal move, the first hex that cannot be entered",
    "why": "what decides it, in a few words",
    "opportunity_fire": "who may fire at it, and where it stands then",
    "rolls": "dice to be rolled on the way, each where and by which rule",
}
"""What is told of a way in every game that judges it whole."""
KINDS = [
    QuestionKind(
        name="move",
        title="A move, step by step",
        arguments=MoveAlong,
        rulesets=WALKED,
        rule=judged,
        answers=MOVE_ANSWERS
        | {"effects": "fpb: markers that it places and removes, and who comes ashore for it"},
        verdict=move_verdict,
        points=FPB_POINTS,
        example='move: {unit: 1/22, path: ["0816"]}',
        draws="path",
        names_units=("opportunity_fire", "left_alone"),
    ),
    QuestionKind(
        name="reach",
        title="Where a unit can go",
        arguments=ReachOf,
        rulesets=MOVED,
        rule=_reach,
        answers={
            "hexes": "every hex it can end its move in, with the least cost",
            "path": "a cheapest way to the hex asked for, its own hex first; empty where there is none",
        },
        verdict=_reach_verdict,
        offer=_to_column,
        points=(*POINTS, *CCP_POINTS),
        example="reach: {unit: C/1/9}",
        draws="hexes",
    ),
    QuestionKind(
        name="stack",
        title="Who stands together",
        arguments=StackAt,
        rulesets=MOVED,
        rule=_stack,
        answers={
            "legal": "whether these units may stand together",
            "limit": "css: units, ccp: soldier figures that a hex bears without penalty; fpb: units that may be there",
            "over": "how many are above it",
            "units": "css, fpb: units in the place",
            "formations": "css: formations that they are of",
            "mixed": "css: whether they are of more than one formation or division; null where it is not told",
            "added": "css: DG that the hex is given",
            "dg": "css: its DG after that",
            "eliminated": "css: units lost, as DG4 is exceeded",
            "figures": "ccp: soldier figures in the hex",
            "at_setup": "ccp: whether it may be so at set-up",
            "cover": "ccp: the best cover of the hex, less what is over",
            "morale": "ccp: the morale of each unit there",
            "smoke": "ccp: the smoke on the hex",
        },
        verdict=_stack_verdict,
        points=(*POINTS, *CCP_POINTS),
        example='stack: {hex: "22.80"}',
        names_units=("morale",),
    ),
]
