"""The asyncio half of the border: starts runs and carries their callbacks to the right place.

Coroutine functions run as tasks on the event loop of the caller; everything else runs on threads of its own. Each call
has its own copy of the context that `send` was called in. Nothing is decided here: the native half says what is called
with what, and what comes of the answer.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import contextvars
import inspect
import json
import logging
import os
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from . import _native, _threads

atexit.register(_native.shutdown)

log = logging.getLogger("cheliped")
"""What callables raised that nobody else hears of. Without a configured handler it goes nowhere, least of all to the
terminal."""
log.addHandler(logging.NullHandler())

_blocked = threading.local()
"""The call that this thread is busy with, as `call`."""


def _before_fork() -> None:
    # A fork of a process with one thread is safe. Threads that work for a run stay, and the run goes on here.
    _threads.retire()
    _native.retire()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)


class Endpoint(Protocol):
    """A callable of the user, with the way in and the way out."""

    is_async: bool
    """Whether it is a coroutine function, which belongs on the event loop."""

    def call(self, payload: Any, call: Call) -> Any:
        """Calls it; may give an awaitable."""
        ...

    def answer(self, value: Any) -> str:
        """Writes what it gave as JSON."""
        ...

    def refusal(self, error: BaseException) -> str | None:
        """The answer for an exception that is one; `None` for every other."""
        ...


class Run:
    """What the callbacks of one run share."""

    __slots__ = ("_handle", "caller", "context", "deps", "endpoints", "loop", "metadata", "outer", "tasks")

    def __init__(self, endpoints: Mapping[int, Endpoint], deps: Any, caller: Any, metadata: Mapping[str, Any]) -> None:
        self.endpoints = endpoints
        self.deps = deps
        self.caller = caller
        self.metadata = metadata
        self.loop = asyncio.get_running_loop()
        self.context = contextvars.copy_context()
        self.outer: Call | None = getattr(_blocked, "call", None)
        """The call of another run that waits for this one, when this one belongs to a blocking callable."""
        self._handle: _native.Handle | None = None
        self.tasks: set[Call] = set()
        """Calls with a task on the loop; touched on the loop's thread only."""

    def start(self, number: int, payload: str, reply: _native.Reply) -> Call:
        """Starts one call; the native half calls this on a thread of its own, so it must return at once."""
        call = Call(self, self.endpoints[number], payload, reply)
        call.start()
        return call

    def began(self, handle: _native.Handle) -> None:
        """Says how to end the run."""
        self._handle = handle
        if self.outer is not None:
            self.outer.holds(handle)

    def more(self) -> None:
        """Asks for another batch of a stream."""
        if self._handle is not None:
            self._handle.more()

    def cancel(self) -> None:
        """Ends the run from any thread."""
        if self._handle is not None:
            self._handle.cancel()

    def end(self) -> None:
        """Ends the run with everything that it started; on the loop's thread. Does nothing when it is over."""
        # Tasks first and from here: the loop may end right after this, before the native half could have them cancelled.
        for call in list(self.tasks):
            call.stop()
        self.cancel()
        if self.outer is not None and self._handle is not None:
            self.outer.lets_go(self._handle)


