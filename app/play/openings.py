"""How a game is begun: from a saved position or from a scenario, by its name."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from app.play.dice import new_seed, read_seed
from app.play.games import new_game, set_up_further
from app.play.readjudication import checked_policy
from app.play.tables import GameError, Table, open_game
from db.database import fetched
from db.errata import in_force
from db.games import OBSERVER, REFEREE, Game
from db.inventory import NotThereError
from db.labels import nearest
from db.positions import Position
from db.rulesets import read_ruleset
from importers.cases import store_position
from importers.scenarios import Scenario, install, read_scenario, scenarios

POSITION, SCENARIO = "position:", "scenario:"
"""What stands before a name that a position and a scenario both have."""
LONGEST_NAME = 60


def begin(
    connection: Connection,
    source: str,
    *,
    name: str | None = None,
    title: str = "",
    dice: str = "server",
    seed: str | None = None,
    seats: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
    policy: Mapping[str, str] | None = None,
    files: bool = False,
) -> Table:
    """A new game from a saved position or a scenario; with `files`, also from a scenario's file.

    In the caller's transaction. `options` are those of the scenario; its set-up stands in the first event.
    `policy` are the readings that the table plays by, over those of the scenario or position.
    """
    if dice == "typed" and seed is not None:
        raise GameError("Typed dice have no seed.", "Leave the seed out, or let the server roll.")
    said: dict[str, Any] = {"title": title, "dice": dice}
    if dice == "server":
        said["seed"] = new_seed() if seed is None else read_seed(seed)
    what, called = _meant(connection, source, files)
    made: int | None = None
    if what == SCENARIO:
        scenario = read_scenario(called).chosen(options or {})
        install(connection, scenario)
        start = made = store_position(connection, dataclasses.replace(scenario.position, name=None))
        said |= {"scenario": scenario.name, "house": scenario.house, "title": title or scenario.title}
        said["opening"] = _opening(scenario)
        called = scenario.name
    elif options:
        raise GameError(
            f"{source} is a position, and has no options.", "Leave them out; a scenario may have some."
        )
    else:
        row = connection.execute(
            sa.select(Position.id, Position.title, Position.ruleset).where(Position.name == called)
        ).one()
        start, said["title"] = row.id, title or row.title
    _check_seats(connection, start, seats or {})
    if policy := _house_readings(connection, start) | dict(policy or {}):
        start = made = _with_readings(connection, start, made, policy)
    table = new_game(connection, name or free_name(connection, called), start, seats=seats, **said)
    if made is not None:
        fetched(connection, "delete from position where id = :id returning 1", {"id": made})
        set_up_further(connection, table.name)
    return open_game(connection, table.name)


def _house_readings(connection: Connection, start: int) -> dict[str, str]:
    """How house rules read the points that the position does not: a game keeps what held when it began."""
    row = connection.execute(sa.select(Position.ruleset, Position.policy).where(Position.id == start)).one()
    return {
        rule.point: str(rule.reading)
        for rule in in_force(connection, row.ruleset)
        if rule.point and rule.point not in row.policy
    }


def _with_readings(connection: Connection, start: int, made: int | None, policy: Mapping[str, str]) -> int:
    """The position that a game begins from, under other readings: a copy, unless it is the game's already."""
    ruleset = connection.scalar(sa.select(Position.ruleset).where(Position.id == start)) or ""
    readings = checked_policy(ruleset, {str(point): str(letter) for point, letter in policy.items()})
    if made is None:
        start = connection.scalar(sa.select(sa.func.positions.copy(start))) or start
    connection.execute(
        sa.update(Position).where(Position.id == start).values(policy=Position.policy.op("||")(readings))
    )
    return start


def _opening(scenario: Scenario) -> dict[str, Any]:
    """What the first event tells of a scenario: how many turns it has, and the steps of its set-up."""
    return {"length": scenario.length, "setup": scenario.as_dict()["setup"]}


def free_name(connection: Connection, source: str) -> str:
    """A name that no game has: that of what it begins from, and a number."""
    taken = set(connection.scalars(sa.select(Game.name).where(Game.name.startswith(f"{source}-"))))
    return next(name for n in range(1, len(taken) + 2) if (name := f"{source}-{n}") not in taken)


def _meant(connection: Connection, source: str, files: bool) -> tuple[str, str]:
    """What a name is the name of."""
    if files and source.endswith((".yaml", ".yml", ".json")):
        return SCENARIO, source
    known: dict[str, list[str]] = {
        POSITION: list(
            connection.scalars(
                sa.select(sa.type_coerce(Position.name, sa.Text())).where(Position.name.is_not(None))
            )
        ),
        SCENARIO: scenarios(),
    }
    for what, names in known.items():
        if source.startswith(what) and (name := source.removeprefix(what)) in names:
            return what, name
    found = [what for what, names in known.items() if source in names]
    if len(found) == 2:
        raise GameError(
            f"{source!r} is a position and a scenario.",
            f"Say which is meant: {POSITION}{source} or {SCENARIO}{source}.",
        )
    if not found:
        alike = nearest(source, [name for names in known.values() for name in names])
        meant = f"Is it {' or '.join(alike)}? " if alike else ""
        raise NotThereError(
            f"There is no position and no scenario {source[:80]!r}.",
            f"{meant}The scenarios are {', '.join(known[SCENARIO])}; `sightline positions list` tells the positions.",
        )
    return found[0], source


def _check_seats(connection: Connection, position: int, seats: Mapping[str, str]) -> None:
    ruleset = connection.scalar(sa.select(Position.ruleset).where(Position.id == position))
    known = (REFEREE, *read_ruleset(ruleset or "").facts.sides, OBSERVER)
    for role, who in seats.items():
        if role not in known:
            raise GameError(f"There is no seat {role!r} in {ruleset}.", f"There are {', '.join(known)}.")
        if not is_seated(who):
            raise GameError(f"{who[:LONGEST_NAME]!r} cannot sit as {role}.", "A name is one short line.")


def is_seated(name: str) -> bool:
    """Whether somebody can be called so: a line of the record holds it."""
    return 0 < len(name.strip()) <= LONGEST_NAME and name.isprintable()
