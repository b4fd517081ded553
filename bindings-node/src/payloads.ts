// Payloads of events, as hooks get them: one interface for each event. Keys are those of every language.
// Made by `cargo xtask tables` from the table of events; do not edit.

/** Keys that the payload of any event can have. */
export interface Common {
  run_id?: string;
  parent_run_id?: string;
  streaming?: boolean;
  conversation_id?: string;
  iteration?: number;
  attempt?: number;
  call_id?: string;
  seq?: number;
  at_ms?: number;
}

/** A message was accepted: it is augmented and no guard refused it. */
export interface AgentBefore extends Common {
  event: "agent.before";
  message: string;
}

/** An iteration starts. */
export interface AgentIteration extends Common {
  event: "agent.iteration";
  message: string;
  provider: string;
  model: string;
  history: Record<string, unknown>[];
}

/** The run has its answer. */
export interface AgentAfter extends Common {
  event: "agent.after";
  message: string;
  text: string;
  provider: string;
  model: string;
  iterations: number;
  duration_ms: number;
  tools_called: string[];
  cache_read_tokens: number | null;
  cache_write_tokens: number | null;
}

/** The run ended with an error after `agent.before`. */
export interface AgentError extends Common {
  event: "agent.error";
  message: string;
  error: string;
  class: string;
}

/** The cap was reached without an answer. */
export interface AgentMaxIterations extends Common {
  event: "agent.max_iterations";
  message: string;
  max_iterations: number;
  provider: string;
  model: string;
}

/** A model is asked, once for each iteration. */
export interface ProviderRequest extends Common {
  event: "provider.request";
  provider: string;
  model: string;
  history_len: number;
  tool_count: number;
}

/** A model replied. `type` is `text` or `tool_use_batch`. */
export interface ProviderResponse extends Common {
  event: "provider.response";
  provider: string;
  model: string;
  type: string;
  input_tokens: number | null;
  output_tokens: number | null;
  cache_read_tokens: number | null;
  cache_write_tokens: number | null;
  reasoning_tokens: number | null;
  input_tokens_total: number | null;
}

/** An attempt failed and another follows. */
export interface ProviderRetry extends Common {
  event: "provider.retry";
  provider: string;
  model: string;
  error: string;
  status: number | null;
  wait_ms: number;
}

/** The last attempt failed. */
export interface ProviderError extends Common {
  event: "provider.error";
  provider: string;
  model: string;
  error: string;
}

/** The next provider of the chain is asked. `status` 0 means that no HTTP answer came. */
export interface ProviderFallback extends Common {
  event: "provider.fallback";
  from: string;
  to: string;
  status: number;
}

/** The provider read part of the prompt from its cache. */
export interface ProviderCacheHit extends Common {
  event: "provider.cache_hit";
  provider: string;
  model: string;
  cache_read_tokens: number;
  cache_write_tokens: number | null;
}

/** The response cache answered instead of the provider. */
export interface ProviderResponseCached extends Common {
  event: "provider.response_cached";
  provider: string;
  model: string;
  key_hash: string;
}

/** A piece of the answer. Built only for hooks that ask for it by name; pieces may be joined. */
export interface ProviderToken extends Common {
  event: "provider.token";
  token: string;
  provider: string;
  model: string;
}

/** A call is about to be decided and run. `tool_input` are the tidied arguments. */
export interface ToolBefore extends Common {
  event: "tool.before";
  tool_name: string;
  tool_input: unknown;
}

/** A call has its result: cleaned and capped. */
export interface ToolAfter extends Common {
  event: "tool.after";
  tool_name: string;
  tool_input: unknown;
  tool_result: string;
  outcome: string;
  duration_ms: number;
}

/** A tool failed, or the tools were taken away for a retry. */
export interface ToolError extends Common {
  event: "tool.error";
  tool_name: string;
  tool_input: unknown;
  error: string;
}

/** An unregistered tool was called again. */
export interface ToolNotFound extends Common {
  event: "tool.not_found";
  tool_name: string;
  tool_input: unknown;
  available_tools: string[];
}

/** The history was shortened. `history_length` is the length after it. */
export interface ContextOverflow extends Common {
  event: "context.overflow";
  message: string;
  history_length: number;
  max_history_length: number;
  provider: string;
  model: string;
}

/** A summary is about to be asked for. */
export interface CompactionBefore extends Common {
  event: "compaction.before";
  provider: string;
  model: string;
}

/** A summary came, or could not be had. */
export interface CompactionAfter extends Common {
  event: "compaction.after";
  summary: string;
}

/** The next request would pass the token budget. */
export interface BudgetExceeded extends Common {
  event: "budget.exceeded";
  tokens_spent: number;
  budget: number;
}

/** A structured reply is sent back for repair. */
export interface StructuredRepair extends Common {
  event: "structured.repair";
  error_count: number;
}

/** A guard refused the message. */
export interface GuardBlocked extends Common {
  event: "guard.blocked";
  message: string;
  reason: string;
  guard: string | null;
}

