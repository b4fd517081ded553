"""What a tool knows of the call that it runs for, and who is asking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from ._errors import ConfigurationError

if TYPE_CHECKING:
    from ._bridge import Call

Deps = TypeVar("Deps")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is asking; scopes memory, limits and caches.

    Attributes:
        tenant: The customer or organisation.
        user: The person.
        scopes: What they may do, in the application's own words.

    Raises:
        ConfigurationError: `scopes` is one text.
    """

    tenant: str | None = None
    user: str | None = None
    scopes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # A text is a sequence of texts, too: its letters would become rights.
        if isinstance(self.scopes, str):
            raise ConfigurationError(f"Caller.scopes is a sequence of texts, got the text {self.scopes!r}")
        object.__setattr__(self, "scopes", tuple(self.scopes))


@dataclass(frozen=True, slots=True)
class ContextPiece:
    """Context that is put in front of a message as reference material, and scanned on its own.

    Attributes:
        kind: Where it comes from: an entry of a memory, a skill that the message names, or a document.
        name: The key of the entry, the name of the skill or of the document.
        text: The text.
        trusted: Whether its author is trusted as much as the application's: then it is not scanned.

    Example:
        >>> from cheliped import Agent, ContextPiece, ScriptedProvider
        >>> agent = Agent(provider=ScriptedProvider(["From 9 to 17."]))
        >>> hours = ContextPiece("document", "hours.md", "We are open from 9 to 17.")
        >>> agent.send_sync("When are you open?", pieces=[hours]).text
        'From 9 to 17.'
    """

    kind: Literal["memory", "skill", "document"]
    name: str
    text: str
    trusted: bool = False

    def _json(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "text": self.text, "trusted": self.trusted}


class RunContext(Generic[Deps]):
    """The run that a tool works for. A parameter of this type gets it; the model does not see the parameter.

    Attributes:
        deps: The value given to `send(deps=...)`.
        run_id: The run.
        call_id: The call, unique within the run.
        idempotency_key: The same for every try of this call, also after a restart: hand it to services that can drop
            repeats.
        iteration: The iteration, from 1.
        caller: Who is asking, when `send` was told.
        metadata: The values given to `send(metadata=...)`.

    Example:
        >>> from cheliped import RunContext, tool
        >>> @tool
        ... def greet(ctx: RunContext[dict[str, str]]) -> str:
        ...     "Greets the user."
        ...     return "Hello " + ctx.deps["name"]
    """

    __slots__ = ("_call", "call_id", "caller", "deps", "idempotency_key", "iteration", "metadata", "run_id")

    deps: Deps
    run_id: str
    call_id: str
    idempotency_key: str
    iteration: int
    caller: Caller | None
    metadata: Mapping[str, Any]

    def __init__(self, payload: Mapping[str, Any], call: Call) -> None:
        self._call = call
        self.deps = call.run.deps
        self.caller = call.run.caller
        self.metadata = call.run.metadata
        self.run_id = payload["run_id"]
        self.call_id = payload["call_id"]
        self.idempotency_key = payload["idempotency_key"]
        self.iteration = payload["iteration"]

    @property
    def cancelled(self) -> bool:
        """Whether the run has ended without waiting for this call. A tool on a thread should look now and then."""
        return self._call.cancelled

    def progress(self, text: str) -> None:
        """Tells whoever watches the run how far the tool is. Never waits; what nobody can keep up with is dropped."""
        self._call.progress(text)

    def __repr__(self) -> str:
        return f"RunContext(run_id={self.run_id!r}, call_id={self.call_id!r})"
