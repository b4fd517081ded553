"""Threads for callables that block, so that neither the event loop nor the engine ever waits for them.

The threads are daemons: a callable that never returns does not delay the end of the interpreter.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable

Work = Callable[[], None]

LIMIT = 64
"""Threads at most; further work waits in line."""


class Threads:
    """A pool that grows as it is used."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._work: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._free = 0

    def submit(self, work: Work) -> None:
        """Runs `work`, which must not raise, on a thread of the pool.

        Raises:
            RuntimeError: The interpreter is ending and gives no more threads.
        """
        with self._lock:
            if self._free <= 0 and len(self._threads) < LIMIT:
                # Without the work: a thread keeps its arguments for life, and with them all that the work holds.
                thread = threading.Thread(target=self._serve, args=(self._work,), name="cheliped-tool", daemon=True)
                thread.start()
                self._threads.append(thread)
            else:
                self._free -= 1
            self._work.put(work)

    def retire(self) -> None:
        """Ends the threads that have nothing to do, if that is all of them; new work starts new ones."""
        with self._lock:
            if self._free < len(self._threads):
                return
            threads, self._threads, self._free = self._threads, [], 0
            # With a line of their own: what is submitted meanwhile is for new threads, and no end of these is for those.
            ending, self._work = self._work, queue.SimpleQueue()
        for _ in threads:
            ending.put(None)
        for thread in threads:
            thread.join()

    def _serve(self, line: queue.SimpleQueue[Work | None]) -> None:
        while (work := line.get()) is not None:
            work()
            # What the callable left behind must not live as long as the thread.
            del work
            with self._lock:
                self._free += 1


_pool = Threads()


def submit(work: Work) -> None:
    """Runs `work` on a thread of this process."""
    _pool.submit(work)


def retire() -> None:
    """Ends the threads of this process, if none of them works."""
    _pool.retire()


def _reset() -> None:
    # A fork has none of its parent's threads.
    global _pool
    _pool = Threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset)
