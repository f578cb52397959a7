"""Reading the rules reference: one shape of answer for pages, API and command line.

Each function asks the database and returns a typed answer; the JSON of the API and of the
command line is that answer, and a page shows it.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import sqlalchemy as sa
from pydantic import Field
from sqlalchemy.engine import Connection

from db import charts, suite
from db import editions as db_editions
from db.charts import ChartAnswer, ChartName
from db.citations import Kind, rule_index, uncited_reasons
from db.errata import ErratumEntry, errata
from db.labels import nearest
from db.rule_numbers import Answer as Answer
from db.rule_numbers import NotInReference as NotInReference
from db.rule_numbers import find_rule as find_rule
from db.rule_numbers import game_title as game_title
from db.rule_numbers import no_ruleset
from db.rule_numbers import numbers as numbers
from db.rules import (
    Concept,
    ConceptRule,
    EditionRule,
    GlossaryEntry,
    Rule,
    Rulebook,
    RuleTerm,
    RuleText,
    Term,
)
from db.rulesets import CODES, read_ruleset
from db.rulesets import Rule as RuleForm
from db.rulesets.tables import ContestedPoint, Reading, Ruleset

Reason = Literal["heading", "case", "definition", "not_asked"]
"""Why the number of a rule stands nowhere in the sources."""


class RuleName(Answer):
    """A rule by number and title."""

    ruleset: str
    number: str
    title: str


class TreeRule(Answer):
    """A rule in the list of its game."""

    number: str
    title: str
    parent: str | None
    kind: Literal["rule", "section", "unused"]
    depth: int = Field(description="0 for a chapter")


class Tree(Answer):
    """All rules of a game, in order."""

    ruleset: str
    title: str
    editions: list[str] = Field(description="Rulebooks imported by the owner, the newest import first")
    rules: list[TreeRule]


class Reference(Answer):
    """A cross reference."""

    number: str | None = Field(description="The other rule; null: there is none, or an unnumbered glossary")
    title: str | None
    printed: list[str] = Field(description="The numbers as they are written")
    editions: list[str] = Field(description="Imported editions that print it")
    digest: bool = Field(description="Whether our own digest has it")


class References(Answer):
    """A rule's cross references, both ways."""

    ruleset: str
    number: str
    refers_to: list[Reference]
    referred_from: list[Reference]


class TermEntry(Answer):
    """A word that a game uses in a sense of its own."""

    term: str
    definition: str
    aliases: list[str]
    rule: str | None = Field(description="Where the rulebook defines it")
    printed: dict[str, str] = Field({}, description="The definition in each imported edition")


class Glossary(Answer):
    """All terms of a game."""

    ruleset: str
    title: str
    terms: list[TermEntry]


class Passage(Answer):
    """A passage of the owner's rulebook."""

    kind: Literal["text", "example", "note", "table"]
    text: str
    first_line: int
    last_line: int


class Printed(Answer):
    """A rule as an imported edition prints it."""

    edition: str
    number: str
    title: str
    recovered: bool = Field(description="The file lost its heading; the contents gave it back")
    passages: list[Passage]


class ReadingText(Answer):
    """One way to read a contested point."""

    letter: str
    title: str
    effect: str


class Contested(Answer):
    """A point where a rulebook disagrees with itself or is silent."""

    id: str
    title: str
    severity: Literal["high", "medium", "low"]
    cites: list[str]
    readings: list[ReadingText]
    default: str = Field(description="The reading used where no policy chooses")
    why: str
    affects: list[str] = Field(description="Question kinds it may decide")


class ContestedPoints(Answer):
    """All contested points of a game."""

    ruleset: str
    title: str
    points: list[Contested]


class ConceptName(Answer):
    """A concept by code and title."""

    code: str
    title: str


class RuleDigest(Answer):
    """A rule with its digest."""

    number: str
    title: str
    digest: str


class GameTreatment(Answer):
    """The rules of one game that treat a concept, the chief one first."""

    ruleset: str
    title: str
    rules: list[RuleDigest]


class Comparison(Answer):
    """How the games treat one thing."""

    concept: str
    title: str
    aliases: list[str]
    comparison: str
    games: list[GameTreatment]


class CaseName(Answer):
    """A case that cites a rule."""

    case: str
    title: str


class CitedPlace(Answer):
    """A place of the sources in which a rule's number stands."""

    file: str
    kind: Kind = Field(
        description="What cites it; `data`: a datum that has it as its rule, `file`: a file as a whole"
    )
    name: str | None = Field(
        description="The function, view or class, or what the datum is about; null of a file"
    )
    lines: list[int]
    clauses: list[str] = Field(description="Lettered items of the rule that are named")


