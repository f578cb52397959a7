"""Fitting the weights by which a search ranks rules, on the tuning parts of the queries: `python -m tests.tune_search`.

A rule's score is the sum of its features (`rules._features`) times integer weights (`db/rulesets/ranking.yaml`).
The weights are those under which the right rules are likeliest to come first, if a rule comes first in proportion
to the exponential of its score. Queries that are held out are never looked at. Some phrases were written after a
tuning query had missed: they say what it says, and would make phrases look better than they are. So each query is
fitted, and told, without the phrases of its answers that are nearly it. Five folds of the tuning part tell how well
weights serve queries that they were not fitted on; the weights that are written are fitted on all of it.
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

FILES = tuple(Path("tests/data") / f"{name}queries.yaml" for name in ("", "more_", "third_", "fifth_"))
SEARCHES = Path("tests/data/searches.yaml")
"""Things whose first answer a test holds: they are fitted on as well."""
RANKING = FOLDER / "ranking.yaml"
HOLD = {"text": 0.3, "unused": -5.0}
"""Weights that no query decides: imported texts are not there when this runs, unused numbers are never asked for."""
ECHO = 0.8
"""How nearly a phrase is the query to be left out as its echo; with it the folds tell about what held-out queries do."""
CANDIDATES = 80
"""Rules that are looked at for a query: its answers, and those that have most of it."""
FOLDS = 5
STEPS = 200
STIFFNESS = 0.002
SCALE = 100
"""What a weight of one is written as."""

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Sample(NamedTuple):
    """A query within a game or over all: the features of its candidates, which are none, and which answer."""

    words: str
    file: str
    scope: str
    features: Numbers
    there: Flags
    answers: Flags


def answers_of(query: Query) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The rules that answer within its game, and over all games."""
    wanted: set[tuple[str, str]] = {(query.game, number) for number in query.want}
    return wanted, wanted | {
        (game, number) for game, _, number in (rule.partition(" ") for rule in query.also)
    }


def without_echoes(connection: Connection, query: Query) -> None:
    """Take away the phrases of its answers that are nearly the query."""
    _, answers = answers_of(query)
    connection.execute(
        sa.text(
            "with echo as ("
            "  select phrase from rules._phrases((rules._understood(:words)).words) as said"
            "  join rule on said.rule_id = rule.id where rule.ruleset || ' ' || rule.number = any(:answers)"
            "  group by phrase, mass having rules._likeness(sum(share * trust), sum(rarity), mass) > :echo)"
            " delete from synonym using echo where synonym.id = echo.phrase"
        ),
        {"words": query.words, "answers": [" ".join(rule) for rule in answers], "echo": ECHO},
    )
    connection.execute(
        sa.text(
            "update rule_word set asked = false from rule where rule_word.rule_id = rule.id"
            " and rule.ruleset || ' ' || rule.number = any(:answers) and rule_word.asked and not exists"
            " (select from synonym where synonym.rule_id = rule.id and rule_word.stem = any(synonym.parts))"
        ),
        {"answers": [" ".join(rule) for rule in answers]},
    )


def samples_of(connection: Connection, query: Query, file: str, names: list[str]) -> list[Sample]:
    """The query within its game and over all; none where no candidate answers."""
    with connection.begin_nested() as echoed:
        without_echoes(connection, query)
        rows = connection.execute(
            sa.text(
                "select rule.ruleset, rule.number, found.feature, found.value"
                " from rules._features(rules._understood(:words)) as found join rule on found.id = rule.id"
            ),
            {"words": query.words},
        ).all()
        echoed.rollback()
    candidates = sorted({(row.ruleset, row.number) for row in rows})
    place = {rule: at for at, rule in enumerate(candidates)}
    features = np.zeros((len(candidates), len(names)))
    for row in rows:
        features[place[row.ruleset, row.number], names.index(row.feature)] = row.value
    wanted, anywhere = answers_of(query)
    rough = features[:, [names.index(name) for name in ("whole", "phrase", "title_share", "concept")]].sum(1)
    made = []
    for scope, right in (("within", wanted), ("over all", anywhere)):
        seen = [at for at, rule in enumerate(candidates) if scope == "over all" or rule[0] == query.game]
        seen = sorted(seen, key=lambda at: (candidates[at] not in right, -rough[at]))[:CANDIDATES]
        answers = np.zeros(CANDIDATES, dtype=bool)
        answers[: len(seen)] = [candidates[at] in right for at in seen]
        if answers.any():
            padded = np.zeros((CANDIDATES, len(names)))
            padded[: len(seen)] = features[seen]
            there = np.arange(CANDIDATES) < len(seen)
            made.append(Sample(query.words, file, scope, padded, there, answers))
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
    features = np.stack([sample.features for sample in samples])
    there = np.stack([sample.there for sample in samples])
    answers = np.stack([sample.answers for sample in samples])
    weights = np.array([HOLD.get(name, 0.0) for name in names])
    free = np.array([name not in HOLD for name in names])
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        scores = np.where(there, features @ weights, -np.inf)
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        right = np.where(answers, likely, 0)
        wrong = likely / likely.sum(axis=1, keepdims=True) - right / right.sum(axis=1, keepdims=True)
        slope = np.einsum("sc,scf->f", wrong, features) / len(samples) + STIFFNESS * weights
        slope *= free
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        pace = 0.3 / (1 + 3 * (step > STEPS / 2) + 6 * (step > 0.8 * STEPS))
        weights -= pace * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-9)
    return weights


def tell(title: str, samples: list[Sample], weights_of: dict[str, Numbers]) -> None:
    """How often the right rule comes first and among the first three."""
    for file, scope in sorted({(sample.file, sample.scope) for sample in samples}):
        places = [
            1 + int((scores > scores[sample.answers].max()).sum())
            for sample in samples
            if (sample.file, sample.scope) == (file, scope)
            for scores in [np.where(sample.there, sample.features @ weights_of[sample.words], -np.inf)]
        ]
        first, three = (sum(place <= most for place in places) / len(places) for most in (1, 3))
        rank = sum(1 / place for place in places) / len(places)
        print(f"{title}, {file}, {scope}: {len(places)} queries, {first:.3f} / {three:.3f}, MRR {rank:.3f}")


def fold(words: str) -> int:
    """The fold of a query, by a digest of its words."""
    return int(hashlib.md5(words.encode(), usedforsecurity=False).hexdigest(), 16) % FOLDS


def main() -> None:
    """Fit the weights and write them."""
    text = RANKING.read_text(encoding="utf-8")
    names = list(yaml.safe_load(text)["weights"])
    queries = [
        (file.stem, query)
        for file in FILES
        for query in read_queries(file)
        if query.part == "tuned" and not query.absent
    ]
    queries += [(SEARCHES.stem, query) for query in searches()]
    with database.owning() as connection:
        samples = [sample for file, query in queries for sample in samples_of(connection, query, file, names)]
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
