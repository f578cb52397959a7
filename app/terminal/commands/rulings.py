"""`sightline rulings`: the rulings that were kept."""

from __future__ import annotations

import datetime

import click

from app.referee.saved import (
    MOODS,
    Wanted,
    as_ruled,
    kept,
    kept_summary,
    rule_again,
    same_answer,
    saved_ruling,
    saved_rulings,
)
from app.referee.words import asked
from app.referee.words import verdict as in_a_sentence
from app.terminal.database import asking
from app.terminal.output import out, print_json, print_table
from app.terminal.report import report_ruling
from db import SightlineError
from db.rulesets import CODES

DAY = click.DateTime(["%Y-%m-%d"])


@click.group()
def rulings() -> None:
    """List and show rulings that were kept.

    \b
    Examples:
      sightline rulings list --ruleset css --rule 7.1.1 --since 2024-01-01
      sightline rulings show 0123456789abcdef0123
    """


@rulings.command("list")
@click.option("--ruleset", type=click.Choice(CODES), help="Of this game.")
@click.option("--kind", help="Of this kind of question, such as los.")
@click.option("--rule", help="By this rule, such as 7.1.1.")
@click.option("--text", help="With these words in the title or id of the case, or in a note of the proof.")
@click.option("--since", type=DAY, metavar="DAY", help="First asked on this day (UTC) or later: 2024-12-31.")
@click.option("--until", type=DAY, metavar="DAY", help="First asked on this day or earlier.")
@click.option("--point", help="That touch this contested point, such as css-12.")
@click.option("--verdict", type=click.Choice(MOODS), help="That answer so; open: something is not known.")
@click.option("--page", type=click.IntRange(1, 1_000_000), default=1, show_default=True, help="Which page.")
@click.option(
    "--per-page", type=click.IntRange(1, 100), default=20, show_default=True, help="How many on one."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_rulings(
    ruleset: str | None,
    kind: str | None,
    rule: str | None,
    text: str | None,
    since: datetime.datetime | None,
    until: datetime.datetime | None,
    point: str | None,
    verdict: str | None,
    page: int,
    per_page: int,
    as_json: bool,
) -> None:
    """The kept rulings, the latest first.

    \b
    Examples:
      sightline rulings list --kind los --text spine
      sightline rulings list --since 2024-01-01 --until 2024-06-30 --json
    """
    wanted = Wanted(ruleset, kind, rule, text, since and since.date(), until and until.date(), point, verdict)
    with asking() as connection:
        total, rows = saved_rulings(connection, wanted, page, per_page)
    if as_json:
        found = [kept_summary(row) for row in rows]
        print_json({"rulings": found, "total": total, "page": page, "per_page": per_page})
        return
    print_table(
        ("ruling", "day", "game", "case", "asked", "verdict"),
        [
            (
                row["id"],
                f"{row['created_at']:%Y-%m-%d}",
                row["ruleset"],
                row["title"] or row["case_id"],
                asked(as_ruled(row)),
                in_a_sentence(as_ruled(row)),
            )
            for row in rows
        ],
        title=f"{total} kept" if total else None,
    )
    if not rows:
        out.print("No kept ruling is like that." if wanted.conditions() else "No ruling is kept yet.")


@rulings.command("show")
@click.argument("ruling")
@click.option("--again", is_flag=True, help="Ask it again today; exit status 1 if the answer is another.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(ruling: str, again: bool, as_json: bool) -> None:
    """A kept ruling by its id, with its proof.

    \b
    Examples:
      sightline rulings show 0123456789abcdef0123
      sightline rulings show 0123456789abcdef0123 --again
    """
    with asking() as connection:
        row = saved_ruling(connection, ruling)
        if row is None:
            raise SightlineError(f"There is no ruling {ruling!r}.", "See `sightline rulings list`.")
        today = rule_again(connection, row)[1] if again else None
    if as_json:
        print_json(kept(row) | ({} if today is None else {"again": today.as_dict()}))
    else:
        out.print(row["title"] or row["case_id"], style="bold", markup=False)
        report_ruling(as_ruled(row), out)
        if today is not None:
            out.print("asked again today:", style="bold")
            report_ruling(today, out)
    if today is not None and not same_answer(row, today):
        raise click.exceptions.Exit(1)


COMMANDS = [rulings]
