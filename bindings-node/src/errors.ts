// The errors of the package: one class for each code of the engine's table, and the way from the wire to them.
//
// What a tool throws to steer the model is in `tool-errors.ts`; these here reach the caller of `send`.

import type { GuardFinding } from "./guards.js";

/** The stable code of an error, the same in every language. */
export type ErrorCode =
  | "guard"
  | "provider"
  | "max_iterations"
  | "memory"
  | "configuration"
  | "token_budget_exceeded"
  | "structured_output"
  | "unsupported_schema"
  | "run_suspended"
  | "run_conflict"
  | "run_state"
  | "unknown_tool"
  | "prompt_template"
  | "graph"
  | "skill"
  | "cancelled"
  | "timeout"
  | "session_busy"
  | "internal";

/** The data of an error for machines, with the same keys in every language. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** What an error is made of beside its message. */
export interface ErrorParts {
  /** Data for machines. Default: empty. */
  details?: ErrorDetails;
  /** Whether sending the same message again can help. Default: no. */
  retryable?: boolean;
  /** What it comes of: for a function of yours, the very object that it threw. */
  cause?: unknown;
}

/**
 * Base of all errors of the package.
 *
 * @example
 * ```ts
 * try {
 *   await agent.send("Hello");
 * } catch (error) {
 *   if (error instanceof ChelipedError && error.retryable) await later();
 *   else throw error;
 * }
 * ```
 */
export class ChelipedError extends Error {
  /** The stable code. */
  readonly code: ErrorCode;
  /** Data for machines. */
  readonly details: ErrorDetails;
  /** Whether sending the same message again can help. */
  readonly retryable: boolean;

  constructor(code: ErrorCode, message: string, parts: ErrorParts = {}) {
    super(message, "cause" in parts ? { cause: parts.cause } : undefined);
    this.code = code;
    this.details = parts.details ?? {};
    this.retryable = parts.retryable ?? false;
  }
}

// The name is that of the class, also after bundling; it is no field of each error.
function named<C extends { prototype: Error }>(name: string, type: C): void {
  Object.defineProperty(type.prototype, "name", { value: name, configurable: true, writable: true });
}

/** A guard or interceptor refused the message. Code `guard`. */
export class GuardError extends ChelipedError {
  constructor(message: string, parts?: ErrorParts) {
    super("guard", message, parts);
  }

  /** Label of the guard or interceptor. */
  get guard(): string {
    return this.details.guard as string;
  }

  /** What it found, in its own words. */
  get reason(): string {
    return this.details.reason as string;
  }

  /** What the built-in guards found in the text, with rule, place and source; never the text itself. */
  get findings(): GuardFinding[] {
    return (this.details.findings as GuardFinding[] | undefined) ?? [];
  }
}

/** The model API failed. Code `provider`. */
export class ProviderError extends ChelipedError {
  constructor(message: string, parts?: ErrorParts) {
    super("provider", message, parts);
  }

  /** The sort of failure, for example `rate_limit`. */
  get kind(): string {
    return this.details.kind as string;
  }

  /** HTTP status, when there was an answer. */
  get status(): number | null {
    return this.details.status as number | null;
  }

  /** The provider that failed. */
  get provider(): string {
    return this.details.provider as string;
  }

  /** Its model. */
  get model(): string {
    return this.details.model as string;
  }
}

/** The iteration cap was reached. Code `max_iterations`. */
export class MaxIterationsError extends ChelipedError {
  constructor(message: string, parts?: ErrorParts) {
    super("max_iterations", message, parts);
  }

  /** The cap. */
  get limit(): number {
    return this.details.limit as number;
  }
}

/** A store failed. Code `memory`. */
export class MemoryError extends ChelipedError {
  constructor(message: string, parts?: ErrorParts) {
    super("memory", message, parts);
  }
}

/** Settings cannot be used. Code `configuration`. */
export class ConfigurationError extends ChelipedError {
  constructor(message: string, parts?: ErrorParts) {
    super("configuration", message, parts);
  }

  /** Each problem with what to do about it. */
  get problems(): readonly string[] {
    return this.details.problems as readonly string[];
  }
}

/** The token budget would be passed. Code `token_budget_exceeded`. */
export class TokenBudgetExceededError extends ChelipedError {
  constructor(message: string, parts?: ErrorParts) {
    super("token_budget_exceeded", message, parts);
  }

  /** Tokens spent. */
  get spent(): number {
    return this.details.spent as number;
  }

  /** The budget. */
  get budget(): number {
    return this.details.budget as number;
  }
}

/** A structured reply never matched its schema. Code `structured_output`. */
export class StructuredOutputError extends ChelipedError {
  constructor(message: string, parts?: ErrorParts) {
    super("structured_output", message, parts);
  }
}

/** A schema uses what is not supported. Code `unsupported_schema`. */
export class UnsupportedSchemaError extends ChelipedError {
  constructor(message: string, parts?: ErrorParts) {
    super("unsupported_schema", message, parts);
  }
}

