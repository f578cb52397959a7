"""`sightline rulings`: the rulings that were kept."""

from __future__ import annotations

import datetime
import getpass

import click

from app.referee.saved import (
    MOODS,
    Wanted,
    as_ruled,
    delete_rulings,
    kept,
    kept_ruling,
    kept_summary,
    rule_again,
    same_answer,
    saved_rulings,
)
from app.referee.words import asked, counted
from app.referee.words import verdict as in_a_sentence
from app.terminal.caution import confirm
from app.terminal.database import asking, writing
from app.terminal.output import out, print_json, print_table, say
from app.terminal.report import report_ruling
from db.rulesets import CODES

DAY = click.DateTime(["%Y-%m-%d"])


@click.group()
def rulings() -> None:
    """List, show and delete rulings that were kept.

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
        row = kept_ruling(connection, ruling)
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


@rulings.command("delete")
@click.argument("ids", nargs=-1, required=True, metavar="RULING...")
@click.option("--why", required=True, metavar="TEXT", help="The reason; it stays at the ruling's address.")
@click.option("--who", metavar="NAME", help="Who deletes.  [default: the user's name]")
@click.option("--yes", is_flag=True, help="Do it without asking.")
def delete(ids: tuple[str, ...], why: str, who: str | None, yes: bool) -> None:
    """Delete kept rulings for good, all of them or none.

    Of each a trace is left: who deleted it, when and why, and a digest of what it was. Its address
    says so from then on. Whoever asks the same question again has it ruled and kept anew.

    \b
    Examples:
      sightline rulings delete 0123456789abcdef0123 --why "names a player"
      sightline rulings delete 0123456789abcdef0123 --why "a test" --who "the referee" --yes
    """
    confirm(f"Delete {counted(len(ids), 'ruling')} for good?", yes)
    with writing() as connection:
        delete_rulings(connection, ids, who=who or getpass.getuser(), why=why)
    say(f"deleted {counted(len(ids), 'ruling')}")


COMMANDS = [rulings]
