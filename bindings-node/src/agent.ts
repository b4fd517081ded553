// The front door: an agent, built once, that answers messages.

import { type Caller, follow, held, type Outcome, Run, type RunValues, runValues } from "./border.js";
import type { Guard, Hook, Interceptor } from "./callbacks.js";
import { content, type Message } from "./content.js";
import { type Conversation, conversationOf, insideOf } from "./conversation.js";
import type { Native } from "./native.js";
import type { Provider } from "./provider.js";
import { AgentResponse, responseFields } from "./response.js";
import { type AgentOptions, type Assembled, assemble, optionNames, type Skill } from "./settings.js";
import { AgentStream } from "./stream.js";
import type { Tool } from "./tool.js";
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
  /** The conversation whose next turn this is. The response has the conversation with the turn added. */
  conversation?: Conversation;
}

/** How a saved run goes on. */
export interface ResumeOptions extends Omit<SendOptions, "conversation"> {
  /** Goes on although prompt, model or tools differ from those that the run started with. Default no. */
  acceptChangedConfig?: boolean;
}

/** A response of a message that was sent in a conversation. */
export type ConversationResponse = AgentResponse & { readonly conversation: Conversation };

/**
 * An agent: a model, tools and rules. Its settings are fixed; one agent serves any number of messages at the same time.
 * An idle agent keeps no process alive and needs no closing.
 *
 * @example
 * ```ts
 * const agent = new Agent({ provider: "openai:MODEL", tools: [refund], approval: askInChat });
 * const reply = await agent.send("Refund order 17", { signal: AbortSignal.timeout(30_000) });
 * console.log(reply.text);
 * ```
 */
export class Agent {
  readonly #assembled: Assembled;

  /** @throws ConfigurationError listing what cannot be used. */
  constructor(options: AgentOptions = {}) {
    this.#assembled = assemble(options);
  }

  /** Starts building an agent step by step. */
  static builder(): AgentBuilder {
    return new AgentBuilder();
  }

  /** Name of the provider that is asked first. */
  get provider(): string {
    return this.#assembled.agent.provider;
  }

  /** The model that is asked first. */
  get model(): string {
    return this.#assembled.agent.model;
  }

  /** The composed system prompt. */
  get systemPrompt(): string {
    return this.#assembled.agent.systemPrompt;
  }

  /** Identifies what configures runs: system prompt, model and tools. */
  get fingerprint(): string {
    return this.#assembled.agent.fingerprint;
  }

