"""What one request may cost: its time, and how much of each thing it may ask for.

A door opens a budget; whoever does the work spends from it, and is refused beyond it. Without one (the command line)
nothing is limited. Every connection that is taken out of the pool meanwhile belongs to the budget, so that a
statement can be ended from outside when time is up or nobody waits for the answer any more.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

import psycopg

from db import SightlineError

CANCEL_SECONDS = 2.0
"""How long the server may take to hear that a statement is to end."""
CUT_SECONDS = 3.0
"""After so long without an answer the connection itself is cut: a server that hangs hears no word."""


class TooMuchError(SightlineError):
    """More is asked for than one request may have."""

    status = 422


class OutOfTimeError(SightlineError):
    """A request has taken as long as one may."""

    status = 503


class ClientLeftError(SightlineError):
    """Nobody waits for the answer any more."""

    status = 499


class Budget:
    """What is left for a request; shared by the thread that works and the one that watches."""

    def __init__(
        self, seconds: float, most: Mapping[str, int], client_left: Callable[[], bool] = lambda: False
    ) -> None:
        self.seconds, self._most, self._client_left = seconds, most, client_left
        self._deadline = time.monotonic() + seconds
        self._spent: dict[str, int] = {}
        self._lock = threading.Lock()
        self._drivers: dict[psycopg.Connection, dict[str, Any]] = {}

    def spend(self, what: str, amount: int) -> None:
        """Take so much of something, or be refused."""
        spent = self._spent[what] = self._spent.get(what, 0) + amount
        self.allow(what, spent)

    def allow(self, what: str, amount: int) -> None:
        """Refuse more of something than there may be at all; of what is not limited there may be any number."""
        if amount > self._most.get(what, amount):
            raise TooMuchError(
                f"This asks for {amount:,} {what}; one request may have {self._most[what]:,}.",
                "Ask for less at a time, or use the command line, which has no such limit.",
            )

    def check(self) -> None:
        """Stop here if there is no time left, or nobody who waits."""
        ended = self.ended()
        if ended is not None:
            raise ended

    def ended(self) -> SightlineError | None:
        if self._client_left():
            return ClientLeftError("Whoever asked has gone.")
        if time.monotonic() > self._deadline:
            return OutOfTimeError(
                f"This takes longer than the {self.seconds:g} s that a request may take; it was stopped.",
                "Ask for less at a time, use the command line, or raise the setting `request_seconds`.",
            )
        return None

    def took(self, driver: psycopg.Connection, info: dict[str, Any]) -> None:
        with self._lock:
            self._drivers[driver] = info

    def gave_back(self, driver: psycopg.Connection) -> None:
        # waits while a statement of it is being ended: the word must not reach whoever has the connection next
        with self._lock:
            self._drivers.pop(driver, None)

    def end_statements(self) -> None:
        """End what runs on the connections, which are not used again; where nobody listens, cut them."""
        with self._lock:
            for driver, info in self._drivers.items():
                since = info.setdefault(CANCELLED, time.monotonic())
                if time.monotonic() - since > CUT_SECONDS:
                    cut(driver)
                    continue
                with contextlib.suppress(psycopg.Error):
                    driver.cancel_safe(timeout=CANCEL_SECONDS)


def cut(driver: psycopg.Connection) -> None:
    """End a connection beneath whoever waits on it: they are told that it is gone."""
    with contextlib.suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(driver.fileno())) as wire:
        wire.shutdown(socket.SHUT_RDWR)


CANCELLED = "cancelled"
"""Marks a connection that was told to end a statement, with when: the word may come late, so nobody has it after."""
_current: ContextVar[Budget | None] = ContextVar("budget", default=None)


def current() -> Budget | None:
    """The budget in force here, if any."""
    return _current.get()


def spend(what: str, amount: int) -> None:
    """Take so much of something from the budget in force, if any, or be refused."""
    budget = _current.get()
    if budget is not None:
        budget.spend(what, amount)


def allow(what: str, amount: int) -> None:
    """Refuse what is too much for the budget in force, if any, and take nothing from it."""
    budget = _current.get()
    if budget is not None:
        budget.allow(what, amount)


def check() -> None:
    """Stop here if the budget in force, if any, has no time left: for work between statements."""
    budget = _current.get()
    if budget is not None:
        budget.check()


@contextlib.contextmanager
def within(budget: Budget | None) -> Iterator[None]:
    """Work in this block spends from that budget."""
    token = _current.set(budget)
    try:
        yield
    finally:
        _current.reset(token)
