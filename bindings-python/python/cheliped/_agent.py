"""The agent: sends messages, streams answers, goes on with saved runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from . import _native
from ._bridge import Endpoint, Run, finished
from ._builder import AgentBuilder, AnyApproval, AnyCheckpoint, AnyGuard, AnyProvider, AnyTool, ToolChoice
from ._callbacks import Hook, Interceptor
from ._content import Part
from ._context import Caller, ContextPiece
from ._errors import ConfigurationError, RunStateError
from ._guards import GuardRules, ToolOutputRules
from ._hooks import DebugLogHook, EngineHook, SecurityAlertHook
from ._json import written
from ._request import native_conversation, written_context, written_request
from ._response import AgentResponse, Conversation
from ._stream import AgentStream, Deliver

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from .payloads import EventName


class Agent:
    """A model, tools and rules. Settings are fixed when it is made; one agent serves any number of messages at once.

    Every argument may be left out; the engine's default then counts.

    Args:
        provider: The model: a text such as `openai:MODEL` or `offline`, a `ProviderConfig`, a `ScriptedProvider`, or a
            `Provider` of your own. Default: the first provider that the environment has a key for.
        fallbacks: Providers that are asked in order when those before them have failed. Default: none.
        tools: Functions made by `tool`, or plain functions. Default: none.
        skills: Dictionaries with `name`, `description`, `instructions`. Default: none.
        hooks: Functions that see events: pairs of a dotted name and a function, or functions for every event; and hooks of
            the engine: `DebugLogHook`, `SecurityAlertHook`.
        guards: Guards of the application, beside the built-in ones: functions that get a `Scanned` and give a reason to
            refuse it, or `Guard`s. Default: none.
        interceptors: Objects that change or stop what the engine is about to do. Default: none.
        approval: Who decides about calls that change something. Default: nobody, they run.
        checkpoint: Who saves the run between its steps. Default: nobody.
        system_prompt: The application's own instructions. Default: none.
        max_iterations: Model calls in a run before it gives up. Default 20.
        max_retries: Tries after a failed model call that may succeed later. Default 0.
        max_tools_per_turn: Tools offered at most; 0, the default, derives it from the model.
        max_tool_result_tokens: Estimated tokens that a tool result may have before it is cut. Default 2500; 0: no limit.
        max_token_budget: Tokens that a run may spend; 0, the default, is no limit.
        parallel_tools: Read-only calls of one batch that run side by side. Default 8.
        tool_timeout_ms: Time for one tool call, in milliseconds. Default 180000.
        model_call_timeout_ms: Time for one whole model call that is not streamed. Default 120000; 0: no limit.
        requests_per_minute: Requests to providers per minute; 0, the default, is no limit.
        max_rate_wait_ms: How long a request may wait for its turn. Default 30000.
        max_tokens: Tokens of one reply at most; 0, the default, leaves it to the model.
        thinking_budget: Tokens that the model may think before it answers. Default 0, off.
        prompt_cache: Whether prompts are marked for the provider's cache. Default yes.
        temperature: Sampling temperature. Default: the provider's own.
        tool_choice: `auto`, `none`, `required` or `{"name": ...}`, for the first model call of a run. Default `auto`.
        unknown_tool: What happens when the model calls a tool that does not exist: `corrected` or `documented`.
        sanitise_output: How PHP tags and dangerous calls are taken out of the answer and of the reasoning: `documented`,
            `outside_code_fences`, `escape` or `off`; also yes and no. Default `documented`.
        stream_mode: Whether a stream shows the answer as it is written, `live`, or only when complete, `replay`.
        remember_denials: Whether a denied call is denied without asking when it comes again in the run. Default yes.
        guard_rules: Rules of the built-in guards, see `GuardRules`. Default: every guard is on, strict.
        scan_tool_arguments: What guards do with arguments of tool calls: `off`, `flag` (default) or `block`.
        tool_output: How results of tools are cleaned, see `ToolOutputRules`. Default: orders to the model and secrets are
            replaced, and what is flagged is fenced.
        redact_pii_in_tool_results: Whether personal data in results of tools is replaced by its sort. Default no.
        exempt_tools: Names of tools whose results keep personal data. Default: none.
        always_include_tools: Names of tools that are offered on every turn. Default: none.
        allow_real_providers: Whether a real model may be asked over the network. Default yes.
        env: A fixed outside for tests: `now_ms`, `id_prefix`, `variables`. Default: the real one.

    Raises:
        ConfigurationError: With every problem found.

    Example:
        >>> from cheliped import Agent, ScriptedProvider, tool
        >>> @tool
        ... def add(a: int, b: int) -> int:
        ...     "Adds two numbers."
        ...     return a + b
        >>> model = ScriptedProvider([{"calls": [{"name": "add", "arguments": {"a": 2, "b": 3}}]}, "The sum is 5."])
        >>> agent = Agent(provider=model, tools=[add])
        >>> response = agent.send_sync("What is 2 + 3?")
        >>> response.text, response.tools_called
        ('The sum is 5.', ('add',))
    """

    _native: _native.Agent
    _endpoints: dict[int, Endpoint]

    def __init__(
        self,
        *,
        provider: AnyProvider | None = None,
        fallbacks: Iterable[AnyProvider] = (),
        tools: Iterable[AnyTool] = (),
        skills: Iterable[Mapping[str, str]] = (),
        hooks: Iterable[Hook | EngineHook | tuple[EventName | str, Hook]] = (),
        guards: Iterable[AnyGuard] = (),
        interceptors: Iterable[Interceptor] = (),
        approval: AnyApproval | None = None,
        checkpoint: AnyCheckpoint | None = None,
        system_prompt: str | None = None,
        max_iterations: int | None = None,
        max_retries: int | None = None,
        max_tools_per_turn: int | None = None,
        max_tool_result_tokens: int | None = None,
        max_token_budget: int | None = None,
        parallel_tools: int | None = None,
        tool_timeout_ms: int | None = None,
        model_call_timeout_ms: int | None = None,
        requests_per_minute: int | None = None,
        max_rate_wait_ms: int | None = None,
        max_tokens: int | None = None,
        thinking_budget: int | None = None,
        prompt_cache: bool | None = None,
        temperature: float | None = None,
        tool_choice: ToolChoice | None = None,
        unknown_tool: Literal["corrected", "documented"] | None = None,
        sanitise_output: bool | Literal["off", "outside_code_fences", "documented", "escape"] | None = None,
        stream_mode: Literal["live", "replay"] | None = None,
        remember_denials: bool | None = None,
        guard_rules: GuardRules | Mapping[str, Any] | None = None,
        scan_tool_arguments: Literal["off", "flag", "block"] | None = None,
        tool_output: ToolOutputRules | Mapping[str, Any] | None = None,
        redact_pii_in_tool_results: bool | None = None,
        exempt_tools: Sequence[str] | None = None,
        always_include_tools: Sequence[str] | None = None,
        allow_real_providers: bool | None = None,
        env: Mapping[str, Any] | None = None,
    ) -> None:
        builder = AgentBuilder().options(
            system_prompt=system_prompt,
            max_iterations=max_iterations,
            max_retries=max_retries,
            max_tools_per_turn=max_tools_per_turn,
            max_tool_result_tokens=max_tool_result_tokens,
            max_token_budget=max_token_budget,
            parallel_tools=parallel_tools,
            tool_timeout_ms=tool_timeout_ms,
            model_call_timeout_ms=model_call_timeout_ms,
            requests_per_minute=requests_per_minute,
            max_rate_wait_ms=max_rate_wait_ms,
            max_tokens=max_tokens,
            thinking_budget=thinking_budget,
            prompt_cache=prompt_cache,
            temperature=temperature,
            tool_choice=tool_choice,
            unknown_tool=unknown_tool,
            sanitise_output=sanitise_output,
            stream_mode=stream_mode,
            remember_denials=remember_denials,
            guard_rules=guard_rules,
            scan_tool_arguments=scan_tool_arguments,
            tool_output=tool_output,
            redact_pii_in_tool_results=redact_pii_in_tool_results,
            exempt_tools=exempt_tools,
            always_include_tools=always_include_tools,
            allow_real_providers=allow_real_providers,
            env=env,
        )
        if provider is not None:
            builder.provider(provider)
        for fallback in fallbacks:
            builder.fallback(fallback)
        builder.tools(tools)
        for skill in skills:
            builder.skill(**skill)
        for hook in hooks:
            if isinstance(hook, (DebugLogHook, SecurityAlertHook)):
                builder.hook(hook)
            elif isinstance(hook, tuple):
                if len(hook) != 2:
                    raise ConfigurationError(f"a hook for one event is a pair of its name and a function, got {hook!r}")
                event, function = hook
                builder.on(event, function)
            else:
                builder.on(None, hook)
        for guard in guards:
            builder.guard(guard)
        for interceptor in interceptors:
            builder.interceptor(interceptor)
        if approval is not None:
            builder.approval(approval)
        if checkpoint is not None:
            builder.checkpoint(checkpoint)
        self._native, self._endpoints = builder._native()

    @classmethod
    def _of(cls, builder: AgentBuilder) -> Agent:
        agent = cls.__new__(cls)
        agent._native, agent._endpoints = builder._native()
        return agent

    @staticmethod
    def builder() -> AgentBuilder:
        """Starts building an agent step by step."""
        return AgentBuilder()

    async def send(
        self,
        message: str | Sequence[Part],
        *,
        deps: Any = None,
        conversation: Conversation | None = None,
        caller: Caller | None = None,
        deadline_ms: int | None = None,
        parent_run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        pieces: Sequence[ContextPiece] = (),
    ) -> AgentResponse:
        """Sends a message and waits for the answer. Cancelling the task ends the run with everything that it started.

        Args:
            message: A text, or parts: `Text`, `Image`, `File`.
            deps: A value for tools, found in `RunContext.deps`.
            conversation: Makes the message its next turn; the new one is `response.conversation`.
            caller: Who is asking.
            deadline_ms: Longest time for the whole run, in milliseconds. Default: none.
            parent_run_id: The run that this one belongs to, when a tool runs an agent.
            metadata: JSON values for hooks, interceptors and tools.
            pieces: Context that is put in front of the message as reference material: what is remembered, documents that
                were found. Each is scanned on its own. Default: none.

        Raises:
            ChelipedError: Whatever ended the run. Failures of tools are not among them: the model gets them as results.
        """
        request = written_request(message, caller, deadline_ms, parent_run_id, metadata, pieces)
        run = Run(self._endpoints, deps, caller, metadata or {})
        native = native_conversation(conversation)
        response, following = await finished(run, lambda done: self._native.send(request, native, run, done))
        return AgentResponse._of(json.loads(response), following)

    def send_sync(
        self,
        message: str | Sequence[Part],
        *,
        deps: Any = None,
        conversation: Conversation | None = None,
        caller: Caller | None = None,
        deadline_ms: int | None = None,
        parent_run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        pieces: Sequence[ContextPiece] = (),
    ) -> AgentResponse:
        """Sends a message and waits for the answer, in code without an event loop. Takes what `send` takes.

        Raises:
            RunStateError: There is a running event loop, which this would block.
            ChelipedError: As `send`.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise RunStateError("send_sync would block the running event loop: use `await agent.send(...)` instead")
        return asyncio.run(
            self.send(
                message,
                deps=deps,
                conversation=conversation,
                caller=caller,
                deadline_ms=deadline_ms,
                parent_run_id=parent_run_id,
                metadata=metadata,
                pieces=pieces,
            )
        )

    def stream(
        self,
        message: str | Sequence[Part],
        *,
        deps: Any = None,
        conversation: Conversation | None = None,
        caller: Caller | None = None,
        deadline_ms: int | None = None,
        parent_run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        pieces: Sequence[ContextPiece] = (),
    ) -> AgentStream:
        """Sends a message and gives its events as they happen. Takes what `send` takes; starts when it is read."""
        request = written_request(message, caller, deadline_ms, parent_run_id, metadata, pieces)
        native = native_conversation(conversation)

        def start(plain: bool, deliver: Deliver) -> Run:
            run = Run(self._endpoints, deps, caller, metadata or {})
            run.began(self._native.stream(request, native, plain, run, deliver))
            return run

        return AgentStream(start)

    async def resume(
        self,
        state: Mapping[str, Any],
        *,
        deps: Any = None,
        caller: Caller | None = None,
        deadline_ms: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        accept_changed_config: bool | None = None,
    ) -> AgentResponse:
        """Goes on with a run that a `Checkpoint` saved, in this process or another.

        Args:
            state: What the checkpoint got as `Saved.state`.
            deps: As for `send`.
            caller: As for `send`.
            deadline_ms: As for `send`.
            metadata: As for `send`.
            accept_changed_config: Whether it may go on although prompt, model or tools differ. Default: no.

        Raises:
            RunStateError: The run has failed, or started with another configuration.
            ChelipedError: As `send`.
        """
        context = written_context(caller, deadline_ms, None, metadata)
        resumption: dict[str, Any] = {"state": state, "context": context}
        if accept_changed_config is not None:
            resumption["accept_changed_config"] = accept_changed_config
        request = written("the saved run or its metadata", resumption)
        run = Run(self._endpoints, deps, caller, metadata or {})
        response, _ = await finished(run, lambda done: self._native.resume(request, run, done))
        return AgentResponse._of(json.loads(response), None)

    @property
    def provider_name(self) -> str:
        """Name of the provider that is asked first."""
        return self._native.provider_name

    @property
    def model_name(self) -> str:
        """The model that is asked first."""
        return self._native.model_name

    @property
    def system_prompt(self) -> str:
        """The composed system prompt."""
        return self._native.system_prompt

    @property
    def tool_names(self) -> list[str]:
        """Names of the registered tools, in order."""
        return self._native.tool_names

    @property
    def fingerprint(self) -> str:
        """Identifies what configures runs: system prompt, model and tools."""
        return self._native.fingerprint

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Runs end with the tasks that wait for them; an agent holds nothing beside them.
        return None

    def __repr__(self) -> str:
        return f"Agent(provider={self.provider_name!r}, model={self.model_name!r}, tools={self.tool_names!r})"
