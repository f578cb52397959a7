"""Writes the reference pages from the code itself: commands, settings, API, procedures and SQL functions.

.venv/bin/python docs/reference.py

`tests/test_docs.py` fails when a page is not what this writes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import click
from sqlalchemy.engine import Engine, make_url

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.play.procedures import ANSWERS, COMMON_ANSWERS, ProcedureKind  # noqa: E402
from app.referee.arguments import arguments  # noqa: E402
from app.referee.questions import common_kinds, kinds_of  # noqa: E402
from app.referee.rulings import QuestionKind  # noqa: E402
from app.terminal.cli import gather  # noqa: E402
from app.web.site import create_app  # noqa: E402
from db.database import make_engine  # noqa: E402
from db.rulesets import CODES, read_ruleset  # noqa: E402
from db.schema import SQL, verbs  # noqa: E402
from db.settings import PREFIX, Settings  # noqa: E402

MADE = "<!-- Written by docs/reference.py; run it after a change, do not edit here. -->\n\n"
COMMENT = re.compile(
    r"comment on (function|view|aggregate|type) ([a-z_]+\.[a-z0-9_]+)\s*(\([^)]*\))? is\s+'((?:[^']|'')*)'"
)

TYPE = re.compile(r"create type ([a-z_]+\.[a-z0-9_]+) as \((.*?)\);", re.DOTALL)


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command with its full name, groups before their members."""

    def below(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
        yield name, command
        if isinstance(command, click.Group):
            for word in sorted(command.commands):
                yield from below(f"{name} {word}", command.commands[word])

    yield from below("sightline", gather())


def command_page() -> str:
    """Every command, as its own `--help` tells it."""
    parts = [
        MADE,
        "# Commands\n\n",
        "Every command tells this by itself: `sightline COMMAND --help`. In the project's folder it is\n",
        "`./sightline`. Exit status: 0 it is so, 1 it is not (an expectation fails, a check fails),\n",
        "2 it could not be done (bad input, no server).\n",
    ]
    settings = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "terminal_width": 100}
    for name, command in commands():
        with click.Context(command, info_name=name, **settings) as context:
            text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
        parts.append(f"\n## {name}\n\n```text\n{text}\n```\n")
    return "".join(parts)


def settings_page() -> str:
    """Every setting with its variable, default and purpose."""
    rows = [
        f"| `{PREFIX}{name.upper()}` | `{name}` | {_default(field.default)} | {field.description} |\n"
        for name, field in Settings.model_fields.items()
    ]
    text = """
        # Settings

        A setting is read from its variable in the environment, else from the TOML file that
        `SIGHTLINE_CONFIG` names (by default `sightline.toml` in the current folder), else it has its
        default. An empty variable counts as not set. A wrong value, and a word in the file that is no
        setting, is an error that says where it was found. `sightline settings` shows what is in force.

        | variable | in the file | default | what for |
        |---|---|---|---|
        """
    example = """
        A file with two of them:

        ```toml
        port = 9000
        log_format = "json"
        ```

        For developers only: `SIGHTLINE_RULEBOOKS` (a folder with the five rulebooks' texts, for the tests
        that read them), `SIGHTLINE_CHROMIUM` (the browser for the browser tests), `SIGHTLINE_BARE=1` (run
        the test that sets Sightline up in a bare Debian), `SIGHTLINE_QGIS` (a Python with PyQGIS, to run the
        test that opens a campaign with QGIS).
        """
    return MADE + dedent(text).lstrip() + "".join(rows) + dedent(example)


def _default(value: object) -> str:
    return "" if value is None else f"`{value}`"


def api_page() -> str:
    """Every operation of the API."""
    web = create_app(Settings(), _unused_engine())
    document = web.api_doc
    text = """
        # JSON API

        The whole description, with every field, is served at `/api/docs/` (to try out) and
        `/api/docs/openapi.json` (OpenAPI 3.1). An error is `application/problem+json` (RFC 9457) with
        `title`, `status`, `detail`, and where there is one `remedy` and a list `problems`; `instance` is
        the request id that is also in the header `X-Request-ID` and in the log.

        `GET /healthz` answers 200 with the versions of Sightline, the server, PostGIS and the schema, or
        503 while the database is away.

        | operation | what it does |
        |---|---|
        """
    rows = [
        f"| `{method.upper()} {path}` | {_one_line(operation)} |\n"
        for path, operations in sorted(document["paths"].items())
        for method, operation in operations.items()
    ]
    return MADE + dedent(text).lstrip() + "".join(rows)


