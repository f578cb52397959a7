"""Positions of every game drawn at random: grounds of the tests and the demo, with counters from the games' own forms."""

from __future__ import annotations

import json
import random
import types
import typing
from collections.abc import Collection
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ValidationError
from sqlalchemy.engine import Connection

from app.referee.questions import forms
from db.counter_forms import Form, MarkerKind, Name, Unit
from db.counters import CONDITIONS, MARKERS, UNITS
from db.labels import Axial
from db.map_draft import FeatureDraft, MapDraft
from db.position_draft import MarkerDraft, PositionDraft
from db.rulesets import read_ruleset
from db.rulesets.ddp.counters import FOREIGN
from importers.cases import read_case
from tests import (
    test_movement_ccp,
    test_movement_css,
    test_sight,
    test_sight_bob,
    test_sight_ccp,
    test_zones_css,
)

GROUNDS = {
    "css": "pagasa-coast",
    "ccp": "kokoda-track",
    "bob": "hill-312",
    "ddp": "orange-beach",
    "fpb": "tanaro-island",
}
"""A demo map of each game."""
SIDES = {
    "css": ("us", "japan"),
    "ccp": ("allied", "japan"),
    "bob": ("us", "japan"),
    "ddp": ("us", "japan"),
    "fpb": ("us", "japan"),
}


def value(annotation: Any, dice: random.Random) -> Any:
    """Something that a field of this type may hold; a small number, so that counters are near one another's reach."""
    if typing.get_origin(annotation) is typing.Annotated:
        if annotation == Name:
            return dice.choice(("A", "B"))
        annotation = typing.get_args(annotation)[0]
    of, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if of is typing.Literal:
        return dice.choice(arguments)
    if of in (typing.Union, types.UnionType):
        return value(dice.choice([one for one in arguments if one is not types.NoneType]), dice)
    if of is tuple:
        return tuple(value(one, dice) for one in arguments if one is not Ellipsis)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return facts(annotation, dice)
    if annotation is bool:
        return dice.random() < 0.3
    if annotation is int:
        return dice.randint(0, 5)
    if annotation is Decimal:
        return Decimal(dice.randint(0, 16)) / 2
    return dice.choice(("A", "B"))


def facts(form: type[BaseModel], dice: random.Random, share: float = 0.6) -> dict[str, Any]:
    """A filled form: what it must have, and about this share of the rest."""
    return {
        name: value(field.rebuild_annotation(), dice)
        for name, field in form.model_fields.items()
        if typing.get_origin(field.annotation) is not dict and (field.is_required() or dice.random() < share)
    }


def filled(form: type[Form], dice: random.Random, without: Collection[str] = (), **fixed: Any) -> Form:
    """A form of which every field agrees with the others."""
    while True:
        drawn = facts(form, dice, dice.choice((0.3, 0.6, 0.9)))
        try:
            return form.model_validate({key: drawn[key] for key in drawn if key not in without} | fixed)
        except ValidationError:
            continue


def counter(ruleset: str, id: str, at: str | None, dice: random.Random) -> Unit:
    """A counter that its form takes."""
    side = dice.choice(SIDES[ruleset])
    foreign = {*FOREIGN[side], "box"} if ruleset == "ddp" else ()
    found = filled(UNITS[ruleset], dice, foreign, id=id, at=at, side=side)
    assert isinstance(found, Unit)
    return found


def marker(kind: str, form: MarkerKind, at: Axial, dice: random.Random) -> MarkerDraft:
    return MarkerDraft(
        kind,
        at,
        dice.randint(*form.value) if form.value else None,
        dice.randint(1, 6) if form.facing else None,
        {"company": dice.choice("AB"), "displaced": dice.random() < 0.3}
        if form.company
        else _said(form, dice),
    )


def _said(form: MarkerKind, dice: random.Random) -> dict[str, Any]:
    """What a marker of a kind with a form of its own says."""
    return {} if form.says is None else filled(form.says, dice).model_dump(mode="json", exclude_defaults=True)


def conditions(ruleset: str, dice: random.Random) -> dict[str, Any]:
    return filled(CONDITIONS[ruleset], dice).model_dump(mode="json", exclude_defaults=True)


def policy(ruleset: str, dice: random.Random) -> dict[str, str]:
    """Some of the contested points, each read in some way."""
    points = read_ruleset(ruleset).contested
    return {point.id: dice.choice(list(point.readings)) for point in points if dice.random() < 0.3}


def strew(position: PositionDraft, dice: random.Random) -> PositionDraft:
    """The position with more counters and markers, close together."""
    board, ruleset = position.board, position.ruleset
    middle = dice.choice(sorted(board.hexes))
    near = sorted(hex for hex in board.hexes if hex.distance(middle) <= 4)
    for n in range(dice.randint(4, 14)):
        place = dice.choice(near) if dice.random() < 0.95 else None
        unit = counter(ruleset, f"drawn {n}", place and board.scheme.label(place), dice)
        position.units[unit.id] = unit, place
    for kind, form in MARKERS[ruleset].items():
        if dice.random() < 0.3:
            position.markers.append(marker(kind, form, dice.choice(near), dice))
    if ruleset == "ddp":
        held = [place for unit, place in position.units.values() if place and unit.side == "japan"]  # type: ignore[attr-defined]
        for n, place in enumerate(dict.fromkeys(held)):
            dots = dice.sample(near, k=min(len(near), 6))
            board.features[f"drawn {n}"] = FeatureDraft(
                "position", frozenset({place}), frozenset(dots[:2]), frozenset(dots[2:])
            )
    return position


def ground(ruleset: str, dice: random.Random, connection: Connection) -> PositionDraft:
    """A position as the tests of its game draw it, or a piece of a demo map."""
    seed, size = dice.randrange(2**32), (dice.randint(3, 8), dice.randint(3, 8))
    painters: dict[str, list[Any]] = {
        "css": [
            lambda: test_sight.draft(test_sight.paint(seed, size)),
            lambda: test_zones_css.position_of(test_zones_css.deal(seed, size)),
            lambda: test_movement_css.draft(*test_movement_css.paint(seed)),
        ],
        "ccp": [
            lambda: test_sight_ccp.paint(seed),
            lambda: _written(test_movement_ccp.drawn(random.Random(seed)), connection),
        ],
        "bob": [lambda: test_sight_bob.paint(seed, size)],
    }
    piece = lambda: PositionDraft(ruleset, _piece(test_sight.demo(GROUNDS[ruleset]), dice))  # noqa: E731
    painted: PositionDraft = dice.choice([*painters.get(ruleset, ()), piece])()
    return painted


def _written(document: dict[str, Any], connection: Connection) -> PositionDraft:
    asked = document | {"ask": [{"range": {"from": "A1", "to": "A2"}}]}
    return read_case(json.dumps(asked), "drawn.yaml", forms(), connection).position


def _piece(board: MapDraft, dice: random.Random) -> MapDraft:
    """What lies around a hex of a map, with all that is drawn there."""
    middle = dice.choice(sorted(board.hexes))
    return board.part(hex for hex in board.hexes if hex.distance(middle) <= 6)


def drawn(ruleset: str, dice: random.Random, connection: Connection) -> PositionDraft:
    """A position of a game, drawn at random."""
    position = strew(ground(ruleset, dice, connection), dice)
    position.conditions = conditions(ruleset, dice) if dice.random() < 0.5 else position.conditions
    position.policy = policy(ruleset, dice) if dice.random() < 0.5 else position.policy
    return position