class IndexedRule(RuleName):
    """A rule and where it is decided."""

    places: list[CitedPlace]
    cases: int = Field(description="How many cases cite it")


class UncitedRule(RuleName):
    """A rule whose number stands nowhere in the sources."""

    reason: Reason = Field(
        description="`heading`: it has nothing of its own, `case`: cases alone cite it, `definition`: it tells of "
        "parts and words, `not_asked`: no question has come to it yet"
    )


class GameIndex(Answer):
    """The rule index of a game: from every rule to the places where it is decided."""

    ruleset: str
    title: str
    cited: list[IndexedRule]
    uncited: list[UncitedRule]


class IndexCount(Answer):
    """How many rules of a game are cited, and where."""

    ruleset: str
    title: str
    rules: int
    code: int = Field(description="Cited by the code, and perhaps by data too")
    data: int = Field(description="Cited by data alone")
    heading: int
    case: int
    definition: int
    not_asked: int


class Elsewhere(Answer):
    """The same thing in another game: its chief rule for a concept."""

    concept: str
    concept_title: str
    ruleset: str
    number: str
    title: str
    digest: str


class RuleAnswer(Answer):
    """A rule with everything that touches it."""

    ruleset: str
    game: str
    number: str
    title: str
    kind: Literal["rule", "section", "unused"]
    digest: str = Field(description="What it says, in our own words")
    above: list[RuleName] = Field(description="From the chapter down to the parent")
    below: list[RuleName]
    before: RuleName | None
    after: RuleName | None
    refers_to: list[Reference]
    referred_from: list[Reference]
    terms: list[TermEntry] = Field(description="Terms that the digest uses")
    charts: list[ChartAnswer] = Field(description="The charts that stand at it, with all their cells")
    cited_in_charts: list[ChartName] = Field(description="Other charts that have a cell by this rule")
    contested: list[Contested]
    concepts: list[ConceptName]
    elsewhere: list[Elsewhere] = Field(description="The chief rules of the other games for the same things")
    cases: list[CaseName]
    decided_in: list[CitedPlace] = Field(
        description="Where its number stands in the code and the data: functions first, files as a whole last"
    )
    as_of: datetime.date
    errata: list[ErratumEntry] = Field(description="What changes the rule on that day")
    editions: list[str] = Field(description="Imported editions that have the rule, the newest import first")
    remarks: list[str] = Field(
        description="Where the edition that is shown differs from the digest, or lacks the rule"
    )
    printed: Printed | None = Field(description="The owner's text; null where none is imported")


class Hit(Answer):
    """A rule that a search found."""

    ruleset: str
    number: str
    title: str
    kind: Literal["rule", "section", "unused"]
    headline: str = Field(description="Where the words stand, marked ‹so›")
    score: float
    errata: int = Field(description="How many errata and house rules change it today")


class Absent(Answer):
    """What a game does not have, though a query asks for it by name."""

    ruleset: str
    concept: str
    title: str
    games: list[str] = Field(description="The games that have it")


class SearchAnswer(Answer):
    """What a search found, the best first."""

    words: str
    ruleset: str | None
    absent: Absent | None = Field(
        description="Set where the game searched has no such thing; the hits are then what comes nearest"
    )
    total: int = Field(description="How many rules answer in all; hits are the best of them")
    hits: list[Hit]


class GameSummary(Answer):
    """A game and how much the reference has of it."""

    code: str
    title: str
    rules: int
    terms: int
    contested: int
    editions: list[str]


class Overview(Answer):
    """What the reference has."""

    games: list[GameSummary]
    concepts: list[ConceptName]


def overview(connection: Connection) -> Overview:
    """The games and the concepts."""

    def count(table: type[Rule | Term | ContestedPoint]) -> sa.ScalarSelect[int]:
        counted = sa.select(sa.func.count()).select_from(table).where(table.ruleset == Ruleset.code)
        return counted.correlate(Ruleset).scalar_subquery()

    query = sa.select(
        Ruleset.code,
        Ruleset.title,
        count(Rule).label("rules"),
        count(Term).label("terms"),
        count(ContestedPoint).label("contested"),
    )
    games = {
        row["code"]: GameSummary(**row, editions=editions(connection, row["code"]))
        for row in connection.execute(query).mappings()
    }
    return Overview(
        games=[games[code] for code in CODES if code in games],
        concepts=_concept_names(
            connection.execute(sa.select(Concept.code, Concept.title).order_by(Concept.n))
        ),
    )


