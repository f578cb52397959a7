"""Victory (30.0): points on the track, Victory Hexes, closed beaches, and what a scenario wants."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.css.frame import Asking, NothingMore, css_kind, game, ledger
from app.play.procedures import Action, Ask, Call, Change, Procedure, ProcedureKind, Refused, Tell, Undecided
from app.referee.questions import kinds_of
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import clauses, series
from importers.questions import Names

WHOSE = {"us": "the US side", "japan": "the Japanese", "draw": "nobody"}
OVER = 29
"""Where the track of Victory Points ends (30.1)."""


class Score(Action):
    """Who gains how many."""

    side: Literal["us", "japan"] = Field(description="The side that gains")
    points: int = Field(ge=-29, le=99, description="Victory Points")


def score(of: Score) -> Procedure:
    """30.1."""
    facts = yield from ledger("score", tells=True, side=of.side, gained=of.points)
    yield from _scored(facts)


def _scored(facts: dict[str, Any]) -> Procedure:
    yield Tell(vp=facts["vp"], over=facts["over"], **({"winner": facts["winner"]} if facts["winner"] else {}))
    for side, points in facts["vp"].items():
        yield Change({"side": side, "vp": points})


def gained(side: str, points: int) -> Asking:
    """Victory Points within another procedure; gives those of both sides."""
    facts = yield from ledger("score", side=side, gained=points)
    for whose, total in facts["vp"].items():
        yield Change({"side": whose, "vp": total})
    return facts["vp"]


class ControlOf(Action):
    """Of which hex."""

    hex: Annotated[str, Names(("hex",))] = Field(description="The Victory Hex")


def control(of: ControlOf) -> Procedure:
    """30.2."""
    facts = yield from ledger("control", hex=of.hex)
    yield Tell(**facts)


class CloseBeach(Action):
    """Which beach."""

    beach: str | None = Field(None, description="The beach by its name, or its hex")
    at: str | None = Field(None, description="The same: the beach hex")
    hex: str | None = Field(None, description="The same: the beach hex")


def close_beach(of: CloseBeach) -> Procedure:
    """30.4."""
    beach = of.beach or of.at or of.hex
    if beach is None:
        raise Refused("30.4", "which beach is not told")
    facts = yield from ledger("close_beach", beach=beach)
    yield Change({"marker": "beach_closed", "at": facts["at"]})
    vp = yield from gained("japan", facts["points"])
    yield Tell(result="closed", vp=vp)


def victory(_: NothingMore) -> Procedure:
    """30.0: by the track, or by what the scenario wants."""
    facts = yield from ledger("victory")
    winner = facts["winner"]
    if winner is None and facts["scenario"] is None:
        raise Undecided(Need("scenario_data", "30.0"), winner=None, **_points(facts))
    met = None
    if winner is None:
        met = yield from _wanted(facts["scenario"])
        winner = facts["scenario"].get("side", "us") if met else None
        yield Tell(Step("30.0", None, "met" if met else "not met", "what the scenario wants"), met=met)
    yield Tell(winner=winner, facts=_points(facts))


def _points(facts: dict[str, Any]) -> dict[str, Any]:
    return {"points": facts["points"]} if facts["points"] else {}


def _wanted(wants: dict[str, Any]) -> Asking:
    """Whether a scenario's own condition holds: the airfield cleared, hexes controlled, points reached."""
    met = True
    if wants.get("airfield"):
        answer = yield Call(_procedure("airfield"))
        met = met and bool(answer.get("cleared"))
    for label in wants.get("control", ()):
        facts = yield from ledger("control", hex=label)
        met = met and facts["controlled_by"] == wants.get("side", "us")
    for side, points in wants.get("vp", {}).items():
        _, tracks = yield from game()
        met = met and (tracks.get(side, {}).get("vp") or 0) >= points
    return met


def _procedure(name: str) -> Procedure:
    kind = kinds_of("css")[name]
    assert isinstance(kind, ProcedureKind)
    return kind.begin(kind.arguments())  # type: ignore[arg-type]


def reckoned() -> Asking:
    """4.0 3 B, C: whether the game is over, and who has won; a game without a scenario goes on."""
    _, tracks = yield from game()
    facts = yield from ledger("victory")
    if facts["winner"] is not None:
        return True, facts["winner"]
    schedule = tracks.get("schedule") or {}
    wants = facts["scenario"]
    met = (yield from _wanted(wants)) if wants else False
    side = wants.get("side", "us") if wants else None
    if met and wants.get("at_once", True):
        return True, side
    if schedule.get("length") is not None and schedule.get("played", 0) + 1 >= schedule["length"]:
        return True, side if met else {"us": "japan", "japan": "us"}.get(side or "")
    return False, None


