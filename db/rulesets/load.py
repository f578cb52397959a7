"""Carrying the rulesets' data into the database, whole, whenever a file changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import Connection

from db import rules as r
from db.base import Base
from db.rulesets import (
    CODES,
    FOLDER,
    NOWHERE,
    ConceptsFile,
    Feature,
    Ruleset,
    RulesetDataError,
    Strict,
    read_form,
    read_ruleset,
)
from db.rulesets import tables as t
from db.terms import TermFinder

FEATURES: dict[str, type[t.Terrain] | type[t.HexsideKind] | type[t.PathKind]] = {
    "terrain": t.Terrain,
    "hexside": t.HexsideKind,
    "path": t.PathKind,
}


class SynonymsFile(Strict):
    """`synonyms.yaml`: everyday words for one thing, and words that decide nothing, common to all games."""

    groups: tuple[tuple[str, ...], ...]
    idle: tuple[str, ...]


class RankingFile(Strict):
    """`ranking.yaml`: how much each feature of a rule counts in a search."""

    weights: dict[str, int]


def load_rulesets(connection: Connection) -> None:
    """Replace what the database holds of every ruleset by what the files say.

    Kinds of terrain that maps stand on are updated in place; one that a file no longer
    has, but a map still uses, is an error.
    """
    for code in CODES:
        load_ruleset(connection, read_ruleset(code))
    load_concepts(connection, read_form(FOLDER / "concepts.yaml", ConceptsFile))
    load_synonyms(connection, read_form(FOLDER / "synonyms.yaml", SynonymsFile))
    load_ranking(connection, read_form(FOLDER / "ranking.yaml", RankingFile))
    connection.execute(sa.text("select rules.refresh()"))


def load_ruleset(connection: Connection, ruleset: Ruleset) -> None:
    _upsert(
        connection,
        t.Ruleset,
        [
            {
                "code": ruleset.code,
                "title": ruleset.facts.title,
                "version": ruleset.version,
                "presets": {point.id: point.default for point in ruleset.contested},
            }
        ],
    )
    for feature, kinds in (
        ("terrain", ruleset.terrain.terrain),
        ("hexside", ruleset.terrain.hexsides),
        ("path", ruleset.terrain.paths),
    ):
        _load_features(connection, ruleset.code, feature, kinds)
    _load_charts(connection, ruleset)
    load_effects(connection, ruleset)
    _load_sequence(connection, ruleset)
    _load_contested(connection, ruleset)
    ids = _load_rules(connection, ruleset)
    _load_terms(connection, ruleset, ids)


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


def load_effects(connection: Connection, ruleset: Ruleset) -> None:
    """Write the numbers about terrain anew: the book's, and costs that an owner or a house has filled in.

    A cost of a house stands in the place of the printed one; an owner's only where none is printed.
    """
    _clear(connection, t.TerrainEffect, ruleset.code)
    kinds = {
        "terrain": ruleset.terrain.terrain,
        "hexside": ruleset.terrain.hexsides,
        "path": ruleset.terrain.paths,
    }
    printed = [
        {
            "ruleset": ruleset.code,
            "feature": feature,
            "code": kind,
            "aspect": aspect,
            "mobility": mobility,
            "halves": _halves(effect.value),
            "word": None if isinstance(effect.value, Decimal) else effect.value,
            "condition": effect.when,
            "rule": effect.rule or facts.rule,
            "source": "printed",
        }
        for feature, kind, facts in ruleset.terrain.each_feature()
        for aspect, mobility, effect in facts.effects()
    ]
    filled = list(_filled_costs(connection, ruleset, kinds))
    of_house = {_cost_of(row) for row in filled if row["source"] == "house"}
    of_book = {_cost_of(row) for row in printed}
    _insert(
        connection,
        t.TerrainEffect,
        [row for row in printed if _cost_of(row) not in of_house]
        + [row for row in filled if row["source"] == "house" or _cost_of(row) not in of_book | of_house],
    )


def _cost_of(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["feature"], row["code"], row["aspect"], row["mobility"]


def _filled_costs(
    connection: Connection, ruleset: Ruleset, kinds: Mapping[str, Mapping[str, Feature]]
) -> Iterator[dict[str, Any]]:
    """Costs that were filled into charts of terrain, as rows of `terrain_effect`."""
    cells = connection.execute(
        sa.select(t.ChartCell).where(t.ChartCell.ruleset == ruleset.code, t.ChartCell.source != "printed")
    )
    for cell in cells.mappings():
        chart = ruleset.charts.get(cell["chart"])
        mobility = chart.costs.get(cell["column_key"]) if chart else None
        feature = next((name for name, known in kinds.items() if cell["row_key"] in known), None)
        value = cell["value"]
        if mobility is None or feature is None or value == NOWHERE:
            continue
        word = value if value in ("prohibited", "all") else None
        yield {
            "ruleset": ruleset.code,
            "feature": feature,
            "code": cell["row_key"],
            "aspect": "cost",
            "mobility": mobility,
            "halves": None if word else _halves(Decimal(value)),
            "word": word,
            "condition": None,
            "rule": cell["rule"],
            "source": cell["source"],
        }


def _halves(value: Decimal | str) -> int | None:
    """A number in half points."""
    if isinstance(value, str):
        return None
    doubled = value * 2
    if doubled != int(doubled):
        raise RulesetDataError(f"{value} is not a whole number of halves.")
    return int(doubled)


def _load_charts(connection: Connection, ruleset: Ruleset) -> None:
    """Printed cells are written anew; what an owner or a house filled in stays, with the chart it is in."""
    connection.execute(
        sa.delete(t.ChartCell).where(t.ChartCell.ruleset == ruleset.code, t.ChartCell.source == "printed")
    )
    filled = sa.select(t.ChartCell.chart).where(t.ChartCell.ruleset == ruleset.code)
    connection.execute(
        sa.delete(t.Chart).where(
            t.Chart.ruleset == ruleset.code,
            t.Chart.code.not_in(list(ruleset.charts)),
            t.Chart.code.not_in(filled),
        )
    )
    _upsert(
        connection,
        t.Chart,
        [
            {
                "ruleset": ruleset.code,
                "code": code,
                "row_name": chart.row,
                "column_name": chart.column,
                "column_keys": list(chart.columns),
                **chart.model_dump(include={"title", "rule", "printed", "place", "note", "open"}),
            }
            for code, chart in ruleset.charts.items()
        ],
    )
    _insert(
        connection,
        t.ChartCell,
        [
            {
                "ruleset": ruleset.code,
                "chart": code,
                "row_key": row,
                "column_key": column,
                "source": "printed",
                "row_n": list(chart.cells).index(row) + 1,
                "value": cell.value,
                "rule": cell.rule or chart.rule,
                "example": cell.example,
            }
            for code, chart in ruleset.charts.items()
            for row, column, cell in chart.each_cell()
        ],
    )


def _chart_words(ruleset: Ruleset) -> dict[str, str]:
    """What may be searched for in the charts of each rule: their titles, what is in the rows, cells of words."""
    found: dict[str, list[str]] = {}
    for chart in ruleset.charts.values():
        words = found.setdefault(chart.rule, [])
        words.append(chart.title)
        for row, _, cell in chart.each_cell():
            # rows such as guam/17 name nothing that anybody asks for
            words += [said for said in (row, cell.value or "") if "/" not in said and not said[:1].isdigit()]
    return {number: " ".join(dict.fromkeys(words)).replace("_", " ") for number, words in found.items()}


def _load_sequence(connection: Connection, ruleset: Ruleset) -> None:
    _clear(connection, t.Phase, ruleset.code)
    _insert(
        connection,
        t.Phase,
        [
            {
                "ruleset": ruleset.code,
                "path": path,
                "n": n,
                "parent": parent,
                **phase.model_dump(include={"code", "title", "who", "rule"}),
            }
            for n, (path, parent, phase) in enumerate(ruleset.sequence.each_phase(), 1)
        ],
    )


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


def _load_rules(connection: Connection, ruleset: Ruleset) -> dict[str, int]:
    """Rules keep their rows, so that what hangs on them stays: imported texts, errata. Their ids by number."""
    connection.execute(sa.update(r.Rule).where(r.Rule.ruleset == ruleset.code).values(digest=""))
    words = _chart_words(ruleset)
    paths: dict[str, list[int]] = {}
    for rule in ruleset.rules:
        paths[rule.number] = r.path_below(rule.number, rule.parent, paths[rule.parent] if rule.parent else [])
    _upsert(
        connection,
        r.Rule,
        [
            {
                "ruleset": ruleset.code,
                "path": paths[rule.number],
                "asked": list(rule.asked),
                "chart_words": words.get(rule.number, ""),
                **rule.model_dump(include={"number", "title", "kind", "digest"}),
            }
            for rule in ruleset.rules
        ],
        ("ruleset", "number"),
    )
    r.forget_orphans(connection, ruleset.code)
    ids = r.rule_ids(connection, ruleset.code)
    connection.execute(
        sa.update(r.Rule).where(r.Rule.id == sa.bindparam("row")).values(parent_id=sa.bindparam("parent")),
        [
            {"row": ids[rule.number], "parent": ids[rule.parent] if rule.parent else None}
            for rule in ruleset.rules
        ],
    )
    connection.execute(
        sa.delete(r.RuleReference).where(
            r.RuleReference.rulebook_id.is_(None), r.RuleReference.rule_id.in_(list(ids.values()))
        )
    )
    _insert(
        connection,
        r.RuleReference,
        [
            {"rule_id": ids[rule.number], "printed": number, "target_id": ids[number]}
            for rule in ruleset.rules
            for number in rule.see
        ],
    )
    return ids


def _load_terms(connection: Connection, ruleset: Ruleset, ids: dict[str, int]) -> None:
    _clear(connection, r.Term, ruleset.code)
    _insert(
        connection,
        r.Term,
        [
            {
                "ruleset": ruleset.code,
                "name": term.term,
                "definition": term.definition,
                "aliases": list(term.aliases),
                "rule_id": ids[term.rule] if term.rule else None,
            }
            for term in ruleset.terms
        ],
    )
    rows = connection.execute(sa.select(r.Term.name, r.Term.id).where(r.Term.ruleset == ruleset.code)).all()
    term_ids = {row.name: row.id for row in rows}
    finder = TermFinder((term.term, term.aliases) for term in ruleset.terms)
    _insert(
        connection,
        r.RuleTerm,
        [
            {"rule_id": ids[rule.number], "term_id": term_ids[name]}
            for rule in ruleset.rules
            for name in finder.used_in(rule.digest)
        ],
    )


def load_concepts(connection: Connection, concepts: ConceptsFile) -> None:
    """Replace the concepts and their maps to the rules of each game."""
    ids = {code: r.rule_ids(connection, code) for code in CODES}
    lost = [
        f"{name}: {code} {number}"
        for name, concept in concepts.concepts.items()
        for code, numbers in (*concept.rules.items(), *concept.nearest.items())
        for number in numbers
        if number not in ids[code]
    ]
    if lost:
        raise RulesetDataError(f"concepts.yaml names rules that do not exist: {'; '.join(lost)}")
    connection.execute(sa.delete(r.Concept))
    _insert(
        connection,
        r.Concept,
        [
            {
                "code": code,
                "n": n,
                "aliases": list(concept.aliases),
                "nearest": {game: list(numbers) for game, numbers in concept.nearest.items()},
                **concept.model_dump(include={"title", "comparison"}),
            }
            for n, (code, concept) in enumerate(concepts.concepts.items(), 1)
        ],
    )
    _insert(
        connection,
        r.ConceptRule,
        [
            {"concept": code, "rule_id": ids[ruleset][number], "n": n}
            for code, concept in concepts.concepts.items()
            for ruleset, numbers in concept.rules.items()
            for n, number in enumerate(numbers, 1)
        ],
    )


def load_synonyms(connection: Connection, synonyms: SynonymsFile) -> None:
    """Replace the everyday words; `rules.refresh` adds the names of terms and concepts."""
    connection.execute(sa.delete(r.Synonym).where(r.Synonym.word_group.is_not(None)))
    _insert(
        connection,
        r.Synonym,
        [
            {"phrase": word, "stems": "", "word_group": n}
            for n, group in enumerate(synonyms.groups, 1)
            for word in group
        ],
    )
    connection.execute(sa.delete(r.IdleWord))
    connection.execute(
        sa.text(
            "insert into idle_word select distinct rules._stems(word) from unnest(cast(:words as text[])) as idle (word)"
        ),
        {"words": list(synonyms.idle)},
    )


def load_ranking(connection: Connection, ranking: RankingFile) -> None:
    """Replace the weights by which rules are ranked."""
    connection.execute(sa.delete(r.Ranking))
    _insert(
        connection,
        r.Ranking,
        [{"feature": feature, "weight": weight} for feature, weight in ranking.weights.items()],
    )


def _clear(connection: Connection, table: type[Base], code: str) -> None:
    connection.execute(sa.delete(table).where(table.__table__.c.ruleset == code))


def _insert(connection: Connection, table: type[Base], rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(sa.insert(table), rows)


def _upsert(
    connection: Connection, table: type[Base], rows: list[dict[str, Any]], keys: tuple[str, ...] = ()
) -> None:
    if not rows:
        return
    statement = insert(table)
    keys = keys or tuple(column.name for column in table.__table__.primary_key)
    changes = {name: statement.excluded[name] for name in rows[0] if name not in keys}
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=changes), rows)
