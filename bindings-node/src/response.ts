// The answer to a message, with what it took.

import type { Conversation } from "./conversation.js";
import { camelKeys } from "./names.js";

/** Token counts, as far as the provider reported them. */
export interface Usage {
  inputTokens: number | null;
  outputTokens: number | null;
  cacheReadTokens: number | null;
  cacheWriteTokens: number | null;
  reasoningTokens: number | null;
  /** Prompt tokens with those of the cache. */
  inputTokensTotal: number | null;
}

/** Why the last reply of the model ended. */
export type StopReason = "stop" | "length" | "tool_calls" | "content_filter" | "refusal" | "pause" | "error" | "other";

/** The fields of a response. */
export interface ResponseFields {
  /** The cleaned answer. */
  text: string;
  /** The provider that answered last. */
  provider: string;
  /** Its model. */
  model: string;
  /** Model calls that were made. */
  iterations: number;
  /** Prompt tokens of the last call. */
  inputTokens: number | null;
  /** Reply tokens of the last call. */
  outputTokens: number | null;
  /** Milliseconds from the message to the answer, in this process. */
  durationMs: number;
  /** Names of the tools called, in order, repeats kept. */
  toolsCalled: string[];
  /** Prompt tokens of the last call that came from the provider's cache. */
  cacheReadTokens: number | null;
  /** Prompt tokens of the last call that were written to the provider's cache. */
  cacheWriteTokens: number | null;
  /** Readable reasoning of the last call. */
  thinking: string | null;
  /** The run. */
  runId: string;
  /** Why the last reply ended: `length` means that the text may be cut. */
  stopReason: StopReason;
  /** Whether the text is a failure that ended the run, and not an answer of the model. */
  failed: boolean;
  /** Tokens of the whole run. */
  usage: Usage;
  /** Tokens of each model call. */
  steps: Usage[];
  /** Why a conversation was not changed by this turn, when an interceptor stopped that. */
  persistError: string | null;
}

/** The answer to a message. */
export interface AgentResponse extends ResponseFields {}

/** The answer to a message. */
export class AgentResponse {
  /** The conversation with this turn added, when the message was sent in one. */
  declare readonly conversation?: Conversation;

  constructor(fields: ResponseFields, conversation?: Conversation) {
    Object.assign(this, fields, conversation && { conversation });
  }

  /** Prompt and reply tokens of the last call; `null` when either is not known. */
  get totalTokens(): number | null {
    const { inputTokens, outputTokens } = this;
    return inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens;
  }

  /** Names of the tools called, each once, in order of their first call. */
  get uniqueToolsCalled(): string[] {
    return [...new Set(this.toolsCalled)];
  }

  /** The text. */
  toString(): string {
    return this.text;
  }
}

/** The fields of a response as the engine wrote it. */
export function responseFields(wire: Record<string, unknown>): ResponseFields {
  const fields = camelKeys(wire);
  fields.usage = usageOf(fields.usage);
  fields.steps = (fields.steps as unknown[]).map(usageOf);
  return fields as unknown as ResponseFields;
}

/** Token counts as the engine wrote them. */
export function usageOf(wire: unknown): Usage {
  return camelKeys(wire as object) as unknown as Usage;
}