def _unused_engine() -> Engine:
    """An engine that is never asked: the description needs no database."""
    return make_engine(make_url("postgresql+psycopg://nobody@/nothing"))


def _one_line(operation: dict[str, str]) -> str:
    told = [operation.get("summary", ""), operation.get("description", "")]
    return " ".join(" ".join(dict.fromkeys(part for part in told if part)).split()).replace("|", "\\|")


def procedure_page() -> str:
    """What each game asks and does beyond the questions that all share."""
    text = """
        # Questions and procedures, game by game

        A *question* is about a still position; a *procedure* tells what happens when something is done. Both are
        asked alike: in a [case file](cases.md), by `sightline ask`, by the API; in a [game](games.md) a procedure
        is an action. `sightline questions GAME KIND` tells the same as this page, for one.

        Every procedure also takes `rolls`, `draws`, `cards` (what dice, counters and cards showed, in the order
        called for), `choices` (what players decide, by name) and `read` (what is read off a chart that is not
        printed), and answers:

        """
    common = [f"- `{key}`: {meaning}\n" for key, meaning in COMMON_ANSWERS.items()]
    parts = [MADE, dedent(text).lstrip(), *common]
    shared = {(kind.name, kind.rulesets) for kind in common_kinds()}
    for code in CODES:
        known = sorted(kinds_of(code).values(), key=lambda kind: kind.name)
        own = [kind for kind in known if (kind.name, kind.rulesets) not in shared]
        if own:
            parts.append(f"\n## {code}: {read_ruleset(code).facts.title}\n")
            parts += [_kind_part(kind) for kind in own]
    return "".join(parts)


def _kind_part(kind: QuestionKind) -> str:
    """A kind of question: what it takes and answers."""
    done = isinstance(kind, ProcedureKind)
    untold = (*ANSWERS, "read") if done else ()
    takes = [
        f"- takes `{argument.word}`{'' if argument.required else ' (if wanted)'}: {argument.description}\n"
        for argument in arguments(kind)
        if argument.name not in untold
    ]
    answers = [
        f"- answers `{key}`: {meaning}\n"
        for key, meaning in kind.answers.items()
        if not done or COMMON_ANSWERS.get(key) != meaning
    ]
    points = f"- contested: {', '.join(kind.points)}\n" if kind.points else ""
    example = f"\n```yaml\n{kind.example}\n```\n" if kind.example else ""
    head = f"\n### {kind.name}{'' if done else ' (question)'}\n\n{kind.title}.\n\n"
    return head + "".join(takes) + "".join(answers) + points + example


def sql_page() -> str:
    """Every public function, view and type, by what it says of itself in the database."""
    parts = [
        MADE,
        "# SQL functions, views and types\n\n",
        "What anybody may call in `sightline db psql`, QGIS or a program. Names that begin with `_` are\n",
        "helpers and may change. `\\df+ lattice.*` in psql tells the same. A type is a row: that of a\n",
        "function which returns it, or one that is passed on whole.\n",
    ]
    found: dict[str, list[str]] = {}
    for path in verbs():
        source = path.read_text(encoding="utf-8")
        columns = {name: re.findall(r"(?:^|,|\n)\s*([a-z]\w*) ", rows) for name, rows in TYPE.findall(source)}
        for kind, name, taken, text in COMMENT.findall(source):
            if not name.partition(".")[2].startswith("_"):
                words = " ".join(text.replace("''", "'").split()).replace("|", "\\|")
                if kind == "type":
                    words += f" Columns: {', '.join(columns[name])}."
                what = " ".join(f"{name}{taken}".split())
                noun = f" ({kind})" if kind in ("view", "type") else ""
                place = path.relative_to(SQL.parent).as_posix()
                found.setdefault(path.parent.name, []).append(f"| `{what}`{noun} | {words} | `{place}` |\n")
    for schema in sorted(found):
        parts.append(f"\n## {schema}\n\n| name | what it tells | where |\n|---|---|---|\n")
        parts += sorted(found[schema])
    return "".join(parts)


PAGES = {
    "commands.md": command_page,
    "settings.md": settings_page,
    "api.md": api_page,
    "procedures.md": procedure_page,
    "sql.md": sql_page,
}


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (ROOT / "docs" / name).write_text(page(), encoding="utf-8")
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
