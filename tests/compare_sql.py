"""Asks two versions of `sql/` the same questions, and shows every answer that differs.

.venv/bin/python -m tests.compare_sql REVISION

The functions and views of REVISION (a commit, a tag, HEAD) are laid over the same tables and the
same ruleset data as those of the working tree, each in a database of a throwaway cluster. Both are
asked every public function that takes a position: on the positions of all case files (the case's
own questions among others), of the demo, and on positions drawn at random. Rows that tell rules are
compared in their order, others as a set; by the columns that both have. What is not asked, or is in
one version only, is listed.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import io
import random
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import sqlalchemy as sa
from psycopg.types.json import Jsonb
from sqlalchemy.engine import Connection, Engine, make_url

import db.schema
from app.referee.cases import case_files
from app.referee.conformance import SUITE
from app.referee.questions import forms, kinds_of
from db.cluster import Cluster
from db.database import make_engine
from db.rulesets import CODES
from importers.cases import read_case, store_position
from importers.demo.load import add_demo
from tests.drawn_positions import conditions, drawn, facts, policy

ROOT = Path(__file__).resolve().parent.parent
ASKED = (*CODES, "positions")
"""Schemas whose functions are about positions."""
SLOWEST = "20s"
PUBLIC = """
select pronamespace::regnamespace::text as schema, proname as name,
  proargnames[1 : pronargs] as arguments, pg_get_function_identity_arguments(oid) as signature
from pg_proc
where pronamespace::regnamespace::text = any(:schemas) and prokind = 'f' and prorettype <> 'trigger'::regtype
  and proname not like '\\_%'
