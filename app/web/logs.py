"""How the web server logs: a line for each request, for people or as JSON."""

from __future__ import annotations

import json
import logging
import re
import sys

log = logging.getLogger("sightline")


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        for name in ("request_id", "method", "path", "status", "milliseconds"):
            if hasattr(record, name):
                line[name] = getattr(record, name)
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class TextLines(logging.Formatter):
    """A line for people."""

    def format(self, record: logging.LogRecord) -> str:
        # an address may hold line ends: a request must not write log lines of its own
        message = re.sub(r"[\x00-\x1f\x7f]+", " ", record.getMessage())
        line = f"{self.formatTime(record, '%H:%M:%S')} {message}"
        if hasattr(record, "milliseconds"):
            line += f" {record.milliseconds} ms"
        if hasattr(record, "request_id"):
            line += f" [{record.request_id}]"
        return line + ("\n" + self.formatException(record.exc_info) if record.exc_info else "")


def log_request(
    method: str, path: str, query: str, status: int, request_id: str | None, seconds: float
) -> None:
    """A line for a request that was answered."""
    log.info(
        "%s %s %s",
        method,
        f"{path}?{query}" if query else path,
        status,
        extra={
            "request_id": request_id,
            "method": method,
            "path": path,
            "status": status,
            "milliseconds": round(1000 * seconds, 1),
        },
    )


def configure(form: str, level: str) -> None:
    """Log to standard error, in one of the two forms and from a level on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    log.handlers[:] = [handler]
    log.propagate = False
    log.setLevel(level.upper())