/** A durable run stopped and can be resumed. Code `run_suspended`. */
export class RunSuspendedError extends ChelipedError {
  constructor(message: string, parts?: ErrorParts) {
    super("run_suspended", message, parts);
  }

  /** The run to resume. */
  get runId(): string {
    return this.details.run_id as string;
  }

  /** Why it stopped, for example `awaiting_approval`. */
  get status(): string {
    return this.details.status as string;
  }
}

/** Another process changed the run. Code `run_conflict`. */
export class RunConflictError extends ChelipedError {
  constructor(message: string, parts?: ErrorParts) {
    super("run_conflict", message, parts);
  }

  /** The run. */
  get runId(): string {
    return this.details.run_id as string;
  }
}

/** The run does not exist or is in the wrong state. Code `run_state`. */
export class RunStateError extends ChelipedError {
  constructor(message: string, parts?: ErrorParts) {
    super("run_state", message, parts);
  }

  /** The run. */
  get runId(): string {
    return this.details.run_id as string;
  }
}

/** An unregistered tool was called again. Code `unknown_tool`. */
export class UnknownToolError extends ChelipedError {
  constructor(message: string, parts?: ErrorParts) {
    super("unknown_tool", message, parts);
  }

  /** The name as the model wrote it. */
  get toolName(): string {
    return this.details.name as string;
  }

  /** Names of the registered tools. */
  get available(): readonly string[] {
    return this.details.available as readonly string[];
  }
}

/** A prompt template lacks a value. Code `prompt_template`. */
export class PromptTemplateError extends ChelipedError {
  constructor(message: string, parts?: ErrorParts) {
    super("prompt_template", message, parts);
  }
}

/** A graph is wrong. Code `graph`. */
export class GraphError extends ChelipedError {
  constructor(message: string, parts?: ErrorParts) {
    super("graph", message, parts);
  }
}

/** A skill cannot be used. Code `skill`. */
export class SkillError extends ChelipedError {
  constructor(message: string, parts?: ErrorParts) {
    super("skill", message, parts);
  }
}

/** The caller ended the run. Code `cancelled`. */
export class CancelledError extends ChelipedError {
  constructor(message: string, parts?: ErrorParts) {
    super("cancelled", message, parts);
  }
}

/** A deadline passed. Code `timeout`. */
export class TimeoutError extends ChelipedError {
  constructor(message: string, parts?: ErrorParts) {
    super("timeout", message, parts);
  }

  /** How long the run took. */
  get afterMs(): number {
    return this.details.after_ms as number;
  }
}

/** The session is running another message. Code `session_busy`. */
export class SessionBusyError extends ChelipedError {
  constructor(message: string, parts?: ErrorParts) {
    super("session_busy", message, parts);
  }
}

/** A defect of the engine. Code `internal`. */
export class InternalError extends ChelipedError {
  constructor(message: string, parts?: ErrorParts) {
    super("internal", message, parts);
  }
}

/** The class of each code. */
export const CLASSES = {
  guard: GuardError,
  provider: ProviderError,
  max_iterations: MaxIterationsError,
  memory: MemoryError,
  configuration: ConfigurationError,
  token_budget_exceeded: TokenBudgetExceededError,
  structured_output: StructuredOutputError,
  unsupported_schema: UnsupportedSchemaError,
  run_suspended: RunSuspendedError,
  run_conflict: RunConflictError,
  run_state: RunStateError,
  unknown_tool: UnknownToolError,
  prompt_template: PromptTemplateError,
  graph: GraphError,
  skill: SkillError,
  cancelled: CancelledError,
  timeout: TimeoutError,
  session_busy: SessionBusyError,
  internal: InternalError,
} satisfies Record<ErrorCode, new (message: string, parts?: ErrorParts) => ChelipedError>;

named("ChelipedError", ChelipedError);
for (const type of Object.values(CLASSES)) named(type.name, type);

/** An error as the engine writes it. */
export interface WireError {
  code: ErrorCode;
  message: string;
  details: Record<string, unknown>;
  retryable: boolean;
  /** Number of what a function threw. */
  cause: number | null;
}

/** The error for what the engine wrote. `thrown` holds what functions threw. */
export function fromWire(wire: WireError, thrown: readonly unknown[] = []): ChelipedError {
  const { code, message, details, retryable, cause } = wire;
  const parts: ErrorParts = { details, retryable };
  if (cause !== null) parts.cause = thrown[cause];
  const type = CLASSES[code];
  // A code that this version does not know is still an error of ours.
  return type === undefined ? new ChelipedError(code, message, parts) : new type(message, parts);
}

/** A setting that cannot be used. */
export function unusable(problem: string, cause?: unknown): ConfigurationError {
  const parts: ErrorParts = { details: { problems: [problem] } };
  if (cause !== undefined) parts.cause = cause;
  return new ConfigurationError(problem, parts);
}
