"""Payloads of events, as hooks get them: one typed dictionary for each event.

Made by `cargo xtask tables` from the table of events; do not edit.

Example:

    from cheliped.payloads import GuardBlocked

    def report(event: GuardBlocked) -> None:
        print(event["guard"], event["reason"])
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

EventName = Literal[
    "agent.before",
    "agent.iteration",
    "agent.after",
    "agent.error",
    "agent.max_iterations",
    "provider.request",
    "provider.response",
    "provider.retry",
    "provider.error",
    "provider.fallback",
    "provider.cache_hit",
    "provider.response_cached",
    "provider.token",
    "tool.before",
    "tool.after",
    "tool.error",
    "tool.not_found",
    "context.overflow",
    "compaction.before",
    "compaction.after",
    "budget.exceeded",
    "structured.repair",
    "guard.blocked",
    "guard.rate_limit_exceeded",
    "guard.tool_output_redacted",
    "guard.output_php_tag_removed",
    "guard.output_function_redacted",
    "conversation.start",
    "conversation.end",
    "stream.start",
    "stream.end",
    "stream.abort",
    "shell.exec",
    "shell.denied",
    "memory.read",
    "memory.write",
    "memory.forget",
    "memory.search",
    "memory.recalled",
    "skill.registered",
    "skill.loaded",
    "skill.matched",
    "skill.not_matched",
    "job.started",
    "job.completed",
    "job.failed",
    "run.suspended",
    "run.resumed",
    "run.approved",
    "run.cancelled",
    "graph.start",
    "graph.end",
    "graph.fan_out",
    "graph.join",
    "guard.finding",
    "guard.flagged",
    "guard.context_dropped",
    "tool.progress",
    "tool.name_corrected",
    "tool.profile_skipped",
    "memory.recall_failed",
    "approval.classifier_failed",
    "run.text_discarded",
    "provider.thinking",
]
"""The dotted name of an event."""


class Common(TypedDict, total=False):
    """Keys that the payload of any event can have."""

    run_id: str
    parent_run_id: str
    streaming: bool
    conversation_id: str
    iteration: int
    attempt: int
    call_id: str
    seq: int
    at_ms: int


class AgentBefore(Common):
    """A message was accepted: it is augmented and no guard refused it."""

    event: Literal["agent.before"]
    message: str


class AgentIteration(Common):
    """An iteration starts."""

    event: Literal["agent.iteration"]
    message: str
    provider: str
    model: str
    history: list[dict[str, Any]]


class AgentAfter(Common):
    """The run has its answer."""

    event: Literal["agent.after"]
    message: str
    text: str
    provider: str
    model: str
    iterations: int
    duration_ms: int
    tools_called: list[str]
    cache_read_tokens: int | None
    cache_write_tokens: int | None


_AgentError = TypedDict("_AgentError", {"class": str})


class AgentError(Common, _AgentError):
    """The run ended with an error after `agent.before`."""

    event: Literal["agent.error"]
    message: str
    error: str


class AgentMaxIterations(Common):
    """The cap was reached without an answer."""

    event: Literal["agent.max_iterations"]
    message: str
    max_iterations: int
    provider: str
    model: str


class ProviderRequest(Common):
    """A model is asked, once for each iteration."""

    event: Literal["provider.request"]
    provider: str
    model: str
    history_len: int
    tool_count: int


class ProviderResponse(Common):
    """A model replied. `type` is `text` or `tool_use_batch`."""

    event: Literal["provider.response"]
    provider: str
    model: str
    type: str
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None
    input_tokens_total: int | None


class ProviderRetry(Common):
    """An attempt failed and another follows."""

    event: Literal["provider.retry"]
    provider: str
    model: str
    error: str
    status: int | None
    wait_ms: int


class ProviderError(Common):
    """The last attempt failed."""

    event: Literal["provider.error"]
    provider: str
    model: str
    error: str


_ProviderFallback = TypedDict("_ProviderFallback", {"from": str})


class ProviderFallback(Common, _ProviderFallback):
    """The next provider of the chain is asked. `status` 0 means that no HTTP answer came."""

    event: Literal["provider.fallback"]
    to: str
    status: int


class ProviderCacheHit(Common):
    """The provider read part of the prompt from its cache."""

    event: Literal["provider.cache_hit"]
    provider: str
    model: str
    cache_read_tokens: int
    cache_write_tokens: int | None


class ProviderResponseCached(Common):
    """The response cache answered instead of the provider."""

    event: Literal["provider.response_cached"]
    provider: str
    model: str
    key_hash: str


class ProviderToken(Common):
    """A piece of the answer. Built only for hooks that ask for it by name; pieces may be joined."""

    event: Literal["provider.token"]
    token: str
    provider: str
    model: str


class ToolBefore(Common):
    """A call is about to be decided and run. `tool_input` are the tidied arguments."""

    event: Literal["tool.before"]
    tool_name: str
    tool_input: Any


class ToolAfter(Common):
    """A call has its result: cleaned and capped."""

    event: Literal["tool.after"]
    tool_name: str
    tool_input: Any
    tool_result: str
    outcome: str
    duration_ms: int


class ToolError(Common):
    """A tool failed, or the tools were taken away for a retry."""

    event: Literal["tool.error"]
    tool_name: str
    tool_input: Any
    error: str


class ToolNotFound(Common):
    """An unregistered tool was called again."""

    event: Literal["tool.not_found"]
    tool_name: str
    tool_input: Any
    available_tools: list[str]


class ContextOverflow(Common):
    """The history was shortened. `history_length` is the length after it."""

    event: Literal["context.overflow"]
    message: str
    history_length: int
    max_history_length: int
    provider: str
    model: str


class CompactionBefore(Common):
    """A summary is about to be asked for."""

    event: Literal["compaction.before"]
    provider: str
    model: str


class CompactionAfter(Common):
    """A summary came, or could not be had."""

    event: Literal["compaction.after"]
    summary: str


class BudgetExceeded(Common):
    """The next request would pass the token budget."""

    event: Literal["budget.exceeded"]
    tokens_spent: int
    budget: int


class StructuredRepair(Common):
    """A structured reply is sent back for repair."""

    event: Literal["structured.repair"]
    error_count: int


class GuardBlocked(Common):
    """A guard refused the message."""

    event: Literal["guard.blocked"]
    message: str
    reason: str
    guard: str | None


class GuardRateLimitExceeded(Common):
    """A caller sends too much."""

    event: Literal["guard.rate_limit_exceeded"]
    caller_id: str
    count: int
    max_requests: int
    window_seconds: int


class GuardToolOutputRedacted(Common):
    """Something in a tool result was replaced."""

    event: Literal["guard.tool_output_redacted"]
    tool_name: str
    pattern: str


class GuardOutputPhpTagRemoved(Common):
    """A PHP tag was taken out of the answer."""

    event: Literal["guard.output_php_tag_removed"]
    tag: str


class GuardOutputFunctionRedacted(Common):
    """A dangerous function name was taken out of the answer."""

    event: Literal["guard.output_function_redacted"]
    function: str


class ConversationStart(Common):
    """The first turn of a conversation was accepted."""

    event: Literal["conversation.start"]
    metadata: dict[str, Any]


class ConversationEnd(Common):
    """A turn was added to a conversation. `turn_count` counts messages, `turns` counts turns."""

    event: Literal["conversation.end"]
    turn_count: int
    turns: int
    message: str
    response: str
    duration_ms: int


class StreamStart(Common):
    """A stream starts."""

    event: Literal["stream.start"]
    message: str
    provider: str
    model: str


class StreamEnd(Common):
    """All pieces were handed on. `chars` are characters."""

    event: Literal["stream.end"]
    message: str
    provider: str
    model: str
    duration_ms: int
    chars: int


class StreamAbort(Common):
    """A stream ended without an answer."""

    event: Literal["stream.abort"]
    provider: str
    model: str
    error: str


class ShellExec(Common):
    """A command ran to its end."""

    event: Literal["shell.exec"]
    command: str
    cmd_name: str


class ShellDenied(Common):
    """A command was refused."""

    event: Literal["shell.denied"]
    command: str
    cmd_name: str
    reason: str
    file: str | None


class MemoryRead(Common):
    """A memory entry was read."""

    event: Literal["memory.read"]
    key: str
    namespace: str
    driver: str
    hit: bool


class MemoryWrite(Common):
    """A memory entry was written."""

    event: Literal["memory.write"]
    key: str
    namespace: str
    driver: str
    ttl: int | None


class MemoryForget(Common):
    """A memory entry was removed."""

    event: Literal["memory.forget"]
    key: str
    namespace: str
    driver: str


class MemorySearch(Common):
    """Memory was searched. The query is never told."""

    event: Literal["memory.search"]
    namespace: str
    mode: str
    limit: int
    hit_count: int


class MemoryRecalled(Common):
    """Memory was added to the message. The values are never told."""

    event: Literal["memory.recalled"]
    keys: list[str]
    namespace: str
    injected_count: int
    bytes: int


_SkillRegistered = TypedDict("_SkillRegistered", {"class": str})


class SkillRegistered(Common, _SkillRegistered):
    """A skill was registered."""

    event: Literal["skill.registered"]
    key: str
    label: str


class SkillLoaded(Common):
    """A skill can be used."""

    event: Literal["skill.loaded"]
    skill_name: str
    skill_class: str


class SkillMatched(Common):
    """The message names skills."""

    event: Literal["skill.matched"]
    matched_skills: list[str]
    message_excerpt: str
    matched_count: int


class SkillNotMatched(Common):
    """The message names none of the skills that there are."""

    event: Literal["skill.not_matched"]
    message_excerpt: str
    available_skills: list[str]


class JobStarted(Common):
    """A queued job starts."""

    event: Literal["job.started"]
    job_id: str
    message: str


class JobCompleted(Common):
    """A queued job succeeded."""

    event: Literal["job.completed"]
    job_id: str
    message: str
    provider: str
    model: str
    iterations: int
    duration_ms: int
    tokens: int | None


_JobFailed = TypedDict("_JobFailed", {"class": str})


class JobFailed(Common, _JobFailed):
    """A queued job failed."""

    event: Literal["job.failed"]
    job_id: str
    message: str
    error: str


class RunSuspended(Common):
    """A run was saved and stopped."""

    event: Literal["run.suspended"]
    status: str
    tool_name: str


class RunResumed(Common):
    """A saved run goes on."""

    event: Literal["run.resumed"]
    status: str


class RunApproved(Common):
    """A decision on a paused call was recorded: `approved` or `denied`."""

    event: Literal["run.approved"]
    tool_name: str
    decision: str
    reason: str


class RunCancelled(Common):
    """A run was cancelled."""

    event: Literal["run.cancelled"]
    reason: str


class GraphStart(Common):
    """A graph starts."""

    event: Literal["graph.start"]
    entry_node: str


class GraphEnd(Common):
    """A graph reached its end."""

    event: Literal["graph.end"]
    steps: int
    last_node: str


class GraphFanOut(Common):
    """A graph splits."""

    event: Literal["graph.fan_out"]
    node: str
    branches: int


class GraphJoin(Common):
    """The branches of a graph meet."""

    event: Literal["graph.join"]
    node: str
    branches: int
    failed: int


class GuardFinding(Common):
    """A guard found something that does not block. `action` says what became of it: `redact` or `warn`. Ours."""

    event: Literal["guard.finding"]
    guard: str
    rule: str
    source: str
    severity: str
    action: str


class GuardFlagged(Common):
    """A tool result or an outgoing payload was flagged. Ours."""

    event: Literal["guard.flagged"]
    guard: str
    source: str
    reason: str


class GuardContextDropped(Common):
    """A piece of context was left out of the message. Ours."""

    event: Literal["guard.context_dropped"]
    guard: str
    source: str
    reason: str


class ToolProgress(Common):
    """A tool tells how far it is. Ours."""

    event: Literal["tool.progress"]
    tool_name: str
    message: str


class ToolNameCorrected(Common):
    """A nearly right tool name was answered with the right ones. Ours."""

    event: Literal["tool.name_corrected"]
    tool_name: str
    matches: list[str]


class ToolProfileSkipped(Common):
    """Tools of a remote profile are missing. Ours."""

    event: Literal["tool.profile_skipped"]
    profile: str
    reason: str


class MemoryRecallFailed(Common):
    """Memory could not be searched; the message went on without it. Ours."""

    event: Literal["memory.recall_failed"]
    namespace: str
    error: str


class ApprovalClassifierFailed(Common):
    """The classifier gave no verdict. Ours."""

    event: Literal["approval.classifier_failed"]
    tool_name: str
    error: str


class RunTextDiscarded(Common):
    """The text given so far by this iteration and attempt is taken back. Ours."""

    event: Literal["run.text_discarded"]


class ProviderThinking(Common):
    """A piece of readable reasoning. Only streams see it."""

    event: Literal["provider.thinking"]
    text: str
