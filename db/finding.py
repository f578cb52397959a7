"""Things by their names: hexes, places, units, games, notes, and what campaigns record, wherever they are saved."""

from __future__ import annotations

import dataclasses
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db.archive import Campaign, Entry, Force
from db.games import Annotation, Game
from db.maps import Hex, Map, MapFeature, MapFeatureHex
from db.positions import Position, Unit

MOST = 8
"""Things of a kind that are told; of the others, how many there are."""


@dataclasses.dataclass(frozen=True)
class Found:
    """What answers to some words: how many, and the first of them."""

    total: int
    rows: list[sa.RowMapping]


def hexes(connection: Connection, words: str, most: int = MOST) -> Found:
    """Hexes whose printed number is among the words; first those of a map that other words name."""
    told = {word for given in words.split() for word in (given, given.upper(), given.lower())}
    called = sa.func.concat_ws(" ", Map.name, Map.title, Map.ruleset)
    query = (
        sa.select(Map.name.label("map"), Map.title, Map.ruleset, Hex.label, Hex.terrain, Hex.name)
        .join(Hex, (Hex.map_id == Map.id) & Hex.label.in_(told))
        .order_by(sa.desc(_answered(called, words)), Map.name, Hex.label)
    )
    return _first(connection, query, most)


def places(connection: Connection, words: str, most: int = MOST) -> Found:
    """Hexes with a name, and marked places, that answer to all the words."""
    named = (
        sa.select(Map.name.label("map"), Map.title, Map.ruleset, Hex.label, Hex.name.label("place"))
        .join(Hex, Hex.map_id == Map.id)
        .where(Hex.name.is_not(None), _answers(Hex.name, words))
    )
    marked = (
        sa.select(Map.name, Map.title, Map.ruleset, sa.func.min(Hex.label), MapFeature.code)
        .join(MapFeature, MapFeature.map_id == Map.id)
        .join(MapFeatureHex, (MapFeatureHex.feature == MapFeature.id) & (MapFeatureHex.role == "at"))
        .join(Hex, (Hex.map_id == Map.id) & (Hex.q == MapFeatureHex.q) & (Hex.r == MapFeatureHex.r))
        .where(sa.func.lower(MapFeature.code) == words.casefold())
        .group_by(Map.id, MapFeature.id)
    )
    both = sa.union_all(named, marked).subquery()
    return _first(connection, sa.select(both).order_by(both.c.map, both.c.place, both.c.label), most)


def units(connection: Connection, words: str, most: int = MOST) -> Found:
    """Units of saved positions in whose id or kind every word stands."""
    query = (
        sa.select(
            Position.name.label("position"),
            Position.title,
            Position.ruleset,
            Unit.code,
            Unit.side,
            Unit.kind,
            Hex.label,
        )
        .join(Unit, Unit.position_id == Position.id)
        .outerjoin(Hex, (Hex.map_id == Unit.map_id) & (Hex.q == Unit.q) & (Hex.r == Unit.r))
        .where(
            Position.name.is_not(None),
            _answers(sa.func.concat_ws(" ", Unit.code, Unit.side, Unit.kind), words),
        )
        .order_by(sa.func.lower(Unit.code) != words.casefold(), Position.name, Unit.code)
    )
    return _first(connection, query, most)


def games(connection: Connection, words: str, most: int = MOST) -> Found:
    """Games that are called so."""
    called = sa.func.concat_ws(" ", Game.name, Game.title, Game.scenario, Game.ruleset)
    query = (
        sa.select(Game.name, Game.title, Game.ruleset, Game.events)
        .where(_answers(called, words))
        .order_by(Game.name)
    )
    return _first(connection, query, most)


def notes(connection: Connection, words: str, most: int = MOST) -> Found:
    """Notes to events of games, and of maps, that have all the words."""
    of_events = (
        sa.select(
            Game.name.label("game"),
            sa.null().label("map"),
            Annotation.number,
            Annotation.author,
            Annotation.text,
        )
        .join(Annotation, Annotation.game_id == Game.id)
        .where(_answers(Annotation.text, words))
    )
    about_map = sa.func.concat_ws(" ", sa.func.nullif(Map.source, ""), sa.func.nullif(Map.note, ""))
    of_maps = sa.select(
        sa.null().label("game"), Map.name, sa.null(), sa.literal("").label("author"), about_map
    ).where(_answers(about_map, words))
    both = sa.union_all(of_events, of_maps).subquery()
    return _first(connection, sa.select(both).order_by(both.c.game, both.c.number, both.c.map), most)


def campaigns(connection: Connection, words: str, most: int = MOST) -> Found:
    """Campaigns that are called so, as they are known today."""
    query = (
        sa.select(Campaign.name, Campaign.title)
        .where(_today(Campaign), _answers(sa.func.concat_ws(" ", Campaign.name, Campaign.title), words))
        .order_by(Campaign.name)
    )
    return _first(connection, query, most)


def entries(connection: Connection, words: str, most: int = MOST) -> Found:
    """Entries of campaigns in which every word stands, in the order of time."""
    query = (
        sa.select(Campaign.name.label("campaign"), Entry.key, Entry.title, Entry.kind)
        .join(Entry, Entry.campaign_id == Campaign.id)
        .where(
            _today(Campaign),
            _today(Entry),
            _answers(sa.func.concat_ws(" ", Entry.title, Entry.place, Entry.text), words),
        )
        .order_by(Campaign.name, sa.func.lower(Entry.during), Entry.key)
    )
    return _first(connection, query, most)


def forces(connection: Connection, words: str, most: int = MOST) -> Found:
    """Forces of campaigns in whose key or name every word stands."""
    query = (
        sa.select(Campaign.name.label("campaign"), Force.key, Force.name, Force.side)
        .join(Force, Force.campaign_id == Campaign.id)
        .where(
            _today(Campaign), _today(Force), _answers(sa.func.concat_ws(" ", Force.key, Force.name), words)
        )
        .order_by(sa.func.lower(Force.key) != words.casefold(), Campaign.name, Force.key)
    )
    return _first(connection, query, most)


def _today(model: type[Campaign | Entry | Force]) -> sa.ColumnElement[bool]:
    """Whether a version is the one that stands today."""
    return sa.func.upper_inf(model.known)


def _answers(column: Any, words: str) -> sa.ColumnElement[bool]:
    """Whether every word stands in a text."""
    return sa.and_(*(column.icontains(word, autoescape=True) for word in words.split()))


def _answered(column: Any, words: str) -> sa.ColumnElement[int]:
    """How many of the words stand in a text."""
    found = (column.icontains(word, autoescape=True).cast(sa.Integer) for word in words.split())
    return sum(found, start=sa.literal(0))


def _first(connection: Connection, query: sa.Select[*tuple[Any, ...]], most: int) -> Found:
    counted = query.add_columns(sa.func.count().over().label("total")).limit(most)
    rows = list(connection.execute(counted).mappings())
    return Found(rows[0]["total"] if rows else 0, rows)
