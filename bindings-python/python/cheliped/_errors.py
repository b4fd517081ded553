"""The errors of the package: one class for each code of the engine.

Messages, codes and details come from the engine; nothing is decided here. A tool steers the loop with `ToolRetry`,
`ToolFailed` and `ToolDenied`, which never reach the caller of `send`.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from ._guards import GuardFinding


class ChelipedError(Exception):
    """Base of all errors that the package raises.

    Attributes:
        code: Stable code, the same in every language.
        message: The error in words.
        details: Data for machines; the keys are the same in every language.
        retryable: Whether the same message can succeed later.

    Example:
        >>> from cheliped import Agent, ChelipedError
        >>> try:
        ...     Agent(provider="nobody")
        ... except ChelipedError as error:
        ...     print(error.code)
        configuration
    """

    code: ClassVar[str] = "internal"

    def __init__(self, message: str, *, details: Mapping[str, Any] | None = None, retryable: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, Any] = dict(details or {})
        self.retryable = retryable

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.message, self.details, self.retryable)


def _restored(kind: type[ChelipedError], message: str, details: dict[str, Any], retryable: bool) -> ChelipedError:
    return kind(message, details=details, retryable=retryable)


class GuardError(ChelipedError):
    """A guard or an interceptor refused the message."""

    code = "guard"

    @property
    def guard(self) -> str:
        """Label of the guard that refused."""
        return str(self.details["guard"])

    @property
    def reason(self) -> str:
        """Why it refused."""
        return str(self.details["reason"])

    @property
    def findings(self) -> list[GuardFinding]:
        """What the built-in guards found in the text, with rule, place and source; never the text itself."""
        findings: list[GuardFinding] = self.details.get("findings", [])
        return findings


class ProviderError(ChelipedError):
    """The model API failed after all retries and fallbacks."""

    code = "provider"

    @property
    def kind(self) -> str:
        """`auth`, `rate_limit`, `overloaded`, `invalid_request`, `server` or `timeout`."""
        return str(self.details["kind"])

    @property
    def status(self) -> int | None:
        """HTTP status, when an answer came."""
        status: int | None = self.details["status"]
        return status


class MaxIterationsError(ChelipedError):
    """The model kept calling tools until the cap."""

    code = "max_iterations"


class MemoryError(ChelipedError):
    """A store or a checkpoint failed."""

    code = "memory"


class ConfigurationError(ChelipedError, ValueError):
    """Settings cannot be used. All problems found are listed."""

    code = "configuration"

    @property
    def problems(self) -> list[str]:
        """Each problem with what to do about it."""
        return list(self.details.get("problems", [self.message]))


class TokenBudgetExceededError(ChelipedError):
    """The next request would spend more tokens than the run may."""

    code = "token_budget_exceeded"


class StructuredOutputError(ChelipedError):
    """A structured reply never matched its schema."""

    code = "structured_output"


class UnsupportedSchemaError(ChelipedError):
    """A schema uses what is not supported."""

    code = "unsupported_schema"


class RunSuspendedError(ChelipedError):
    """A durable run stopped on purpose and can be resumed."""

    code = "run_suspended"

    @property
    def run_id(self) -> str:
        """The run to resume."""
        return str(self.details["run_id"])


class RunConflictError(ChelipedError):
    """Another process changed the run first."""

    code = "run_conflict"


class RunStateError(ChelipedError):
    """A saved run cannot be continued as it is."""

    code = "run_state"


class UnknownToolError(ChelipedError):
    """The model called an unregistered tool again after the one retry without tools."""

    code = "unknown_tool"


class PromptTemplateError(ChelipedError):
    """A prompt template lacks a value."""

    code = "prompt_template"


class GraphError(ChelipedError):
    """A graph is wrong."""

    code = "graph"


class SkillError(ChelipedError):
    """A skill cannot be used."""

    code = "skill"


class CancelledError(ChelipedError):
    """The run was ended by its own signal. Cancelling the task raises `asyncio.CancelledError` instead."""

    code = "cancelled"


class TimeoutError(ChelipedError, builtins.TimeoutError):
    """The run reached its deadline."""

    code = "timeout"


class SessionBusyError(ChelipedError):
    """The session is running another message."""

    code = "session_busy"


class InternalError(ChelipedError):
    """A defect of the engine. Please report it."""

    code = "internal"


CLASSES: dict[str, type[ChelipedError]] = {
    kind.code: kind
    for kind in (
        GuardError,
        ProviderError,
        MaxIterationsError,
        MemoryError,
        ConfigurationError,
        TokenBudgetExceededError,
        StructuredOutputError,
        UnsupportedSchemaError,
        RunSuspendedError,
        RunConflictError,
        RunStateError,
        UnknownToolError,
        PromptTemplateError,
        GraphError,
        SkillError,
        CancelledError,
        TimeoutError,
        SessionBusyError,
        InternalError,
    )
}
"""The class for each code."""


def from_native(code: str, message: str, details: str, retryable: bool, cause: BaseException | None) -> ChelipedError:
    """Makes the exception for an error of the engine; called by the native half."""
    error = CLASSES.get(code, InternalError)(message, details=json.loads(details), retryable=retryable)
    error.__cause__ = cause
    return error


class ToolSteering(Exception):
    """Base of what a tool raises to steer the loop. The text goes to the model."""

    kind: ClassVar[str]

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ToolRetry(ToolSteering):
    """Asks the model to call the tool again in another way; the text says how.

    Example:
        >>> from cheliped import ToolRetry, tool
        >>> @tool
        ... def order(number: int) -> str:
        ...     "Looks up an order."
        ...     if number < 1000:
        ...         raise ToolRetry("order numbers have four digits")
        ...     return "shipped"
    """

    kind = "retry"


class ToolFailed(ToolSteering):
    """The call cannot succeed; the text tells the model why.

    Args:
        message: What failed, in a line.
        content: What the model gets instead, when the tool has an envelope of its own for failures.
    """

    kind = "failed"

    def __init__(self, message: str, *, content: str | None = None) -> None:
        super().__init__(message)
        self.content = content


class ToolDenied(ToolSteering):
    """The tool refuses to do this; the text tells the model why."""

    kind = "denied"
