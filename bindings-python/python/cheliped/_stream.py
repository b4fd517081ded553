"""An answer as it is made."""

from __future__ import annotations

import asyncio
import contextlib
import json
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from . import _native
from ._errors import RunStateError
from ._events import CLASSES, StreamEvent, TextDelta
from ._response import AgentResponse, Conversation, Usage

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from ._bridge import Run

Deliver = Callable[[str, bool, "_native.Conversation | None", "BaseException | None"], None]
Start = Callable[[bool, Deliver], "Run"]


class AgentStream:
    """A run whose events are read one by one; made by `Agent.stream`. It starts when it is first read.

    Leave it with `async with`, or close it with `aclose`: that ends a run which is not read to its end. A run that fails
    raises its error in the place of the last event.

    Example:
        >>> import asyncio
        >>> from cheliped import Agent, ScriptedProvider, TextDelta
        >>> async def main():
        ...     agent = Agent(provider=ScriptedProvider(["It is noon."]))
        ...     async with agent.stream("What time is it?") as stream:
        ...         async for event in stream:
        ...             match event:
        ...                 case TextDelta(text):
        ...                     print(text, end="")
        ...     print()
        ...     print(stream.response.iterations)
        >>> asyncio.run(main())
        It is noon.
        1
    """

    def __init__(self, start: Start) -> None:
        self._start = start
        self._run: Run | None = None
        self._batches: deque[deque[dict[str, Any]]] = deque()
        self._waiting: asyncio.Future[None] | None = None
        self._ended = False
        self._error: BaseException | None = None
        self._conversation: _native.Conversation | None = None
        self._response: AgentResponse | None = None

    @property
    def response(self) -> AgentResponse:
        """The response, once the stream has been read to its end.

        Raises:
            RunStateError: It has not.
        """
        if self._response is None:
            raise RunStateError("there is no response yet: read the stream to its end, or use `await stream.result()`")
        return self._response

    async def result(self) -> AgentResponse:
        """Reads the rest and gives the response. Cancelling this ends the run.

        Raises:
            ChelipedError: Whatever ended the run.
        """
        try:
            async for _ in self:
                pass
        except asyncio.CancelledError:
            self._end()
            raise
        return self.response

    async def text(self) -> AsyncIterator[str]:
        """The answer as plain text, which is never taken back.

        While the agent has tools, the text of a reply is held until it has ended without a tool call; without tools it
        passes at once. To be read instead of the events.

        Raises:
            RunStateError: The stream was read before.
            ChelipedError: Whatever ended the run.
        """
        if self._run is not None:
            raise RunStateError("the stream was read before: take either its events or its text")
        self._begin(plain=True)
        try:
            async for event in self:
                if isinstance(event, TextDelta):
                    yield event.text
        finally:
            self._end()

    def __aiter__(self) -> AsyncIterator[StreamEvent]:
        return self

    async def __anext__(self) -> StreamEvent:
        while True:
            if self._batches:
                batch = self._batches[0]
                data = batch.popleft()
                if not batch:
                    self._batches.popleft()
                    if self._run is not None:
                        self._run.more()
                return self._event(data)
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            if self._ended:
                raise StopAsyncIteration
            if self._run is None:
                self._begin(plain=False)
            if self._waiting is not None:
                raise RunStateError("the stream is being read already: read it from one task")
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None

    def _begin(self, *, plain: bool) -> None:
        if self._ended:
            return
        loop = asyncio.get_running_loop()
        # The run must not keep the stream alive: dropping the stream ends the run.
        reader = weakref.ref(self)

        def deliver(
            events: str, last: bool, conversation: _native.Conversation | None, error: BaseException | None
        ) -> None:
            stream = reader()
            if stream is None:
                return
            # The loop may have ended before the run did; then nobody reads.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(stream._take, events, last, conversation, error)

        self._run = self._start(plain, deliver)

    def _take(
        self, events: str, last: bool, conversation: _native.Conversation | None, error: BaseException | None
    ) -> None:
        if self._ended:
            return
        batch = deque(json.loads(events))
        if error is not None:
            # Its last event is the error.
            batch.pop()
            self._error = error
        if batch:
            self._batches.append(batch)
        self._conversation = conversation
        self._ended = last
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def _event(self, data: dict[str, Any]) -> StreamEvent:
        kind = data.pop("type")
        if kind == "text_delta":
            return TextDelta(**data)
        if kind == "finished":
            self._response = AgentResponse._of(data["response"], self._conversation)
            data = {"response": self._response}
        elif kind == "usage":
            data["usage"] = Usage(**data["usage"])
        event: StreamEvent = CLASSES[kind](**data)
        return event

    @property
    def conversation(self) -> Conversation | None:
        """The conversation with this turn added, once the stream has been read to its end."""
        return None if self._response is None else self._response.conversation

    def _end(self) -> None:
        self._ended = True
        self._batches.clear()
        self._error = None
        if self._run is not None:
            self._run.end()
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def aclose(self) -> None:
        """Ends the run, with everything that it started. Does nothing when it is over."""
        self._end()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def __del__(self) -> None:
        # Nobody can read it any more. The native half takes this from any thread.
        run = getattr(self, "_run", None)
        if run is not None:
            run.cancel()
