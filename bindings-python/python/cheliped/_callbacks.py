"""Callables of the application beside tools: hooks, guards, interceptors, approval, checkpoints.

Each may be a plain function or a coroutine function. What an answer means is decided by the engine; an exception, and
an answer that it cannot read, count as the stricter outcome.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ._bridge import log
from ._errors import ConfigurationError
from ._tool import is_async

if TYPE_CHECKING:
    from ._bridge import Call

Hook = Callable[[Any], "Awaitable[None] | None"]
"""Takes the payload of an event, a dictionary; see `cheliped.payloads` for the keys. It cannot change anything."""


Called = TypeVar("Called", bound=Callable[..., Any])


def a_function(what: str, given: Called) -> Called:
    """What was given, if it can be called: told where it is set up, and not when the first run needs it.

    Raises:
        ConfigurationError: It cannot be called.
    """
    if not callable(given):
        raise ConfigurationError(f"{what} is a function, got {type(given).__name__}")
    return given


@dataclass(frozen=True, slots=True)
class Scanned:
    """A text that a guard looks at.

    Attributes:
        text: The text.
        source: Where it comes from: `typed`, `memory:KEY`, `skill:NAME` or `tool_arguments:NAME`.
    """

    text: str
    source: str


class Guard:
    """Looks at a text before the model does. Give it a function, or derive from it and write `scan`.

    Args:
        function: Gets a `Scanned`; `None` passes, a text blocks for that reason.
        name: Label for errors and events. Default: the function's name.
        typed_only: Whether only what the user typed is looked at. Default: no.
        priority: Lower runs first. Default: the engine's.
        replace: Whether it takes the place of the guard of the same name, also of a built-in one: `injection`,
            `pii_detection` … Default: no, a second guard of one name is left out.

    Example:
        >>> from cheliped import Guard
        >>> no_shouting = Guard(lambda piece: "do not shout" if piece.text.isupper() else None, name="shouting")
    """

    def __init__(
        self,
        function: Callable[[Scanned], Awaitable[str | None] | str | None] | None = None,
        *,
        name: str | None = None,
        typed_only: bool | None = None,
        priority: int | None = None,
        replace: bool | None = None,
    ) -> None:
        self._function = self.scan if function is None else a_function("a guard", function)
        self.name = name or getattr(function, "__name__", None) or type(self).__name__
        self.typed_only = typed_only
        self.priority = priority
        self.replace = replace

    def scan(self, piece: Scanned) -> Awaitable[str | None] | str | None:
        """Decides about one text; for classes that derive from this one."""
        raise NotImplementedError("give Guard a function, or write scan")


POINTS = ("before_run", "before_model", "before_tool", "after_tool", "before_persist", "before_send")
"""Where an interceptor can act."""


class Interceptor:
    """Changes or stops what the engine is about to do. Derive from it and write the methods that you need, sync or async.

    Each gets the value as JSON data and gives `None` to allow, `Replace(value)` to change it, `Block(reason)` to stop.

    | method | value | replaced by |
    |---|---|---|
    | `before_run` | the message: a text, or a list of parts | the same |
    | `before_model` | the request: `system`, `messages`, `tools`, `tool_choice`, `options` | the same |
    | `before_tool` | the call: `id`, `name`, `arguments` | the arguments |
    | `after_tool` | the result: `call_id`, `name`, `content`, `outcome` | the content |
    | `before_persist` | the messages that a turn adds to its conversation | the same |
    | `before_send` | the answer | the same |

    Example:
        >>> from cheliped import Block, Interceptor
        >>> class NoRefundsAtNight(Interceptor):
        ...     def before_tool(self, call):
        ...         return Block("the office is closed") if call["name"] == "refund" else None
    """

    name: str | None = None
    """Label for errors. Default: the name of the class."""
    priority: int | None = None
    """Lower runs first. Default: the engine's."""

    if TYPE_CHECKING:
        before_run: Callable[[Any], Any]
        before_model: Callable[[Any], Any]
        before_tool: Callable[[Any], Any]
        after_tool: Callable[[Any], Any]
        before_persist: Callable[[Any], Any]
        before_send: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Block:
    """An interceptor's answer: it must not go on."""

    reason: str


@dataclass(frozen=True, slots=True)
class Replace:
    """An interceptor's answer: this in its place."""

    value: Any


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A call that waits for a decision.

    Attributes:
        tool: The tool's name.
        arguments: The tidied arguments, exactly as they will run.
        description: The tool's description.
        mutating: Whether the tool says that it changes something.
        findings: What guards found in the arguments.
        run_id: The run.
        call_id: The call.
    """

    tool: str
    arguments: dict[str, Any]
    description: str
    mutating: bool
    findings: tuple[str, ...]
    run_id: str
    call_id: str


@dataclass(frozen=True, slots=True)
class Deny:
    """An approval's answer: the call does not run, for this reason, which events tell."""

    reason: str


