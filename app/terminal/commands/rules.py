"""`sightline rules …`: the rules reference on the command line."""

from __future__ import annotations

import datetime
import itertools
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from pydantic import BaseModel
from rich.text import Text
from sqlalchemy.engine import Connection

from app.referee.questions import implemented_points
from app.terminal import database
from app.terminal.caution import confirm
from app.terminal.commands.charts import chart_table
from app.terminal.output import complain, out, print_json, print_table, say
from db import editions as db_editions
from db import errata as db_errata
from db import reference
from db.charts import ChartAnswer
from db.errata import ErratumEntry
from db.measuring import measure, read_queries
from db.reference import NotInReference
from db.rulesets import CODES

Command = TypeVar("Command", bound=Callable[..., Any])
WIDTH = 100
ERRATUM = click.IntRange(1, 2**63 - 1)
LONGEST_CHART = 30
"""Rows of a chart that are shown with its rule."""


def as_json_option(command: Command) -> Command:
    """The option --json, as every command here has it."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def day_option(name: str, text: str) -> Callable[[Command], Command]:
    """An option that takes a day."""
    return click.option(name, type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help=text, callback=_as_date)


def _as_date(
    context: click.Context, parameter: click.Parameter, value: datetime.datetime | None
) -> datetime.date | None:
    return value.date() if value else None


@contextmanager
def asking() -> Iterator[Connection]:
    """A connection to ask; what the reference does not have ends with status 1."""
    with _or_complain(), database.asking() as connection:
        yield connection


@contextmanager
def writing() -> Iterator[Connection]:
    """A transaction; what the reference does not have ends it with status 1."""
    with _or_complain(), database.writing() as connection:
        yield connection


@contextmanager
def _or_complain() -> Iterator[None]:
    try:
        yield
    except NotInReference as error:
        complain(error.message, error.remedy)
        raise click.exceptions.Exit(1) from error


def plain(answer: BaseModel) -> Any:
    """An answer as JSON has it."""
    return answer.model_dump(mode="json")


@click.group("rules")
def rules_group() -> None:
    """The rules of five games: found, cited, compared.

    Exit status 0: found; 1: there is none; 2: it could not be asked.

    \b
    Examples:
      sightline rules search can I fire out of a barrage
      sightline rules show css 8.7.2
      sightline rules compare "line of sight"
    """


@rules_group.command("list")
@click.argument("ruleset")
@as_json_option
def list_command(ruleset: str, as_json: bool) -> None:
    """List every rule of RULESET: number, title, parent.

    \b
    Examples:
      sightline rules list css
      sightline rules list ccp --json
    """
    with asking() as connection:
        tree = reference.tree(connection, ruleset)
    if as_json:
        keys = {"number", "title", "parent", "kind"}
        print_json([rule.model_dump(include=keys) for rule in tree.rules])
    else:
        rows = [(rule.number, rule.title, rule.parent) for rule in tree.rules]
        print_table(("number", "title", "parent"), rows, tree.title)


@rules_group.command()
@click.argument("ruleset")
@click.argument("number")
@click.option("--edition", metavar="NAME", help="The imported edition whose text is shown.")
@day_option("--as-of", "Show errata as of this day.  [default: today]")
@as_json_option
def show(ruleset: str, number: str, edition: str | None, as_of: datetime.date | None, as_json: bool) -> None:
    """Show a rule: place, digest, references, contested points, errata and, if imported, its text.

    Where it is decided is told by file, line and function; `sightline rules index` has all rules.

    \b
    Examples:
      sightline rules show css 7.1.2b
      sightline rules show ccp o27.3
      sightline rules show css 8.6 --edition 2nd --as-of 2024-01-31
    """
    with asking() as connection:
        answer = reference.rule(connection, ruleset, number, edition, as_of)
    if as_json:
        print_json(plain(answer))
        return
    for rule in answer.above:
        out.print(Text(f"{rule.number} {rule.title}", style="dim"))
    out.print(Text(f"{answer.ruleset} {answer.number}  {answer.title}", style="bold"))
    _paragraph(answer.digest or "Only an imported edition has this rule.")
    _section(f"Errata as of {answer.as_of}", map(_erratum_line, answer.errata))
    for chart in answer.charts:
        _chart(chart)
    _section("In the charts", (f"{chart.chart} {chart.title}" for chart in answer.cited_in_charts))
    _section("Below", (f"{rule.number} {rule.title}" for rule in answer.below))
    _section("Refers to", map(_reference_line, answer.refers_to))
    _section("Referred to by", map(_reference_line, answer.referred_from))
    _section("Contested", (f"{point.id} ({point.severity}) {point.title}" for point in answer.contested))
    _section("Compared", (f"{concept.title} ({concept.code})" for concept in answer.concepts))
    _section("Cases", (f"{case.case} {case.title}" for case in answer.cases))
    _section("Where it is decided", _place_lines(answer.decided_in))
    for remark in answer.remarks:
        out.print(f"\n{remark}", style="yellow", markup=False)
    if answer.printed:
        heading = f"Text ({answer.printed.edition}): {answer.printed.number} {answer.printed.title}"
        out.print(Text(f"\n{heading}", style="bold"))
        for passage in answer.printed.passages:
            label = "" if passage.kind == "text" else f"[{passage.kind}] "
            out.print(f"{label}{passage.text}\n", markup=False)


@rules_group.command()
@click.argument("words", nargs=-1)
@click.option("--ruleset", metavar="CODE", help="Search one game only.")
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="How many.")
@click.option(
    "--measure",
    "queries",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Instead of searching: how good the search is on the queries of FILE, each with the rules that answer it."
    " Of several FILEs together if it is given more than once.",
)
@as_json_option
def search(
    words: tuple[str, ...], ruleset: str | None, limit: int, queries: tuple[Path, ...], as_json: bool
) -> None:
    """Find rules by WORDS or by number; a game's code among the words narrows the search.

    Beginnings of words, typing mistakes, abbreviations and other names for a thing will do.

    \b
    Examples:
      sightline rules search can I fire out of a barrage
      sightline rules search css oportunity fire
      sightline rules search t89.4.1
      sightline rules search --measure tests/data/queries.yaml
    """
    if queries:
        _print_measured(queries, as_json)
        return
    if not words:
        raise click.UsageError("Say what to search for.")
    with asking() as connection:
        answer = reference.search(connection, " ".join(words), ruleset, limit)
    if as_json:
        print_json(plain(answer))
    else:
        if answer.absent:
            games = ", ".join(answer.absent.games)
            say(
                f"{answer.absent.ruleset} has no {answer.absent.title.lower()} ({games} have); this comes nearest:"
            )
        for hit in answer.hits:
            changed = "  (changed by errata)" if hit.errata else ""
            out.print(Text(f"{hit.ruleset} {hit.number}  {hit.title}{changed}", style="bold"))
            out.print(_marked(hit.headline))
    if not answer.hits:
        complain(f"No rule answers to {answer.words!r}.", "Try other words, or fewer.")
        raise click.exceptions.Exit(1)


def _print_measured(files: tuple[Path, ...], as_json: bool) -> None:
    """The figures of files of queries, tuned on and held out; the misses of the tuned part are in the JSON."""
    with asking() as connection:
        told = measure(connection, [query for file in files for query in read_queries(file)])
    if as_json:
        print_json(plain(told))
        return
    rows = [
        (
            scope,
            part.replace("_", " "),
            figures.queries,
            figures.first,
            figures.first_three,
            figures.reciprocal_rank,
        )
        for scope, parts in (
            ("within a game", told.within),
            ("over all games", told.over_all),
            ("absent", told.absent),
        )
        for part, figures in parts.items()
        if figures is not None
    ]
    print_table(("searched", "part", "queries", "hit@1", "hit@3", "MRR"), rows)


@rules_group.command("index")
@click.argument("ruleset", required=False)
@click.option("--uncited", is_flag=True, help="Only the rules that are cited nowhere, and why.")
@as_json_option
def index_command(ruleset: str | None, uncited: bool, as_json: bool) -> None:
    """Show where each rule of RULESET is decided: file, function, line. Without one, count.

    It is read off the sources: a rule is cited where its number stands in a function or its
    comments (code), or as the rule of a terrain, chart or other datum (data). A rule is cited nowhere
    because it is a heading, defines words only, or has not been asked about yet; or cases alone cite it.

    \b
    Examples:
      sightline rules index
      sightline rules index css
      sightline rules index fpb --uncited
      sightline rules index css --json
    """
    try:
        games = [reference.index(code) for code in ([ruleset] if ruleset else CODES)]
    except NotInReference as error:
        complain(error.message, error.remedy)
        raise click.exceptions.Exit(1) from error
    if uncited:
        _print_uncited([rule for game in games for rule in game.uncited], as_json)
    elif ruleset is None:
        _print_index_counts(as_json)
    elif as_json:
        print_json(plain(games[0]))
    else:
        for rule in games[0].cited:
            _section(f"{rule.number} {rule.title}", _place_lines(rule.places))
        out.print(f"\n{len(games[0].cited)} rules are cited, {len(games[0].uncited)} are not (--uncited)")


def _print_index_counts(as_json: bool) -> None:
    counts = reference.index_counts()
    if as_json:
        print_json([plain(count) for count in counts])
        return
    columns = ("game", "rules", "in code", "in data only", "heading", "in cases", "definition", "not asked")
    print_table(
        columns,
        [(c.ruleset, c.rules, c.code, c.data, c.heading, c.case, c.definition, c.not_asked) for c in counts],
    )


def _print_uncited(rules: list[reference.UncitedRule], as_json: bool) -> None:
    if as_json:
        print_json([plain(rule) for rule in rules])
    else:
        rows = [(rule.ruleset, rule.number, rule.title, rule.reason.replace("_", " ")) for rule in rules]
        print_table(("game", "rule", "title", "why"), rows)
    if not rules:
        say("every rule is cited")
        raise click.exceptions.Exit(1)


@rules_group.command()
@click.argument("ruleset")
@click.argument("number")
@as_json_option
def xrefs(ruleset: str, number: str, as_json: bool) -> None:
    """Show what a rule refers to, and what refers to it.

    \b
    Examples:
      sightline rules xrefs css 7.1.1
      sightline rules xrefs ddp 8.3 --json
    """
    with asking() as connection:
        answer = reference.references(connection, ruleset, number)
    if as_json:
        print_json(plain(answer))
    else:
        _section(f"{ruleset} {answer.number} refers to", map(_reference_line, answer.refers_to))
        _section("Referred to by", map(_reference_line, answer.referred_from))
    if not answer.refers_to and not answer.referred_from:
        say(f"{ruleset} {answer.number} refers to no rule, and no rule to it")
        raise click.exceptions.Exit(1)


@rules_group.command()
@click.argument("concept", required=False)
@as_json_option
def compare(concept: str | None, as_json: bool) -> None:
    """Show how the games treat CONCEPT; without one, list the concepts.

    \b
    Examples:
      sightline rules compare
      sightline rules compare opportunity_fire
      sightline rules compare "line of sight" --json
    """
    with asking() as connection:
        if concept is None:
            known = reference.overview(connection).concepts
            if as_json:
                print_json([plain(name) for name in known])
            else:
                print_table(("concept", "title"), [(name.code, name.title) for name in known])
            return
        answer = reference.compare(connection, concept)
    if as_json:
        print_json(plain(answer))
        return
    out.print(Text(answer.title, style="bold"))
    _paragraph(answer.comparison)
    for game in answer.games:
        _section(game.title, (f"{game.ruleset} {rule.number} {rule.title}" for rule in game.rules))


@rules_group.command()
@click.argument("ruleset")
@as_json_option
def contested(ruleset: str, as_json: bool) -> None:
    """List the points where the rulebook of RULESET disagrees with itself, with their readings.

    The reading marked * holds where no policy chooses another.

    \b
    Examples:
      sightline rules contested fpb
      sightline rules contested css --json
    """
    with asking() as connection:
        answer = reference.contested(connection, ruleset)
    if as_json:
        print_json(plain(answer))
        return
    implemented = implemented_points()
    for point in answer.points:
        out.print(Text(f"{point.id}  {point.title}", style="bold"))
        ruled = "rulings turn on it" if point.id in implemented else "no ruling turns on it yet"
        out.print(f"{point.severity}; {', '.join(point.cites)}; {ruled}", style="dim", markup=False)
        for reading in point.readings:
            star = "*" if reading.letter == point.default else " "
            _paragraph(f"{star}{reading.letter}  {reading.title}: {reading.effect}", indent="    ")
        _paragraph(f"Why {point.default}: {point.why}", indent="    ")
        out.print()
    count = sum(point.id in implemented for point in answer.points)
    out.print(f"{len(answer.points)} points; rulings turn on {count} of them so far")


@rules_group.command()
@click.argument("ruleset")
@as_json_option
def terms(ruleset: str, as_json: bool) -> None:
    """List the words that RULESET uses in a sense of its own.

    \b
    Example:
      sightline rules terms bob
    """
    with asking() as connection:
        answer = reference.glossary(connection, ruleset)
    if as_json:
        print_json(plain(answer))
    else:
        rows = [(term.term, term.rule, term.definition) for term in answer.terms]
        print_table(("term", "rule", "meaning"), rows, answer.title)


@rules_group.group()
def errata() -> None:
    """Errata and house rules: what changes a rule, from when, by whose word.

    \b
    Examples:
      sightline rules errata list css
      sightline rules errata add css 8.6 --since 2024-05-01 --source "publisher's sheet" \\
          --effect "A second shot needs a check first."
      sightline rules errata remove 3
    """


@errata.command("list")
@click.argument("ruleset", required=False)
@click.argument("number", required=False)
@day_option("--as-of", "Only what holds on this day.")
@click.option("--withdrawn", is_flag=True, help="Those too that were withdrawn.")
@as_json_option
def list_errata(
    ruleset: str | None, number: str | None, as_of: datetime.date | None, withdrawn: bool, as_json: bool
) -> None:
    """List errata and house rules: all, those of RULESET, or those of one rule.

    \b
    Example:
      sightline rules errata list css 8.6 --as-of 2024-12-31
    """
    with asking() as connection:
        if ruleset:
            reference.game_title(connection, ruleset)
        rule_id = reference.find_rule(connection, ruleset, number) if ruleset and number else None
        found = db_errata.errata(connection, ruleset, rule_id, as_of, withdrawn)
    if as_json:
        print_json([plain(entry) for entry in found])
    else:
        columns = ("id", "rule", "kind", "since", "until", "reads", "source", "effect")
        print_table(columns, [_erratum_row(entry) for entry in found])
    if not found:
        say("none")
        raise click.exceptions.Exit(1)


def _erratum_row(entry: ErratumEntry) -> tuple[Any, ...]:
    until = f"withdrawn {entry.withdrawn:%Y-%m-%d}" if entry.withdrawn else entry.ends
    reads = f"{entry.point}:{entry.reading}" if entry.point else ""
    kind = entry.kind.replace("_", " ")
    return (
        entry.id,
        f"{entry.ruleset} {entry.cited}",
        kind,
        entry.since,
        until,
        reads,
        entry.source,
        entry.effect,
    )


@errata.command("add")
@click.argument("ruleset")
@click.argument("number")
@click.option("--effect", required=True, metavar="TEXT", help="What changes.")
@click.option("--source", required=True, metavar="TEXT", help="Who says so, and where.")
@click.option("--house-rule", is_flag=True, help="An agreement of yours, not the publisher's.")
@click.option(
    "--reading", metavar="POINT:LETTER", help="Of a house rule: the reading that it chooses, css-12:a."
)
@day_option("--since", "First day on which it holds.  [default: today]")
@day_option("--until", "First day on which it no longer holds.")
@as_json_option
def add_erratum(
    ruleset: str,
    number: str,
    effect: str,
    source: str,
    house_rule: bool,
    reading: str | None,
    since: datetime.date | None,
    until: datetime.date | None,
    as_json: bool,
) -> None:
    """Attach an erratum or a house rule to a rule, or to one of its lettered items (7.1.2b).

    Rulings that apply the rule say so from then on. A house rule with --reading settles a contested point:
    questions read it so, unless a case or a position says otherwise.

    \b
    Examples:
      sightline rules errata add ddp 8.3 --house-rule --source "our club" \\
          --effect "Ties go to the attacker."
      sightline rules errata add css 7.1.1c --house-rule --reading css-12:b --source "our club" \\
          --effect "A Rice Paddy never blocks."
    """
    with writing() as connection:
        added = db_errata.add_erratum(
            connection,
            ruleset,
            number,
            effect=effect,
            source=source,
            kind="house_rule" if house_rule else "erratum",
            since=since or datetime.date.today(),
            ends=until,
            reading=reading,
        )
    if as_json:
        print_json(plain(added))
    else:
        say(f"{added.kind.replace('_', ' ')} {added.id} is attached to {added.ruleset} {added.cited}")


@errata.command("edit")
@click.argument("erratum", type=ERRATUM)
@click.option("--effect", metavar="TEXT", help="What changes.")
@click.option("--source", metavar="TEXT", help="Who says so, and where.")
@click.option(
    "--reading", metavar="POINT:LETTER", help="Of a house rule: the reading that it chooses; '' for none."
)
@day_option("--since", "First day on which it holds.")
@day_option("--until", "First day on which it no longer holds.")
@as_json_option
def edit_erratum(
    erratum: int,
    effect: str | None,
    source: str | None,
    reading: str | None,
    since: datetime.date | None,
    until: datetime.date | None,
    as_json: bool,
) -> None:
    """Word erratum number ERRATUM (see `list`) otherwise; `history` keeps what it said before.

    \b
    Example:
      sightline rules errata edit 3 --effect "Ties go to the defender." --until 2030-01-01
    """
    given = {"effect": effect, "source": source, "since": since, "ends": until}
    with writing() as connection:
        changes = {name: value for name, value in given.items() if value is not None}
        edited = db_errata.edit_erratum(connection, erratum, reading=reading, **changes)
    if as_json:
        print_json(plain(edited))
    else:
        say(f"{edited.kind.replace('_', ' ')} {edited.id} of {edited.ruleset} {edited.cited} is edited")


@errata.command("history")
@click.argument("erratum", type=ERRATUM)
@as_json_option
def erratum_history(erratum: int, as_json: bool) -> None:
    """Show what erratum number ERRATUM said before each edit, and says now.

    \b
    Example:
      sightline rules errata history 3
    """
    with asking() as connection:
        answer = db_errata.history(connection, erratum)
    if as_json:
        print_json(plain(answer))
        return
    rows = [
        (f"until {old.replaced:%Y-%m-%d %H:%M}", old.since, old.source, old.effect) for old in answer.before
    ]
    now = f"withdrawn {answer.now.withdrawn:%Y-%m-%d %H:%M}" if answer.now.withdrawn else "now"
    rows.append((now, answer.now.since, answer.now.source, answer.now.effect))
    title = f"{answer.now.kind.replace('_', ' ')} {erratum} of {answer.now.ruleset} {answer.now.cited}"
    print_table(("wording", "since", "source", "effect"), rows, title)


@errata.command("withdraw")
@click.argument("erratum", type=ERRATUM)
@click.option("--why", default="", metavar="TEXT", help="Why it holds no longer.")
def withdraw_erratum(erratum: int, why: str) -> None:
    """Let erratum number ERRATUM hold no longer, from today; it is kept, with its history.

    To end it on a day, edit its --until instead.

    \b
    Example:
      sightline rules errata withdraw 3 --why "the second edition prints it"
    """
    with writing() as connection:
        db_errata.withdraw_erratum(connection, erratum, why)
    say(f"withdrew erratum {erratum}")


@errata.command("remove")
@click.argument("erratum", type=ERRATUM)
def remove_erratum(erratum: int) -> None:
    """Take erratum number ERRATUM (see `list`) away for good, with its history; `withdraw` keeps it.

    \b
    Example:
      sightline rules errata remove 3
    """
    with writing() as connection:
        db_errata.remove_erratum(connection, erratum)
    say(f"removed erratum {erratum}")


@rules_group.group()
def editions() -> None:
    """The editions of your own rulebooks: list them, choose the one that is shown, remove one.

    \b
    Examples:
      sightline rules editions list css
      sightline rules editions choose css 2nd
      sightline rules editions remove css 1st
    """


@editions.command("list")
@click.argument("ruleset", required=False)
@as_json_option
def list_editions(ruleset: str | None, as_json: bool) -> None:
    """List the imported editions of RULESET, or of all games, with what each lacks or has otherwise.

    Shown is the chosen edition, else the newest import: one edition at a time, not rule by rule.

    \b
    Example:
      sightline rules editions list css
    """
    with asking() as connection:
        found = [
            entry
            for code in ([ruleset] if ruleset else CODES)
            for entry in db_editions.editions(connection, code).editions
        ]
    if as_json:
        print_json([plain(entry) for entry in found])
    else:
        columns = ("game", "edition", "shown", "imported", "rules", "of", "added", "differing")
        rows = [
            (e.ruleset, e.edition, "chosen" if e.chosen else "newest" if e.shown else "", f"{e.imported:%Y-%m-%d}",
             e.rules, e.of, e.added, ", ".join(e.differing))
            for e in found
        ]  # fmt: skip
        print_table(columns, rows)
    if not found:
        say("none is imported")
        raise click.exceptions.Exit(1)


@editions.command("choose")
@click.argument("ruleset")
@click.argument("edition", required=False)
def choose_edition(ruleset: str, edition: str | None) -> None:
    """Show and search the text of EDITION from now on; without one, the newest import.

    \b
    Example:
      sightline rules editions choose css 2nd
    """
    with writing() as connection:
        db_editions.choose(connection, ruleset, edition)
    say(f"{ruleset} shows {edition or 'its newest import'}")


@editions.command("remove")
@click.argument("ruleset")
@click.argument("edition")
@click.option("--yes", is_flag=True, help="Do it without asking.")
def remove_edition(ruleset: str, edition: str, yes: bool) -> None:
    """Take EDITION of RULESET out of the database; digests, errata and other editions stay.

    \b
    Example:
      sightline rules editions remove css 1st --yes
    """
    with writing() as connection:
        confirm(f"Take the edition {edition} of {ruleset} out of the database?", yes)
        db_editions.remove(connection, ruleset, edition)
    say(f"removed {ruleset}, edition {edition}")


def _paragraph(text: str, indent: str = "") -> None:
    hanging = indent + "   " if indent else ""
    out.print(textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=hanging), markup=False)


def _chart(chart: ChartAnswer) -> None:
    """A printed chart whole, where it is not too long; any other by its name."""
    if chart.printed and chart.cells and len(chart.rows) <= LONGEST_CHART:
        print_table((str(chart.row), *chart.columns), chart_table(chart), title=f"\n{chart.title}")
    else:
        said = "printed" if chart.printed else "not printed" if chart.fill else "filled in"
        command = f"sightline charts show {chart.ruleset} {chart.chart}"
        out.print(f"\n{chart.title} ({said}): {command}", markup=False)


def _section(heading: str, lines: Iterable[str]) -> None:
    found = list(lines)
    if found:
        out.print(Text(f"\n{heading}", style="bold"))
        for line in found:
            out.print(f"  {line}", markup=False)


def _place_lines(places: list[reference.CitedPlace]) -> Iterator[str]:
    """Where a rule is decided: a line for each function, and one for all data of a file."""
    for (file, kind), group in itertools.groupby(places, lambda place: (place.file, place.kind)):
        together = list(group)
        if kind == "data":
            yield f"data: {', '.join(str(place.name) for place in together)}  {file}"
            continue
        for place in together:
            where = f"{file}:{','.join(map(str, place.lines))}"
            items = f"  ({', '.join(place.clauses)})" if place.clauses else ""
            yield f"{place.name}  {where}{items}" if place.name else f"{where}{items}"


def _reference_line(reference: reference.Reference) -> str:
    if reference.number:
        return f"{reference.number} {reference.title}"
    return f"{', '.join(reference.printed)} (no such rule)"


def _erratum_line(entry: ErratumEntry) -> str:
    item = f" to {entry.clause}" if entry.clause else ""
    reads = f" (reads {entry.point} as {entry.reading})" if entry.point else ""
    return f"{entry.kind.replace('_', ' ')} {entry.id}{item} since {entry.since}, {entry.source}: {entry.effect}{reads}"


def _marked(headline: str) -> Text:
    """A headline whose ‹words› stand out."""
    text = Text("  ")
    for at, piece in enumerate(headline.replace("›", "‹").split("‹")):
        text.append(piece, "bold" if at % 2 else "")
    return text


COMMANDS = [rules_group]
