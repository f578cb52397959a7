"""The rulebook importer's reading side: plain text in, a tree of rules out.

`parse` is pure and deterministic: it reads no file and writes to no database. What differs between the
games is data in `profiles`; how a printed page is understood is in `layout` and `reader`.
"""

from importers.rulebook.model import (
    GlossaryTerm,
    ParsedRule,
    ParsedRulebook,
    Passage,
    Reference,
    RulebookError,
    Span,
)
from importers.rulebook.profiles import PROFILES
from importers.rulebook.reader import parse

__all__ = [
    "PROFILES",
    "GlossaryTerm",
    "ParsedRule",
    "ParsedRulebook",
    "Passage",
    "Reference",
    "RulebookError",
    "Span",
    "parse",
]
