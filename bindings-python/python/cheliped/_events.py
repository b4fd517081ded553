"""What the reader of a stream sees. All text pieces that no `TextDiscarded` took back, joined, are the answer."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, get_args

from ._response import AgentResponse, Usage


class _Event:
    __slots__ = ()

    type: ClassVar[str]
    """The name of the event, the same in every language."""

    def to_dict(self) -> dict[str, Any]:
        """The event as JSON data, with its `type`."""
        return {"type": self.type, **asdict(self)}  # type: ignore[call-overload]


@dataclass(frozen=True, slots=True)
class RunStarted(_Event):
    """The message was accepted."""

    type: ClassVar[str] = "run_started"

    run_id: str


@dataclass(frozen=True, slots=True)
class TextDelta(_Event):
    """A piece of the answer."""

    type: ClassVar[str] = "text_delta"

    text: str
    iteration: int
    attempt: int


@dataclass(frozen=True, slots=True)
class ThinkingDelta(_Event):
    """A piece of readable reasoning."""

    type: ClassVar[str] = "thinking_delta"

    text: str
    iteration: int
    attempt: int


@dataclass(frozen=True, slots=True)
class TextDiscarded(_Event):
    """The pieces of this iteration and attempt are not part of the answer."""

    type: ClassVar[str] = "text_discarded"

    iteration: int
    attempt: int


@dataclass(frozen=True, slots=True)
class ToolCallStarted(_Event):
    """A tool call is about to be decided and run."""

    type: ClassVar[str] = "tool_call_started"

    name: str
    arguments: dict[str, Any]
    call_id: str
    iteration: int


@dataclass(frozen=True, slots=True)
class ToolCallProgress(_Event):
    """A tool tells how far it is."""

    type: ClassVar[str] = "tool_call_progress"

    name: str
    message: str
    call_id: str


@dataclass(frozen=True, slots=True)
class ToolCallFinished(_Event):
    """A tool call has its result. `outcome` is `ok`, `error`, `denied` or `not_run`."""

    type: ClassVar[str] = "tool_call_finished"

    name: str
    result: str
    outcome: str
    call_id: str
    duration_ms: int


@dataclass(frozen=True, slots=True)
class Iteration(_Event):
    """An iteration starts."""

    type: ClassVar[str] = "iteration"

    iteration: int


@dataclass(frozen=True, slots=True)
class UsageReported(_Event):
    """Tokens of one model call."""

    type: ClassVar[str] = "usage"

    iteration: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Finished(_Event):
    """The answer is complete. Nothing follows."""

    type: ClassVar[str] = "finished"

    response: AgentResponse

    def to_dict(self) -> dict[str, Any]:
        """The event as JSON data, with its `type`."""
        return {"type": self.type, "response": self.response.to_dict()}


StreamEvent = (
    RunStarted
    | TextDelta
    | ThinkingDelta
    | TextDiscarded
    | ToolCallStarted
    | ToolCallProgress
    | ToolCallFinished
    | Iteration
    | UsageReported
    | Finished
)
"""One event of a stream. A run that fails raises in the place of its last event."""

CLASSES: dict[str, type[Any]] = {kind.type: kind for kind in get_args(StreamEvent)}
"""The class for each type; `failed` is raised."""
