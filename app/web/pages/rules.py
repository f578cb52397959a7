"""The pages of the rules reference: games, trees, rules, search, comparisons, contested points, terms."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from flask import Blueprint, Response, redirect, render_template, request, url_for
from markupsafe import Markup, escape
from werkzeug.wrappers import Response as AnyResponse

from app.referee.questions import implemented_points
from app.referee.saved import Wanted, saved_rulings
from app.web.pages.rulings import summary as ruling_summary
from app.web.site import database, day, engine
from db import editions as db_editions
from db import reference
from db.charts import GameCharts, chart_answer, contradictions
from db.charts import charts as chart_list
from db.reference import Passage, RuleAnswer, TermEntry, Tree, TreeRule
from db.rulesets import CODES
from db.terms import TermFinder

pages = Blueprint("rules", __name__, url_prefix="/rules")
NAVIGATION = [(20, "Rules", "rules.overview")]

pages.add_app_template_global(implemented_points)

LONGEST_QUERY = 400
SHOWN_RULINGS = 5
"""Kept rulings that a rule's page tells."""
CITED = re.compile(rf"\b({'|'.join(CODES)}) ([A-Z]?\d+(?:\.\d+)*)(?![\w])")
"""A rule with its game, as comparisons cite it: css 7.1.2."""
NUMBER = re.compile(r"(?<![\w.$+-])([A-Z]?\d{1,3}(?:\.\d{1,3})+|[A-Z]\d{2,3})(?!\w|\.\d)")
"""What may be a rule's number in running text."""


@pages.get("")
def overview() -> str:
    """The games, the concepts, and a box to search in."""
    return render_template("rules/overview.html", answer=reference.overview(database()))


@pages.get("/search")
def search() -> str:
    """What answers to some words; `part=hits` gives the list alone, for search as you type."""
    words = request.args.get("q", "")[:LONGEST_QUERY]
    ruleset = request.args.get("ruleset") or None
    answer = reference.search(database(), words, ruleset) if words.strip() else None
    template = "rules/hits.html" if request.args.get("part") == "hits" else "rules/search.html"
    return render_template(template, answer=answer, words=words, ruleset=ruleset)


@pages.get("/compare")
def comparisons() -> str:
    """What can be compared across the games."""
    return render_template("rules/comparisons.html", answer=reference.overview(database()))


@pages.get("/compare/<concept>")
def compare(concept: str) -> str:
    """How the games treat one thing, side by side."""
    return render_template("rules/compare.html", answer=reference.compare(database(), concept))


@pages.get("/<ruleset>")
def tree(ruleset: str) -> str:
    """Every rule of a game."""
    answer = reference.tree(database(), ruleset)
    return render_template("rules/tree.html", answer=answer, chapters=branches(answer))


@pages.get("/<ruleset>/contested")
def contested(ruleset: str) -> str:
    """Where a rulebook disagrees with itself, the readings side by side."""
    answer = reference.contested(database(), ruleset)
    known = reference.numbers(database(), ruleset)
    implemented = implemented_points()
    ruled = sum(point.id in implemented for point in answer.points)
    return render_template("rules/contested.html", answer=answer, known=known, ruled=ruled)


@pages.get("/<ruleset>/editions")
def editions(ruleset: str) -> str:
    """The owner's imported editions, with forms to choose and to remove one."""
    return render_template("rules/editions.html", answer=db_editions.editions(database(), ruleset))


@pages.post("/<ruleset>/editions")
def change_editions(ruleset: str) -> AnyResponse:
    """Choose the edition that is shown, or remove one."""
    with engine().begin() as connection:
        if removed := request.form.get("remove", "")[:80]:
            db_editions.remove(connection, ruleset, removed)
        else:
            db_editions.choose(connection, ruleset, request.form.get("choose", "")[:80] or None)
    return redirect(url_for(".editions", ruleset=ruleset), code=303)


@pages.get("/<ruleset>/charts")
def charts(ruleset: str) -> str:
    """Every chart of a game: what is printed, what is missing, what was filled in."""
    title = reference.game_title(database(), ruleset)
    answer = GameCharts(ruleset=ruleset, title=title, charts=chart_list(database(), ruleset))
    return render_template("rules/charts.html", answer=answer)


@pages.get("/<ruleset>/charts/<chart>")
def chart(ruleset: str, chart: str) -> str:
    """One chart, cell by cell, with whose word each cell is."""
    title = reference.game_title(database(), ruleset)
    answer = chart_answer(database(), ruleset, chart)
    differing = [found for found in contradictions(database(), ruleset) if found.chart == chart]
    rules = reference.digests(database(), ruleset, answer.rules)
    return render_template(
        "rules/chart.html",
        answer=answer,
        title=title,
        differing=differing,
        rules=rules,
        known=reference.numbers(database(), ruleset),
    )


@pages.get("/<ruleset>/terms")
def terms(ruleset: str) -> str:
    """The words that a game uses in a sense of its own."""
    return render_template("rules/terms.html", answer=reference.glossary(database(), ruleset))


