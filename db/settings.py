"""The settings of Sightline: from the environment, else from a file, else their defaults.

A setting `port` is read from the variable `SIGHTLINE_PORT` or from `port = …` in the
TOML file that `SIGHTLINE_CONFIG` names (by default `sightline.toml` in the current folder).
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from db import SightlineError

PREFIX = "SIGHTLINE_"
CHECKOUT = Path(__file__).resolve().parent.parent
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Settings(BaseModel):
    """Every setting, with its default and what it is for (also shown by `sightline settings`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    database_url: str | None = Field(
        None, description="Use this PostgreSQL server (14+, PostGIS 3.2+) instead of the private cluster."
    )
    web_database_url: str | None = Field(
        None,
        description="The same database as a role that owns nothing: pages, API and questions connect by it."
        " Default: `database_url` as the role `sightline_web`, without a password.",
    )
    home: Path | None = Field(
        None,
        description="Where the private cluster keeps its data. Default: `.sightline` in the project's folder;"
        " of an installed Sightline `~/.local/share/sightline`.",
    )
    host: str = Field("127.0.0.1", description="Loopback address the web server listens on.")
    port: int = Field(8765, ge=1, le=65535, description="Port the web server listens on.")
    names: str = Field(
        "",
        description="Names, separated by commas, under which the web server may be asked besides loopback:"
        " those that a reverse proxy passes on.",
    )
    threads: int = Field(8, ge=1, le=64, description="Threads of the web server.")
    waiting: int = Field(
        64,
        ge=1,
        le=10_000,
        description="How many requests may wait for a thread; one more is told to come again (429)."
        " Health and static files have threads of their own.",
    )
    request_seconds: float = Field(
        30, gt=0, le=3600, description="How long a request may take; then its work is stopped (503)."
    )
    statement_seconds: float = Field(
        25, gt=0, le=3600, description="How long one statement of the web server may take in the database."
    )
    lock_seconds: float = Field(
        10, gt=0, le=3600, description="How long a statement of the web server may wait for somebody else's."
    )
    idle_seconds: float = Field(
        60, gt=0, le=3600, description="How long a transaction of the web server may do nothing."
    )
    streams: int = Field(
        4,
        ge=0,
        le=63,
        description="How many may follow games at once, each by a thread and a connection of its own;"
        " always fewer than there are threads.",
    )
    stream_seconds: int = Field(
        600, ge=1, le=86400, description="After so long a stream of events ends, and its reader asks again."
    )
    stream_heartbeat: int = Field(
        5, ge=1, le=3600, description="Seconds between signs of life in a stream where nothing happens."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="How much is logged to standard error."
    )
    log_format: Literal["text", "json"] = Field(
        "text", description="`json` writes one JSON object a line, `text` a line for people."
    )

    @field_validator("host")
    @classmethod
    def host_is_loopback(cls, host: str) -> str:
        if host not in LOOPBACK:
            raise ValueError(
                f"{host} is not a loopback address; put a reverse proxy in front to serve others, "
                f"and keep one of {', '.join(LOOPBACK)} here"
            )
        return host

    @property
    def host_names(self) -> tuple[str, ...]:
        return tuple(name.strip().lower() for name in self.names.split(",") if name.strip())

    @property
    def data_home(self) -> Path:
        return (self.home or _default_home()).expanduser().absolute()


def _default_home() -> Path:
    """Beside the project's files; an installed package keeps nothing beside its own."""
    if (CHECKOUT / "pyproject.toml").exists():
        return CHECKOUT / ".sightline"
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share") / "sightline"


def config_file() -> Path:
    return Path(os.environ.get(f"{PREFIX}CONFIG", "sightline.toml")).expanduser()


def load_settings() -> Settings:
    """The settings in force; a wrong one is an error that names it and where it was set."""
    values: dict[str, object] = {}
    sources: dict[str, str] = {}
    path = config_file()
    if path.is_file():
        try:
            values.update(tomllib.loads(path.read_text(encoding="utf-8")))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SightlineError(f"{path}: not TOML: {error}", "Mend the file or remove it.") from error
        except OSError as error:
            raise SightlineError(f"Cannot read {path}: {error.strerror}.", "Make it readable.") from error
        sources = dict.fromkeys(values, str(path))
    elif f"{PREFIX}CONFIG" in os.environ:
        raise SightlineError(f"SIGHTLINE_CONFIG names {path}, which is not there.", "Correct or unset it.")
    for name in Settings.model_fields:
        variable = PREFIX + name.upper()
        if os.environ.get(variable):
            values[name] = os.environ[variable]
            sources[name] = f"the variable {variable}"
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        problem = error.errors()[0]
        name = str(problem["loc"][0])
        known = ", ".join(Settings.model_fields)
        unknown = problem["type"] == "extra_forbidden"
        reason = "there is no such setting" if unknown else problem["msg"].removeprefix("Value error, ")
        raise SightlineError(
            f"setting {name} (from {sources.get(name, 'its default')}): {reason}",
            f"Known settings: {known}.",
        ) from error
