"""What is particular to each game's rulebook: its numbers, headings, unnumbered pages and known slips.

A pattern is matched against a line whose decoration (`###`, `**`, a closing colon) has been taken off. None
depends on where a line stands, so that another scan of the same book reads just as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Numbering = Literal["zero", "plain", "compact"]
"""zero: 7.0 is the chapter of 7.1. plain: 7 is. compact: as zero, but 2.21 stands below 2.2."""


@dataclass(frozen=True)
class Opening:
    """A heading without a number: what it opens runs to the next heading of any sort."""

    pattern: str
    what: Literal["annex", "divider", "glossary"]
    rule: str | None = None
    """The rule to which the pages belong (a chart printed on the back cover), if any."""


@dataclass(frozen=True)
class Stray:
    """Text that the page layout tore from its rule: from the words `opens` to the next heading."""

    opens: str
    rule: str


@dataclass(frozen=True)
class Profile:
    """One game's rulebook."""

    ruleset: str
    game: str
    signature: str
    """How the book names its own game; another game's book is told by the lack of it."""
    numbering: Numbering
    number: str
    """A rule number as printed in contents, index and headings."""
    headings: tuple[str, ...]
    """Numbered headings, with the groups `number` and `title`."""
    reference: str
    """A rule number in running text that cannot be a hex or a measure."""
    mends: tuple[tuple[str, str], ...] = ()
    """Slips of the scan in rule numbers: pattern and replacement."""
    openings: tuple[Opening, ...] = ()
    strays: tuple[Stray, ...] = ()
    debris: tuple[str, ...] = ()
    """Running heads and feet."""
    illegible: tuple[str, ...] = ()
    """What the scan made of pictures."""
    term_rules: tuple[str, ...] = ()
    """Numbered rules that are glossaries."""
    terms: tuple[str, ...] = ()
    """Entries of a glossary, with the groups `term` and `text`; the first pattern that fits a line counts."""
    box_goes_on: str = r"(?!)"
    """What a paragraph has that still belongs to a boxed example: units by name, hexes, rolls."""
    example_goes_on: str = r"(?!)"
    """How a paragraph begins that goes on with the example above it."""


_TITLE = r"(?P<title>[\"“'(\[]?[A-Z0-9].*)"

