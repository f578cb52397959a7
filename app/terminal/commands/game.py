"""`sightline game …`: games begun, acted in, taken back, looked at, proved, and sent elsewhere."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from sqlalchemy.engine import Connection

from app.play.branches import board_at, fork, position_at
from app.play.dice import read_seed
from app.play.fuzz import fuzz
from app.play.games import abandon, act, acting, delete_game
from app.play.log import Deed, Entry, log, note
from app.play.openings import begin
from app.play.prospects import actions_now, legal
from app.play.readjudication import checked_policy, readjudicate
from app.play.records import import_record, write_record
from app.play.tables import NotAllowedError, Table, games, open_game, seats
from app.play.undo import redo, undo
from app.play.verification import verify
from app.play.words import event_line, event_lines, known_so_far, moment_in_words, sentence, waiting_in_words
from app.referee.rulings import Step
from app.referee.words import counted, step_in_words
from app.terminal.caution import confirm, refuse_overwriting
from app.terminal.counters import print_counters
from app.terminal.database import asking, owning, writing
from app.terminal.output import out, print_json, print_table, progress, say
from app.terminal.report import report_ruling
from app.terminal.written import Setting, Written, nested
from db import SightlineError
from db.database import undone
from db.games import DICE, REFEREE
from db.rulesets import CODES
from importers.documents import resolved
from importers.map_writing import flow
from importers.scenarios import scenarios

STANDS = ("illegal_stood", "overruled")
WRITTEN = Written()
NOTE = click.option("--note", metavar="TEXT", help="Why, for the log.")
AS = click.option(
    "--as", "actor", metavar="SIDE", help="Who does it: a side, or referee.  [default: whoever is on turn]"
)
BY = click.option(
    "--as",
    "actor",
    default=REFEREE,
    show_default=True,
    metavar="SIDE",
    help="Who does it: a side, or referee.",
)
EXPECT = click.option(
    "--expect", type=click.IntRange(1), metavar="NUMBER", help="Only if this is still the last event."
)
KEY = click.option(
    "--key", metavar="TEXT", help="A key of your own: the same request again is not done again."
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def answers(command: Callable[..., None]) -> Callable[..., None]:
    """The options by which dice, draws and choices are told."""
    for option in reversed(
        (
            click.option("--roll", "rolls", type=WRITTEN, multiple=True, metavar="N",
                         help="What the dice show, in the order called for: 5, or [3, 5]; may be repeated."),
            click.option("--draw", "draws", type=WRITTEN, multiple=True, metavar="COUNTER",
                         help="A counter that was drawn; may be repeated."),
            click.option("--card", "cards", type=WRITTEN, multiple=True, metavar="CARD",
                         help="A card that was drawn; may be repeated."),
            click.option("--choice", "choices", type=Setting(), multiple=True, metavar="NAME=VALUE",
                         help="What a player decides; may be repeated."),
        )
    ):  # fmt: skip
        command = option(command)
    return command


@click.group("game")
def game_group() -> None:
    """Play and keep games: every action with its rules, its dice and what it changed.

    \b
    Examples:
      sightline game new tanaro-assault --name tanaro
      sightline game act tanaro end_phase
      sightline game log tanaro
    """


@game_group.command("new")
@click.argument("source", metavar="SCENARIO|POSITION")
@click.option("--name", metavar="NAME", help="Its short name.  [default: that of the source, with a number]")
@click.option("--title", default="", metavar="TEXT", help="Its name for people.")
@click.option("--seed", metavar="TEXT", help="Derive the dice from this, so that the game can be repeated.")
@click.option("--dice", type=click.Choice(DICE), default="server", show_default=True, help="Who rolls.")
@click.option(
    "--seat",
    "seats",
    type=Setting(),
    multiple=True,
    metavar="SIDE=NAME",
    help="Who sits there; may be repeated.",
)
@click.option(
    "--option", "options", type=Setting(), multiple=True, metavar="NAME=VALUE",
    help="What players choose before a scenario begins; may be repeated.",
)  # fmt: skip
@JSON
def new(
    source: str,
    name: str | None,
    title: str,
    seed: str | None,
    dice: str,
    seats: tuple[tuple[str, str], ...],
    options: tuple[tuple[str, str], ...],
    as_json: bool,
) -> None:
    """Begin a game from a scenario or a saved position.

    The position is copied and stays as it is. The digest of the seed is published in the
    first event; the seed itself is told when the game is over.

    \b
    Examples:
      sightline game new tanaro-assault --name tanaro --seat us=Anna --seat japan=Ben
      sightline game new angaur --option mode=solitaire
      sightline game new tanaro-assault --dice typed
      sightline game new position:tanaro-assault --seed "monday evening"
    """
    with writing() as connection:
        table = begin(
            connection,
            source,
            name=name,
            title=title,
            dice=dice,
            seed=seed,
            seats=dict(seats),
            options={option: resolved(value) for option, value in options},
            files=True,
        )
    if as_json:
        print_json(table.as_dict())
        return
    out.print(f"{table.name}: {table.title}", markup=False)
    if table.seed is not None:
        out.print(f"  the seed's SHA-256 is {table.as_dict()['seed_sha256']}", markup=False)
    _tell_now(table)


@game_group.command("list")
@click.option("--ruleset", type=click.Choice(CODES), help="Of this game.")
@JSON
def list_games(ruleset: str | None, as_json: bool) -> None:
    """Every game with where it stands, the latest first.

    \b
    Examples:
      sightline game list
      sightline game list --ruleset fpb --json
    """
    with asking() as connection:
        found = games(connection, ruleset)
    if as_json:
        print_json([table.as_dict() for table in found])
        return
    print_table(
        ("name", "title", "ruleset", "events", "now"),
        [
            (
                table.name, table.title, table.ruleset, table.events,
                "over" if table.over else moment_in_words(table.moment.as_dict()),
            )
            for table in found
        ],
    )  # fmt: skip
    if not found:
        say("there is no game yet: `sightline game new SCENARIO|POSITION`")


@game_group.command("show")
@click.argument("name")
@JSON
def show(name: str, as_json: bool) -> None:
    """How game NAME stands: phase, last event, what is awaited, who sits where.

    \b
    Examples:
      sightline game show tanaro
      sightline game show tanaro --json
    """
    with asking() as connection:
        table = open_game(connection, name)
        sitting = seats(connection, table)
    told = table.as_dict()
    if as_json:
        print_json(told | {"seats": sitting, "actions": actions_now(table)})
        return
    rows: list[tuple[str, object]] = [
        (key, told[key])
        for key in ("game", "title", "ruleset", "map", "scenario", "dice", "events", "digest")
        if key in told
    ]
    rows += [(key.replace("_", " "), told[key]) for key in ("seed_sha256", "seed") if key in told]
    rows += [(f"seat {role}", who) for role, who in sitting.items()]
    rows.append(("now", "over" if table.over else moment_in_words(told["now"])))
    if table.pending is not None:
        rows.append(("waits", waiting_in_words(table.pending)))
    rows.append(("may be done", ", ".join(actions_now(table))))
    print_table(("what", "is"), rows)


@game_group.command("act")
@click.argument("name")
@click.argument("action")
@click.argument("arguments", required=False, type=WRITTEN, default="{}")
@answers
@AS
@NOTE
@EXPECT
@KEY
@click.option(
    "--stands",
    type=click.Choice(STANDS),
    help="Record what the rules do not allow: it stood, or was overruled.",
)
@JSON
def act_command(name: str, action: str, arguments: Any, as_json: bool, **said: Any) -> None:
    """Do ACTION in game NAME, with ARGUMENTS in the words of a case file.

    Prints what happened: the verdict, every rule, dice and their source, what changed, what is
    awaited. The referee may `set` anything by hand, with a note. Exit status 0: done, or it waits for
    an answer; 1: the rules do not allow it; 2: it could not be done. Unless it is done, nothing changes.

    \b
    Examples:
      sightline game act tanaro end_phase
      sightline game act tanaro attack '{by: [1/161], at: "1014"}' --roll 5
      sightline game act tanaro set '{effects: [{unit: 1/161, at: "0914"}]}' --note "agreed"
    """
    _do(name, action, arguments, as_json, **said)


@game_group.command("answer")
@click.argument("name")
@click.argument("arguments", required=False, type=WRITTEN, default="{}")
@answers
@AS
@NOTE
@EXPECT
@KEY
@JSON
def answer_command(name: str, arguments: Any, as_json: bool, **said: Any) -> None:
    """Answer what an action of game NAME waits for: a roll, a draw or a choice.

    \b
    Examples:
      sightline game answer tanaro --roll 4
      sightline game answer tanaro --choice retreat_to=0815 --as japan
    """
    _do(name, "answer", arguments, as_json, stands=None, **said)


def _do(
    name: str,
    action: str,
    arguments: Any,
    as_json: bool,
    *,
    rolls: tuple[Any, ...],
    draws: tuple[Any, ...],
    cards: tuple[Any, ...],
    choices: tuple[tuple[str, str], ...],
    actor: str | None,
    note: str | None,
    expect: int | None,
    key: str | None,
    stands: str | None,
) -> None:
    told = _with_options(arguments, rolls=rolls, draws=draws, cards=cards, choices=choices)
    try:
        with writing() as connection:
            by = actor or acting(open_game(connection, name, writing=True), action)
            deed = Deed(action, told, by, note, expect, key, stands, named=actor is not None)
            entry = act(connection, name, deed)
            table = open_game(connection, name)
    except NotAllowedError as refused:
        _tell_refusal(refused, as_json)
        raise click.exceptions.Exit(1) from refused
    _tell_entry(entry, table, as_json)


def _with_options(
    arguments: Any, choices: Iterable[tuple[str, str]], **answers: tuple[Any, ...]
) -> dict[str, Any]:
    """The arguments with the answers that were given as options."""
    if not isinstance(arguments, dict):
        raise SightlineError(
            "The arguments are no mapping.", "Write them as a case file does: '{by: [1/161], at: \"1014\"}'."
        )
    told = dict(arguments)
    given: dict[str, Any] = {key: list(values) for key, values in answers.items() if values}
    if chosen := {choice: WRITTEN.convert(value, None, None) for choice, value in choices}:
        given["choices"] = chosen
    if twice := sorted(given.keys() & told.keys()):
        raise SightlineError(f"{', '.join(twice)} are told twice: as an argument and by an option.")
    return told | given


@game_group.command("legal")
@click.argument("name")
@click.option("--unit", metavar="ID", help="What this unit may do.")
@click.option("--side", metavar="SIDE", help="What this side may do.  [default: whoever is on turn]")
@JSON
def legal_command(name: str, unit: str | None, side: str | None, as_json: bool) -> None:
    """What may be done now in game NAME.

    Where the game can tell them, actions come with arguments, to be entered as they stand.

    \b
    Examples:
      sightline game legal tanaro
      sightline game legal tanaro --unit 1/161 --json
    """
    with asking() as connection:
        table = open_game(connection, name)
        told = legal(connection, table, unit=unit, side=side)
    if as_json:
        print_json(told)
        return
    out.print(f"now: {'over' if table.over else moment_in_words(told['now'])}", markup=False)
    if "pending" in told:
        out.print(waiting_in_words(told["pending"]), markup=False)
    if "actions" in told:
        for action in told["actions"]:
            out.print(f"{action['action']} {flow(action.get('arguments', {}))}", markup=False)
    else:
        out.print("\n".join(told["names"]), markup=False)


@game_group.command("log")
@click.argument("name")
@click.option("-v", "--verbose", is_flag=True, help="Every rule, roll and effect, too.")
@click.option(
    "--first", type=click.IntRange(1), default=1, show_default=True, metavar="NUMBER", help="From here."
)
@click.option("--last", type=click.IntRange(1), metavar="NUMBER", help="To here.")
@JSON
def log_command(name: str, verbose: bool, first: int, last: int | None, as_json: bool) -> None:
    """The log of game NAME, an event a line.

    \b
    Examples:
      sightline game log tanaro
      sightline game log tanaro -v --first 10 --last 20
    """
    with asking() as connection:
        table = open_game(connection, name)
        events = log(connection, table, first=first, last=last)
    if as_json:
        print_json([{**event, "verdict": sentence(table.ruleset, event)} for event in events])
        return
    for event in events:
        style = "dim strike" if "struck_out_by" in event else None
        out.print(event_line(table.ruleset, event), markup=False, style=style)
        for line in event_lines(table.ruleset, event) if verbose else ():
            out.print(f"  {line}", markup=False)


@game_group.command("at")
@click.argument("name")
@click.argument("number", type=click.IntRange(1), required=False)
@click.option(
    "--ask",
    "question",
    type=WRITTEN,
    metavar="QUESTION",
    help="Put a question to it: '{los: {from: A, to: B}}'.",
)
@click.option(
    "--policy",
    type=Setting(),
    multiple=True,
    metavar="POINT=READING",
    help="Read a contested point so; may be repeated.",
)
@click.option(
    "--condition",
    type=Setting(),
    multiple=True,
    metavar="NAME=VALUE",
    help="What holds for the question; may be repeated.",
)
@JSON
def at(
    name: str,
    number: int | None,
    question: Any,
    policy: tuple[tuple[str, str], ...],
    condition: tuple[tuple[str, str], ...],
    as_json: bool,
) -> None:
    """The position of game NAME after event NUMBER, or now; it can be asked like any position.

    \b
    Examples:
      sightline game at tanaro 3
      sightline game at tanaro 3 --ask '{range: {from: 1/161, to: I/41}}'
    """
    with asking() as connection:
        table = open_game(connection, name)
        after = table.events if number is None else number
        if question is None:
            told = position_at(connection, table, after)
        else:
            asked = _question(question, policy, condition)
            with board_at(connection, table, after) as board:
                ruling = board.ask(connection, asked).ruling
    if question is None:
        _tell_position(told, as_json)
    elif as_json:
        print_json({"game": name, "after": after} | ruling.as_dict())
    else:
        report_ruling(ruling, out)


def _question(
    question: Any, policy: tuple[tuple[str, str], ...], condition: tuple[tuple[str, str], ...]
) -> dict[str, Any]:
    if not isinstance(question, dict):
        raise SightlineError(
            "The question is no mapping.",
            'Write it as a case file does: \'{range: {from: "0815", to: "1014"}}\'.',
        )
    beside = {"policy": dict(policy), "conditions": nested(condition)}
    return question | {key: value for key, value in beside.items() if value}


def _tell_position(told: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(told)
        return
    about = [(key, told[key]) for key in ("game", "after", "ruleset", "map")]
    about += [(key, flow(told[key])) for key in ("conditions", "policy", "tracks") if key in told]
    print_table(("what", "is"), about)
    print_counters(told)


@game_group.command("undo")
@click.argument("name")
@click.option("--events", type=click.IntRange(1), default=1, show_default=True, metavar="N", help="How many.")
@click.option("--free-dice", is_flag=True, help="Let the same action be rolled for anew (referee only).")
@BY
@NOTE
@EXPECT
@KEY
@JSON
def undo_command(
    name: str,
    events: int,
    free_dice: bool,
    actor: str,
    note: str | None,
    expect: int | None,
    key: str | None,
    as_json: bool,
) -> None:
    """Take back the last events of game NAME; they stay in the log, struck out.

    Dice that were rolled for them are kept for the same action.

    \b
    Examples:
      sightline game undo tanaro
      sightline game undo tanaro --events 3 --note "the hex was misread"
    """
    with writing() as connection:
        entry = undo(
            connection, name, actor=actor, events=events, free_dice=free_dice, note=note,
            expected=expect, key=key,
        )  # fmt: skip
        table = open_game(connection, name)
    _tell_entry(entry, table, as_json)


@game_group.command("redo")
@click.argument("name")
@BY
@NOTE
@EXPECT
@KEY
@JSON
def redo_command(
    name: str, actor: str, note: str | None, expect: int | None, key: str | None, as_json: bool
) -> None:
    """Do again what the last undo of game NAME took back.

    \b
    Examples:
      sightline game redo tanaro
      sightline game redo tanaro --note "it was right after all"
    """
    with writing() as connection:
        entry = redo(connection, name, actor=actor, note=note, expected=expect, key=key)
        table = open_game(connection, name)
    _tell_entry(entry, table, as_json)


@game_group.command("fork")
@click.argument("name")
@click.argument("number", type=click.IntRange(1))
@click.argument("new_name")
@click.option("--title", default="", metavar="TEXT", help="Its name for people.")
@JSON
def fork_command(name: str, number: int, new_name: str, title: str, as_json: bool) -> None:
    """Branch NEW_NAME off from game NAME where it was after event NUMBER, with dice of its own.

    \b
    Examples:
      sightline game fork tanaro 12 tanaro-b
    """
    with writing() as connection:
        table = fork(connection, name, number, new_name, title=title)
    if as_json:
        print_json(table.as_dict())
        return
    out.print(f"{table.name}: {table.title}", markup=False)
    _tell_now(table)


@game_group.command("note")
@click.argument("name")
@click.argument("number", type=click.IntRange(1))
@click.argument("text")
@click.option("--author", default=REFEREE, show_default=True, metavar="NAME", help="Who says it.")
@click.option("--ruling", metavar="ID", help="A kept ruling that it refers to.")
def note_command(name: str, number: int, text: str, author: str, ruling: str | None) -> None:
    """Say TEXT of event NUMBER of game NAME; the event itself stays as it is.

    \b
    Examples:
      sightline game note tanaro 7 "this decided the day"
    """
    with writing() as connection:
        note(connection, name, number, text, author=author, ruling=ruling)
    say(f"noted at event {number} of {name}")


@game_group.command("abandon")
@click.argument("name")
@click.option("--note", required=True, metavar="TEXT", help="Why, for the log.")
@KEY
@JSON
def abandon_command(name: str, note: str, key: str | None, as_json: bool) -> None:
    """As the referee, give up an action of game NAME that waits for an answer.

    What was rolled for it is written down.

    \b
    Examples:
      sightline game abandon tanaro --note "the wrong hex"
    """
    with writing() as connection:
        entry = abandon(connection, name, actor=REFEREE, note=note, key=key)
        table = open_game(connection, name)
    _tell_entry(entry, table, as_json)


@game_group.command("verify")
@click.argument("name")
@JSON
def verify_command(name: str, as_json: bool) -> None:
    """Whether game NAME is what its log says: digests, positions and, once the seed is open, dice.

    Exit status 0: all holds; 1: something does not.

    \b
    Examples:
      sightline game verify tanaro
      sightline game verify tanaro --json
    """
    with asking() as connection:
        # who writes meanwhile would seem to have bent it
        found = verify(connection, open_game(connection, name, writing=True))
    if as_json:
        print_json(found.as_dict())
    else:
        dice = {
            "opened": f"{found.rolls} rolls derived again",
            "sealed": "the seed is sealed",
            "none": "dice were typed",
        }
        told = "all holds" if found.ok else "something does not hold"
        out.print(f"{name}: {told}; {found.events} events; {dice[found.seed]}", markup=False)
        for problem in found.problems:
            out.print(f"  {problem}", markup=False, style="red")
    if not found.ok:
        raise click.exceptions.Exit(1)


@game_group.command("readjudicate")
@click.argument("name")
@click.option(
    "--policy",
    type=Setting(),
    multiple=True,
    metavar="POINT=READING",
    help="Read a contested point so; may be repeated.",
)
@JSON
def readjudicate_command(name: str, policy: tuple[tuple[str, str], ...], as_json: bool) -> None:
    """Rule on every event of game NAME again, by today's rules or another reading; nothing is rewritten.

    Exit status 0: every event would be ruled the same; 1: some would not, and are listed.

    \b
    Examples:
      sightline game readjudicate tanaro
      sightline game readjudicate tanaro --policy fpb-9=b
    """
    with asking() as connection, progress("events") as tick:
        table = open_game(connection, name)
        readings = checked_policy(table.ruleset, dict(policy))
        found = readjudicate(connection, table, readings, lambda number: tick(number, table.events))
    if as_json:
        print_json([difference.as_dict() for difference in found])
    else:
        out.print(
            f"{name}: {len(found) or 'no'} event{'' if len(found) == 1 else 's'} of {table.events} would be ruled otherwise",
            markup=False,
        )
        for difference in found:
            out.print(f"  {difference}", markup=False)
    if found:
        raise click.exceptions.Exit(1)


@game_group.command("export")
@click.argument("name")
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
def export_game(name: str, file: Path | None, force: bool) -> None:
    """Write the record of game NAME, log and map, to FILE or to standard output.

    \b
    Examples:
      sightline game export tanaro
      sightline game export tanaro tanaro.txt
    """
    if file is not None:
        refuse_overwriting(file, force)
    with asking() as connection:
        text = write_record(connection, name)
    if file is None:
        print(text, end="")
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SightlineError(f"Cannot write {file}: {error.strerror}.") from error
    say(f"wrote {file}")


@game_group.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", metavar="NAME", help="Call it so.  [default: the name in the record]")
@JSON
def import_game(file: Path, name: str | None, as_json: bool) -> None:
    """Bring in a game from its record; where a digest does not hold, nothing is brought in.

    \b
    Examples:
      sightline game import tanaro.txt
      sightline game import tanaro.txt --name tanaro-copy
    """
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SightlineError(f"{file} is not UTF-8.", "Ask for the record as it was written.") from error
    except OSError as error:
        raise SightlineError(f"Cannot read {file}: {error.strerror}.") from error
    with writing() as connection:
        table = import_record(connection, text, name=name)
    if as_json:
        print_json(table.as_dict())
        return
    out.print(f"{table.name}: {table.title}; {table.events} events, all of which hold", markup=False)


@game_group.command("delete")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do it without asking.")
def delete_game_command(name: str, yes: bool) -> None:
    """Delete game NAME with its whole log.

    \b
    Examples:
      sightline game delete tanaro-b
      sightline game delete tanaro-b --yes
    """
    with asking() as connection:
        table = open_game(connection, name)
    confirm(f"Delete the game {name} with its {table.events} events?", yes)
    with writing() as connection:
        delete_game(connection, name)
    say(f"deleted the game {name}")


# What is told.


def _tell_entry(entry: Entry, table: Table, as_json: bool) -> None:
    """What happened, like a ruling; then what comes next."""
    if as_json:
        told = entry.as_dict() | {"now": table.moment.as_dict(), "over": table.over}
        if entry.event is not None:
            told["event"] = {**entry.event, "verdict": sentence(table.ruleset, entry.event)}
        print_json(told)
        return
    if entry.repeated:
        say("this request was answered before; nothing is done again")
    if entry.event is not None:
        out.print(event_line(table.ruleset, entry.event), markup=False, style="bold")
        for line in event_lines(table.ruleset, entry.event):
            out.print(f"  {line}", markup=False)
        for event in entry.followed:
            out.print(event_line(table.ruleset, event), markup=False)
        _tell_now(table)
    elif entry.pending is not None:
        out.print(f"{entry.pending['action']} {waiting_in_words(entry.pending)}", markup=False, style="bold")
        for roll in entry.pending["rolled"]:
            out.print(f"  rolled {roll['roll']} for {roll['for']}: {roll['value']}", markup=False)
        if so_far := known_so_far(entry.pending):
            out.print(f"  so far: {so_far}", markup=False)


def _tell_now(table: Table) -> None:
    if table.over:
        out.print("  now: the game is over", markup=False)
        return
    out.print(f"  now: {moment_in_words(table.moment.as_dict())}", markup=False)
    if table.pending is not None:
        out.print(f"  {waiting_in_words(table.pending)}", markup=False)
    else:
        out.print(f"  next: {', '.join(actions_now(table))}", markup=False)


def _tell_refusal(refused: NotAllowedError, as_json: bool) -> None:
    """What the rules do not allow, with every rule that says so."""
    if as_json:
        print_json(
            {
                "refused": refused.message,
                "remedy": refused.remedy,
                "answer": refused.answer,
                "steps": refused.steps,
            }
        )
        return
    out.print(refused.message, markup=False, style="bold yellow")
    for step in refused.steps:
        told = Step(step["rule"], step.get("at"), step["effect"], step["note"], step.get("clause"))
        out.print(f"  {step_in_words(told)}", markup=False)
    if refused.remedy:
        say(refused.remedy)


@game_group.command("fuzz")
@click.argument("source", metavar="RULESET|SCENARIO|POSITION")
@click.option(
    "--games",
    "number",
    type=click.IntRange(1, 100_000),
    default=10,
    show_default=True,
    help="Of each scenario.",
)
@click.option(
    "--seed", default="1", show_default=True, metavar="TEXT", help="Another text plays other games."
)
@click.option(
    "--option", "options", type=Setting(), multiple=True, metavar="NAME=VALUE",
    help="What players choose before a scenario begins; may be repeated.",
)  # fmt: skip
@click.option(
    "--folder", type=click.Path(file_okay=False, path_type=Path), default=".", show_default=True,
    help="Where the record of a game that breaks a promise is written.",
)  # fmt: skip
@JSON
def fuzz_games(
    source: str, number: int, seed: str, options: tuple[tuple[str, str], ...], folder: Path, as_json: bool
) -> None:
    """Play random legal actions to the end of the game, again and again, and check every promise of the log.

    No crash, no side without a legal action, no game without an end; what is done and taken back is nothing; the log
    applied again gives the same digests. Nothing is kept. A game that breaks a promise is written as a record that
    `sightline game import` reads. Exit status 1: there was one. Exit status 2: it cannot be begun, and none is played.

    Several runs at once do not wait for each other once a game of the scenario was begun in this database.

    \b
    Examples:
      sightline game fuzz angaur --games 20 --option mode=solitaire
      sightline game fuzz fpb --games 5 --seed tuesday
    """
    sources = list(scenarios(source)) if source in CODES else [source]
    chosen = {option: resolved(value) for option, value in options}
    played: list[dict[str, Any]] = []
    broken = 0
    # the owner's: nobody else may take stock of tables, without which plans are poor
    with owning() as connection, progress("playing") as tick:
        starts = {one: functools.partial(_begin, one, chosen) for one in sources}
        for start in starts.values():
            # what cannot be begun at all breaks no promise: it is told once, before anything is played
            with undone(connection):
                start(connection, f"fuzz-{os.getpid()}", read_seed(seed))
        for one, start in starts.items():
            for game in fuzz(connection, start, number, seed):
                tick(len(played) + 1, number * len(sources))
                played.append({"from": one, **game.as_dict()})
                if game.problem is not None:
                    broken += 1
                    path = folder / f"fuzz-{one}-{seed}-{game.n}.txt"
                    path.write_text(game.record or "")
                    say(f"{one}, game {game.n}: {game.problem} ({path})")
    if as_json:
        print_json(played)
    else:
        events = sum(game["events"] for game in played)
        out.print(
            f"{counted(len(played), 'game')}, {counted(events, 'event')}, {broken} broken", markup=False
        )
    if broken:
        raise SystemExit(1)


def _begin(source: str, options: dict[str, Any], connection: Connection, name: str, seed: bytes) -> Table:
    return begin(connection, source, name=name, seed=seed.hex(), options=options)


COMMANDS = [game_group]
