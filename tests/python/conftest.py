"""What the tests share: a bound on every test, and no real model."""

from __future__ import annotations

import asyncio
import faulthandler
import os
import signal
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import pytest

os.environ["CHELIPED_ALLOW_REAL_PROVIDERS"] = "0"

T = TypeVar("T")
LIMIT = 120
"""Seconds that a test may take; one that hangs is a failure and says where."""


def pytest_configure(config: pytest.Config) -> None:
    """Makes every warning a failure, however the tests are started."""
    config.addinivalue_line("filterwarnings", "error")


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """Ends a test that hangs."""
    faulthandler.dump_traceback_later(LIMIT + 5, exit=True)

    def stop(*_: object) -> None:
        raise AssertionError(f"the test took more than {LIMIT} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        faulthandler.cancel_dump_traceback_later()


def run(main: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end, with everything that asyncio has to say about mistakes."""
    return asyncio.run(main, debug=True)
