"""Fitting the weights by which a search ranks rules, on the tuning parts of the queries: `python -m tests.tune_search`.

A rule's score is the sum of its features (`rules._features`) times integer weights (`db/rulesets/ranking.yaml`).
The weights are those under which the right rules are likeliest to come first, if a rule comes first in proportion
to the exponential of its score. Queries that are held out are never looked at. Five folds of the tuning part tell
how well weights serve queries that they were not fitted on; the weights that are written are fitted on all of it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sqlalchemy as sa
import yaml
from numpy.typing import NDArray
from sqlalchemy.engine import Connection

from app.terminal import database
from db.measuring import Query, read_queries
from db.rulesets import FOLDER

FILES = (Path("tests/data/queries.yaml"), Path("tests/data/more_queries.yaml"))
SEARCHES = Path("tests/data/searches.yaml")
"""Things whose first answer a test holds: they are fitted on as well."""
RANKING = FOLDER / "ranking.yaml"
HOLD = {"text": 0.3, "unused": -5.0}
"""Weights that no query decides: imported texts are not there when this runs, unused numbers are never asked for."""
FOLDS = 5
STEPS = 200
STIFFNESS = 0.002
SCALE = 100
"""What a weight of one is written as."""

Numbers = NDArray[np.float64]


class Sample(NamedTuple):
    """A query within a game or over all: the features of every candidate, and which of them answer."""

    words: str
    scope: str
    features: Numbers
    answers: NDArray[np.bool_]


def samples_of(connection: Connection, query: Query, names: list[str]) -> list[Sample]:
    """The query within its game and over all; none where no candidate answers."""
    rows = connection.execute(
        sa.text(
            "select rule.ruleset, rule.number, found.feature, found.value"
            " from rules._features(rules._understood(:words)) as found join rule on found.id = rule.id"
        ),
        {"words": query.words},
    ).all()
    candidates = sorted({(row.ruleset, row.number) for row in rows})
    place = {rule: at for at, rule in enumerate(candidates)}
    features = np.zeros((len(candidates), len(names)))
    for row in rows:
        features[place[row.ruleset, row.number], names.index(row.feature)] = row.value
    wanted = {(query.game, number) for number in query.want}
    others = {(game, number) for game, _, number in (rule.partition(" ") for rule in query.also)}
    made = []
    for scope, right in (("within", wanted), ("over all", wanted | others)):
        seen = np.array([scope == "over all" or game == query.game for game, _ in candidates], dtype=bool)
        answers = np.array([rule in right for rule in candidates], dtype=bool)
        if (answers & seen).any():
            made.append(Sample(query.words, scope, features[seen], answers[seen]))
    return made


def searches() -> list[Query]:
    """The searches that a test holds, as queries."""
    found = []
    for item in yaml.safe_load(SEARCHES.read_text(encoding="utf-8"))["searches"]:
        if any(letter.isdigit() for letter in item["query"]):
            continue  # a rule's number is no question of rank
        game, _, number = item["expect"][0].partition(" ")
        found.append(
            Query.model_validate({"in": game, "q": item["query"], "want": [number], "also": item["expect"]})
        )
    return found


def fit(samples: list[Sample], names: list[str]) -> Numbers:
    """The weights under which the answers are likeliest to come first (Adam on the cross entropy)."""
    weights = np.array([HOLD.get(name, 0.0) for name in names])
    free = np.array([name not in HOLD for name in names])
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        slope = np.zeros_like(weights)
        for sample in samples:
            scores = sample.features @ weights
            likely = np.exp(scores - scores.max())
            right = np.where(sample.answers, likely, 0)
            slope += sample.features.T @ (likely / likely.sum() - right / right.sum())
        slope = (slope / len(samples) + STIFFNESS * weights) * free
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        pace = 0.3 / (1 + 3 * (step > STEPS / 2) + 6 * (step > 0.8 * STEPS))
        weights -= pace * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-9)
    return weights


def tell(title: str, samples: list[Sample], weights_of: dict[str, Numbers]) -> None:
    """How often the right rule comes first and among the first three."""
    for scope in ("within", "over all"):
        places = [
            1 + int((scores > scores[sample.answers].max()).sum())
            for sample in samples
            if sample.scope == scope
            for scores in [sample.features @ weights_of[sample.words]]
        ]
        first, three = (sum(place <= most for place in places) / len(places) for most in (1, 3))
        rank = sum(1 / place for place in places) / len(places)
        print(f"{title}, {scope}: {len(places)} queries, {first:.3f} / {three:.3f}, MRR {rank:.3f}")


def fold(words: str) -> int:
    """The fold of a query, by a digest of its words."""
    return int(hashlib.md5(words.encode(), usedforsecurity=False).hexdigest(), 16) % FOLDS


def main() -> None:
    """Fit the weights and write them."""
    text = RANKING.read_text(encoding="utf-8")
    names = list(yaml.safe_load(text)["weights"])
    queries = [
        query for file in FILES for query in read_queries(file) if query.part == "tuned" and not query.absent
    ]
    queries += searches()
    with database.asking() as connection:
        samples = [sample for query in queries for sample in samples_of(connection, query, names)]
    by_fold: dict[str, Numbers] = {}
    for n in range(FOLDS):
        fitted = fit([sample for sample in samples if fold(sample.words) != n], names)
        by_fold |= {sample.words: fitted for sample in samples if fold(sample.words) == n}
    tell("across folds", samples, by_fold)
    weights = fit(samples, names)
    tell("fitted", samples, {sample.words: weights for sample in samples})
    head = text[: text.index("weights:")]
    lines = (f"  {name}: {round(weight * SCALE)}\n" for name, weight in zip(names, weights, strict=True))
    RANKING.write_text(head + "weights:\n" + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
