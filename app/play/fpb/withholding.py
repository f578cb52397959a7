"""Withheld naval fire (18.1 step 3): markers kept out of the cup for the first game turn, each with the hex it will hit."""

from __future__ import annotations

import functools
from collections import Counter
from typing import Annotated, Any

from pydantic import Field

from app.play.fpb.retreats import reading
from app.play.procedures import Action, Ask, Change, Procedure, Refused, Tell, procedure_kind
from app.referee.questions import kinds_of
from app.referee.rulings import Arguments, Ruling, Step
from app.referee.words import counted, series

MOST_AT_A_HEX = 2
MOST_MARKERS = 20
RETURNING = 10
"""17.1: the naval marker that goes back to the cup."""


class Withheld(Arguments):
    """A naval marker, and the hex it is kept for."""

    value: int = Field(description="Its number")
    target: str | None = Field(None, description="The hex that it will bombard")


class Withhold(Action):
    """Which markers, for which hexes."""

    markers: Annotated[list[Withheld], Field(max_length=MOST_MARKERS)] = Field(
        description="Naval markers of the US cup: `{value, target}`; none where nothing is withheld"
    )


def withhold(of: Withhold) -> Procedure:
    """Each out of the cup, with its hex, two to a hex at the most."""
    [now] = yield Ask(
        "select position.tracks, cast(:conditions as jsonb) as conditions,"
        " (select array_agg(hex.label) from hex where hex.map_id = position.map_id and hex.label = any(:targets)) as known"
        " from position where position.id = :position",
        proves=False,
        targets=[marker.target for marker in of.markers if marker.target],
    )
    if now.conditions.get("phase") is not None:
        raise Refused("18.1", "naval fire is withheld before the first phase", clause="3")
    island = now.conditions.get("island")
    several = "islands" in (now.tracks or {})
    root = ["islands", island] if several else []
    tracks = (now.tracks["islands"].get(island) or {}) if several else now.tracks or {}
    aimed_now = (yield from reading("fpb-34")) == "a"
    yield Tell(points=("fpb-34",))
    held = list(tracks.get("withheld") or [])
    left = list((tracks.get("cup") or {}).get("us") or [])
    for marker in of.markers:
        found = next(
            (one for one in left if one["value"] == marker.value and one.get("type") == "naval"), None
        )
        if found is None:
            raise Refused("18.1", f"there is no naval marker of {marker.value} in the cup", clause="3")
        if marker.value == RETURNING and (yield from reading("fpb-8")) == "a":
            raise Refused("17.1", "the naval marker of 10 never bombards", points=("fpb-8",))
        if marker.target is None and aimed_now:
            raise Refused("18.1", "a withheld marker has its hex", clause="3", points=("fpb-34",))
        if marker.target is not None and marker.target not in (now.known or ()):
            raise Refused("18.1", f"there is no hex {marker.target}", clause="3")
        left.remove(found)
        held.append({**found, **({"target": marker.target} if marker.target else {})})
    for target, number in Counter(one.get("target") for one in held).items():
        if target is not None and number > MOST_AT_A_HEX:
            raise Refused("18.1", "two markers to a hex are the most", target, clause="3")
    yield Tell(
        *(
            Step(
                "18.1",
                marker.target,
                "withheld",
                f"naval fire of {marker.value} for the first game turn",
                "3",
            )
            for marker in of.markers
        ),
        withheld=len(held),
    )
    if not of.markers:
        return
    yield Change(
        {"track": ".".join([*root, "withheld"]), "value": held},
        {"track": ".".join([*root, "cup", "us"]), "value": left or None},
    )


def _verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["withhold"], ruling.answer
    if not answer["allowed"]:
        return f"No naval fire is withheld: {answer['why']}"
    hexes: list[Any] = [marker["target"] for marker in of["markers"] if marker.get("target")]
    aimed = f" for {series(sorted(set(hexes)))}" if hexes else ""
    return f"{counted(len(of['markers']), 'naval marker')} withheld{aimed}"


KINDS = [
    procedure_kind(
        withhold,
        kinds=functools.partial(kinds_of, "fpb"),
        name="withhold",
        title="Withheld naval fire",
        arguments=Withhold,
        rulesets=("fpb",),
        answers={"withheld": "how many markers are withheld now"},
        verdict=_verdict,
        points=("fpb-8", "fpb-34"),
        example='withhold: {markers: [{value: 5, target: "1404"}]}',
    )
]
