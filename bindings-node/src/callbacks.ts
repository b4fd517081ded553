// Functions that an agent calls beside its tools: their shapes, and the way between them and JSON.
//
// What an answer means is decided by the engine; an answer that it cannot read counts as the stricter one.

import type { Callback } from "./border.js";
import { content } from "./content.js";
import type { CallbackContext } from "./context.js";
import type { WireCall, WireContent, WireMessage, WireRequest, WireResult } from "./data.js";
import { unusable } from "./errors.js";
import { parse } from "./json.js";
import { camelKeys } from "./names.js";
import type { EventName, Payloads } from "./payloads.js";
import { type CustomProvider, type ProviderRequest, stepData } from "./provider.js";
import { write } from "./values.js";
import { warn } from "./warning.js";

type Awaitable<T> = T | Promise<T>;
type Context = CallbackContext<any>;

/** A function that sees events; made by {@link hook}. What it returns is not read, what it throws is a warning. */
export interface Hook {
  /** The event. Default: every event. */
  event?: EventName;
  /** Hooks with lower numbers come first. */
  priority?: number;
  handle(payload: Payloads[EventName], call: Context): unknown;
}

/**
 * A hook for one event, whose payload it knows, or for every event.
 *
 * @example
 * ```ts
 * new Agent({ hooks: [hook("tool.after", ({ tool_name, duration_ms }) => log(tool_name, duration_ms))] });
 * ```
 */
export function hook<E extends EventName>(
  event: E,
  handle: (payload: Payloads[E], call: Context) => unknown,
  settings?: { priority?: number },
): Hook;
export function hook(
  handle: (payload: Payloads[EventName], call: Context) => unknown,
  settings?: { priority?: number },
): Hook;
export function hook(...given: unknown[]): Hook {
  const event = typeof given[0] === "string" ? (given.shift() as EventName) : undefined;
  const [handle, settings] = given as [Hook["handle"], { priority?: number } | undefined];
  return { ...settings, event, handle };
}

/** Looks at what a user typed, and at what else reaches the model, before the model does. */
export interface Guard {
  /** Its name, which is told when it refuses. */
  name: string;
  /** Guards with lower numbers come first. */
  priority?: number;
  /** Whether it looks only at what the user typed. Default no. */
  typedOnly?: boolean;
  /**
   * Whether it takes the place of the guard of the same name, also of a built-in one: `injection`, `pii_detection` …
   * Default no: a second guard of one name is left out.
   */
  replace?: boolean;
  /** `null` or nothing lets the text pass; a text refuses it for that reason. An error refuses too. */
  scan(piece: Piece, call: Context): Awaitable<string | null | undefined | void>;
}

/** A text that a guard looks at. */
export interface Piece {
  text: string;
  /** Where it comes from: `typed`, `memory:KEY` … */
  source: string;
}

/** A call that waits for a decision. */
export interface ApprovalRequest {
  runId: string;
  callId: string;
  /** The tool's name. */
  tool: string;
  /** The tool's description. */
  description: string;
  /** The arguments exactly as they will run. */
  arguments: Record<string, unknown>;
  /** Whether the tool says that this call changes something. */
  mutating: boolean;
  /** What guards found in the arguments. */
  findings: string[];
}

/** What a gate decides. Anything else, and an error, is a denial. */
export type Decision = boolean | "suspend" | { deny: string } | { allowWith: object };

/** Decides about calls that change something; with `all`, about every call. */
export interface ApprovalGate {
  /** Whether it is asked about every call. Default: only about those that change something. */
  all?: boolean;
  decide(request: ApprovalRequest, call: Context): Awaitable<Decision>;
}

/** What `approval` takes. */
export type Approval = ApprovalGate | ApprovalGate["decide"];

/** What an interceptor answers: nothing or `null` lets the value pass. An error, or an answer that cannot be read, blocks. */
export type Intercepted<T> = null | undefined | void | { block: string } | { replace: T };

/**
 * May change or stop what the engine is about to do. Only the methods that are there are called. Values are data: their
 * keys are those of every language.
 */
export interface Interceptor {
  /** Its name, which is told when it blocks. */
  name: string;
  /** Interceptors with lower numbers come first. */
  priority?: number;
  /** The message, before anything is done with it. */
  beforeRun?(message: WireContent, call: Context): Awaitable<Intercepted<WireContent>>;
  /** The request to the model. */
  beforeModel?(request: WireRequest, call: Context): Awaitable<Intercepted<WireRequest>>;
  /** A tool call; it is replaced by other arguments. */
  beforeTool?(
    asked: Pick<WireCall, "id" | "name" | "arguments">,
    call: Context,
  ): Awaitable<Intercepted<Record<string, unknown>>>;
  /** A tool's result; it is replaced by other content. */
  afterTool?(result: WireResult, call: Context): Awaitable<Intercepted<WireContent>>;
  /** The messages that a turn adds to its conversation. */
  beforePersist?(turn: WireMessage[], call: Context): Awaitable<Intercepted<WireMessage[]>>;
  /** The answer. */
  beforeSend?(answer: string, call: Context): Awaitable<Intercepted<string>>;
}