@pages.get("/<ruleset>/<number>")
def rule(ruleset: str, number: str) -> str | AnyResponse:
    """A rule, at its permanent address; other spellings of its number lead there."""
    edition = request.args.get("edition") or None
    as_of = day(request.args.get("as_of"))
    answer = reference.rule(database(), ruleset, number, edition, as_of)
    if number != answer.number and not (edition and answer.printed and answer.printed.number == number):
        address = url_for(
            ".rule", ruleset=ruleset, number=answer.number, edition=edition, as_of=request.args.get("as_of")
        )
        return redirect(address, code=301)
    known = reference.numbers(database(), ruleset)
    total, kept = saved_rulings(database(), Wanted(ruleset=ruleset, rule=answer.number), 1, SHOWN_RULINGS)
    return render_template(
        "rules/rule.html",
        answer=answer,
        digest=explained(answer, known),
        known=known,
        as_of=as_of,
        rulings=[ruling_summary(row) for row in kept],
        rulings_total=total,
        settled={entry.point: entry for entry in answer.errata if entry.point},
    )


@pages.after_request
def _cache(response: Response) -> Response:
    """What the reference tells changes only with imports, errata and upgrades: ask, but send once."""
    if response.status_code == 200 and response.mimetype == "text/html":
        response.add_etag()
        response.make_conditional(request)
    return response


def branches(answer: Tree) -> list[tuple[TreeRule, list[TreeRule]]]:
    """The chapters of a game, each with the rules below it in order."""
    chapters: list[tuple[TreeRule, list[TreeRule]]] = []
    for item in answer.rules:
        if item.depth == 0 or not chapters:
            chapters.append((item, []))
        else:
            chapters[-1][1].append(item)
    return chapters


def explained(answer: RuleAnswer, known: set[str]) -> Markup:
    """The digest with its terms explained at their first use, and the rules it names linked."""
    entries = {entry.term: entry for entry in answer.terms}
    finder = TermFinder((entry.term, entry.aliases) for entry in answer.terms)
    told: set[str] = set()
    pieces: list[Markup] = []
    for use in finder.uses(answer.digest):
        if use.term is None or use.term in told:
            pieces.append(numbers_linked(use.text, answer.ruleset, known))
        else:
            told.add(use.term)
            pieces.append(_with_definition(use.text, entries[use.term], answer.ruleset))
    return Markup("").join(pieces)


def _with_definition(word: str, entry: TermEntry, ruleset: str) -> Markup:
    """A word with its definition, shown on hover and on focus, and told to a screen reader."""
    anchor = term_anchor(entry.term)
    return Markup(
        '<span class="term"><a href="{address}" aria-describedby="{anchor}">{word}</a>'
        '<span class="tip" role="tooltip" id="{anchor}">{definition}</span></span>'
    ).format(
        address=url_for(".terms", ruleset=ruleset, _anchor=anchor),
        anchor=anchor,
        word=word,
        definition=entry.definition,
    )


@pages.app_template_filter()
def term_anchor(term: str) -> str:
    """The place of a term on the glossary page."""
    return "term-" + re.sub(r"[^a-z0-9]+", "-", term.lower()).strip("-")


@pages.app_template_filter()
def numbers_linked(text: str, ruleset: str, known: set[str]) -> Markup:
    """Text in which the numbers of a game's rules lead to them."""

    def link(match: re.Match[str]) -> Markup:
        return _rule_link(ruleset, match[1], match[0]) if match[1] in known else escape(match[0])

    return _substituted(NUMBER, link, text)


@pages.app_template_filter()
def citations_linked(text: str) -> Markup:
    """Text in which citations such as css 7.1.2 lead to the rules."""
    return _substituted(CITED, lambda match: _rule_link(match[1], match[2], match[0]), text)


def _rule_link(ruleset: str, number: str, text: str) -> Markup:
    address = url_for("rules.rule", ruleset=ruleset, number=number)
    return Markup('<a href="{}">{}</a>').format(address, text)


def _substituted(
    pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], Markup], text: str
) -> Markup:
    def pieces() -> Iterator[Markup]:
        at = 0
        for match in pattern.finditer(text):
            yield escape(text[at : match.start()])
            yield replacement(match)
            at = match.end()
        yield escape(text[at:])

    return Markup("").join(pieces())


@pages.app_template_filter()
def marked(headline: str) -> Markup:
    """A headline whose ‹words› are marked."""
    pieces = headline.replace("›", "‹").split("‹")
    return Markup("").join(
        Markup("<mark>{}</mark>").format(piece) if at % 2 else escape(piece)
        for at, piece in enumerate(pieces)
    )


@pages.app_template_filter()
def paragraphs(passage: Passage) -> list[str]:
    """The paragraphs of a passage, without the decoration of a text file."""
    bare = re.sub(r"\*\*|^#+ *", "", passage.text, flags=re.MULTILINE)
    return [paragraph.strip() for paragraph in re.split(r"\n\s*\n", bare) if paragraph.strip()]


@pages.app_template_filter()
def table_rows(passage: Passage) -> list[list[str]]:
    """The cells of a printed table."""
    return [
        [cell.replace("**", "").strip() for cell in line.split("\t")]
        for line in passage.text.split("\n")
        if line.strip()
    ]
