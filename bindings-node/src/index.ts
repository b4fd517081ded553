// The package as its users see it.

export { Agent, AgentBuilder, type ConversationResponse } from "./agent.js";
export type { Caller } from "./border.js";
export {
  type Approval,
  type ApprovalGate,
  type ApprovalRequest,
  type Checkpoint,
  type Decision,
  type Guard,
  type Hook,
  hook,
  type Intercepted,
  type Interceptor,
  type Piece,
  type Saved,
} from "./callbacks.js";
export { file, image, type Message, Part, type Source, type WirePart } from "./content.js";
export type { CallbackContext, ToolContext } from "./context.js";
export { Conversation, type WireConversation } from "./conversation.js";
export type {
  RecordedRequest,
  ToolOutcome,
  WireCall,
  WireContent,
  WireMessage,
  WireRequest,
  WireResult,
} from "./data.js";
export {
  CancelledError,
  ChelipedError,
  ConfigurationError,
  type ErrorCode,
  type ErrorDetails,
  type ErrorParts,
  GraphError,
  GuardError,
  InternalError,
  MaxIterationsError,
  MemoryError,
  PromptTemplateError,
  ProviderError,
  RunConflictError,
  RunStateError,
  RunSuspendedError,
  SessionBusyError,
  SkillError,
  StructuredOutputError,
  TimeoutError,
  TokenBudgetExceededError,
  UnknownToolError,
  UnsupportedSchemaError,
} from "./errors.js";
export type { StreamEvent } from "./events.js";
export {
  checkText,
  type GuardAction,
  type GuardFinding,
  type GuardRule,
  type GuardRules,
  type TextCheck,
  type ToolOutputRules,
} from "./guards.js";
export {
  DebugLogHook,
  type DebugLogSettings,
  EngineHook,
  SecurityAlertHook,
  type SecurityAlertSettings,
} from "./hooks.js";
export type { EventName, Payloads } from "./payloads.js";
export {
  type CustomProvider,
  type Provider,
  type ProviderConfig,
  type ProviderRequest,
  ScriptedProvider,
  type ScriptOptions,
  type Step,
  type StepError,
  type StepUsage,
} from "./provider.js";
export { AgentResponse, type ResponseFields, type StopReason, type Usage } from "./response.js";
export type { Arguments, InputSchema, JsonSchema, StandardSchema } from "./schema.js";
export type { ContextPiece, ResumeOptions, SendOptions } from "./sending.js";
export type { AgentOptions, FixedEnv, Skill } from "./settings.js";
export { AgentStream } from "./stream.js";
export { Tool, type ToolDefinition, tool } from "./tool.js";
export { ToolDenied, ToolFailed, ToolRefusal, ToolRetry } from "./tool-errors.js";
