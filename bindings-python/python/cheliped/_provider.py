"""Models: settings of the known ones, scripted ones for tests, and your own."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _native
from ._callbacks import _Plain
from ._json import written
from ._tool import is_async

if TYPE_CHECKING:
    from ._bridge import Call


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderConfig:
    """Settings of a model behind an API. What is left out comes of environment variables, or is the engine's default.

    Attributes:
        provider: `anthropic`, `openai`, `groq`, `gemini`, `mistral`, `deepseek`, `ollama`, `openrouter`, or `custom` for
            any server that speaks OpenAI's chat format; also `provider:model`.
        model: The model.
        api_key: The key; never shown.
        base_url: Where the server is.
        headers: Headers that are sent with every request; never shown.
        proxy: An http proxy; never shown.
        ca_file: A PEM bundle that replaces the platform's certificates.
        connect_timeout_ms: Time to reach the server, in milliseconds.
        first_byte_timeout_ms: Time until the answer begins, in milliseconds; 0 is no limit.
        idle_timeout_ms: Silence between two pieces of an answer, in milliseconds; 0 is no limit.
        call_timeout_ms: A whole call that is not streamed, in milliseconds; 0 is no limit.
        api: `messages`, `chat`, `responses`, `generate_content` or `ollama_chat`.
        text_calls: Whether tool calls that the model writes as text are read.

    Example:
        >>> from cheliped import ProviderConfig
        >>> ProviderConfig(provider="custom", model="llama", base_url="http://127.0.0.1:8080", api_key="k").provider
        'custom'
    """

    provider: str
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    headers: Mapping[str, str] | None = field(default=None, repr=False)
    proxy: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    connect_timeout_ms: int | None = None
    first_byte_timeout_ms: int | None = None
    idle_timeout_ms: int | None = None
    call_timeout_ms: int | None = None
    api: str | None = None
    text_calls: bool | None = None

    def _json(self) -> str:
        given = {name: getattr(self, name) for name in self.__slots__}
        return written("the provider", {name: value for name, value in given.items() if value is not None})


class ScriptedProvider:
    """A model with canned replies, for tests: no key, no network.

    Args:
        script: A list of steps, or a dictionary with `steps`, `repeat`, `by_turn`, `provider`, `model`. A step has
            `text`, `thinking`, `calls` (`name`, `arguments`, `id`), `stop`, `refusal`, `usage`, `chunks`, `latency_ms`,
            `gap_ms`, `error`, `fail_after_chunks`. A plain text stands for a step of that text.

    Raises:
        ConfigurationError: A step is wrong, with its place.

    Example:
        >>> from cheliped import Agent, ScriptedProvider
        >>> model = ScriptedProvider(["Hello."])
        >>> Agent(provider=model).send_sync("Hi").text
        'Hello.'
        >>> model.requests()[0]["last"]
        'Hi'
    """

    def __init__(self, script: Sequence[str | Mapping[str, Any]] | Mapping[str, Any]) -> None:
        data: Any = script
        if isinstance(script, Mapping):
            data = {**script, "steps": [_step(step) for step in script.get("steps", [])]}
        elif not isinstance(script, str):
            data = [_step(step) for step in script]
        self._native = _native.Script(written("the script", data))

    def requests(self) -> list[dict[str, Any]]:
        """What the model was asked so far, oldest first: `provider`, `model`, `system`, `roles`, `messages`, `last`,
        `tools`, `descriptions`, `tool_choice`, `streamed`, `options`.
        """
        requests: list[dict[str, Any]] = json.loads(self._native.requests())
        return requests


def _step(step: str | Mapping[str, Any]) -> Any:
    return {"text": step} if isinstance(step, str) else step


class Provider:
    """A model of your own. Derive from it, set the names and write `send`, sync or async.

    Example:
        >>> from cheliped import Agent, Provider
        >>> class Echo(Provider):
        ...     name = "echo"
        ...     model = "echo-1"
        ...     async def send(self, request):
        ...         return {"text": request["messages"][-1]["content"]}
        >>> Agent(provider=Echo()).send_sync("hello").text
        'hello'
    """

    name: str = "custom"
    """Name of the provider."""
    model: str = "custom"
    """Name of the model."""

    def send(self, request: dict[str, Any]) -> Awaitable[Mapping[str, Any] | str] | Mapping[str, Any] | str:
        """Asks the model.

        Args:
            request: `system`, `messages`, `tools` (`name`, `description`, `schema`), `tool_choice`, `options`, `stream`.

        Returns:
            A reply: a text, or `text`, `thinking`, `calls` (`name`, `arguments`, `id`), `stop`, `usage`, or `error`
            (`kind`, `message`, `status`, `retryable`). An exception fails the call and becomes the cause of the
            `ProviderError`.
        """
        raise NotImplementedError("write send")


class ProviderEndpoint(_Plain):
    """The way over the border, see `_bridge.Endpoint`."""

    def __init__(self, provider: Provider) -> None:
        self.function = provider.send
        self.is_async = is_async(provider.send)

    def call(self, payload: Any, call: Call) -> Any:
        return self.function(payload)

    def answer(self, value: Any) -> str:
        return super().answer(_step(value))
