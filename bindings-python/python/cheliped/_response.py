"""What a run gives back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from . import _native
from ._json import written


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counts them; `None` is not reported, which is not zero.

    Attributes:
        input_tokens: Prompt tokens.
        output_tokens: Tokens of the reply, reasoning included.
        cache_read_tokens: Prompt tokens that came from the provider's cache.
        cache_write_tokens: Prompt tokens written to the provider's cache.
        reasoning_tokens: The reasoning part of the reply.
        input_tokens_total: Everything in the prompt, cached or not.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    input_tokens_total: int | None = None


class Conversation:
    """What was said, and nothing of how it was found out. Immutable: `response.conversation` is the next one.

    The messages live in the engine, so that thousands of conversations cost little.

    Args:
        id: Its id. Default: a new one.
        metadata: Values of the application.

    Example:
        >>> from cheliped import Agent, Conversation, ScriptedProvider
        >>> agent = Agent(provider=ScriptedProvider(["Hello Ada.", "Ada."]))
        >>> first = agent.send_sync("I am Ada.", conversation=Conversation())
        >>> second = agent.send_sync("Who am I?", conversation=first.conversation)
        >>> len(second.conversation)
        4
    """

    __slots__ = ("_native",)

    def __init__(self, id: str | None = None, *, metadata: Mapping[str, Any] | None = None) -> None:
        given: dict[str, Any] = {"metadata": {} if metadata is None else metadata}
        if id is not None:
            given["id"] = id
        self._native = _native.Conversation(written("the conversation", given))

    @classmethod
    def _of(cls, native: _native.Conversation | None) -> Conversation | None:
        if native is None:
            return None
        conversation = cls.__new__(cls)
        conversation._native = native
        return conversation

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Conversation:
        """The conversation that `to_dict` wrote.

        Raises:
            ConfigurationError: The data has another shape.
        """
        conversation = cls.__new__(cls)
        conversation._native = _native.Conversation(written("the conversation", data))
        return conversation

    def to_dict(self) -> dict[str, Any]:
        """The whole conversation as JSON data: `id`, `created_at_ms`, `metadata`, `history`."""
        data: dict[str, Any] = json.loads(self._native.json())
        return data

    @property
    def id(self) -> str:
        """Its id."""
        return self._native.id

    @property
    def turns(self) -> int:
        """How often the user spoke."""
        return self._native.turns

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages, oldest first."""
        messages: list[dict[str, Any]] = self.to_dict()["history"]
        return messages

    def with_message(self, role: str, content: str) -> Conversation:
        """The conversation with one more message of `user`, `assistant` or `system`.

        Raises:
            ConfigurationError: There is no such role.
        """
        conversation = Conversation.__new__(Conversation)
        conversation._native = self._native.with_message(written("the message", {"role": role, "content": content}))
        return conversation

    def __len__(self) -> int:
        return len(self._native)

    def __bool__(self) -> bool:
        return True

    def __reduce__(self) -> tuple[Any, ...]:
        return Conversation.from_dict, (self.to_dict(),)

    def __repr__(self) -> str:
        return f"Conversation(id={self.id!r}, messages={len(self)})"


@dataclass(frozen=True, slots=True)
class AgentResponse:
    """The answer to a message, with what it took.

    Attributes:
        text: The cleaned answer.
        provider: The provider that answered last.
        model: Its model.
        iterations: Model calls that were made.
        input_tokens: Prompt tokens of the last call, when reported.
        output_tokens: Reply tokens of the last call, when reported.
        duration_ms: Milliseconds from the message to the answer.
        tools_called: Names of the tools called, in order, repeats kept.
        cache_read_tokens: Prompt tokens of the last call that came from the provider's cache.
        cache_write_tokens: Prompt tokens of the last call that were written to it.
        thinking: Readable reasoning of the last call.
        run_id: The run.
        stop_reason: Why the last reply ended; `length` means that the text may be cut.
        failed: Whether the text is a failure that ended the run, and not an answer of the model.
        usage: Tokens of the whole run.
        steps: Tokens of each model call.
        persist_error: Why a conversation was not changed by this turn, when an interceptor stopped that.
        conversation: The conversation with this turn added, when one was given.
    """

    text: str
    provider: str
    model: str
    iterations: int
    input_tokens: int | None
    output_tokens: int | None
    duration_ms: int
    tools_called: tuple[str, ...]
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    thinking: str | None
    run_id: str
    stop_reason: str
    failed: bool
    usage: Usage
    steps: tuple[Usage, ...]
    persist_error: str | None
    conversation: Conversation | None = field(default=None, compare=False)

    @classmethod
    def _of(cls, data: dict[str, Any], conversation: _native.Conversation | None) -> AgentResponse:
        data["tools_called"] = tuple(data["tools_called"])
        data["usage"] = Usage(**data["usage"])
        data["steps"] = tuple([Usage(**step) for step in data["steps"]])
        return cls(**data, conversation=Conversation._of(conversation))

    def to_dict(self) -> dict[str, Any]:
        """The response as JSON data, without the conversation."""
        data = {name: getattr(self, name) for name in self.__slots__ if name != "conversation"}
        data["tools_called"] = list(self.tools_called)
        data["usage"] = asdict(self.usage)
        data["steps"] = [asdict(step) for step in self.steps]
        return data

    def __str__(self) -> str:
        return self.text