def editions(connection: Connection, ruleset: str, rule_id: int | None = None) -> list[str]:
    """The imported editions of a game, or those that have one rule; the newest import first."""
    query = (
        sa.select(Rulebook.edition)
        .where(Rulebook.ruleset == ruleset)
        .order_by(Rulebook.imported_at.desc(), Rulebook.id.desc())
    )
    if rule_id is not None:
        query = query.join(EditionRule, EditionRule.rulebook_id == Rulebook.id).where(
            EditionRule.rule_id == rule_id
        )
    return list(connection.scalars(query))


def tree(connection: Connection, ruleset: str) -> Tree:
    """Every rule of a game."""
    parent = sa.orm.aliased(Rule)
    query = (
        sa.select(
            Rule.number,
            Rule.title,
            parent.number.label("parent"),
            Rule.kind,
            (sa.func.cardinality(Rule.path) - 1).label("depth"),
        )
        .join_from(Rule, parent, Rule.parent_id == parent.id, isouter=True)
        .where(Rule.ruleset == ruleset)
        .order_by(Rule.path, Rule.number)
    )
    return Tree(
        ruleset=ruleset,
        title=game_title(connection, ruleset),
        editions=editions(connection, ruleset),
        rules=[TreeRule(**row) for row in connection.execute(query).mappings()],
    )


def digests(connection: Connection, ruleset: str, wanted: Iterable[str]) -> dict[str, RuleDigest]:
    """The rules of a game that have one of these numbers, each with its digest, in the order of the rulebook."""
    query = (
        sa.select(Rule.number, Rule.title, Rule.digest)
        .where(Rule.ruleset == ruleset, Rule.number.in_(set(wanted)))
        .order_by(Rule.path, Rule.number)
    )
    return {row["number"]: RuleDigest(**row) for row in connection.execute(query).mappings()}


def rule(
    connection: Connection,
    ruleset: str,
    number: str,
    edition: str | None = None,
    as_of: datetime.date | None = None,
) -> RuleAnswer:
    """A rule with everything that touches it, as of a day, beside the text of an edition."""
    _check_edition(connection, ruleset, edition)
    row_id = find_rule(connection, ruleset, number, edition)
    row = connection.execute(
        sa.select(Rule.id, Rule.number, Rule.title, Rule.kind, Rule.digest, Rule.path).where(
            Rule.id == row_id
        )
    ).one()
    day = as_of or datetime.date.today()
    links = _references(connection, ruleset, row.number)
    here = charts.charts(connection, ruleset, rule=row.number)
    before, after = _neighbours(connection, ruleset, row.path, row.number)
    return RuleAnswer(
        ruleset=ruleset,
        game=game_title(connection, ruleset),
        number=row.number,
        title=row.title,
        kind=row.kind,
        digest=row.digest,
        above=_above(connection, ruleset, row.path),
        below=_names(connection, Rule.parent_id == row_id),
        before=before,
        after=after,
        refers_to=links.refers_to,
        referred_from=links.referred_from,
        terms=_terms(connection, Term.id.in_(sa.select(RuleTerm.term_id).where(RuleTerm.rule_id == row_id))),
        charts=here,
        cited_in_charts=[
            name
            for name in charts.charts_citing(connection, ruleset, [row.number])
            if name.chart not in {chart.chart for chart in here}
        ],
        contested=_contested(connection, ruleset, ContestedPoint.cites.contains([row.number])),
        concepts=_concept_names(
            connection.execute(
                sa.select(Concept.code, Concept.title)
                .join(ConceptRule, ConceptRule.concept == Concept.code)
                .where(ConceptRule.rule_id == row_id)
                .order_by(Concept.n)
            )
        ),
        elsewhere=_elsewhere(connection, ruleset, row_id),
        cases=cases_citing(ruleset, row.number),
        decided_in=_places(ruleset, row.number),
        as_of=day,
        errata=errata(connection, rule_id=row_id, as_of=day),
        editions=editions(connection, ruleset, row_id),
        remarks=db_editions.remarks(connection, ruleset, row_id, row.number, edition),
        printed=_printed(connection, ruleset, row_id, edition),
    )


