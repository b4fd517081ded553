// What a function of yours gets beside its value: the values of the run, and a signal.

import type { Caller, RunValues } from "./border.js";

/**
 * What every function of an agent gets as its last argument: hooks, guards, gates, interceptors, checkpoints and
 * providers. `C` is the type of what the caller gave as `context`.
 */
export interface CallbackContext<C = unknown> {
  /** Aborted when nobody waits for the answer any more: the run was ended, or the time is up. */
  readonly signal: AbortSignal;
  /** What the caller of `send` gave as `context`: a database, a user, anything. */
  readonly context: C;
  /** Who is asking, as the caller of `send` said. */
  readonly caller: Caller | undefined;
  /** What the caller of `send` gave as `metadata`. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** What a tool gets as its second argument. */
export interface ToolContext<C = unknown> extends CallbackContext<C> {
  /** The run. */
  readonly runId: string;
  /** The call, unique within the run. */
  readonly callId: string;
  /** The same for every try of this call, also after a restart: hand it to services that can drop repeats. */
  readonly idempotencyKey: string;
  /** The iteration, from 1. */
  readonly iteration: number;
  /** Tells whoever watches the run how far the tool is. Does nothing once the call is over. */
  progress(text: string): void;
}

/** One call of a function. */
export class Call implements CallbackContext {
  readonly #values: RunValues;
  readonly #progress: (text: string) => void;
  // Made when it is asked for: most functions are over before anybody could abort them.
  #controller: AbortController | undefined;
  #aborted: { reason: unknown } | undefined;

  constructor(values: RunValues, progress: (text: string) => void) {
    this.#values = values;
    this.#progress = progress;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  /** Whether nobody waits for the answer any more. */
  get aborted(): boolean {
    return this.#aborted !== undefined;
  }

  get context(): unknown {
    return this.#values.context;
  }

  get caller(): Caller | undefined {
    return this.#values.caller;
  }

  get metadata(): Readonly<Record<string, unknown>> {
    return this.#values.metadata;
  }

  progress(text: string): void {
    if (this.#aborted === undefined) this.#progress(text);
  }

  abort(reason: unknown): void {
    this.#aborted ??= { reason };
    this.#controller?.abort(reason);
  }
}

/** A call of a tool. */
export class ToolCall implements ToolContext {
  readonly runId: string;
  readonly callId: string;
  readonly idempotencyKey: string;
  readonly iteration: number;
  readonly #call: Call;

  constructor(call: Call, about: Pick<ToolContext, "runId" | "callId" | "idempotencyKey" | "iteration">) {
    this.#call = call;
    this.runId = about.runId;
    this.callId = about.callId;
    this.idempotencyKey = about.idempotencyKey;
    this.iteration = about.iteration;
    // Bound, because people take it out of the object: `(args, { progress }) => …`.
    this.progress = this.progress.bind(this);
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get context(): unknown {
    return this.#call.context;
  }

  get caller(): Caller | undefined {
    return this.#call.caller;
  }

  get metadata(): Readonly<Record<string, unknown>> {
    return this.#call.metadata;
  }

  progress(text: string): void {
    this.#call.progress(String(text));
  }
}
