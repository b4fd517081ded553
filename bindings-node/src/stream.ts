// A run whose events are read one by one.

import { follow, held, type Listener, type Outcome, type Run } from "./border.js";
import { conversationOf } from "./conversation.js";
import { CancelledError, RunStateError } from "./errors.js";
import { readEvents, type StreamEvent } from "./events.js";
import type { Native } from "./native.js";
import { AgentResponse, responseFields } from "./response.js";

/** What a stream needs to begin. */
export interface Beginning {
  readonly signal: AbortSignal | undefined;
  /** Begins the run; with `plain` only what a reader of plain text can use is told. */
  begin(listener: Listener, plain: boolean): Run;
}

/**
 * A run whose events are read one by one: `for await (const event of stream)`. It begins when it is read for the first
 * time, by iteration, {@link response} or {@link toReadableStream}, and goes on only while it is read. Leaving the loop
 * ends the run.
 *
 * @example
 * ```ts
 * const stream = agent.stream("Summarise today");
 * for await (const event of stream) {
 *   if (event.type === "text_delta") process.stdout.write(event.text);
 * }
 * const { usage } = await stream.response;
 * ```
 */
export class AgentStream implements AsyncIterable<StreamEvent> {
  readonly #reading: Reading;

  /** Use {@link Agent.stream}. */
  constructor(beginning: Beginning) {
    this.#reading = new Reading(beginning);
    // A stream that was begun and then forgotten must not keep its run for ever.
    forgotten.register(this, this.#reading, this.#reading);
  }

  /** A stream that has failed before it began. */
  static failed(error: unknown): AgentStream {
    const begin = () => {
      throw error;
    };
    return new AgentStream({ signal: undefined, begin });
  }

  /**
   * The response, once the run is over. Rejects with what ended the run; nobody has to handle that. Asking for it reads
   * the stream to its end; events are kept for a loop that is slower.
   */
  get response(): Promise<AgentResponse> {
    return this.#reading.finish();
  }

  /** The next event. Rejects with what ended the run, or with the reason of the signal. */
  next(): Promise<IteratorResult<StreamEvent, undefined>> {
    return this.#reading.next();
  }

  /** Ends the run, if it is not over. */
  async return(): Promise<IteratorResult<StreamEvent, undefined>> {
    this.#reading.leave();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Ends the run, if it is not over. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#reading.leave();
  }

  /**
   * The text of the answer as a stream of texts, in place of the events. Text that was passed on cannot be taken back, so
   * while the agent has tools or interceptors it comes when it is the answer. Otherwise it comes as the model writes it;
   * should the model then have to be asked again, the stream fails.
   *
   * @throws RunStateError when the stream was read before.
   */
  toReadableStream(): ReadableStream<string> {
    this.#reading.plain();
    return textOf(this);
  }
}

const forgotten = new FinalizationRegistry<Reading>((reading) => reading.forget());

/** How a run ended, for its reader. */
type Over = { error: unknown } | { response: AgentResponse };

/** What is behind a stream. It does not know the stream, so that a forgotten stream can be told from a quiet one. */
class Reading {
  readonly #beginning: Beginning;
  /** Batches as they came; the engine makes another when one was read. */
  readonly #batches: StreamEvent[][] = [];
  #run: Run | undefined;
  #over: Over | undefined;
  /** Whether the reader has left, or was told of the end. */
  #closed = false;
  #response: Promise<AgentResponse> | undefined;
  #fields: Record<string, unknown> | undefined;
  #wake: (() => void)[] = [];
  #plain = false;
  #unfollow = () => {};

  constructor(beginning: Beginning) {
    this.#beginning = beginning;
  }

  /** Asks for nothing but text. */
  plain(): void {
    if (this.#run !== undefined || this.#over !== undefined) {
      throw new RunStateError("the stream was read before: take either its events or its text");
    }
    this.#plain = true;
  }

  async next(): Promise<IteratorResult<StreamEvent, undefined>> {
    this.#begin();
    for (;;) {
      const batch = this.#batches[0];
      const value = batch?.shift();
      if (batch?.length === 0) {
        this.#batches.shift();
        // With a response asked for, batches count as read when they come.
        if (this.#response === undefined) this.#run?.more();
      }
      if (value !== undefined) return { done: false, value };
      if (batch !== undefined) continue;
      if (this.#closed) return { done: true, value: undefined };
      if (this.#over !== undefined) {
        this.#closed = true;
        if ("error" in this.#over) throw this.#over.error;
      } else await held(this.#changed());
    }
  }

  finish(): Promise<AgentResponse> {
    if (this.#response === undefined) {
      this.#response = this.#settled();
      // Whoever waits for it is told; if nobody does, that is no defect.
      this.#response.catch(() => {});
      for (const _ of this.#batches) this.#run?.more();
    }
    return this.#response;
  }

  async #settled(): Promise<AgentResponse> {
    this.#begin();
    while (this.#over === undefined) await held(this.#changed());
    if ("error" in this.#over) throw this.#over.error;
    return this.#over.response;
  }

  /** The reader does not want any more. */
  leave(): void {
    this.#closed = true;
    this.#batches.length = 0;
    if (this.#over !== undefined) return;
    const left = new CancelledError("the stream was left before its end");
    if (this.#run === undefined) this.#end({ error: left });
    else this.#run.cancel(left);
  }

  /** The stream is gone, and with it whoever could read it; a response that was asked for is still to come. */
  forget(): void {
    if (this.#response === undefined) this.leave();
  }

  #begin(): void {
    if (this.#run !== undefined || this.#over !== undefined) return;
    const { signal, begin } = this.#beginning;
    try {
      if (signal?.aborted) throw signal.reason;
      const listener: Listener = {
        events: (text) => this.#take(text),
        done: (outcome, conversation) => this.#done(outcome, conversation),
      };
      const run = begin(listener, this.#plain);
      this.#run = run;
      this.#unfollow = follow(signal, run);
    } catch (error) {
      this.#end({ error });
    }
  }

  #take(text: string): void {
    const batch: StreamEvent[] = [];
    for (const event of readEvents(text)) {
      // The last event gets its response when the run is over; a failure is thrown.
      if (event.type === "finished") this.#fields = event.response;
      else if (event.type !== "failed") batch.push(event);
    }
    if (this.#closed || this.#response !== undefined || batch.length === 0) this.#run?.more();
    if (!this.#closed && batch.length > 0) this.#batches.push(batch);
    this.#changes();
  }

  #done(outcome: Outcome, conversation: Native.Conversation | null): void {
    this.#unfollow();
    const { signal } = this.#beginning;
    if (signal?.aborted) this.#end({ error: signal.reason });
    else if ("error" in outcome) this.#end(outcome);
    else {
      const fields = responseFields(this.#fields ?? {});
      const response = new AgentResponse(fields, conversation ? conversationOf(conversation) : undefined);
      if (!this.#closed) this.#batches.push([{ type: "finished", response }]);
      this.#end({ response });
    }
  }

  #end(over: Over): void {
    this.#over = over;
    this.#run = undefined;
    this.#changes();
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  #changes(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}

function textOf(stream: AgentStream): ReadableStream<string> {
  const pull = async (controller: ReadableStreamDefaultController<string>) => {
    for (;;) {
      const { done, value: event } = await stream.next();
      if (done) {
        controller.close();
        return;
      }
      if (event.type === "text_delta") {
        controller.enqueue(event.text);
        return;
      }
    }
  };
  const cancel = async () => {
    await stream.return();
  };
  // Nothing is read ahead: the run begins when the text is read.
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}