class Call:
    """One call of a callback."""

    __slots__ = ("_endpoint", "_held", "_payload", "_reply", "_task", "cancelled", "run")

    def __init__(self, run: Run, endpoint: Endpoint, payload: str, reply: _native.Reply) -> None:
        self.run = run
        self.cancelled = False
        self._endpoint = endpoint
        self._payload = payload
        self._reply = reply
        self._task: asyncio.Task[None] | None = None
        self._held: list[_native.Handle] = []

    def start(self) -> None:
        run = self.run
        if self._endpoint.is_async:
            self._on_loop(lambda: self._go(None))
        elif run.outer is not None:
            # The loop's thread waits for this run and has nothing else to do; more threads of the pool could run out.
            self._on_loop(self._block_here)
        else:
            context = run.context.copy()
            _threads.submit(lambda: context.run(self._block))

    def cancel(self) -> None:
        """Says that nobody waits for the answer any more; called on a thread of the native half."""
        self._give_up()
        self._on_loop(self.stop)

    def stop(self) -> None:
        """The same, on the loop's thread."""
        self._give_up()
        task, self._task = self._task, None
        # Once: a second time would break into what the task does about the first.
        if task is not None:
            task.cancel()

    def _give_up(self) -> None:
        self.cancelled = True
        # A thread cannot be stopped, but the runs that it waits for can.
        for handle in list(self._held):
            handle.cancel()

    def holds(self, handle: _native.Handle) -> None:
        """Says that the callable waits for a run, which ends with this call."""
        self._held.append(handle)
        if self.cancelled:
            handle.cancel()

    def lets_go(self, handle: _native.Handle) -> None:
        """Says that the callable waits for it no more."""
        if handle in self._held:
            self._held.remove(handle)

    def progress(self, text: str) -> None:
        self._reply.progress(text)

    def _on_loop(self, function: Callable[[], object]) -> bool:
        try:
            self.run.loop.call_soon_threadsafe(function, context=self.run.context.copy())
        except RuntimeError as closed:
            # The loop ended before the run did.
            self._reply.error(closed)
            return False
        return True

    def _block(self) -> None:
        if self.cancelled:
            return
        outer, _blocked.call = getattr(_blocked, "call", None), self
        try:
            value = self._endpoint.call(json.loads(self._payload), self)
            if inspect.isawaitable(value):
                waiting: Awaitable[Any] = value
                if not self._on_loop(lambda: self._go(waiting)):
                    _close(waiting)
                return
            self._reply.ok(self._endpoint.answer(value))
        except BaseException as error:
            self._raised(error)
        finally:
            _blocked.call = outer

    def _block_here(self) -> None:
        """Calls it on the loop's thread, which looks to it like any other thread: it may start a loop itself."""
        asyncio._set_running_loop(None)
        try:
            self._block()
        finally:
            asyncio._set_running_loop(self.run.loop)

    def _go(self, waiting: Awaitable[Any] | None) -> None:
        """Goes on as a task: with the call itself, or with what a plain function gave to be awaited."""
        if self.cancelled:
            if waiting is not None:
                _close(waiting)
            return
        task = self._task = self.run.loop.create_task(self._await(waiting))
        self.run.tasks.add(self)
        task.add_done_callback(self._done)

    async def _await(self, waiting: Awaitable[Any] | None) -> None:
        try:
            value = self._endpoint.call(json.loads(self._payload), self) if waiting is None else waiting
            if inspect.isawaitable(value):
                value = await value
            self._reply.ok(self._endpoint.answer(value))
        except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            self._raised(error)

    def _done(self, task: asyncio.Task[None]) -> None:
        self.run.tasks.discard(self)
        self._task = None
        # Also when it was cancelled before its first step. Looked at, so that asyncio does not complain of it.
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is not None and not self.cancelled:
            self._reply.error(error)

    def _raised(self, error: BaseException) -> None:
        try:
            # Of a call that was given up nobody wants to know.
            refusal = None if self.cancelled else self._endpoint.refusal(error)
            if refusal is not None:
                self._reply.ok(refusal)
                return
        except Exception as unwritten:
            # What it says cannot cross the border. An answer there must be: the run waits for it.
            log.warning("what was raised cannot be told", exc_info=unwritten)
            error = unwritten
        self._reply.error(error)


def _close(waiting: Awaitable[Any]) -> None:
    """Closes what will not be awaited, so that Python does not complain of it."""
    if inspect.iscoroutine(waiting):
        waiting.close()


Done = Callable[["str | None", "_native.Conversation | None", "BaseException | None"], None]


async def finished(run: Run, start: Callable[[Done], _native.Handle]) -> tuple[str, _native.Conversation | None]:
    """Starts a run and waits for its end. Cancelling this ends the run.

    Raises:
        ChelipedError: Whatever ended the run.
    """
    loop = run.loop
    future: asyncio.Future[tuple[str, _native.Conversation | None]] = loop.create_future()

    def settle(response: str | None, conversation: _native.Conversation | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        elif response is not None:
            future.set_result((response, conversation))

    def done(response: str | None, conversation: _native.Conversation | None, error: BaseException | None) -> None:
        # The loop may have ended before the run did; then nobody waits.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, response, conversation, error)

    run.began(start(done))
    try:
        return await future
    finally:
        run.end()
