"""The builder that makes agents: what the application gives becomes what the engine is built of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from . import _native
from ._bridge import Endpoint
from ._callbacks import (
    POINTS,
    Approval,
    ApprovalEndpoint,
    ApprovalRequest,
    Checkpoint,
    CheckpointEndpoint,
    Decision,
    Guard,
    GuardEndpoint,
    Hook,
    HookEndpoint,
    Interceptor,
    InterceptorEndpoint,
    Saved,
    Scanned,
    a_function,
)
from ._errors import ConfigurationError
from ._guards import GuardRules, ToolOutputRules
from ._hooks import EngineHook
from ._json import written
from ._provider import Provider, ProviderConfig, ProviderEndpoint, ScriptedProvider
from ._tool import Tool, numbers, tool

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._agent import Agent
    from .payloads import EventName

AnyProvider = str | ProviderConfig | ScriptedProvider | Provider
AnyTool = Tool[..., Any] | Callable[..., Any]
AnyGuard = Guard | Callable[[Scanned], "Awaitable[str | None] | str | None"]
AnyApproval = Approval | Callable[[ApprovalRequest], "Awaitable[Decision] | Decision"]
AnyCheckpoint = Checkpoint | Callable[[Saved], "Awaitable[None] | None"]
ToolChoice = Literal["auto", "none", "required"] | Mapping[str, str]


class AgentBuilder:
    """Collects the settings of an agent, for code that assembles it step by step. `build` checks them all.

    Example:
        >>> from cheliped import Agent, ScriptedProvider
        >>> builder = Agent.builder().provider(ScriptedProvider(["Hello."])).options(max_iterations=4)
        >>> @builder.on("agent.after")
        ... def report(event):
        ...     print(event["text"])
        >>> builder.build().send_sync("Hi").text
        Hello.
        'Hello.'
    """

    def __init__(self) -> None:
        self._options: dict[str, Any] = {}
        self._provider: AnyProvider | None = None
        self._fallbacks: list[AnyProvider] = []
        self._tools: list[Tool[..., Any]] = []
        self._skills: list[Mapping[str, str]] = []
        self._functions: list[tuple[str, dict[str, Any], Endpoint]] = []
        self._hooks: list[EngineHook] = []

    def options(
        self,
        *,
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
    ) -> Self:
        """Sets plain settings; see `Agent` for their meaning. `None` leaves a setting as it is."""
        given = {name: value for name, value in locals().items() if name != "self" and value is not None}
        for name in ("tool_choice", "env"):
            if isinstance(given.get(name), Mapping):
                given[name] = dict(given[name])
        for name in ("always_include_tools", "exempt_tools"):
            if isinstance(given.get(name), str):
                raise ConfigurationError(f"{name} is a list of names, got {given[name]!r}")
            if name in given:
                given[name] = list(given[name])
        self._options.update(given)
        return self

    def provider(self, provider: AnyProvider) -> Self:
        """Sets the model: a text such as `openai:MODEL` or `offline`, settings, a scripted model, or one of your own."""
        self._provider = provider
        return self

    def fallback(self, provider: AnyProvider) -> Self:
        """Adds a provider that is asked when those before it have failed in a way that another can mend."""
        self._fallbacks.append(provider)
        return self

    def tool(self, function: AnyTool) -> Self:
        """Adds a tool; a plain function becomes one.

        Raises:
            ConfigurationError: A parameter of the function cannot be expressed.
        """
        self._tools.append(function if isinstance(function, Tool) else tool(function))
        return self

    def tools(self, functions: Iterable[AnyTool]) -> Self:
        """Adds tools in order."""
        for function in functions:
            self.tool(function)
        return self

    def skill(self, name: str, description: str, instructions: str) -> Self:
        """Adds instructions for one kind of task, which the model loads when it needs them."""
        self._skills.append({"name": name, "description": description, "instructions": instructions})
        return self

    def on(self, event: EventName | str | None, function: Hook | None = None, *, priority: int | None = None) -> Any:
        """Adds a hook for one event, or with `None` for every event. Without a function it is a decorator.

        Args:
            event: The dotted name, for example `guard.blocked`; `provider.token` is told only when asked for by name.
            function: Gets the payload. What it raises is logged, and the run goes on.
            priority: Lower runs first. Default: the engine's.
        """
        if function is None:
            return lambda decorated: (self.on(event, decorated, priority=priority), decorated)[1]
        a_function("a hook", function)
        settings: dict[str, Any] = {}
        if event is not None:
            settings["event"] = event
        self._function("hook", settings, priority, HookEndpoint(function))
        return self

    def hook(self, hook: EngineHook) -> Self:
        """Adds a hook of the engine: a `DebugLogHook` or a `SecurityAlertHook`."""
        self._hooks.append(hook)
        return self

    def guard(self, guard: AnyGuard) -> Self:
        """Adds a guard: a function that gets a `Scanned` and gives a reason to refuse it, or `None`."""
        if not isinstance(guard, Guard):
            guard = Guard(guard)
        settings: dict[str, Any] = {"name": guard.name}
        if guard.typed_only is not None:
            settings["typed_only"] = guard.typed_only
        if guard.replace is not None:
            settings["replace"] = guard.replace
        self._function("guard", settings, guard.priority, GuardEndpoint(guard))
        return self

    def interceptor(self, interceptor: Interceptor) -> Self:
        """Adds an interceptor.

        Raises:
            ConfigurationError: It is no `Interceptor`, or has none of the methods.
        """
        if not isinstance(interceptor, Interceptor):
            raise ConfigurationError(f"an interceptor derives from Interceptor, got {type(interceptor).__name__}")
        name = interceptor.name or type(interceptor).__name__
        endpoints = InterceptorEndpoint.of(interceptor)
        if not endpoints:
            raise ConfigurationError(
                f"the interceptor {name!r} has no method that is called; write at least one of {', '.join(POINTS)}"
            )
        for endpoint in endpoints:
            settings = {"name": name, "points": list(endpoint.methods)}
            self._function("interceptor", settings, interceptor.priority, endpoint)
        return self

    def approval(self, approval: AnyApproval) -> Self:
        """Sets who decides about calls that change something. Default: nobody, they run."""
        if not isinstance(approval, Approval):
            approval = Approval(approval)
        settings = {} if approval.all is None else {"all": approval.all}
        self._function("approval", settings, None, ApprovalEndpoint(approval))
        return self

    def checkpoint(self, checkpoint: AnyCheckpoint) -> Self:
        """Sets who saves the run between its steps. Default: nobody."""
        if not isinstance(checkpoint, Checkpoint):
            checkpoint = Checkpoint(checkpoint)
        settings = {} if checkpoint.can_suspend is None else {"can_suspend": checkpoint.can_suspend}
        self._function("checkpoint", settings, None, CheckpointEndpoint(checkpoint))
        return self

    def _function(self, kind: str, settings: dict[str, Any], priority: int | None, endpoint: Endpoint) -> None:
        if priority is not None:
            settings["priority"] = priority
        self._functions.append((kind, settings, endpoint))

    def build(self) -> Agent:
        """Checks everything and makes the agent.

        Raises:
            ConfigurationError: With every problem found.
        """
        from ._agent import Agent

        return Agent._of(self)

    def _native(self) -> tuple[_native.Agent, dict[int, Endpoint]]:
        endpoints: dict[int, Endpoint] = {tool._number: tool for tool in self._tools}

        def numbered(endpoint: Endpoint) -> int:
            number = next(numbers)
            endpoints[number] = endpoint
            return number

        def provider(given: AnyProvider) -> Any:
            if isinstance(given, ScriptedProvider):
                return given._native
            if isinstance(given, str):
                return written("the provider", given)
            if isinstance(given, ProviderConfig):
                return given._json()
            if isinstance(given, Provider):
                names = written("the provider", {"name": given.name, "model": given.model})
                return names, numbered(ProviderEndpoint(given))
            raise ConfigurationError(
                f"a provider is a text, a ProviderConfig, a ScriptedProvider or a Provider, not {type(given).__name__}"
            )

        agent = _native.Agent(
            written("the options", self._options),
            [None if given is None else provider(given) for given in [self._provider, *self._fallbacks]],
            [tool._native for tool in self._tools],
            [written("a skill", skill) for skill in self._skills],
            [(kind, written(kind, settings), numbered(endpoint)) for kind, settings, endpoint in self._functions],
            [written("a hook", hook._settings) for hook in self._hooks],
        )
        return agent, endpoints
