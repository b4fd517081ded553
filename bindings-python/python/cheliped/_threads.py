"""Threads for callables that block, so that neither the event loop nor the engine ever waits for them.

The threads are daemons: a callable that never returns does not delay the end of the interpreter.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable

LIMIT = 64
"""Threads at most; further work waits in line."""

_here = threading.local()


class Threads:
    """A pool that grows as it is used."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._threads = 0
        self._free = 0

    def submit(self, work: Callable[[], None]) -> None:
        """Runs `work`, which must not raise, on a thread of the pool.

        Raises:
            RuntimeError: The interpreter is ending and gives no more threads.
        """
        with self._lock:
            grow = self._free <= 0 and self._threads < LIMIT
            if grow:
                self._threads += 1
            else:
                self._free -= 1
        if grow:
            try:
                threading.Thread(target=self._serve, args=(work,), name="cheliped-tool", daemon=True).start()
            except RuntimeError:
                with self._lock:
                    self._threads -= 1
                raise
        else:
            self._work.put(work)

    def _serve(self, work: Callable[[], None]) -> None:
        _here.pool = True
        while True:
            work()
            # What the callable left behind must not live as long as the thread.
            del work
            with self._lock:
                self._free += 1
            work = self._work.get()


_pool = Threads()


def submit(work: Callable[[], None]) -> None:
    """Runs `work` on a thread of this process."""
    _pool.submit(work)


def is_here() -> bool:
    """Whether this thread belongs to the pool."""
    return getattr(_here, "pool", False)


def _reset() -> None:
    # A fork has none of its parent's threads.
    global _pool
    _pool = Threads()
    _here.pool = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset)
