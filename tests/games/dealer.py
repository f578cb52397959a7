"""A random player who plays a whole game of a scenario by the legal actions, for games with hidden hands.

    python -m tests.games.dealer hanua_ridge SEED rerolls=unasked > tests/games/ccp/hanua-ridge.txt

writes the record that the tests prove and rule on again. The same seed plays the same game.
"""

from __future__ import annotations

import random
import sys

from sqlalchemy.engine import Connection

from app.play.fuzz import MOST_ACTIONS, turn
from app.play.openings import begin
from app.play.records import write_record
from app.play.tables import open_game
from db.database import open_database, undone


def dealt(connection: Connection, scenario: str, name: str, seed: str, options: dict[str, str]) -> str:
    """A game from its beginning to its end, as a record."""
    begin(connection, f"scenario:{scenario}", name=name, seed=seed, options=options)
    dice = random.Random(seed)
    for _ in range(MOST_ACTIONS):
        table = open_game(connection, name)
        if table.over:
            return write_record(connection, name)
        turn(connection, table, dice)
    raise AssertionError("the game does not end")


def main(scenario: str, seed: str, *options: str) -> None:
    name = scenario.replace("_", "-")
    with (
        open_database().connect() as connection,
        undone(connection),
    ):
        print(
            dealt(connection, scenario, name, seed, dict(option.split("=", 1) for option in options)), end=""
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