/** A caller sends too much. */
export interface GuardRateLimitExceeded extends Common {
  event: "guard.rate_limit_exceeded";
  caller_id: string;
  count: number;
  max_requests: number;
  window_seconds: number;
}

/** Something in a tool result was replaced. */
export interface GuardToolOutputRedacted extends Common {
  event: "guard.tool_output_redacted";
  tool_name: string;
  pattern: string;
}

/** A PHP tag was taken out of the answer. */
export interface GuardOutputPhpTagRemoved extends Common {
  event: "guard.output_php_tag_removed";
  tag: string;
}

/** A dangerous function name was taken out of the answer. */
export interface GuardOutputFunctionRedacted extends Common {
  event: "guard.output_function_redacted";
  function: string;
}

/** The first turn of a conversation was accepted. */
export interface ConversationStart extends Common {
  event: "conversation.start";
  metadata: Record<string, unknown>;
}

/** A turn was added to a conversation. `turn_count` counts messages, `turns` counts turns. */
export interface ConversationEnd extends Common {
  event: "conversation.end";
  turn_count: number;
  turns: number;
  message: string;
  response: string;
  duration_ms: number;
}

/** A stream starts. */
export interface StreamStart extends Common {
  event: "stream.start";
  message: string;
  provider: string;
  model: string;
}

/** All pieces were handed on. `chars` are characters. */
export interface StreamEnd extends Common {
  event: "stream.end";
  message: string;
  provider: string;
  model: string;
  duration_ms: number;
  chars: number;
}

/** A stream ended without an answer. */
export interface StreamAbort extends Common {
  event: "stream.abort";
  provider: string;
  model: string;
  error: string;
}

/** A command ran to its end. */
export interface ShellExec extends Common {
  event: "shell.exec";
  command: string;
  cmd_name: string;
}

/** A command was refused. */
export interface ShellDenied extends Common {
  event: "shell.denied";
  command: string;
  cmd_name: string;
  reason: string;
  file: string | null;
}

/** A memory entry was read. */
export interface MemoryRead extends Common {
  event: "memory.read";
  key: string;
  namespace: string;
  driver: string;
  hit: boolean;
}

/** A memory entry was written. */
export interface MemoryWrite extends Common {
  event: "memory.write";
  key: string;
  namespace: string;
  driver: string;
  ttl: number | null;
}

/** A memory entry was removed. */
export interface MemoryForget extends Common {
  event: "memory.forget";
  key: string;
  namespace: string;
  driver: string;
}

/** Memory was searched. The query is never told. */
export interface MemorySearch extends Common {
  event: "memory.search";
  namespace: string;
  mode: string;
  limit: number;
  hit_count: number;
}

/** Memory was added to the message. The values are never told. */
export interface MemoryRecalled extends Common {
  event: "memory.recalled";
  keys: string[];
  namespace: string;
  injected_count: number;
  bytes: number;
}

/** A skill was registered. */
export interface SkillRegistered extends Common {
  event: "skill.registered";
  key: string;
  class: string;
  label: string;
}

/** A skill can be used. */
export interface SkillLoaded extends Common {
  event: "skill.loaded";
  skill_name: string;
  skill_class: string;
}

/** The message names skills. */
export interface SkillMatched extends Common {
  event: "skill.matched";
  matched_skills: string[];
  message_excerpt: string;
  matched_count: number;
}

/** The message names none of the skills that there are. */
export interface SkillNotMatched extends Common {
  event: "skill.not_matched";
  message_excerpt: string;
  available_skills: string[];
}

/** A queued job starts. */
export interface JobStarted extends Common {
  event: "job.started";
  job_id: string;
  message: string;
}

/** A queued job succeeded. */
export interface JobCompleted extends Common {
  event: "job.completed";
  job_id: string;
  message: string;
  provider: string;
  model: string;
  iterations: number;
  duration_ms: number;
  tokens: number | null;
}

/** A queued job failed. */
export interface JobFailed extends Common {
  event: "job.failed";
  job_id: string;
  message: string;
  error: string;
  class: string;
}

/** A run was saved and stopped. */
export interface RunSuspended extends Common {
  event: "run.suspended";
  status: string;
  tool_name: string;
}

/** A saved run goes on. */
export interface RunResumed extends Common {
  event: "run.resumed";
  status: string;
}

/** A decision on a paused call was recorded: `approved` or `denied`. */
export interface RunApproved extends Common {
  event: "run.approved";
  tool_name: string;
  decision: string;
  reason: string;
}

/** A run was cancelled. */
export interface RunCancelled extends Common {
  event: "run.cancelled";
  reason: string;
}

/** A graph starts. */
export interface GraphStart extends Common {
  event: "graph.start";
  entry_node: string;
}

/** A graph reached its end. */
export interface GraphEnd extends Common {
  event: "graph.end";
  steps: number;
  last_node: string;
}

/** A graph splits. */
export interface GraphFanOut extends Common {
  event: "graph.fan_out";
  node: string;
  branches: number;
}