order by 1, 2
"""
COLORS = ("blue", "brown", "green", "orange", "purple", "red")
MANNERS = {
    "strike": [
        "mortar",
        "patrol",
        "patrol_field",
        "ambush",
        "artillery_fire",
        "ridge_artillery",
        "artillery",
    ],
    "goals": ["redeploy", "assault", "advance"],
    "placement": ["depth", "reinforcement", "tactical", "infiltration_event", "fortification"],
}
"""Of functions of ddp that do something in several ways."""
BOB_MANNERS = {
    "fire": ["fire", "op_fire", "final_op_fire", "assault_fire", "muzzle_flash"],
    "satw": ["fire", "op_fire", "assault_fire"],
    "indirect_fire": ["fire", "op_fire", "smoke"],
    "activate": ["move", "fire", "op_fire", "used", "asset"],
    "mines": [None, "off_trail"],
    "hub": ["displace", "move"],
    "placement": [
        "setup",
        "reinforcement",
        "fow",
        "fow_reaction",
        "regroup",
        "fortification",
        "decoy",
        "satt",
    ],
}
"""The same of bob."""
STEPS = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))


@dataclasses.dataclass(frozen=True)
class Verb:
    """A public function."""

    schema: str
    name: str
    arguments: tuple[str, ...]
    signature: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"


@dataclasses.dataclass(frozen=True)
class Answer:
    """The rows that a function returned."""

    columns: list[str]
    rows: list[tuple[Any, ...]]

    def part(self, columns: list[str]) -> list[tuple[Any, ...]]:
        """Some columns: in order where rules are told, else as a set."""
        places = [self.columns.index(name) for name in columns]
        rows = [tuple(row[place] for place in places) for row in self.rows]
        return rows if "rule" in columns else sorted(rows, key=repr)


@dataclasses.dataclass
class Version:
    """A database with one version of `sql/`, and how long its functions took."""

    name: str
    engine: Engine
    connection: Connection
    seconds: dict[str, float] = dataclasses.field(default_factory=lambda: collections.defaultdict(float))

    def verbs(self) -> dict[str, Verb]:
        rows = self.connection.execute(sa.text(PUBLIC), {"schemas": list(ASKED)})
        return {
            f"{row.schema}.{row.name}": Verb(row.schema, row.name, tuple(row.arguments or ()), row.signature)
            for row in rows
        }

    def ask(self, verb: Verb, given: dict[str, Any]) -> Answer | str:
        """What a function returns, or the error that it raises."""
        raw = self.connection.connection.driver_connection
        assert isinstance(raw, psycopg.Connection)
        words = ", ".join(f'"{name}" => %({name})s' for name in given)
        values = {name: Jsonb(value) if isinstance(value, dict) else value for name, value in given.items()}
        start = time.perf_counter()
        try:
            with raw.transaction():
                found = raw.execute(f"select * from {verb}({words})", values)
                rows = found.fetchall()
        except psycopg.Error as error:
            return f"{type(error).__name__}: {error.diag.message_primary}"
        finally:
            self.seconds[str(verb)] += time.perf_counter() - start
        return Answer([column.name for column in found.description or ()], rows)


@dataclasses.dataclass(frozen=True)
class Pool:
    """What may be named in questions about a position."""

    ruleset: str
    places: dict[tuple[int, int], str]
    units: dict[str, tuple[int, int] | None]
    sides: list[str]
    features: list[str]

    def draw(self, verb: Verb, argument: str, given: dict[str, Any], dice: random.Random) -> Any:
        """A value for an argument of a function; an argument that nobody knows is a KeyError."""
        labels, units = list(self.places.values()), list(self.units) or ["nobody"]
        near = self._near(given.get("unit"), dice)
        drawers: dict[str, Callable[[], Any]] = {
            "from": lambda: dice.choice([*units, *dice.sample(labels, min(len(units) + 1, len(labels)))]),
            "to": lambda: dice.choice([dice.choice(near), dice.choice(labels), dice.choice(units)]),
            "target": lambda: dice.choice([dice.choice(near), dice.choice(labels)]),
            "hex": lambda: dice.choice([dice.choice(labels), dice.choice(units)]),
            "name": lambda: dice.choice([dice.choice(labels), dice.choice(units)]),
            "unit": lambda: dice.choice(units),
            "side": lambda: dice.choice(self.sides or ["us"]),
            "path": lambda: self._way(given.get("unit"), dice),
            "at": lambda: dice.choice([dice.choice(labels), dice.choice(units)]),
            "by": lambda: dice.sample(near, min(len(near), 2)),
            "bombardment": lambda: dice.random() < 0.3,
            "line": lambda: dice.randint(1, 5),
            "differential": lambda: dice.randint(-12, 14),
            "roll": lambda: dice.choice([None, 1, 6]),
            "hexes": lambda: dice.randint(1, 3),
            "after": lambda: dice.choice(["attack", "bombardment"]),
            "radius": lambda: dice.choice([None, 1, 2, 4, 8]),
            "viewers": lambda: dice.sample(labels, min(len(labels), 20)),
            "traced_for": lambda: dice.choice(["leader", "support_weapon", "tank_support_weapon", "routed"]),
            "options": lambda: self._options(verb, dice),
            "place": lambda: dice.choice(self.features or ["nowhere"]),
            "manner": lambda: dice.choice(MANNERS.get(verb.name, ["nothing"])),
            "symbol": lambda: dice.choice(["circle", "diamond", "triangle"]),
            "color": lambda: dice.choice(COLORS),
            "colors": lambda: dice.sample(COLORS, 3),
            "letter": lambda: dice.choice("MRPAI"),
            "linked": lambda: dice.sample(labels, len(labels) // 2),
            "required": lambda: dice.choice([None, 1, 2, 5]),
            "origin": lambda: dice.choice(labels),
            **{mark: lambda: dice.random() < 0.4 for mark in ("star", "armor", "machine_guns", "again")},
            **dict.fromkeys(("shot", "assault", "fire"), lambda: self._combat(dice)),
            "conditions": lambda: conditions(self.ruleset, dice) if dice.random() < 0.3 else None,
            "policy": lambda: policy(self.ruleset, dice) if dice.random() < 0.5 else None,
        }
        if self.ruleset == "bob":
            drawers |= self._of_bob(verb, units, labels, dice)
        return drawers[argument]()

    def _of_bob(
        self, verb: Verb, units: list[str], labels: list[str], dice: random.Random
    ) -> dict[str, Callable[[], Any]]:
        """What functions of bob take in words or forms of their own."""
        foot = {"squads": dice.randint(0, 8), "squads_reduced": dice.randint(0, 3), "wts": dice.randint(0, 2)}
        words = {
            "manner": BOB_MANNERS.get(verb.name, [None]), "since": ["move", "fire", "used", "rout", "artillery", None],
            "purpose": ["move", "fire", "withdraw", "retreat", "rout", "satw", "reroll", "range", "first", "mp"],
            "weapon": [None, None, None, "flame", "canister", "directed", "as_mortar", "satchel"],
            "cp": [None, None, "fp", "range"], "what": ["wire", "roadblock"], "facing": [None, None, 1, 2, 3, 4, 5, 6],
            "direction": [1, 2, 3, 4, 5, 6], "kind": ["squad", "gun", "foxhole"], "nation": ["us", "japan", None],
            "company": ["A", "B"], "used": [None], "losses": [{"reduced": 1, "full_eliminated": 2}],
            "hub_flips": [0, 1], "recoveries": [0, 3], "fatigue": [None, 14], "started": [foot], "ended": [foot],
            **{name: [True, False, False] for name in ("understrength", "rests", "moving", "op")},
            **dict.fromkeys(("besides", "asset", "spotter", "mover"), units), "read": [{}, {"pac_terrain": 1}],
        }  # fmt: skip
        drawn: dict[str, Callable[[], Any]] = {
            name: lambda among=among: dice.choice(among)  # type: ignore[misc]
            for name, among in words.items()
        }
        # cover has a column of the card for whom it is against, all others a unit
        columns = ["infantry", "mortar", "v_gun", "artillery", "aircraft"]
        drawn["by"] = lambda: dice.choice(columns if verb.name == "cover" else units)
        drawn["at"] = lambda: dice.choice([*units, dice.choice(labels)])
        drawn["hexes"] = lambda: dice.sample(labels, 1) if verb.name == "threats" else dice.randint(1, 3)
        return drawn

    def _near(self, unit: str | None, dice: random.Random) -> list[str]:
        """Labels of hexes about a unit."""
        q, r = self.units.get(unit or "") or dice.choice(list(self.places))
        found = (self.places.get((q + dq, r + dr)) for dq in range(-3, 4) for dr in range(-3, 4))
        return [label for label in found if label] or list(self.places.values())

    def _way(self, unit: str | None, dice: random.Random) -> list[str]:
        """A way that a unit might go, hex by hex."""
        at = self.units.get(unit or "") or dice.choice(list(self.places))
        way = []
        for _ in range(dice.randint(1, 5)):
            beside = [(at[0] + dq, at[1] + dr) for dq, dr in STEPS if (at[0] + dq, at[1] + dr) in self.places]
            if not beside:
                break
            at = dice.choice(beside)
            way.append(self.places[at])
        return way or [dice.choice(list(self.places.values()))]

    def _combat(self, dice: random.Random) -> dict[str, Any]:
        """A shot, assault or barrage of css: somebody with others of its hex, at somebody near or anywhere."""
        units = list(self.units) or ["nobody"]
        first = dice.choice([unit for unit in units if self.units.get(unit)] or units)
        at = self.units.get(first) or next(iter(self.places))
        mates = [unit for unit in units if self.units[unit] == at and unit != first] if self.units else []
        foes = [
            unit for unit, place in self.units.items()
            if place and max(abs(place[0] - at[0]), abs(place[1] - at[1])) <= dice.choice([1, 2, 8]) and unit != first
        ] or units  # fmt: skip
        foe = dice.choice(foes)
        there = [unit for unit in units if self.units.get(unit) == self.units.get(foe)]
        label = self.places.get(self.units.get(foe) or (0, 0)) or dice.choice(list(self.places.values()))
        combat: dict[str, Any] = {
            "by": [first, *dice.sample(mates, min(len(mates), dice.choice([0, 0, 1, 2])))],
            "with": dice.sample(mates, min(len(mates), dice.choice([0, 0, 1, 2, 3]))),
            "at": dice.choice([label, label, label, foe]),
            "manner": dice.choice(["fire", "fire", "op_fire", "indirect"]),
        }
        extras: dict[str, Any] = {
            "target": foe,
            "target_unit": dice.choice(there),
            "impose": dice.sample(there, min(len(there), dice.randint(1, 2))),
            "defense_unit": dice.choice(there),
            "charge": dice.choice(["prepared_assault", "banzai_charge", "drunk_banzai_charge"]),
            "alerted": True,
            "concentrated": True,
            "as": dice.choice(["ap", "he"]),
            "landing": there,
            "zone": {"beach": label, "run": dice.choice(["final_run_in", "approach", "transport"])},
            "spotter": dice.choice(units),
            "support": dice.sample(units, 1),
            "read": {"fortification_values": -2, "barrage_marker_effects": {"medium_barrage": {"fire": -2}}},
        }
        return combat | {word: value for word, value in extras.items() if dice.random() < 0.2}

    def _options(self, verb: Verb, dice: random.Random) -> dict[str, Any] | None:
        kind = kinds_of(self.ruleset).get(verb.name.split("_")[0])
        if kind is None or dice.random() < 0.5:
            return None
        named = {"with": list(self.units), "hidden_wire": list(self.places.values())}
        named["hidden_mines"] = named["hidden_wire"]
        form = kind.arguments
        found = {
            form.model_fields[name].alias or name: value for name, value in facts(form, dice, 0.25).items()
        }
        found |= {
            word: dice.sample(names, min(len(names), 2)) for word, names in named.items() if word in found
        }
        return {
            word: float(value) if word == "points" else value
            for word, value in found.items()
            if word not in ("unit", "path", "to", "hits")
        }


def pool(connection: Connection, position: int) -> Pool:
    """What a stored position has that can be asked about."""
    values = {"position": position}
    [ruleset] = connection.scalars(sa.text("select ruleset from position where id = :position"), values)
    hexes = connection.execute(
        sa.text(
            "select q, r, label from hex join position using (map_id) where position.id = :position order by 1, 2"
        ),
        values,
    )
    units = connection.execute(
        sa.text("select code, side, q, r from unit where position_id = :position order by code"), values
    ).all()
    return Pool(
        ruleset,
        {(row.q, row.r): row.label for row in hexes},
        {row.code: None if row.q is None else (row.q, row.r) for row in units},
        sorted({row.side for row in units}),
        sorted(
            connection.scalars(
                sa.text(
                    "select code from map_feature join position using (map_id)"
                    " where position.id = :position and map_feature.kind = 'position'"
                ),
                values,
            )
        ),
    )


class Comparison:
    """Two versions, and what was found so far."""

    def __init__(self, old: Version, new: Version, wanted: str | None, shown: int) -> None:
        self.old, self.new, self.shown = old, new, shown
        mine, theirs = new.verbs(), old.verbs()
        self.changes = {
            "only in old": sorted(set(theirs) - set(mine)),
            "only in new": sorted(set(mine) - set(theirs)),
            "other arguments": sorted(
                name for name in set(mine) & set(theirs) if mine[name].signature != theirs[name].signature
            ),
        }
        self.columns: dict[str, str] = {}
        both = [
            verb for name, verb in mine.items() if name in theirs and verb.arguments == theirs[name].arguments
        ]
        self.unasked = [str(verb) for verb in both if "position_id" not in verb.arguments]
        self.verbs = [
            verb
            for verb in both
            if "position_id" in verb.arguments and (wanted is None or wanted in str(verb))
        ]
        self.asked: collections.Counter[str] = collections.Counter()
        self.found = {how: collections.Counter[str]() for how in ("differs", "has another order")}

    def ask(self, verb: Verb, given: dict[str, Any], where: str) -> None:
        """One question, to both; who is asked first takes turns, so that times can be compared."""
        versions = [self.old, self.new] if self.asked[str(verb)] % 2 else [self.new, self.old]
        answers = {version.name: version.ask(verb, given) for version in versions}
        self.asked[str(verb)] += 1
        if how := self._difference(verb, answers["old"], answers["new"]):
            self.found[how][str(verb)] += 1
            if self.found[how][str(verb)] <= self.shown:
                print(f"\n{verb} {how} on {where}: {given}")
                for name, answer in answers.items():
                    lines = [answer] if isinstance(answer, str) else [answer.columns, *answer.rows]
                    print(*(f"  {name}: {line}" for line in lines), sep="\n")

    def _difference(self, verb: Verb, old: Answer | str, new: Answer | str) -> str | None:
        """How two answers differ in the columns that both have; one that is new or gone is noted once."""
        if isinstance(old, str) or isinstance(new, str):
            return "differs" if old != new else None
        if old.columns != new.columns:
            gained = [f"+{name}" for name in new.columns if name not in old.columns]
            lost = [f"-{name}" for name in old.columns if name not in new.columns]
            self.columns[str(verb)] = " ".join([*gained, *lost]) or "in another order"
        both = [name for name in new.columns if name in old.columns]
        before, after = old.part(both), new.part(both)
        if before == after:
            return None
        return "has another order" if sorted(before, key=repr) == sorted(after, key=repr) else "differs"

    def ask_all(self, position: int, where: str, dice: random.Random, times: int) -> None:
        """Every function about a position, so many times."""
        known = pool(self.new.connection, position)
        for verb in self.verbs:
            if verb.schema in (known.ruleset, "positions"):
                for _ in range(times):
                    given: dict[str, Any] = {"position_id": position}
                    try:
                        for argument in sorted(
                            set(verb.arguments) - {"position_id"}, key=lambda a: a != "unit"
                        ):
                            given[argument] = known.draw(verb, argument, given, dice)
                    except KeyError as unknown:
                        self.unasked.append(f"{verb} (nobody knows what to give for {unknown})")
                        self.verbs.remove(verb)
                        break
                    self.ask(verb, given, where)

    def ask_questions(self, position: int, case: Any, where: str) -> None:
        """The questions of a case, to the function of that name and to those that are called after it."""
        for question in case.questions:
            told = question.arguments.model_dump(mode="json", by_alias=True, exclude_none=True)
            told |= {"radius": told.pop("range", None), "traced_for": told.pop("for", None)}
            for verb in self.verbs:
                if verb.schema != case.position.ruleset or question.kind not in called(verb.name):
                    continue
                given: dict[str, Any] = {name: told.get(name) for name in verb.arguments}
                given["position_id"] = position
                if "target" in given:
                    given["target"] = told.get("to")
                if "options" in given:
                    beside = set(told) - set(verb.arguments) - {"to", "radius", "traced_for"}
                    given["options"] = {word: told[word] for word in beside}
                if "conditions" in given:
                    given["conditions"] = case.position.conditions | question.conditions
                    given["policy"] = case.position.policy | question.policy
                self.ask(verb, given, where)

    def report(self) -> bool:
        """Print what was found; whether the two agree."""
        print(
            f"\n{'function':<28}{'asked':>8}{'differ':>8}{'order':>7}{'old ms':>9}{'new ms':>9}{'new/old':>9}"
        )
        for name, times in sorted(self.asked.items()):
            old, new = (1000 * version.seconds[name] / times for version in (self.old, self.new))
            differ, order = (counts[name] for counts in self.found.values())
            print(f"{name:<28}{times:>8}{differ:>8}{order:>7}{old:>9.3f}{new:>9.3f}{new / old:>9.2f}")
        listed = self.changes | {
            "other columns": [f"{name} ({how})" for name, how in sorted(self.columns.items())],
            "not asked": self.unasked,
        }
        for what, names in listed.items():
            if names:
                print(f"{what}: {', '.join(names)}")
        return not any(counts.total() for counts in self.found.values())


def called(verb: str) -> tuple[str, str]:
    """The kinds of question that a function may answer, or tell the reasons of."""
    kind = verb.removesuffix("_reasons").replace("side_zone", "fire_zone")
    return kind, kind.removesuffix("_path")


def revision_sql(revision: str, folder: Path) -> Path:
    """The folder `sql/` of a revision."""
    archive = subprocess.run(["git", "archive", revision, "sql"], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        sys.exit(f"There is no sql/ of {revision}: {archive.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder / "sql"


def database(cluster: Cluster, name: str, template: str | None = None) -> Engine:
    with psycopg.connect(cluster.url("postgres"), autocommit=True) as connection:
        connection.execute(f"create database {name}" + (f" template {template}" if template else ""))
    return make_engine(make_url(cluster.url(name)).set(drivername="postgresql+psycopg"))


def two_versions(cluster: Cluster, older: Path) -> Iterator[Version]:
    """The working tree's, with the demo; and a copy of it with the functions of another version.

    The rulesets are copied along: an older version may lack functions that today's loader asks.
    """
    engine = database(cluster, "new")
    with engine.begin() as connection:
        db.schema.upgrade(connection, lambda step: None)
        add_demo(connection, lambda text: None, replace=False)
    engine.dispose()
    copy = database(cluster, "old", "new")
    ours = db.schema.SQL, db.schema._load_rulesets
    db.schema.SQL, db.schema._load_rulesets = older, lambda connection: None
    db.schema.verbs_digest.cache_clear()
    with copy.begin() as connection:
        db.schema.upgrade(connection, lambda step: None)
    db.schema.SQL, db.schema._load_rulesets = ours
    db.schema.verbs_digest.cache_clear()
    for name, source in (("old", copy), ("new", engine)):
        connection = source.connect()
        connection.execute(sa.text("analyze"))
        connection.execute(sa.text(f"set statement_timeout = '{SLOWEST}'"))
        connection.commit()
        yield Version(name, source, connection)


def stored(comparison: Comparison, position: Any) -> int:
    """The id of a position that is stored in both; it must be the same."""
    found = {store_position(version.connection, position) for version in (comparison.old, comparison.new)}
    assert len(found) == 1, "the two databases have drifted apart"
    return found.pop()


def undo(comparison: Comparison) -> None:
    for version in (comparison.old, comparison.new):
        version.connection.rollback()


def compare(comparison: Comparison, rulesets: list[str], seed: int, positions: int, times: int) -> None:
    """Ask on the cases, the demo and drawn positions."""
    dice = random.Random(seed)
    connection = comparison.new.connection
    for file in case_files([str(SUITE)]):
        if Path(file).parent.name in rulesets:
            case = read_case(Path(file).read_bytes(), file, forms(), connection)
            position = stored(comparison, case.position)
            comparison.ask_questions(position, case, Path(file).name)
            comparison.ask_all(position, Path(file).name, dice, 1)
            undo(comparison)
    saved = connection.execute(
        sa.text("select id, name, ruleset from position where name is not null order by id")
    )
    for row in saved.all():
        if row.ruleset in rulesets:
            comparison.ask_all(row.id, row.name, dice, 4 * times)
            undo(comparison)
    for n in range(positions):
        for ruleset in rulesets:
            where = f"drawn position {n} of {ruleset} (seed {seed})"
            position = stored(comparison, drawn(ruleset, random.Random(f"{seed} {n} {ruleset}"), connection))
            comparison.ask_all(position, where, dice, times)
            undo(comparison)


def main() -> None:
    """Compare, and exit with 1 where an answer differs."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("revision", help="the commit whose sql/ is compared with the working tree's")
    words.add_argument("--ruleset", choices=CODES, action="append", help="only this game; may be repeated")
    words.add_argument("--verb", help="only functions with this in their name, such as css.los")
    words.add_argument("--seed", type=int, default=1, help="another number draws other positions")
    words.add_argument("--positions", type=int, default=20, help="how many are drawn for each game")
    words.add_argument(
        "--times", type=int, default=5, help="how often each function is asked on each of them"
    )
    words.add_argument("--shown", type=int, default=2, help="how many differences of a function are shown")
    given = words.parse_args()
    with tempfile.TemporaryDirectory(prefix="sightline-compare-") as folder:
        home = Path(folder)
        home.chmod(0o755)
        older = revision_sql(given.revision, home / "older")
        cluster = Cluster(home / "cluster", durable=False)
        cluster.start()
        try:
            old, new = two_versions(cluster, older)
            comparison = Comparison(old, new, given.verb, given.shown)
            compare(comparison, given.ruleset or list(CODES), given.seed, given.positions, given.times)
            same = comparison.report()
            for version in (old, new):
                version.connection.close()
                version.engine.dispose()
        finally:
            cluster.destroy()
    sys.exit(not same)


if __name__ == "__main__":
    main()
