// What is said beside a message, and how a message crosses to the engine.

import { type Caller, type RunValues, runValues } from "./border.js";
import { content, type Message } from "./content.js";
import { Conversation } from "./conversation.js";
import { unusable } from "./errors.js";
import { writeSetting } from "./values.js";

/** Values for one message. The settings of the agent are fixed; this is all that changes from message to message. */
export interface SendOptions {
  /** Ends the run; `send` rejects with its reason. */
  signal?: AbortSignal;
  /** Anything that your tools and other functions need: a database, a user. They get it as `call.context`. */
  context?: unknown;
  /** Who is asking: scopes memory, limits and caches. */
  caller?: Caller;
  /** Longest time for the whole run, in milliseconds; then it rejects with {@link TimeoutError}. Default: no limit. */
  deadlineMs?: number;
  /** The run that this one belongs to, when a tool runs an agent. */
  parentRunId?: string;
  /** Values for hooks and interceptors; the engine does not read them. */
  metadata?: Record<string, unknown>;
  /**
   * Context that is put in front of the message as reference material: what is remembered, documents that were found.
   * Each is scanned on its own. Default: none.
   */
  pieces?: readonly ContextPiece[];
  /** The conversation whose next turn this is. The response has the conversation with the turn added. */
  conversation?: Conversation;
}

/** Context that is put in front of a message. */
export interface ContextPiece {
  /** Where it comes from: an entry of a memory, a skill that the message names, or a document. */
  kind: "memory" | "skill" | "document";
  /** The key of the entry, the name of the skill or of the document. */
  name: string;
  text: string;
  /** Whether its author is trusted as much as the application's: then it is not scanned. Default no. */
  trusted?: boolean;
}

/** How a saved run goes on. */
export interface ResumeOptions extends Omit<SendOptions, "conversation" | "pieces"> {
  /** Goes on although prompt, model or tools differ from those that the run started with. Default no. */
  acceptChangedConfig?: boolean;
}

const NAMES = ["signal", "context", "caller", "deadlineMs", "parentRunId", "metadata", "pieces", "conversation"];

/**
 * Looks at what the engine cannot.
 *
 * @throws ConfigurationError for an option that does not exist, and for a signal or conversation that is none.
 */
export function checked<O extends SendOptions>(options: O, ...more: string[]): O {
  if (typeof options !== "object" || options === null) throw unusable("the options of a message must be an object");
  const unknown = Object.keys(options).find((name) => !NAMES.includes(name) && !more.includes(name));
  if (unknown !== undefined) throw unusable(`there is no option ${unknown} for a message`);
  const { signal, conversation } = options;
  // Known by its shape: test environments have classes of their own.
  if (signal !== undefined && typeof signal?.addEventListener !== "function")
    throw unusable("signal must be an AbortSignal");
  if (conversation !== undefined && !(conversation instanceof Conversation)) {
    throw unusable("conversation must be a Conversation; Conversation.fromJSON reads a stored one");
  }
  return options;
}

export function valuesOf({ context, caller, metadata }: SendOptions): RunValues {
  return runValues({ context, caller, metadata });
}

/** A message with its context as the engine reads it. */
export function requestText(message: Message, options: SendOptions): string {
  const data = { message: content(message), context: contextData(options) };
  return writeSetting("the message or its options", data);
}

export function contextData(options: SendOptions): Record<string, unknown> {
  const { caller, deadlineMs, parentRunId, metadata, pieces } = options;
  return { ...caller, deadline_ms: deadlineMs, parent_run_id: parentRunId, metadata, pieces };
}
