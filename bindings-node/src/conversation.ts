// A conversation as a value: what was said, and nothing of how it was found out.

import { attempt } from "./border.js";
import type { WireMessage } from "./data.js";
import { parse } from "./json.js";
import { type Native, native } from "./native.js";
import { writeSetting } from "./values.js";

/** A conversation as data, the same in every language. */
export interface WireConversation {
  id: string;
  created_at_ms: number;
  metadata: Record<string, unknown>;
  history: WireMessage[];
}

let inside: (conversation: Conversation) => Native.Conversation;
let wrapped: (native: Native.Conversation) => Conversation;

/**
 * Turns of a user and an agent. It never changes: a message that is sent in it gives a new one.
 *
 * @example
 * ```ts
 * let conversation = new Conversation();
 * for await (const line of lines) {
 *   const reply = await agent.send(line, { conversation });
 *   conversation = reply.conversation;
 * }
 * await store(JSON.stringify(conversation));
 * ```
 */
export class Conversation {
  readonly #native: Native.Conversation;
  #data: WireConversation | undefined;

  static {
    inside = (conversation) => conversation.#native;
    wrapped = (native) => new Conversation(native as never);
  }

  /** An empty conversation. Default: with an id of its own. */
  constructor(settings: { id?: string; metadata?: Record<string, unknown> } = {}) {
    this.#native = settings instanceof native.Conversation ? settings : read(settings);
  }

  /**
   * A conversation of what {@link toJSON} gave, as a value or as text.
   *
   * @throws ConfigurationError when it has another shape.
   */
  static fromJSON(data: unknown): Conversation {
    return wrapped(read(data));
  }

  /** The id. */
  get id(): string {
    return this.toJSON().id;
  }

  /** When it started. */
  get createdAt(): Date {
    return new Date(this.toJSON().created_at_ms);
  }

  /** Your values. */
  get metadata(): Record<string, unknown> {
    return this.toJSON().metadata;
  }

  /** The messages, as data. */
  get messages(): WireMessage[] {
    return this.toJSON().history;
  }

  /** How many turns there are. */
  get turns(): number {
    return this.#native.turns;
  }

  /** The whole conversation as data. */
  toJSON(): WireConversation {
    this.#data ??= parse(this.#native.toJson()) as WireConversation;
    return this.#data;
  }
}

function read(data: unknown): Native.Conversation {
  const text = typeof data === "string" ? data : writeSetting("the conversation", data);
  return attempt(() => new native.Conversation(text));
}

/** The native half of a conversation. */
export function insideOf(conversation: Conversation): Native.Conversation {
  return inside(conversation);
}

/** A conversation of its native half. */
export function conversationOf(native: Native.Conversation): Conversation {
  return wrapped(native);
}