/** The branches of a graph meet. */
export interface GraphJoin extends Common {
  event: "graph.join";
  node: string;
  branches: number;
  failed: number;
}

/** A guard found something that does not block. `action` says what became of it: `redact` or `warn`. Ours. */
export interface GuardFinding extends Common {
  event: "guard.finding";
  guard: string;
  rule: string;
  source: string;
  severity: string;
  action: string;
}

/** A tool result or an outgoing payload was flagged. Ours. */
export interface GuardFlagged extends Common {
  event: "guard.flagged";
  guard: string;
  source: string;
  reason: string;
}

/** A piece of context was left out of the message. Ours. */
export interface GuardContextDropped extends Common {
  event: "guard.context_dropped";
  guard: string;
  source: string;
  reason: string;
}

/** A tool tells how far it is. Ours. */
export interface ToolProgress extends Common {
  event: "tool.progress";
  tool_name: string;
  message: string;
}

/** A nearly right tool name was answered with the right ones. Ours. */
export interface ToolNameCorrected extends Common {
  event: "tool.name_corrected";
  tool_name: string;
  matches: string[];
}

/** Tools of a remote profile are missing. Ours. */
export interface ToolProfileSkipped extends Common {
  event: "tool.profile_skipped";
  profile: string;
  reason: string;
}

/** Memory could not be searched; the message went on without it. Ours. */
export interface MemoryRecallFailed extends Common {
  event: "memory.recall_failed";
  namespace: string;
  error: string;
}

/** The classifier gave no verdict. Ours. */
export interface ApprovalClassifierFailed extends Common {
  event: "approval.classifier_failed";
  tool_name: string;
  error: string;
}

/** The text given so far by this iteration and attempt is taken back. Ours. */
export interface RunTextDiscarded extends Common {
  event: "run.text_discarded";
}

/** A piece of readable reasoning. Only streams see it. */
export interface ProviderThinking extends Common {
  event: "provider.thinking";
  text: string;
}

/** The payload of each event by its dotted name. */
export interface Payloads {
  "agent.before": AgentBefore;
  "agent.iteration": AgentIteration;
  "agent.after": AgentAfter;
  "agent.error": AgentError;
  "agent.max_iterations": AgentMaxIterations;
  "provider.request": ProviderRequest;
  "provider.response": ProviderResponse;
  "provider.retry": ProviderRetry;
  "provider.error": ProviderError;
  "provider.fallback": ProviderFallback;
  "provider.cache_hit": ProviderCacheHit;
  "provider.response_cached": ProviderResponseCached;
  "provider.token": ProviderToken;
  "tool.before": ToolBefore;
  "tool.after": ToolAfter;
  "tool.error": ToolError;
  "tool.not_found": ToolNotFound;
  "context.overflow": ContextOverflow;
  "compaction.before": CompactionBefore;
  "compaction.after": CompactionAfter;
  "budget.exceeded": BudgetExceeded;
  "structured.repair": StructuredRepair;
  "guard.blocked": GuardBlocked;
  "guard.rate_limit_exceeded": GuardRateLimitExceeded;
  "guard.tool_output_redacted": GuardToolOutputRedacted;
  "guard.output_php_tag_removed": GuardOutputPhpTagRemoved;
  "guard.output_function_redacted": GuardOutputFunctionRedacted;
  "conversation.start": ConversationStart;
  "conversation.end": ConversationEnd;
  "stream.start": StreamStart;
  "stream.end": StreamEnd;
  "stream.abort": StreamAbort;
  "shell.exec": ShellExec;
  "shell.denied": ShellDenied;
  "memory.read": MemoryRead;
  "memory.write": MemoryWrite;
  "memory.forget": MemoryForget;
  "memory.search": MemorySearch;
  "memory.recalled": MemoryRecalled;
  "skill.registered": SkillRegistered;
  "skill.loaded": SkillLoaded;
  "skill.matched": SkillMatched;
  "skill.not_matched": SkillNotMatched;
  "job.started": JobStarted;
  "job.completed": JobCompleted;
  "job.failed": JobFailed;
  "run.suspended": RunSuspended;
  "run.resumed": RunResumed;
  "run.approved": RunApproved;
  "run.cancelled": RunCancelled;
  "graph.start": GraphStart;
  "graph.end": GraphEnd;
  "graph.fan_out": GraphFanOut;
  "graph.join": GraphJoin;
  "guard.finding": GuardFinding;
  "guard.flagged": GuardFlagged;
  "guard.context_dropped": GuardContextDropped;
  "tool.progress": ToolProgress;
  "tool.name_corrected": ToolNameCorrected;
  "tool.profile_skipped": ToolProfileSkipped;
  "memory.recall_failed": MemoryRecallFailed;
  "approval.classifier_failed": ApprovalClassifierFailed;
  "run.text_discarded": RunTextDiscarded;
  "provider.thinking": ProviderThinking;
}

/** The dotted name of an event. */
export type EventName = keyof Payloads;