PROFILES: dict[str, Profile] = {
    profile.ruleset: profile
    for profile in (
        Profile(
            ruleset="css",
            game="Guam: Return to Glory",
            signature=r"Company Scale System|CSS: Guam|Return to Glory",
            numbering="zero",
            number=r"\d{1,2}\.\d(?:\.\d{1,2})?(?!\d)",
            headings=(r"(?P<number>\d{1,2}\.\d(?:\.\d{1,2})?)\s+" + _TITLE,),
            # Hexes are printed 24.77: two digits after the point are never a rule. Points to move with are told in halves.
            reference=r"(?<!allowance\sof\s)\d{1,2}\.\d(?:\.\d{1,2})?",
            strays=(
                Stray(r"Unit\. In addition, the hex left and", "13.1"),
                Stray(r"- During the Night Turn II of any", "27.0"),
            ),
            term_rules=("2.0", "3.4"),
            terms=(r"^(?:- )?(?P<term>[\"“]?[A-Z][^:]{0,60}?[\"”]?) ?: (?P<text>.+)",),
            box_goes_on=(
                r"\b\d\d\.\d\d\b|\b[A-Z1-9]\w* Compan(?:y|ies)\b|\bRCT\b|\b\w{1,2}/\d+|^Case [A-Z]\b"
                r"|\bsituation\b|\brolls? (?:a|an) \d"
                r"|\bDivision Troop Quality is \d|\bUS roll|\(\+?\d\)|=\s?-?\d|^Here|^The Marines are\b"
            ),
        ),
        Profile(
            ruleset="ccp",
            game="Combat Commander: Pacific",
            signature=r"Combat Commander|\bCC:P\b",
            numbering="plain",
            number=r"[OAETF0]?\d{1,3}(?:\.\d{1,2})*",
            headings=(
                r"(?P<number>[OAETF0]?\d{1,3})\.\s+(?P<title>\(?[A-Z][^a-z]*)",
                r"(?P<number>[OAETF0]?\d{1,3}(?:\.\d{1,2})+)\.?\s+" + _TITLE,
            ),
            reference=r"[OAETF]\d{2,3}(?:\.\d{1,2})*|[OAETF0]?\d{1,3}(?:\.\d{1,2})+",
            # The scan reads the O of the orders' numbers as a nought.
            mends=((r"^0(?=\d\d)", "O"),),
            openings=(
                Opening(r"GLOSSARY", "glossary"),
                Opening(r"CORE RULES\W+[A-Z]+", "divider"),
                Opening(r"ORDERS|ACTIONS|EVENTS|TERRAIN|FORTIFICATIONS", "divider"),
                Opening(r"CREDITS", "annex"),
                Opening(r"SOURCES & SUGGESTED READING", "annex"),
                Opening(r"ORDER & ACTION MANIFEST", "annex"),
            ),
            terms=(r"^(?P<term>[A-Z(][^—.]{0,30})—(?P<text>.+)",),
        ),
        Profile(
            ruleset="fpb",
            game="Forgotten Pacific Battles",
            signature=r"Forgotten Pacific Battles",
            numbering="zero",
            number=r"\d{1,2}\.\d(?:\.\d{1,2})?(?!\d)",
            headings=(r"(?P<number>\d{1,2}\.\d(?:\.\d{1,2})?)\s+" + _TITLE,),
            reference=r"\d{1,2}\.\d(?:\.\d{1,2})?",
            openings=(
                Opening(r"CREDITS", "annex"),
                Opening(r"FIRE & MOVEMENT SYSTEM RULES", "divider"),
                Opening(r"FORGOTTEN PACIFIC BATTLES EXCLUSIVE RULES", "divider"),
                # The combat results table closes the book; 8.2.4 tells how to read it.
                Opening(r"Important: If a Terrain type is not listed .*|TERRAIN TYPE\t.*", "annex", "8.2.4"),
            ),
            term_rules=("2.3.2",),
            terms=(r"^(?P<term>[A-Z][^:]{0,60}): (?P<text>.+)",),
        ),
        Profile(
            ruleset="bob",
            game="Band of Brothers",
            signature=r"Band of Brothers",
            numbering="zero",
            number=r"\d{1,2}\.\d{1,2}",
            headings=(r"(?P<number>\d{1,2}\.\d{1,2})\s+" + _TITLE,),
            reference=r"\d{1,2}\.\d{1,2}",
            openings=(
                Opening(r"ABBREVIATIONS", "glossary"),
                Opening(r"GLOSSARY(?: AND INDEX)?|[A-Z][A-Z /&()*'-]+ \d{1,2}\.\d[\d., ]*: .*", "glossary"),
                Opening(r"(?:COMBAT|JAPANESE) EVENT TABLE.*", "annex", "17.0"),
                Opening(r"TERRAIN CLARIFICATIONS", "annex", "39.0"),
                Opening(r"CREDITS", "annex"),
            ),
            terms=(
                r"^(?P<term>[A-Z][A-Z /&()*'-]+?)(?: \d{1,2}\.\d[\d., ]*)?: (?P<text>.+)",
                r"(?P<text>[^\t]+)\t(?P<term>[^\t]+)(?:\t|$)",
            ),
            example_goes_on=r"- » .*\b[A-Z]\d\b|\d\. (?:The LOS|Good LOS)|There is a good LOS",
        ),
        Profile(
            ruleset="ddp",
            game="D-Day at Peleliu",
            signature=r"D-Day at Peleliu|\bDDaP\b",
            numbering="compact",
            number=r"\d{1,2}\.\d{1,3}",
            headings=(r"(?P<number>\d{1,2}\.\d{1,3})\s+" + _TITLE,),
            reference=r"\d{1,2}\.\d{1,3}",
            openings=(
                Opening(r"Bibliography", "annex"),
                # Events are explained apart from the rule on the cards that bring them.
                Opening(r"EVENT DESCRIPTIONS", "annex", "2.3"),
                Opening(r"CREDITS", "annex"),
                Opening(r"JAPANESE FIRE/ ?ACTION SUMMARY", "annex", "12.0"),
            ),
            debris=(r"D-Day at Peleliu \d+",),
            illegible=(r"Landing A 2-12: .*", r"FRONT \W*BACK\W* Depth", r"Gunfire 9-U US Naval"),
            box_goes_on=(
                r"\b\d{4}\b|^\W*[A-E]\.\W|\bcard \d|^\W*Group \d|\bmarker [AB]\b|\bin this illustration\b"
                r"|^\W*(?:Landing (?:Check for|Units:)|Abutting|Since neither|Japanese-occupied artillery)"
                r"|\bThe (?:orange|red|green|brown|purple|blue) position\b|\byou instead draw\b"
            ),
        ),
    )
}
