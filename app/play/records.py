"""A game as one text: a header, then an event a block, and the map at the end; written, and read back whole or not at all.

    Game      angaur-1
    Title     Angaur
    ...

    7. us attack  [turn 1, combat, us]
       # The attack on 1404 succeeds: D2 ...
       arguments: {"at": "1404", "by": ["1/22"]}
       digest: 5f0c...

What stands after a colon is JSON just as the log has it, so that digests hold elsewhere too; the line in words is
for people, and is not read.
"""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from app.play.tables import GameError, Table, check_name, open_game, seats
from app.play.verification import verify
from app.play.words import sentence
from db.database import fetched
from db.games import DICE, Game, Seat
from db.maps import Map
from db.rulesets import CODES
from db.values import canonical
from importers.documents import Problems, read_document
from importers.map_formats import read_root
from importers.map_writing import write_yaml
from importers.maps import load_draft, store_map

Tree = dict[str, Any]
FIRST_LINE = "Sightline game record, version 1"
HEADER = ("Game", "Title", "Ruleset", "Map", "Scenario", "House", "Dice", "Seed", "Over", "Policy", "Seats")
SEED = re.compile("[0-9a-f]{64}")
BEGINS = re.compile(r"(\d+)\. (\S+) (\S+)(?:  .*)?")
SAYS = re.compile(r"   ([a-z_]+): (.+)")
COMMENT = "   # "
MAP = "The map"
POSITION = "The first position"
COLUMNS = (
    "at", "actor", "action", "arguments", "rolls", "draws", "choices", "answer", "steps", "contested", "effects", "changes",
    "phase", "legality", "note", "undoes", "ruleset_version", "position_digest", "previous", "digest",
)  # fmt: skip
UNSAID = {"actor", "action"}
"""Columns that stand in the first line of a block."""


class RecordError(GameError):
    """A text that is no game's record, or one whose digests do not hold."""


def write_record(connection: Connection, name: str) -> str:
    """A game as a text; a seed that is not opened stays out of it."""
    table = open_game(connection, name)
    return "\n".join(
        [
            FIRST_LINE,
            "",
            *_header(connection, table),
            "",
            *_events(connection, table),
            *_ground(connection, table),
        ]
    )


def _header(connection: Connection, table: Table) -> list[str]:
    told = {
        "Game": table.name,
        "Title": " ".join(table.title.split()),
        "Ruleset": table.ruleset,
        "Map": table.map,
        "Scenario": table.scenario,
        "House": "yes" if table.house else None,
        "Dice": table.dice,
        "Seed": table.seed.hex() if table.seed is not None and table.opened else None,
        "Over": "yes" if table.over else None,
        "Policy": canonical(table.policy) if table.policy else None,
        "Seats": canonical(seats(connection, table)),
    }
    return [f"{key:<10}{value}" for key, value in told.items() if value not in (None, "{}")]


def _events(connection: Connection, table: Table) -> list[str]:
    """Every event as a block: JSON as the database writes it, so that nothing is rounded on the way."""
    rows = fetched(
        connection,
        "select event.number, event.actor, event.action, event.phase, told.key, told.value::text as value"
        " from event cross join lateral jsonb_each(to_jsonb(event)) as told (key, value)"
        " where event.game_id = :game and told.value not in ('null', '[]', '{}') order by event.number",
        {"game": table.id},
    )
    blocks: dict[int, Tree] = {}
    for row in rows:
        block = blocks.setdefault(row.number, {"head": row, "said": {}})
        if row.key in COLUMNS and row.key not in UNSAID:
            block["said"][row.key] = row.value
    lines: list[str] = []
    for number, block in blocks.items():
        head = block["head"]
        when = ", ".join(f"{key} {value}" for key, value in head.phase.items())
        lines.append(f"{number}. {head.actor} {head.action}" + (f"  [{when}]" if when else ""))
        lines.append(f"   # {_words(table, head, block['said'])}")
        lines += [f"   {key}: {block['said'][key]}" for key in COLUMNS if key in block["said"]]
        lines.append("")
    return lines