/** What a checkpoint is told. */
export interface Saved {
  what: "run_started" | "call_started" | "call_finished" | "step_finished" | "suspended";
  /** The run as data: store it, and go on with {@link Agent.resume}. */
  state: Record<string, unknown>;
  /** The call that it is about. */
  call?: WireCall;
  argumentsHash?: string;
  idempotencyKey?: string;
}

/** Saves runs between their steps. An error ends the run with {@link MemoryError}. */
export interface Checkpoint {
  /** Whether runs may stop until somebody decides. Default no. */
  canSuspend?: boolean;
  save(saved: Saved, call: Context): unknown;
}

/** A function as the engine registers it. */
export interface Registered {
  readonly kind: "hook" | "guard" | "interceptor" | "approval" | "checkpoint" | "provider";
  readonly settings: Record<string, unknown>;
  readonly callback: Callback;
}

export function registeredHook(given: Hook): Registered {
  const { event, priority, handle } = shaped("hook", given, "handle");
  return {
    kind: "hook",
    settings: { event, priority },
    callback: async (payload, call) => {
      try {
        await handle.call(given, parse(payload) as Payloads[EventName], call);
      } catch (error) {
        // The run goes on; whoever operates the process must hear of it.
        warn(`a hook for ${event ?? "every event"} failed`, error);
      }
      return "null";
    },
  };
}

export function registeredGuard(given: Guard): Registered {
  const { name, priority, typedOnly, replace, scan } = shaped("guard", given, "scan");
  return {
    kind: "guard",
    settings: { name, priority, typed_only: typedOnly, replace },
    callback: async (payload, call) => write(await scan.call(given, parse(payload) as Piece, call)),
  };
}

export function registeredApproval(given: Approval): Registered {
  const gate: ApprovalGate = typeof given === "function" ? { decide: given } : given;
  const { all, decide } = shaped("approval", gate, "decide");
  return {
    kind: "approval",
    settings: { all },
    callback: async (payload, call) => {
      try {
        const request = camelKeys(parse(payload) as object) as unknown as ApprovalRequest;
        return decisionData(await decide.call(gate, request, call));
      } catch (error) {
        // The call is denied, and nothing but this says why.
        if (!call.aborted) warn("the approval gate failed, so the call is denied", error);
        throw error;
      }
    },
  };
}

function decisionData(decision: Decision): string {
  const changed = typeof decision === "object" && decision !== null && "allowWith" in decision;
  return write(changed ? { allow_with: decision.allowWith } : decision);
}

const POINTS = {
  before_run: "beforeRun",
  before_model: "beforeModel",
  before_tool: "beforeTool",
  after_tool: "afterTool",
  before_persist: "beforePersist",
  before_send: "beforeSend",
} as const;

export function registeredInterceptor(given: Interceptor): Registered {
  if (typeof given !== "object" || given === null) throw unusable("an interceptor must be an object");
  const points = Object.entries(POINTS).filter(([, method]) => given[method] !== undefined);
  for (const [, method] of points) shaped(`interceptor ${given.name}`, given, method);
  if (points.length === 0) {
    throw unusable(`interceptor ${given.name}: it needs a method such as ${Object.values(POINTS).join(", ")}`);
  }
  return {
    kind: "interceptor",
    settings: { name: given.name, priority: given.priority, points: points.map(([point]) => point) },
    callback: async (payload, call) => {
      const { point, value } = parse(payload) as { point: keyof typeof POINTS; value: never };
      const answer: unknown = await given[POINTS[point]]?.(value, call);
      if (typeof answer !== "object" || answer === null || !("replace" in answer)) return write(answer);
      return write({ replace: content(answer.replace) });
    },
  };
}

export function registeredCheckpoint(given: Checkpoint | Checkpoint["save"]): Registered {
  const checkpoint: Checkpoint = typeof given === "function" ? { save: given } : given;
  const { canSuspend, save } = shaped("checkpoint", checkpoint, "save");
  return {
    kind: "checkpoint",
    settings: { can_suspend: canSuspend },
    callback: async (payload, call) => {
      await save.call(checkpoint, camelKeys(parse(payload) as object) as unknown as Saved, call);
      return "null";
    },
  };
}

export function registeredProvider(given: CustomProvider): Registered {
  const { name, model, send } = shaped("provider", given, "send");
  return {
    kind: "provider",
    settings: { name, model },
    callback: async (payload, call) => {
      return write(stepData(await send.call(given, parse(payload) as ProviderRequest, call)));
    },
  };
}

/** Checks that a part is an object with a method. */
function shaped<T extends object>(what: string, given: T, method: keyof T & string): T {
  if (typeof given !== "object" || given === null || typeof given[method] !== "function") {
    throw unusable(`${what}: it must be an object with a method ${method}`);
  }
  return given;
}