def _check_edition(connection: Connection, ruleset: str, edition: str | None) -> None:
    if edition is None:
        return
    known = editions(connection, ruleset)
    if edition not in known:
        raise NotInReference(
            f"No edition {edition!r} of {ruleset} is imported.",
            f"Imported: {', '.join(known)}."
            if known
            else f"Import one: sightline import rulebook {ruleset} FILE --edition {edition}",
        )


def _names(connection: Connection, which: sa.ColumnElement[bool]) -> list[RuleName]:
    query = sa.select(Rule.ruleset, Rule.number, Rule.title).where(which).order_by(Rule.path, Rule.number)
    return [RuleName(**row) for row in connection.execute(query).mappings()]


def _above(connection: Connection, ruleset: str, path: Sequence[int]) -> list[RuleName]:
    prefixes = [list(path[:length]) for length in range(1, len(path))]
    if not prefixes:
        return []
    return _names(
        connection,
        sa.and_(Rule.ruleset == ruleset, sa.or_(*(Rule.path == prefix for prefix in prefixes))),
    )


def _neighbours(
    connection: Connection, ruleset: str, path: Sequence[int], number: str
) -> tuple[RuleName | None, RuleName | None]:
    place = sa.tuple_(Rule.path, Rule.number)
    here = sa.tuple_(sa.literal(list(path), Rule.path.type), sa.literal(number))
    query = sa.select(Rule.ruleset, Rule.number, Rule.title).where(Rule.ruleset == ruleset)
    before = query.where(place < here).order_by(Rule.path.desc(), Rule.number.desc()).limit(1)
    after = query.where(place > here).order_by(Rule.path, Rule.number).limit(1)
    found = [connection.execute(side).mappings().one_or_none() for side in (before, after)]
    first, last = (RuleName(**row) if row else None for row in found)
    return first, last


def references(connection: Connection, ruleset: str, number: str) -> References:
    """What a rule refers to, and what refers to it; the same reference of several editions is one."""
    found = find_rule(connection, ruleset, number)
    return _references(
        connection, ruleset, connection.scalars(sa.select(Rule.number).where(Rule.id == found)).one()
    )


def _references(connection: Connection, ruleset: str, number: str) -> References:
    rows = connection.execute(
        sa.text("select * from rules.references(:ruleset, :number)"),
        {"ruleset": ruleset, "number": number},
    ).all()
    sides: dict[str, dict[tuple[str | None, str | None], list[sa.Row[Any]]]] = {"to": {}, "from": {}}
    for row in rows:
        # dangling references are told apart by what is printed, others by the rule they name
        key = (row.rule, row.printed if row.rule is None and row.direction == "to" else None)
        sides[row.direction].setdefault(key, []).append(row)

    def gathered(side: str) -> list[Reference]:
        return [
            Reference(
                number=key[0],
                title=lines[0].title,
                printed=_each_once(line.printed for line in lines),
                editions=_each_once(line.edition for line in lines if line.edition),
                digest=any(line.edition is None for line in lines),
            )
            for key, lines in sides[side].items()
        ]

    return References(
        ruleset=ruleset, number=number, refers_to=gathered("to"), referred_from=gathered("from")
    )