def _words(table: Table, head: Any, said: dict[str, str]) -> str:
    """What happened, for people; it is not read back."""
    told = {key: json.loads(value) for key, value in said.items()}
    return " ".join(sentence(table.ruleset, {"actor": head.actor, "action": head.action, **told}).split())


def _ground(connection: Connection, table: Table) -> list[str]:
    [first] = fetched(
        connection,
        "select tree::text as tree from snapshot where game_id = :game and number = 1",
        {"game": table.id},
    )
    draft = load_draft(connection, table.map_id)
    return [
        POSITION,
        f"   {first.tree}",
        "",
        MAP,
        *(f"   {line}" for line in write_yaml(draft).splitlines()),
        "",
    ]


# Reading.


@dataclasses.dataclass
class Record:
    """A record that was read, and not yet checked against its digests."""

    header: dict[str, str]
    events: list[dict[str, str]]
    """Columns of each event as JSON text."""
    tree: str
    map: str


def read_record(text: str) -> Record:
    """The parts of a record; every mistake in its form is told with its line."""
    problems: list[str] = []
    record = Record({}, [], "", "")
    lines = text.splitlines()
    if not lines or lines[0].strip() != FIRST_LINE:
        raise RecordError(
            "This is no game record: it does not begin with its first line.", f"It should be `{FIRST_LINE}`."
        )
    section = "header"
    ground: list[str] = []
    for n, line in enumerate(lines[1:], 2):
        if line in (MAP, POSITION):
            section = line
        elif section == MAP:
            ground.append(line[3:])
        elif not line.strip() or line.startswith(COMMENT):
            continue
        elif section == POSITION:
            record.tree = line.strip()
        elif (found := BEGINS.fullmatch(line)) is not None:
            section = "events"
            number, actor, action = found.groups()
            if number != str(len(record.events) + 1):
                problems.append(f"line {n}: event {number} comes where {len(record.events) + 1} should")
            record.events.append({"actor": json.dumps(actor), "action": json.dumps(action), "line": str(n)})
        elif section == "events" and (said := SAYS.fullmatch(line)) is not None and said[1] in COLUMNS:
            problems += _json_problem(n, said[2])
            record.events[-1][said[1]] = said[2]
        elif section == "header" and line.split(maxsplit=1)[0] in HEADER and len(line.split(maxsplit=1)) == 2:
            key, value = line.split(maxsplit=1)
            record.header[key] = value.strip()
        else:
            problems.append(f"line {n}: {line.strip()[:40]!r} is no part of a record")
    problems += [
        f"the header lacks {key}" for key in ("Game", "Ruleset", "Map", "Dice") if key not in record.header
    ]
    problems += [
        f"there is no section `{name}`" for name, told in ((POSITION, record.tree), (MAP, ground)) if not told
    ]
    problems += _header_problems(record.header)
    if not record.events:
        problems.append("there is no event")
    if record.tree:
        problems += _json_problem(0, record.tree)
    if problems:
        raise RecordError("The record cannot be read: " + "; ".join(problems[:8]) + ".")
    record.map = "\n".join(ground) + "\n"
    return record


def _header_problems(head: dict[str, str]) -> list[str]:
    """What the header says that no game can have."""
    known = (("Ruleset", CODES), ("Dice", DICE), ("House", ("yes",)), ("Over", ("yes",)))
    problems = [
        f"{key} is {head[key]!r}, and is one of {', '.join(of)}"
        for key, of in known
        if head.get(key, of[0]) not in of
    ]
    if "Seed" in head and not SEED.fullmatch(head["Seed"]):
        problems.append("Seed is not 64 hexadecimal digits")
    for key in ("Policy", "Seats"):
        try:
            told = json.loads(head.get(key, "{}"))
        except (ValueError, RecursionError):
            told = None
        if not isinstance(told, dict) or not all(isinstance(value, str) for value in told.values()):
            problems.append(f"{key} is no JSON object of words")
    return problems


