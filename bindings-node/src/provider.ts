// Models: settings of the engine's own providers, scripts for tests, and models of your own.

import { attempt } from "./border.js";
import type { CallbackContext } from "./context.js";
import type { RecordedRequest, WireRequest } from "./data.js";
import { unusable } from "./errors.js";
import { parse } from "./json.js";
import { snakeKeys } from "./names.js";
import { type Native, native } from "./native.js";
import { writeSetting } from "./values.js";

/** Settings of one of the engine's own providers. Times of 0 are no limit, apart from `connectTimeoutMs`. */
export interface ProviderConfig {
  /** Its name, for example `openai`, or name and model, `openai:MODEL`. */
  provider: string;
  /** The model. Default: the provider's own default, where it has one. */
  model?: string;
  /** The key. Default: the environment variable of the provider. */
  apiKey?: string;
  /** Where the API is. Default: the provider's own address. */
  baseUrl?: string;
  /** Headers to add to each request. Default: none. */
  headers?: Record<string, string>;
  /** Address of a proxy. Default: what the environment says. */
  proxy?: string;
  /** File with the certificates to trust, in PEM form. Default: the platform's. */
  caFile?: string;
  /** Time to connect, in milliseconds. */
  connectTimeoutMs?: number;
  /** Time until the first byte of the answer, in milliseconds. */
  firstByteTimeoutMs?: number;
  /** Time between two pieces of a streamed answer, in milliseconds. */
  idleTimeoutMs?: number;
  /** Time for a whole call, in milliseconds. */
  callTimeoutMs?: number;
  /** The wire format, where a provider speaks several. */
  api?: "messages" | "chat" | "responses" | "generate_content" | "ollama_chat";
  /** Whether tool calls that a model writes as text are read as calls. */
  textCalls?: boolean;
}

/** Tokens of a model call, as far as they are known. */
export interface StepUsage {
  inputTokens?: number;
  outputTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokens?: number;
  inputTokensTotal?: number;
}

/** A failure of a model. */
export interface StepError {
  kind: "auth" | "rate_limit" | "overloaded" | "invalid_request" | "server" | "timeout";
  message?: string;
  /** HTTP status. */
  status?: number;
  /** The provider's own code. */
  code?: string;
  /** Whether the same request can succeed later. Default: as the kind says. */
  retryable?: boolean;
  retryAfterMs?: number;
  rejectedToolCall?: boolean;
  failedGeneration?: string;
}

/** What a model says in answer to one request. Everything may be left out. */
export interface Step {
  /** The visible text. */
  text?: string;
  /** Readable reasoning. */
  thinking?: string;
  /** Tool calls; arguments as an object, or as text exactly as a model wrote it. */
  calls?: { name: string; arguments?: object | string; id?: string }[];
  /** Why it ended. */
  stop?: "stop" | "length" | "tool_calls" | "content_filter" | "refusal" | "pause" | "error" | "other";
  /** The model's words of refusal. */
  refusal?: string;
  usage?: StepUsage;
  /** How the text is cut when it is streamed. Default: words. */
  chunks?: string[];
  /** Wait before the answer, in milliseconds. */
  latencyMs?: number;
  /** Wait between two pieces of a stream, in milliseconds. */
  gapMs?: number;
  /** Fail instead. */
  error?: StepError;
  /** Stream so many pieces before failing. */
  failAfterChunks?: number;
}

/** How a script goes on. */
export interface ScriptOptions {
  /** Whether the last step answers every later call too. Default no: such a call is an error. */
  repeat?: boolean;
  /** Whether the step is chosen by the place in the conversation, so that many runs can share a script. Default no. */
  byTurn?: boolean;
  /** Name of the provider. Default `scripted`. */
  provider?: string;
  /** Name of the model. Default `scripted-1`. */
  model?: string;
}

let scripted: (provider: ScriptedProvider) => Native.Script;

/**
 * A provider that says what a script says and remembers what it was asked: for tests, without key and network.
 *
 * @example
 * ```ts
 * const model = new ScriptedProvider([
 *   { calls: [{ name: "add", arguments: { a: 2, b: 3 } }] },
 *   "The sum is 5.",
 * ]);
 * const agent = new Agent({ provider: model, tools: [add] });
 * ```
 */
export class ScriptedProvider {
  #native: Native.Script;

  static {
    scripted = (provider) => provider.#native;
  }

  /** @throws ConfigurationError when the script has another shape. */
  constructor(steps: readonly (string | Step)[], options: ScriptOptions = {}) {
    const script = Array.isArray(steps) ? { ...snakeKeys(options), steps: steps.map(stepData) } : steps;
    this.#native = attempt(() => new native.Script(writeSetting("the script", script)));
  }

  /** A provider of a script in the form that every language reads, as JSON text or as a value. */
  static fromJSON(script: unknown): ScriptedProvider {
    const provider = new ScriptedProvider([]);
    const text = typeof script === "string" ? script : writeSetting("the script", script);
    provider.#native = attempt(() => new native.Script(text));
    return provider;
  }

  /** What it was asked so far, oldest first. */
  get requests(): RecordedRequest[] {
    return parse(this.#native.requests()) as RecordedRequest[];
  }
}

/** The native half of a scripted provider. */
export function scriptOf(provider: ScriptedProvider): Native.Script {
  return scripted(provider);
}

/** What a provider of your own is asked. */
export interface ProviderRequest extends WireRequest {
  /** Whether the caller reads a stream; the answer is given at once all the same. */
  stream: boolean;
}

/**
 * A model of your own.
 *
 * @example
 * ```ts
 * const echo: CustomProvider = {
 *   name: "echo",
 *   model: "echo-1",
 *   send: ({ messages }) => `You said ${JSON.stringify(messages.at(-1))}`,
 * };
 * ```
 */
export interface CustomProvider {
  /** Its name, for events and responses. */
  name: string;
  /** Name of the model. */
  model: string;
  /** Answers a request. To fail in a way that the engine understands return a step with `error`. */
  send(request: ProviderRequest, call: CallbackContext<any>): string | Step | Promise<string | Step>;
}

/** What `provider` and `fallbacks` take: `"openai:MODEL"`, settings, a script, or a model of your own. */
export type Provider = string | ProviderConfig | ScriptedProvider | CustomProvider;

export function isCustom(provider: object): provider is CustomProvider {
  return "send" in provider;
}

/** Settings of a provider as JSON text. */
export function providerSettings(provider: string | ProviderConfig): string {
  if (typeof provider === "string") return writeSetting("provider", provider);
  if (typeof provider !== "object" || provider === null) {
    throw unusable('provider must be a text such as "openai:MODEL", an object with settings, or have a method send');
  }
  return writeSetting("provider", snakeKeys(provider));
}

/** A step as JSON has it. */
export function stepData(step: unknown): unknown {
  if (typeof step === "string") return { text: step };
  if (typeof step !== "object" || step === null) return step;
  const data = snakeKeys(step);
  for (const key of ["usage", "error"]) {
    const inner = data[key];
    if (typeof inner === "object" && inner !== null) data[key] = snakeKeys(inner);
  }
  return data;
}