def _each_once(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _printed(connection: Connection, ruleset: str, rule_id: int, edition: str | None) -> Printed | None:
    # one edition at a time: a rule that it lacks is not filled in from another
    shown = edition or db_editions.in_use(connection, ruleset)
    book = connection.execute(
        sa.select(Rulebook.id, Rulebook.edition, EditionRule.number, EditionRule.title, EditionRule.recovered)
        .join(EditionRule, EditionRule.rulebook_id == Rulebook.id)
        .where(Rulebook.ruleset == ruleset, Rulebook.edition == shown, EditionRule.rule_id == rule_id)
    ).one_or_none()
    if book is None:
        return None
    passages = connection.execute(
        sa.select(RuleText.kind, RuleText.text, RuleText.first_line, RuleText.last_line)
        .where(RuleText.rulebook_id == book.id, RuleText.rule_id == rule_id)
        .order_by(RuleText.n)
    ).mappings()
    return Printed(
        edition=book.edition,
        number=book.number,
        title=book.title,
        recovered=book.recovered,
        passages=[Passage(**passage) for passage in passages],
    )


def glossary(connection: Connection, ruleset: str) -> Glossary:
    """Every term of a game, with the definitions of imported editions beside ours."""
    title = game_title(connection, ruleset)
    printed: dict[str, dict[str, str]] = {}
    rows = connection.execute(
        sa.select(GlossaryEntry.name, GlossaryEntry.text, Rulebook.edition)
        .join(Rulebook, Rulebook.id == GlossaryEntry.rulebook_id)
        .where(Rulebook.ruleset == ruleset)
        .order_by(Rulebook.imported_at.desc(), GlossaryEntry.n)
    )
    for name, text, edition in rows:
        printed.setdefault(name.casefold(), {}).setdefault(edition, text)
    return Glossary(ruleset=ruleset, title=title, terms=_terms(connection, Term.ruleset == ruleset, printed))


def _terms(
    connection: Connection,
    which: sa.ColumnElement[bool],
    printed: dict[str, dict[str, str]] | None = None,
) -> list[TermEntry]:
    query = (
        sa.select(Term.name, Term.definition, Term.aliases, Rule.number)
        .join_from(Term, Rule, Term.rule_id == Rule.id, isouter=True)
        .where(which)
        .order_by(sa.func.lower(Term.name))
    )
    return [
        TermEntry(
            term=name,
            definition=definition,
            aliases=aliases,
            rule=number,
            printed={
                edition: text
                for alias in reversed([name, *aliases])
                for edition, text in (printed or {}).get(alias.casefold(), {}).items()
            },
        )
        for name, definition, aliases, number in connection.execute(query)
    ]


def _concept_names(rows: Iterable[Any]) -> list[ConceptName]:
    return [ConceptName(code=code, title=title) for code, title in rows]


def _elsewhere(connection: Connection, ruleset: str, rule_id: int) -> list[Elsewhere]:
    """The chief rule of every other game for each thing of which this is a chief rule, else for all it treats."""
    this, other = sa.orm.aliased(ConceptRule), sa.orm.aliased(ConceptRule)
    rows = connection.execute(
        sa.select(
            Concept.code.label("concept"),
            Concept.title.label("concept_title"),
            Rule.ruleset,
            Rule.number,
            Rule.title,
            Rule.digest,
            this.n,
        )
        .join(this, this.concept == Concept.code)
        .join(other, sa.and_(other.concept == Concept.code, other.n == 1))
        .join(Rule, Rule.id == other.rule_id)
        .where(this.rule_id == rule_id, Rule.ruleset != ruleset)
        .order_by(this.n, Concept.n, Rule.ruleset)
    ).all()
    chief = min((row.n for row in rows), default=1)
    return [
        Elsewhere(**{name: value for name, value in row._mapping.items() if name != "n"})
        for row in rows
        if row.n == chief
    ]


def compare(connection: Connection, concept: str) -> Comparison:
    """How the games treat a concept, named by its code, its title or another word for it."""
    row = _concept(connection, concept)
    rows = connection.execute(
        sa.select(Rule.ruleset, Rule.number, Rule.title, Rule.digest)
        .join(ConceptRule, ConceptRule.rule_id == Rule.id)
        .where(ConceptRule.concept == row.code)
        .order_by(ConceptRule.n)
    ).all()
    titles = {code: game_title(connection, code) for code in CODES}
    return Comparison(
        concept=row.code,
        title=row.title,
        aliases=row.aliases,
        comparison=row.comparison,
        games=[
            GameTreatment(
                ruleset=code,
                title=titles[code],
                rules=[
                    RuleDigest(number=number, title=title, digest=digest)
                    for ruleset, number, title, digest in rows
                    if ruleset == code
                ],
            )
            for code in CODES
            if any(ruleset == code for ruleset, *_ in rows)
        ],
    )


def _concept(connection: Connection, asked: str) -> sa.Row[str, str, list[str], str]:
    rows = connection.execute(
        sa.select(Concept.code, Concept.title, Concept.aliases, Concept.comparison).order_by(Concept.n)
    ).all()
    wanted = _spoken(asked)
    for row in rows:
        if wanted in (_spoken(row.code), _spoken(row.title)):
            return row
    for row in rows:
        if wanted in map(_spoken, row.aliases):
            return row
    words = {name: row.code for row in rows for name in (row.code, row.title, *row.aliases)}
    alike = _each_once(words[word] for word in nearest(asked, words))
    raise NotInReference(
        f"No concept {asked!r}.",
        f"Did you mean {' or '.join(alike)}?"
        if alike
        else f"Concepts: {', '.join(row.code for row in rows)}.",
    )


def _spoken(name: str) -> str:
    return " ".join(name.casefold().replace("_", " ").split())


def contested(connection: Connection, ruleset: str) -> ContestedPoints:
    """Every contested point of a game, with its readings."""
    title = game_title(connection, ruleset)
    return ContestedPoints(
        ruleset=ruleset, title=title, points=_contested(connection, ruleset, sa.literal(True))
    )


def _contested(connection: Connection, ruleset: str, which: sa.ColumnElement[bool]) -> list[Contested]:
    points = connection.execute(
        sa.select(ContestedPoint.__table__)
        .where(ContestedPoint.ruleset == ruleset, which)
        .order_by(ContestedPoint.n)
    ).all()
    readings: dict[str, list[ReadingText]] = {}
    for row in connection.execute(
        sa.select(Reading.__table__)
        .where(Reading.point.in_([point.id for point in points]))
        .order_by(Reading.letter)
    ):
        readings.setdefault(row.point, []).append(
            ReadingText(letter=row.letter, title=row.title, effect=row.effect)
        )
    return [
        Contested(
            id=point.id,
            title=point.title,
            severity=point.severity,
            cites=point.cites,
            readings=readings[point.id],
            default=point.preset,
            why=point.why,
            affects=point.affects,
        )
        for point in points
    ]


def search(connection: Connection, words: str, ruleset: str | None = None, limit: int = 20) -> SearchAnswer:
    """Rules that answer some words or a number."""
    if ruleset is not None:
        game_title(connection, ruleset)
    rows = connection.execute(
        sa.text(
            "select game as ruleset, rule as number, title, kind, headline, score, errata, total"
            " from rules.search(:words, :ruleset, :limit)"
        ),
        {"words": words.replace("\0", " "), "ruleset": ruleset, "limit": limit},
    ).all()
    hits = [Hit(**{field: getattr(row, field) for field in Hit.model_fields}) for row in rows]
    return SearchAnswer(
        words=words,
        ruleset=ruleset,
        absent=_absent(connection, words, ruleset),
        total=rows[0].total if rows else 0,
        hits=hits,
    )


def _absent(connection: Connection, words: str, ruleset: str | None) -> Absent | None:
    row = connection.execute(
        sa.text("select game as ruleset, concept, title, games from rules.absent(:words, :ruleset)"),
        {"words": words.replace("\0", " "), "ruleset": ruleset},
    ).one_or_none()
    return None if row is None else Absent(**row._mapping)


def cases_citing(ruleset: str, number: str) -> list[CaseName]:
    """The packaged cases that cite a rule; none where no index is packaged."""
    return [CaseName(case=case.id, title=case.title) for case in suite.citing(ruleset, number)]


def _places(ruleset: str, number: str) -> list[CitedPlace]:
    return [CitedPlace.model_validate(place._asdict()) for place in rule_index(ruleset).places(number)]


def index(ruleset: str) -> GameIndex:
    """Where each rule of a game is decided, and which rules are cited nowhere; it needs no database."""
    if ruleset not in CODES:
        raise no_ruleset(ruleset)
    found = rule_index(ruleset).cited()
    rules = read_ruleset(ruleset).rules
    return GameIndex(
        ruleset=ruleset,
        title=read_ruleset(ruleset).facts.title,
        cited=[
            IndexedRule(
                ruleset=ruleset,
                number=rule.number,
                title=rule.title,
                places=_places(ruleset, rule.number),
                cases=len(cases_citing(ruleset, rule.number)),
            )
            for rule in rules
            if rule.number in found
        ],
        uncited=[
            UncitedRule(
                ruleset=ruleset, number=rule.number, title=rule.title, reason=_why_uncited(ruleset, rule)
            )
            for rule in rules
            if rule.number not in found
        ],
    )


def _why_uncited(ruleset: str, rule: RuleForm) -> Reason:
    if rule.kind != "rule":
        return "heading"
    if cases_citing(ruleset, rule.number):
        return "case"
    return "definition" if rule.number in uncited_reasons(ruleset).definition else "not_asked"


def index_counts() -> list[IndexCount]:
    """How much of each game is cited."""
    return [_count(index(code)) for code in CODES]


def _count(answer: GameIndex) -> IndexCount:
    coded = sum(any(place.kind != "data" for place in rule.places) for rule in answer.cited)
    reasons = [rule.reason for rule in answer.uncited]
    return IndexCount(
        ruleset=answer.ruleset,
        title=answer.title,
        rules=len(answer.cited) + len(answer.uncited),
        code=coded,
        data=len(answer.cited) - coded,
        heading=reasons.count("heading"),
        case=reasons.count("case"),
        definition=reasons.count("definition"),
        not_asked=reasons.count("not_asked"),
    )
