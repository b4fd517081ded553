"""What the reader of a stream sees. All text pieces that no `TextDiscarded` took back, joined, are the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._response import AgentResponse, Usage


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The message was accepted."""

    run_id: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer."""

    text: str
    iteration: int
    attempt: int


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """A piece of readable reasoning."""

    text: str
    iteration: int
    attempt: int


@dataclass(frozen=True, slots=True)
class TextDiscarded:
    """The pieces of this iteration and attempt are not part of the answer."""

    iteration: int
    attempt: int


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """A tool call is about to be decided and run."""

    name: str
    arguments: dict[str, Any]
    call_id: str
    iteration: int


@dataclass(frozen=True, slots=True)
class ToolCallProgress:
    """A tool tells how far it is."""

    name: str
    message: str
    call_id: str


@dataclass(frozen=True, slots=True)
class ToolCallFinished:
    """A tool call has its result. `outcome` is `ok`, `error`, `denied` or `not_run`."""

    name: str
    result: str
    outcome: str
    call_id: str
    duration_ms: int


@dataclass(frozen=True, slots=True)
class Iteration:
    """An iteration starts."""

    iteration: int


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Tokens of one model call."""

    iteration: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer is complete. Nothing follows."""

    response: AgentResponse


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

CLASSES: dict[str, type[Any]] = {
    "run_started": RunStarted,
    "text_delta": TextDelta,
    "thinking_delta": ThinkingDelta,
    "text_discarded": TextDiscarded,
    "tool_call_started": ToolCallStarted,
    "tool_call_progress": ToolCallProgress,
    "tool_call_finished": ToolCallFinished,
    "iteration": Iteration,
    "usage": UsageReported,
    "finished": Finished,
}
"""The class for each type; `failed` is raised."""