def entered_by(side: str, label: str) -> Procedure:
    """30.2, 30.4, 11.3: what the entry of a hex means for victory; a position that tracks no hexes is left alone."""
    query = (
        "select hex.features, hex.terrain, exists (select from map_feature_hex as lies"
        " join map_feature as feature on feature.id = lies.feature and feature.kind = 'beach'"
        " where lies.map_id = hex.map_id and lies.q = hex.q and lies.r = hex.r) as beach,"
        " exists (select from marker where marker.position_id = :position and marker.kind = 'beach_closed'"
        " and marker.q = hex.q and marker.r = hex.r) as closed"
        " from position join hex on hex.map_id = position.map_id"
        " where position.id = :position and hex.label = :label"
    )
    [spot] = yield Ask(query, proves=False, label=label)
    _, tracks = yield from game()
    known = (tracks.get("hexes") or {}).get(label, {})
    matters = spot.beach or {"victory", "airfield", "barracks"} & set(spot.features or ())
    if side == "us" and matters and not known.get("entered"):
        yield Change({"hex": label, "entered": True}, kept=True)
    if side == "japan" and spot.beach and known.get("entered") and not spot.closed:
        yield Tell(Step("30.4", label, "closes", "a beach that Americans have entered is closed"))
        yield Change({"marker": "beach_closed", "at": label})
        yield from gained("japan", 1)
    if {"airfield", "barracks"} & set(spot.features or ()):
        yield from orote_watched()


def orote_watched() -> Procedure:
    """11.3: the marker of Orote Airfield is placed and taken off as soon as it is due, on a map that has the airfield."""
    query = (
        "select 1 from position join hex on hex.map_id = position.map_id"
        " where position.id = :position and hex.features && array['airfield'] limit 1"
    )
    if (yield Ask(query, proves=False)):
        yield Call(_procedure("airfield"))


def _score_verdict(ruling: Ruling) -> str:
    vp = ruling.answer["vp"]
    return clauses(
        f"Victory Points: US {vp['us']}, Japan {vp['japan']}",
        f"the game is over, and {WHOSE[ruling.answer['winner']]} has won"
        if ruling.answer.get("over")
        else None,
    )


def _control_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    return clauses(
        f"{WHOSE[answer['controlled_by']].capitalize()} control {ruling.question['control']['hex']}"
        if answer["controlled_by"] == "japan"
        else f"The US side controls {ruling.question['control']['hex']}",
        f"in the Fire Zone of {series(answer['fire_zones'])}" if answer["fire_zones"] else None,
    )


def _victory_verdict(ruling: Ruling) -> str:
    winner = ruling.answer["winner"]
    return (
        "Nobody has won yet" if winner is None else f"{WHOSE[winner][0].upper()}{WHOSE[winner][1:]} has won"
    )


KINDS = [
    css_kind(
        score,
        name="score",
        title="Victory Points",
        what="score",
        done=_score_verdict,
        arguments=Score,
        answers={
            "vp": "Victory Points of both sides",
            "over": "whether that ends the game",
            "winner": "who has won then",
        },
        acts=False,
        example="score: {side: us, points: 4}",
    ),
    css_kind(
        control,
        name="control",
        title="Who controls a Victory Hex",
        what="control",
        done=_control_verdict,
        arguments=ControlOf,
        answers={
            "controlled_by": "us or japan",
            "entered": "whether an American Unit has moved in",
            "fire_zones": "Japanese Units with the hex in their Fire Zones",
            "may_concede": "whether the Japanese may concede it",
        },
        names_units=("fire_zones",),
        acts=False,
        example='control: {hex: "24.78"}',
    ),
    css_kind(
        close_beach,
        name="close_beach",
        title="A beach is closed",
        what="closing",
        done=lambda ruling: (
            f"{next(iter(ruling.question['close_beach'].values()))} is closed for a Victory Point"
        ),
        arguments=CloseBeach,
        answers={"result": "closed", "vp": "Victory Points of both sides"},
        acts=False,
        example='close_beach: {beach: "23.59"}',
    ),
    css_kind(
        victory,
        name="victory",
        title="Who has won",
        what="victory",
        done=_victory_verdict,
        arguments=NothingMore,
        answers={
            "winner": "us or japan; null while nobody has won",
            "points": "Victory Points, where they are told",
            "met": "whether what the scenario wants holds",
        },
        acts=False,
        example="victory: {}",
    ),
]
