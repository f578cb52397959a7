"""Carrying the rulesets' data into the database, whole, whenever a file changed."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import Connection

from db.base import Base
from db.rulesets import CODES, FOLDER, Feature, Ruleset, RulesetDataError, files_digest, load
from db.rulesets import tables as t

FEATURES: dict[str, type[t.Terrain] | type[t.HexsideKind] | type[t.PathKind]] = {
    "terrain": t.Terrain,
    "hexside": t.HexsideKind,
    "path": t.PathKind,
}


def rulesets_digest() -> str:
    """Digest of every data file of every ruleset."""
    return files_digest(sorted(FOLDER.glob("**/*.yaml")))


def load_rulesets(connection: Connection) -> None:
    """Replace what the database holds of every ruleset by what the files say.

    Kinds of terrain that maps stand on are updated in place; one that a file no longer
    has, but a map still uses, is an error.
    """
    for code in CODES:
        load_ruleset(connection, load(code))


def load_ruleset(connection: Connection, ruleset: Ruleset) -> None:
    _upsert(
        connection,
        t.Ruleset,
        [{"code": ruleset.code, "title": ruleset.facts.title, "version": ruleset.version}],
    )
    _clear(connection, t.TerrainEffect, ruleset.code)
    for feature, kinds in (
        ("terrain", ruleset.terrain.terrain),
        ("hexside", ruleset.terrain.hexsides),
        ("path", ruleset.terrain.paths),
    ):
        _load_features(connection, ruleset.code, feature, kinds)
    _clear(connection, t.Chart, ruleset.code)
    _insert(
        connection,
        t.Chart,
        [
            {"ruleset": ruleset.code, "code": code, **chart.model_dump()}
            for code, chart in ruleset.charts.items()
        ],
    )
    _load_contested(connection, ruleset)


def _load_features(connection: Connection, code: str, feature: str, kinds: dict[str, Feature]) -> None:
    table = FEATURES[feature]
    gone = sa.delete(table).where(table.ruleset == code, table.code.not_in(list(kinds)))
    try:
        with connection.begin_nested():
            connection.execute(gone)
    except sa.exc.IntegrityError as error:
        raise RulesetDataError(
            f"{code}: a map uses a kind of {feature} that the ruleset no longer has: {error.orig}",
            "Export that map, mend it, delete it, upgrade, and import it again.",
        ) from error
    columns = ("title", "rule", "sight", "sight_rule", "note")
    _upsert(
        connection,
        table,
        [
            {"ruleset": code, "code": kind, **{column: getattr(facts, column) for column in columns}}
            for kind, facts in kinds.items()
        ],
    )
    _insert(
        connection,
        t.TerrainEffect,
        [
            {
                "ruleset": code,
                "feature": feature,
                "code": kind,
                "aspect": aspect,
                "mobility": mobility,
                "halves": _halves(effect.value),
                "word": None if isinstance(effect.value, Decimal) else effect.value,
                "condition": effect.when,
                "rule": effect.rule or facts.rule,
            }
            for kind, facts in kinds.items()
            for aspect, mobility, effect in facts.effects()
        ],
    )


def _halves(value: Decimal | str) -> int | None:
    """A number in half points."""
    if isinstance(value, str):
        return None
    doubled = value * 2
    if doubled != int(doubled):
        raise RulesetDataError(f"{value} is not a whole number of halves.")
    return int(doubled)


def _load_contested(connection: Connection, ruleset: Ruleset) -> None:
    _clear(connection, t.ContestedPoint, ruleset.code)
    _insert(
        connection,
        t.ContestedPoint,
        [
            {
                "id": point.id,
                "ruleset": ruleset.code,
                "n": n,
                "preset": point.default,
                "cites": list(point.cites),
                "affects": list(point.affects),
                **point.model_dump(include={"title", "severity", "why"}),
            }
            for n, point in enumerate(ruleset.contested, 1)
        ],
    )
    _insert(
        connection,
        t.Reading,
        [
            {"point": point.id, "letter": letter, **reading.model_dump()}
            for point in ruleset.contested
            for letter, reading in point.readings.items()
        ],
    )


def _clear(connection: Connection, table: type[Base], code: str) -> None:
    connection.execute(sa.delete(table).where(table.__table__.c.ruleset == code))


def _insert(connection: Connection, table: type[Base], rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(sa.insert(table), rows)


def _upsert(connection: Connection, table: type[Base], rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    statement = insert(table)
    keys = [column.name for column in table.__table__.primary_key]
    changes = {name: statement.excluded[name] for name in rows[0] if name not in keys}
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=changes), rows)
