// The front door: an agent, built once, that answers messages.

import { follow, held, type Outcome, Run } from "./border.js";
import type { Guard, Hook, Interceptor } from "./callbacks.js";
import type { Message } from "./content.js";
import { type Conversation, conversationOf, insideOf } from "./conversation.js";
import type { EngineHook } from "./hooks.js";
import type { Native } from "./native.js";
import type { Provider } from "./provider.js";
import { AgentResponse, responseFields } from "./response.js";
import { checked, contextData, type ResumeOptions, requestText, type SendOptions, valuesOf } from "./sending.js";
import { type AgentOptions, type Assembled, assemble, optionNames, type Skill } from "./settings.js";
import { AgentStream } from "./stream.js";
import type { Tool } from "./tool.js";
import { writeSetting } from "./values.js";

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
    const { conversation } = checked(options);
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
    try {
      checked(options);
    } catch (error) {
      return AgentStream.failed(error);
    }
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
    const { acceptChangedConfig } = checked(options, "acceptChangedConfig");
    const rest = { context: contextData(options), accept_changed_config: acceptChangedConfig };
    const saved = typeof state === "string" ? state : writeSetting("the state of a run", state);
    const resumption = `{"state":${saved},${writeSetting("the options of a run", rest).slice(1)}`;
    return this.#answer(options, (bridge, number) => bridge.resume(number, agent, resumption));
  }

  /** Nothing to do: runs end with those who wait for them. It lets `await using` hold an agent beside its streams. */
  async [Symbol.asyncDispose](): Promise<void> {}

  async #answer(
    options: SendOptions,
    start: (bridge: Native.Bridge, number: number) => Native.Run,
  ): Promise<AgentResponse> {
    const { signal } = options;
    if (signal?.aborted) throw signal.reason;
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
  hook(hook: Hook | EngineHook): this {
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