@dataclass(frozen=True, slots=True)
class AllowWith:
    """An approval's answer: the call runs with these arguments, which are checked like the model's."""

    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Suspend:
    """An approval's answer: the run pauses until somebody decides; without durable runs the call does not run."""


Decision = bool | Deny | AllowWith | Suspend


class Approval:
    """Who may let a call happen. Usually a function is enough: `approval=function`.

    Args:
        function: Gets an `ApprovalRequest`; gives `True`, `False`, `Deny`, `AllowWith` or `Suspend`.
        all: Whether it wants to see every call, and not only those that change something. Default: no.
    """

    def __init__(
        self,
        function: Callable[[ApprovalRequest], Awaitable[Decision] | Decision],
        *,
        all: bool | None = None,
    ) -> None:
        self._function = a_function("an approval", function)
        self.all = all


@dataclass(frozen=True, slots=True)
class Saved:
    """A run between two steps, as a checkpoint gets it.

    Attributes:
        what: `run_started`, `call_started`, `call_finished`, `step_finished` or `suspended`.
        state: The run, as JSON data that `Agent.resume` takes.
        call: The tool call that it is about.
        arguments_hash: For `call_started`: SHA-256 of the tool's name and its arguments.
        idempotency_key: For `call_started`: the same for every try of the call.
    """

    what: str
    state: dict[str, Any]
    call: dict[str, Any] | None = None
    arguments_hash: str | None = None
    idempotency_key: str | None = None


class Checkpoint:
    """Saves a run between its steps. An exception ends the run, because what cannot be saved must not happen.

    Args:
        function: Gets a `Saved` before and after every side effect.
        can_suspend: Whether a run may pause until somebody decides about a call. Default: no.
    """

    def __init__(self, function: Callable[[Saved], Awaitable[None] | None], *, can_suspend: bool | None = None) -> None:
        self._function = a_function("a checkpoint", function)
        self.can_suspend = can_suspend


# The ways over the border, see `_bridge.Endpoint`.


class _Plain:
    """An endpoint whose exceptions are exceptions."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.is_async = is_async(function)

    def call(self, payload: Any, call: Call) -> Any:
        return self.function(payload)

    def answer(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    def refusal(self, error: BaseException) -> str | None:
        return None


class HookEndpoint(_Plain):
    def answer(self, value: Any) -> str:
        return "null"

    def refusal(self, error: BaseException) -> str | None:
        if isinstance(error, Exception):
            log.warning("a hook raised; the run goes on", exc_info=error)
            return "null"
        return None


class GuardEndpoint(_Plain):
    def __init__(self, guard: Guard) -> None:
        super().__init__(guard._function)

    def call(self, payload: Any, call: Call) -> Any:
        return self.function(Scanned(text=payload["text"], source=payload["source"]))


class ApprovalEndpoint(_Plain):
    def __init__(self, approval: Approval) -> None:
        super().__init__(approval._function)

    def refusal(self, error: BaseException) -> str | None:
        log.warning("the approval raised, so the call is denied", exc_info=error)
        return None

    def call(self, payload: Any, call: Call) -> Any:
        return self.function(ApprovalRequest(**{**payload, "findings": tuple(payload["findings"])}))

    def answer(self, value: Any) -> str:
        if isinstance(value, Deny):
            value = {"deny": value.reason}
        elif isinstance(value, AllowWith):
            value = {"allow_with": dict(value.arguments)}
        elif isinstance(value, Suspend):
            value = "suspend"
        return super().answer(value)


class CheckpointEndpoint(_Plain):
    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__(checkpoint._function)

    def call(self, payload: Any, call: Call) -> Any:
        return self.function(Saved(**payload))

    def answer(self, value: Any) -> str:
        return "null"


class InterceptorEndpoint(_Plain):
    """Some methods of an interceptor: all of them coroutine functions, or none."""

    def __init__(self, methods: Mapping[str, Callable[[Any], Any]], *, asynchronous: bool) -> None:
        self.methods = methods
        self.is_async = asynchronous

    @classmethod
    def of(cls, interceptor: Interceptor) -> list[InterceptorEndpoint]:
        """The methods by kind, because a plain one may block and must stay off the event loop."""
        methods = {point: getattr(interceptor, point) for point in POINTS if hasattr(interceptor, point)}
        kinds = {
            kind: {point: method for point, method in methods.items() if is_async(method) is kind}
            for kind in (False, True)
        }
        return [cls(methods, asynchronous=kind) for kind, methods in kinds.items() if methods]

    def call(self, payload: Any, call: Call) -> Any:
        return self.methods[payload["point"]](payload["value"])

    def answer(self, value: Any) -> str:
        if isinstance(value, Block):
            value = {"block": value.reason}
        elif isinstance(value, Replace):
            value = {"replace": value.value}
        return super().answer(value)