  /**
   * Sends a message and waits for the answer. Rejects with a {@link ChelipedError}, or with the reason of the signal.
   * Failures of tools are not among them: the model gets them as results.
   */
  send(message: Message, options: SendOptions & { conversation: Conversation }): Promise<ConversationResponse>;
  send(message: Message, options?: SendOptions): Promise<AgentResponse>;
  async send(message: Message, options: SendOptions = {}): Promise<AgentResponse> {
    const { agent } = this.#assembled;
    const { conversation } = options;
    const request = requestText(message, options);
    return this.#answer(options, (bridge, number) =>
      bridge.send(number, agent, request, conversation && insideOf(conversation)),
    );
  }

  /**
   * Sends a message and gives its events as they happen. Nothing happens until the stream is read. Never throws: the
   * stream rejects with what `send` would.
   */
  stream(message: Message, options: SendOptions = {}): AgentStream {
    const { agent, callbacks } = this.#assembled;
    const { conversation, signal } = options;
    const values = valuesOf(options);
    return new AgentStream({
      signal,
      begin: (listener, plain) => {
        const request = requestText(message, options);
        return new Run(callbacks, values, listener, (bridge, number) =>
          bridge.stream(number, agent, request, conversation && insideOf(conversation), plain),
        );
      },
    });
  }

  /**
   * Goes on with a run that a {@link Checkpoint} saved, in this process or another. Rejects with {@link RunStateError}
   * when the run has failed or started with another configuration, otherwise as {@link send}.
   */
  async resume(state: Record<string, unknown> | string, options: ResumeOptions = {}): Promise<AgentResponse> {
    const { agent } = this.#assembled;
    const { acceptChangedConfig } = options;
    const rest = { context: contextData(options), accept_changed_config: acceptChangedConfig };
    const saved = typeof state === "string" ? state : writeSetting("the state of a run", state);
    const resumption = `{"state":${saved},${writeSetting("the options of a run", rest).slice(1)}`;
    return this.#answer(options, (bridge, number) => bridge.resume(number, agent, resumption));
  }

  async #answer(
    options: SendOptions,
    start: (bridge: Native.Bridge, number: number) => Native.Run,
  ): Promise<AgentResponse> {
    const { signal } = options;
    signal?.throwIfAborted();
    let unfollow = () => {};
    const answered = new Promise<AgentResponse>((resolve, reject) => {
      const done = (outcome: Outcome, conversation: Native.Conversation | null) => {
        if (signal?.aborted) reject(signal.reason);
        else if ("error" in outcome) reject(outcome.error);
        else resolve(responseOf(outcome.ok, conversation));
      };
      unfollow = follow(signal, new Run(this.#assembled.callbacks, valuesOf(options), { done }, start));
    });
    try {
      return await held(answered);
    } finally {
      unfollow();
    }
  }
}

function responseOf(ok: unknown, conversation: Native.Conversation | null): AgentResponse {
  const fields = responseFields(ok as Record<string, unknown>);
  return new AgentResponse(fields, conversation ? conversationOf(conversation) : undefined);
}

function valuesOf({ context, caller, metadata }: SendOptions): RunValues {
  return runValues({ context, caller, metadata });
}

/** A message with its context as the engine reads it. */
function requestText(message: Message, options: SendOptions): string {
  const data = { message: content(message), context: contextData(options) };
  return writeSetting("the message or its options", data);
}

function contextData({ caller, deadlineMs, parentRunId, metadata }: SendOptions): Record<string, unknown> {
  return { ...caller, deadline_ms: deadlineMs, parent_run_id: parentRunId, metadata };
}

/** The setters of a builder: one for each option, under its name. */
type Setters = {
  [Name in keyof AgentOptions]-?: (value: NonNullable<AgentOptions[Name]>) => AgentBuilder;
};

export interface AgentBuilder extends Setters {}

/**
 * Collects the options of an agent, for code that builds agents step by step. There is a method for each option; those
 * that add one part to a list come beside.
 *
 * @example
 * ```ts
 * const agent = Agent.builder().provider("openai:MODEL").tool(refund).maxIterations(8).build();
 * ```
 */
export class AgentBuilder {
  readonly #options: Record<string, unknown> = {};

  static {
    for (const name of optionNames()) {
      Object.defineProperty(AgentBuilder.prototype, name, {
        configurable: true,
        writable: true,
        value(this: AgentBuilder, value: unknown) {
          this.#options[name] = value;
          return this;
        },
      });
    }
  }

  /** Adds a provider that is asked when those before it have failed in a way that another can mend. */
  fallback(provider: Provider): this {
    return this.#add("fallbacks", provider);
  }

  /** Adds a tool. */
  tool(tool: Tool): this {
    return this.#add("tools", tool);
  }

  /** Adds a skill. */
  skill(skill: Skill): this {
    return this.#add("skills", skill);
  }

  /** Adds a hook. */
  hook(hook: Hook): this {
    return this.#add("hooks", hook);
  }

  /** Adds a guard. */
  guard(guard: Guard): this {
    return this.#add("guards", guard);
  }

  /** Adds an interceptor. */
  interceptor(interceptor: Interceptor): this {
    return this.#add("interceptors", interceptor);
  }

  /**
   * Builds the agent.
   *
   * @throws ConfigurationError listing what cannot be used.
   */
  build(): Agent {
    return new Agent(this.#options);
  }

  #add(name: keyof AgentOptions, part: unknown): this {
    this.#options[name] = [...((this.#options[name] as unknown[] | undefined) ?? []), part];
    return this;
  }
}