def _json_problem(line: int, text: str) -> list[str]:
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        return [f"line {line}: not JSON ({error})"]
    return []


def import_record(connection: Connection, text: str, *, name: str | None = None) -> Table:
    """A game from its record, with the same digests; where one does not hold, nothing is brought in.

    In the caller's transaction. The map of the record is used where there is none of its name; where there is
    one, it must be the same, wherever in the world it lies.
    """
    record = read_record(text)
    head = record.header
    called = name or head["Game"]
    check_name(called)
    if connection.scalar(sa.select(Game.id).where(Game.name == called)) is not None:
        raise RecordError(f"There is a game {called!r} already.", "Give this one another name.")
    try:
        with connection.begin_nested():
            game_id = _stored(connection, record, called)
            _write_events(connection, game_id, record)
            table = open_game(connection, called)
            found = verify(connection, table)
            if not found.ok:
                raise _refused("; ".join(found.problems[:5]))
    except sa.exc.DBAPIError as error:
        message = getattr(getattr(error.orig, "diag", None), "message_primary", None) or str(error.orig)
        raise _refused(message) from error
    return table


def _refused(why: str) -> RecordError:
    return RecordError(
        f"The record was not brought in: {why}.", "Ask whoever sent it for the text as it was written."
    )


def _stored(connection: Connection, record: Record, called: str) -> int:
    head = record.header
    map_id = _map(connection, record)
    policy = head.get("Policy", "{}")
    [row] = fetched(
        connection,
        "select games.store(:map, :ruleset, cast(:policy as jsonb), cast(:tree as jsonb)) as position",
        {"map": map_id, "ruleset": head["Ruleset"], "policy": policy, "tree": record.tree},
    )
    game_id: int | None = connection.scalar(
        sa.insert(Game)
        .values(
            name=called, title=head.get("Title", called), ruleset=head["Ruleset"], position_id=row.position,
            scenario=head.get("Scenario"), house=head.get("House") == "yes", dice=head["Dice"],
            seed=bytes.fromhex(head["Seed"]) if "Seed" in head else None, opened="Seed" in head,
            over=head.get("Over") == "yes",
        )
        .returning(Game.id)
    )  # fmt: skip
    assert game_id is not None
    for role, who in json.loads(head.get("Seats", "{}")).items():
        connection.execute(sa.insert(Seat).values(game_id=game_id, role=role, name=who))
    return game_id


def _map(connection: Connection, record: Record) -> int:
    """The map that the record was played on: the one that is there, if it is the same, or the record's own."""
    name = record.header["Map"]
    problems = Problems()
    draft = read_root(read_document(record.map, f"map {name}", problems), problems)
    problems.raise_if_any()
    assert draft is not None
    draft.name = name
    there: int | None = connection.scalar(sa.select(Map.id).where(Map.name == name))
    if there is None:
        return store_map(connection, draft)
    here = load_draft(connection, there)
    # where in the world a map lies is beside its hexes: no game knows it
    here.georeference = draft.georeference
    if write_yaml(here) != record.map:
        raise RecordError(
            f"The map {name!r} is another one here than the record was played on.",
            "Rename the map that is here, or the one in the record.",
        )
    return there


def _write_events(connection: Connection, game_id: int, record: Record) -> None:
    """Events as they stand; the position is brought to where the log leads."""
    [game] = fetched(connection, "select position_id from game where id = :game", {"game": game_id})
    for number, event in enumerate(record.events, 1):
        told = (
            "{"
            + ", ".join(f"{json.dumps(key)}: {value}" for key, value in event.items() if key != "line")
            + "}"
        )
        fetched(
            connection,
            "select games.restore(:game, :number, cast(:told as jsonb))",
            {"game": game_id, "number": number, "told": told},
        )
        if number == 1:
            fetched(
                connection,
                "insert into snapshot (game_id, number, tree) values (:game, 1, games.tree(:position)) returning 1",
                {"game": game_id, "position": game.position_id},
            )
