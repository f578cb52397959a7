"""A plain player who enters a whole game through the API: lands, bombards, goes forward, attacks together.

    python -m tests.games.player angaur mode=solitaire > tests/games/fpb/angaur-solitaire.txt

writes the record that the tests replay and rule on again. The same seed plays the same game. A game of many
choices is played at random instead:

    python -m tests.games.player jungle_trail random turns=6 > tests/games/bob/jungle-trail.txt
"""

from __future__ import annotations

import random
import sys
from typing import Any

from flask.testing import FlaskClient

from app.play.fuzz import turn
from app.play.openings import begin
from app.play.records import write_record
from app.play.tables import open_game
from app.web.site import create_app
from db.database import open_database
from db.settings import load_settings

Tree = dict[str, Any]
FIRST = (
    "assault_boats",
    "withhold",
    "placement",
    "landing",
    "bombardment",
    "attack",
    "forced_move",
    "rebuild",
    "move",
)
"""What is done before anything else, where it may be."""
MOST_ACTIONS = 1000
ONCE = {"withhold": 1, "assault_boats": 2}
"""How often something is done in a game that could be done more often."""


class Player:
    """Plays one game by its address."""

    def __init__(self, client: FlaskClient, name: str) -> None:
        self.client, self.name = client, name
        self.done: list[str] = []
        self.moved: set[str] = set()

    def play(self) -> None:
        """Until the game is over."""
        for _ in range(MOST_ACTIONS):
            now = self._get("")
            if now.get("over"):
                return
            self._answer(now["pending"]["prompt"]) if now.get("pending") else self._act(now)
        raise AssertionError("the game does not end")

    def _act(self, now: Tree) -> None:
        offers = self._get("/legal")["actions"]
        found = next((one for name in FIRST if (one := self._best(name, offers)) is not None), None)
        chosen = found or {"action": "end_phase", "arguments": {}}
        if chosen["action"] == "end_phase":
            self.moved = set()
        self._post(chosen["action"], chosen["arguments"])
        self.done.append(chosen["action"])

    def _best(self, name: str, offers: list[Tree]) -> Tree | None:
        """Of the offers of one action, the one that uses most: attackers, steps."""
        mine = [offer for offer in offers if offer["action"] == name]
        if self.done.count(name) >= ONCE.get(name, MOST_ACTIONS):
            return None
        if name == "move":
            mine = [offer for offer in mine if offer["arguments"]["unit"] not in self.moved]
        if not mine:
            return None
        best = max(
            mine, key=lambda offer: len(str(offer["arguments"].get("by", offer["arguments"].get("path", ""))))
        )
        if name == "move":
            self.moved.add(best["arguments"]["unit"])
        return best

    def _answer(self, prompt: Tree) -> None:
        if "default" in prompt:
            value = prompt["default"]
        elif prompt.get("many"):
            value = []
        else:
            value = prompt["options"][0]
        self._post("answer", {"choices": {prompt["choice"]: value}})

    def _get(self, path: str) -> Tree:
        answer = self.client.get(f"/api/v1/games/{self.name}{path}")
        assert answer.status_code == 200, answer.text
        told: Tree = answer.get_json()
        return told

    def _post(self, action: str, arguments: Tree) -> None:
        body = {"action": action, "arguments": arguments}
        answer = self.client.post(f"/api/v1/games/{self.name}/actions", json=body)
        assert answer.status_code in (200, 201, 202), f"{body}: {answer.text}"


def played(client: FlaskClient, scenario: str, name: str, options: Tree) -> Player:
    """A game of a scenario, from its beginning to its end."""
    body = {"from": f"scenario:{scenario}", "name": name, "seed": f"{scenario} {name}", "options": options}
    answer = client.post("/api/v1/games", json=body)
    assert answer.status_code == 201, answer.text
    player = Player(client, name)
    player.play()
    return player


def at_random(scenario: str, name: str, options: Tree) -> str:
    """A game of random legal actions, from its beginning to its end, as its record; nothing is kept."""
    with open_database().connect() as connection:
        begin(connection, f"scenario:{scenario}", name=name, seed=f"{scenario} {name}", options=options)
        dice = random.Random(name)
        while not (table := open_game(connection, name)).over:
            turn(connection, table, dice)
        record = write_record(connection, name)
        connection.rollback()
        return record


def main(scenario: str, *options: str) -> None:
    if options[:1] == ("random",):
        chosen: Tree = {
            key: int(value) for key, _, value in (option.partition("=") for option in options[1:])
        }
        print(at_random(scenario, scenario.replace("_", "-"), chosen), end="")
        return
    client = create_app(load_settings(), open_database()).test_client()
    name = "-".join([scenario, *(option.partition("=")[2].replace("_", "-") for option in options)])
    played(client, scenario, name, dict(option.split("=", 1) for option in options))
    print(client.get(f"/api/v1/games/{name}/record").text, end="")
    client.delete(f"/api/v1/games/{name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
