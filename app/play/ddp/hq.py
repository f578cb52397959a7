"""The HQ Phase (14.0): command posts set up, grown and given up, and garrisons."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.charts import cell
from app.play.ddp.acting import counter, is_ridge, scene
from app.play.procedures import Action, Ask, Change, Procedure, Refused, Tell, procedure_kind
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses, needs_in_words
from importers.questions import Names

POST = "select * from ddp.command_post(:position, :unit, :act, :conditions, :policy)"
GARRISON = "select * from ddp.garrison(:position, :at, :conditions, :policy)"

POST_WORDS = ("command_range", "range_box", "range_before")
"""What a command post says of its range."""


class CommandPost(Action):
    """Which HQ, and what is done."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The id of a regimental HQ or command post")
    do: Literal["establish", "advance", "abandon"] = Field(
        "establish", description="Set one up, advance its range marker, or give it up"
    )


class Garrison(Action):
    """Where."""

    at: Annotated[str, Names(("map_feature", "hex", "unit"))] = Field(description="The position hex")


def command_post(of: CommandPost) -> Procedure:
    """14.1, 14.11, 14.2: an HQ is turned over, or its range marker advances."""
    rows = yield Ask(POST, unit=of.unit, act=of.do)
    facts = rows[-1].facts
    if not facts["allowed"]:
        bar = next(row for row in rows if row.effect == "forbids")
        raise Refused(bar.rule, rows[-1].note, bar.at)
    post = yield from counter(of.unit)
    match of.do:
        case "establish":
            yield Change({"unit": of.unit, "kind": "command_post", "command_range": 1, "range_box": 1})
        case "advance":
            box = facts["box"] + 1
            reach = yield from cell(of, "command_range_track", str(box), "range", rule="14.2")
            told = {} if reach is None else {_range(post): int(reach)}
            yield Change({"unit": of.unit, "range_box": box, **told})
            yield Tell(range_box=box, command_range=None if reach is None else int(reach))
        case "abandon":
            gone = dict.fromkeys(name for name in POST_WORDS if name in post.attributes)
            yield Change({"unit": of.unit, "kind": "regimental_hq", **gone})
    if of.do != "abandon":
        yield Change({"unit": of.unit, "acted": True}, kept=True)


def _range(post: Any) -> str:
    """Where the printed range of a post is kept; one under fire by an event gets it at the end of the turn."""
    return "range_before" if post.attributes.get("under_fire") else "command_range"


def garrison(of: Garrison) -> Procedure:
    """14.4: a garrison marker in a position hex."""
    rows = yield Ask(GARRISON, at=of.at)
    facts = rows[-1].facts
    if not facts["allowed"]:
        bar = next(row for row in rows if row.effect == "forbids")
        raise Refused(bar.rule, rows[-1].note, bar.at)
    label = facts["at"]
    yield Change({"unit": f"garrison {label}", "side": "us", "kind": "garrison", "at": label})
    yield Tell(Step("14.4", label, "placed", "a garrison marker"))
    now = yield from scene()
    if is_ridge(now.conditions) and now.conditions.get("phase") == "hq":
        # 18.2: one in each HQ Phase
        yield Change({"conditions": {"drawn": (now.conditions.get("drawn") or 0) + 1}}, kept=True)


def _post_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["command_post"], ruling.answer
    do = of.get("do", "establish")
    if not answer["allowed"]:
        return f"{of['unit']} may not {do}: {answer['why']}"
    done = {
        "establish": "becomes a command post",
        "advance": "advances its range marker",
        "abandon": "becomes a regimental HQ again",
    }[do]
    return clauses(f"{of['unit']} {done}", needs_in_words(ruling.needs) if ruling.needs else None)


def _garrison_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["garrison"], ruling.answer
    if not answer["allowed"]:
        return f"No garrison may be placed in {of['at']}: {answer['why']}"
    return f"A garrison is placed in {of['at']}"


KINDS = [
    procedure_kind(
        command_post,
        kinds=functools.partial(kinds_of, "ddp"),
        name="command_post",
        title="Command post",
        arguments=CommandPost,
        rulesets=("ddp",),
        answers={
            "range_box": "of a marker that advances: its box now",
            "command_range": "the range printed there; null where nobody has told it",
        },
        verdict=_post_verdict,
        points=("ddp-3", "ddp-48", "ddp-49"),
        example="command_post: {unit: HQ 5, do: establish}",
    ),
    procedure_kind(
        garrison,
        kinds=functools.partial(kinds_of, "ddp"),
        name="garrison",
        title="Garrison",
        arguments=Garrison,
        rulesets=("ddp",),
        answers={},
        verdict=_garrison_verdict,
        points=("ddp-39", "ddp-48", "ddp-49"),
        example='garrison: {at: "0314"}',
    ),
]
