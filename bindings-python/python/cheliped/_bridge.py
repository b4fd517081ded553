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
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from . import _native, _threads

atexit.register(_native.shutdown)


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

    __slots__ = ("caller", "calls", "context", "deps", "endpoints", "inline", "loop", "metadata")

    def __init__(
        self, endpoints: Mapping[int, Endpoint], deps: Any, caller: Any, metadata: Mapping[str, Any], *, inline: bool
    ) -> None:
        self.endpoints = endpoints
        self.deps = deps
        self.caller = caller
        self.metadata = metadata
        self.inline = inline
        self.loop = asyncio.get_running_loop()
        self.context = contextvars.copy_context()

    def start(self, number: int, payload: str, reply: _native.Reply) -> Call:
        """Starts one call; the native half calls this on a thread of its own, so it must return at once."""
        call = Call(self, self.endpoints[number], payload, reply)
        call.start()
        return call


class Call:
    """One call of a callback."""

    __slots__ = ("_endpoint", "_payload", "_reply", "_task", "cancelled", "run")

    def __init__(self, run: Run, endpoint: Endpoint, payload: str, reply: _native.Reply) -> None:
        self.run = run
        self.cancelled = False
        self._endpoint = endpoint
        self._payload = payload
        self._reply = reply
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        run = self.run
        if self._endpoint.is_async:
            self._on_loop(self._begin)
        elif run.inline:
            # The loop's thread waits for this run and has nothing else to do.
            self._on_loop(self._block)
        else:
            context = run.context.copy()
            _threads.submit(lambda: context.run(self._block))

    def cancel(self) -> None:
        """Says that nobody waits for the answer any more; called on a thread of the native half."""
        self.cancelled = True
        if self._task is not None or self._endpoint.is_async:
            self._on_loop(self._cancel_task)

    def progress(self, text: str) -> None:
        self._reply.progress(text)

    def _on_loop(self, function: Callable[[], object]) -> None:
        try:
            self.run.loop.call_soon_threadsafe(function, context=self.run.context.copy())
        except RuntimeError as closed:
            # The loop ended before the run did.
            self._reply.error(closed)

    def _begin(self) -> None:
        if not self.cancelled:
            self._task = self.run.loop.create_task(self._await(None))

    def _cancel_task(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _block(self) -> None:
        if self.cancelled:
            return
        try:
            value = self._endpoint.call(json.loads(self._payload), self)
            if inspect.isawaitable(value):
                waiting: Awaitable[Any] = value
                self._on_loop(lambda: self._adopt(waiting))
                return
            answer = self._endpoint.answer(value)
        except BaseException as error:
            self._raised(error)
        else:
            self._reply.ok(answer)

    def _adopt(self, waiting: Awaitable[Any]) -> None:
        """Goes on with what a plain function gave to be awaited."""
        if self.cancelled:
            if inspect.iscoroutine(waiting):
                waiting.close()
            return
        self._task = self.run.loop.create_task(self._await(waiting))

    async def _await(self, waiting: Awaitable[Any] | None) -> None:
        try:
            value = self._endpoint.call(json.loads(self._payload), self) if waiting is None else waiting
            if inspect.isawaitable(value):
                value = await value
            answer = self._endpoint.answer(value)
        except (asyncio.CancelledError, KeyboardInterrupt, SystemExit) as error:
            self._reply.error(error)
            raise
        except BaseException as error:
            self._raised(error)
        else:
            self._reply.ok(answer)

    def _raised(self, error: BaseException) -> None:
        refusal = self._endpoint.refusal(error)
        if refusal is None:
            self._reply.error(error)
        else:
            self._reply.ok(refusal)


Done = Callable[["str | None", "_native.Conversation | None", "BaseException | None"], None]


async def finished(start: Callable[[Done], _native.Handle]) -> tuple[str, _native.Conversation | None]:
    """Starts a run and waits for its end. Cancelling this ends the run.

    Raises:
        ChelipedError: Whatever ended the run.
    """
    loop = asyncio.get_running_loop()
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

    handle = start(done)
    try:
        return await future
    finally:
        handle.cancel()
