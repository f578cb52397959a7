"""Times as an account tells them: 1944-07-21, about 1944-07-25T23:00, 1944-07-21T08:30/12:00.

A minute, hour, day, month or year is all of it. Between two of them, joined by a slash, days, months
and years count to the end of the last; of hours and minutes the second is when it was over. An end
may be left open: `1944-08-10/`.
"""

from __future__ import annotations

import datetime
import re
from typing import NamedTuple

from sqlalchemy.dialects.postgresql import Range

from db.archive import PRECISIONS

TERM = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2})(?::?(\d{2}))?)?)?)?")
CLOCK = re.compile(r"(\d{2}):?(\d{2})")
ABOUT = re.compile(r"(about|ca\.?|c\.|~)\s*")
SAMPLES = "1944-07-21, 1944-07-21T08:30, about 1944-07-25T23, 1944-07-25/1944-07-26 or 1944-07-21/"
Moment = datetime.datetime


class When(NamedTuple):
    """A time: from when to when, how finely it is told, and whether it is only about so."""

    during: Range[Moment]
    precision: str
    about: bool = False


def read_zone(text: str) -> datetime.timezone:
    """The zone of an offset such as +10:00."""
    found = re.fullmatch(r"([+-])(\d{2}):(\d{2})", text)
    if found is None or int(found[2]) > 14 or int(found[3]) > 59:
        raise ValueError(f"{text!r} is no offset from UTC; write it as +10:00")
    offset = datetime.timedelta(hours=int(found[2]), minutes=int(found[3]))
    return datetime.timezone(-offset if found[1] == "-" else offset)


def read_when(text: str, zone: datetime.timezone) -> When:
    """The time that a text tells, in a zone."""
    said = str(text).strip()
    about = ABOUT.match(said)
    body = said[about.end() :] if about else said
    first, slash, last = (part.strip() for part in body.partition("/"))
    begin, precision = _term(first, zone, said) if first or not slash else (None, "")
    if not slash:
        assert begin is not None
        return When(Range(begin, _after(begin, precision), bounds="[)"), precision, bool(about))
    end = None
    if last:
        end, finer = _last(last, begin, zone, said)
        precision = min(precision or finer, finer, key=PRECISIONS.index)
    if begin is None and end is None:
        raise ValueError(f"{said!r} has neither a beginning nor an end")
    if begin is not None and end is not None and end <= begin:
        raise ValueError(f"{said!r} ends before it begins")
    return When(Range(begin, end, bounds="[)"), precision, bool(about))


def write_when(during: Range[Moment], precision: str, about: bool, zone: datetime.timezone) -> str:
    """The text that `read_when` reads as this time."""
    begin, end = during.lower, during.upper
    sign = "about " if about else ""
    if begin is not None and end == _after(begin.astimezone(zone), precision):
        return sign + _written(begin.astimezone(zone), precision)
    first = "" if begin is None else _written(begin.astimezone(zone), precision)
    return f"{sign}{first}/{'' if end is None else _written_end(end.astimezone(zone), precision)}"


def _term(text: str, zone: datetime.timezone, whole: str) -> tuple[Moment, str]:
    found = TERM.fullmatch(text)
    if found is None:
        raise ValueError(f"{whole!r} is no time; write {SAMPLES}")
    parts = [int(part) for part in found.groups() if part is not None]
    precision = PRECISIONS[5 - len(parts)]
    try:
        return Moment(*(parts + [1, 1][len(parts) - 1 :]), tzinfo=zone), precision  # type: ignore[misc, arg-type]
    except ValueError as error:
        raise ValueError(f"{whole!r} is no time: {error}") from None


def _last(text: str, begin: Moment | None, zone: datetime.timezone, whole: str) -> tuple[Moment, str]:
    """Where a time ends, and how finely that is told; an hour of the first day may stand alone."""
    clock = CLOCK.fullmatch(text)
    if clock and ":" in text and begin is not None:
        try:
            return begin.replace(hour=int(clock[1]), minute=int(clock[2])), "minute"
        except ValueError as error:
            raise ValueError(f"{whole!r} is no time: {error}") from None
    end, precision = _term(text, zone, whole)
    return (end if precision in ("minute", "hour") else _after(end, precision)), precision


def _after(moment: Moment, precision: str) -> Moment:
    """The end of the minute, hour, day, month or year that begins at a moment."""
    if precision == "year":
        return moment.replace(year=moment.year + 1)
    if precision == "month":
        return (moment.replace(day=1) + datetime.timedelta(days=32)).replace(day=1)
    return moment + datetime.timedelta(**{f"{precision}s": 1})


def _written(moment: Moment, precision: str) -> str:
    length = {"year": 4, "month": 7, "day": 10, "hour": 13, "minute": 16}[precision]
    return moment.isoformat()[:length]


def _written_end(end: Moment, precision: str) -> str:
    if precision in ("minute", "hour"):
        return _written(end, precision)
    # the last day, month or year that counts
    return _written(end - datetime.timedelta(microseconds=1), precision)
