"""How an entry is cited: plain, as BibTeX and as CSL-JSON."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from typing import Any

BIBTEX = {
    "book": "book",
    "article": "article",
    "memoir": "book",
    "official_history": "book",
    "rulebook": "book",
}
CSL = {
    "book": "book", "memoir": "book", "official_history": "book", "rulebook": "book", "article": "article-journal",
    "report": "report", "diary": "manuscript", "map": "map", "photograph": "graphic", "website": "webpage",
}  # fmt: skip
ESCAPED = str.maketrans(
    {char: f"\\{char}" for char in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\~{}", "^": r"\^{}"}
)


def plain(entry: Mapping[str, Any], account: Mapping[str, Any], address: str, today: datetime.date) -> str:
    """The source with its page, and where we keep what it says."""
    source = ", ".join(
        str(part)
        for part in (account["author"], account["title"], account["publisher"], account["year"])
        if part
    )
    where = f", {entry['page']}" if entry["page"] else ""
    return f"{source}{where}. “{entry['title']}”, Sightline, {address} (looked at {today.isoformat()})."


def bibtex(name: str, entry: Mapping[str, Any], account: Mapping[str, Any], address: str) -> str:
    """An item of a BibTeX file."""
    fields = {
        "author": account["author"],
        "title": account["title"],
        "publisher": account["publisher"],
        "year": account["year"],
        "pages": entry["page"],
        "note": f"{entry['title']} (campaign {name})",
        "url": address,
    }
    lines = [f"  {key} = {{{_tex(key, value)}}}," for key, value in fields.items() if value not in (None, "")]
    key = re.sub(r"[^A-Za-z0-9-]", "-", f"{name}-{entry['key']}")
    return "\n".join([f"@{BIBTEX.get(account['kind'], 'misc')}{{{key},", *lines, "}", ""])


def csl(
    name: str, entry: Mapping[str, Any], account: Mapping[str, Any], address: str, today: datetime.date
) -> list[dict[str, Any]]:
    """A list of one item, as Zotero and others read CSL-JSON."""
    item: dict[str, Any] = {
        "id": f"{name}/{entry['key']}",
        "type": CSL.get(account["kind"], "document"),
        "title": account["title"],
        "author": [{"literal": account["author"]}] if account["author"] else None,
        "publisher": account["publisher"],
        "issued": {"date-parts": [[account["year"]]]} if account["year"] else None,
        "locator": entry["page"],
        "note": entry["title"],
        "URL": address,
        "accessed": {"date-parts": [[today.year, today.month, today.day]]},
    }
    return [{key: value for key, value in item.items() if value not in (None, "")}]


def _tex(key: str, value: Any) -> str:
    return str(value) if key == "url" else str(value).translate(ESCAPED)
