"""Notes as people write them: plain text with a little emphasis, made safe, with links to events and rules.

`*leaning*`, `**strong**`, `` `as it is` ``, `[[17]]` an event of the game, `[[8.2.1]]` a rule. Anything else is
text: what looks like HTML is shown, never obeyed.
"""

from __future__ import annotations

import re

from flask import url_for
from markupsafe import Markup, escape

BOOKMARK = "★"
"""A note that only marks the place."""
PARTS = re.compile(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\n]+)\*|\[\[([^\]\n]{1,40})\]\]|(\n)")


def note_markup(text: str, ruleset: str, game: str, events: int) -> Markup:
    """A note to be shown."""
    made, end = [], 0
    for found in PARTS.finditer(text):
        made.append(escape(text[end : found.start()]))
        made.append(_part(found, ruleset, game, events))
        end = found.end()
    return Markup("").join([*made, escape(text[end:])])


def _part(found: re.Match[str], ruleset: str, game: str, events: int) -> Markup:
    plain, strong, leaning, linked, line = found.groups()
    if plain:
        return Markup("<code>{}</code>").format(plain)
    if strong:
        return Markup("<strong>{}</strong>").format(strong)
    if leaning:
        return Markup("<em>{}</em>").format(leaning)
    if line:
        return Markup("<br>")
    if linked.isdigit() and 1 <= int(linked) <= events:
        return Markup('<a href="{}">{}</a>').format(url_for("games.game", name=game, at=int(linked)), linked)
    return Markup('<a href="{}">{}</a>').format(url_for("rules.rule", ruleset=ruleset, number=linked), linked)
