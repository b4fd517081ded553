// The border to the engine: which run a message belongs to, which function is called, what it gives back.
//
// The engine's side is `border.rs`. Everything crosses as JSON text; what a text means is known to those who register
// the functions. Nothing here may throw into the engine.

import { AsyncLocalStorage } from "node:async_hooks";
import { setInterval } from "node:timers";
import { Call } from "./context.js";
import { ChelipedError, fromWire, InternalError, type WireError } from "./errors.js";
import { parse } from "./json.js";
import { type Native, native } from "./native.js";
import { warn } from "./warning.js";

/** A function that the engine calls with a JSON text and that answers with one. */
export type Callback = (payload: string, call: Call) => string | Promise<string>;

/** The functions of an agent by their numbers. */
export type Callbacks = ReadonlyMap<number, Callback>;

/** What the caller of a run gives for its functions. */
export interface RunValues {
  readonly context: unknown;
  readonly caller: Caller | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Runs something in the async context of whoever sent the message. */
  readonly enter: <T>(work: () => T) => T;
}

/** The values of a run of what its caller gave. */
export function runValues(
  given: Pick<RunValues, "context" | "caller"> & { metadata?: RunValues["metadata"] },
): RunValues {
  const { context, caller, metadata = {} } = given;
  return { context, caller, metadata, enter: AsyncLocalStorage.snapshot() };
}

/** Who is asking. */
export interface Caller {
  /** The customer or organisation. */
  tenant?: string;
  /** The person. */
  user?: string;
  /** What they may do, in your own words. */
  scopes?: string[];
}

/** How a run ended: what came of it, or its error. */
export type Outcome = { ok: unknown } | { error: Error };

/** Those who want to know of a run. */
export interface Listener {
  /** Events of a stream as JSON text. */
  events?(text: string): void;
  /** The run is over; nothing follows. */
  done(outcome: Outcome, conversation: Native.Conversation | null): void;
}

let functions = 0;

/** A number for a function, of its own in this environment. */
export function nextNumber(): number {
  functions += 1;
  return functions;
}

/** Calls the native module; its exceptions become errors of the package. */
export function attempt<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw fromNative(error);
  }
}

function fromNative(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ChelipedError) return error;
  try {
    return fromWire(parse(error.message) as WireError);
  } catch {
    // No error of the engine: a defect of the border itself.
    return new InternalError(error.message, { cause: error });
  }
}

const runs = new Map<number, Run>();
let numbers = 0;
let bridge: Native.Bridge | undefined;

function connected(): Native.Bridge {
  bridge ??= new native.Bridge(dispatch);
  return bridge;
}

function dispatch(
  kind: "call" | "cancel" | "events" | "done",
  number: number,
  call: number,
  callback: number,
  text: string | null,
  conversation: Native.Conversation | null,
): void {
  const run = runs.get(number);
  // A run that is over is told nothing; the engine does not call functions of such a run.
  if (run === undefined) return;
  try {
    if (kind === "call") run.call(call, callback, text ?? "");
    else if (kind === "cancel") run.drop(call);
    else if (kind === "events") run.listener.events?.(text ?? "[]");
    else run.finish(text ?? "", conversation);
  } catch (error) {
    // Only a defect of this package gets here, and it must be seen.
    warn("a message of the engine could not be handled", error);
  }
}

/** A run that is under way. */
export class Run {
  readonly listener: Listener;
  readonly #callbacks: Callbacks;
  readonly #values: RunValues;
  readonly #number: number;
  readonly #calls = new Map<number, Call>();
  readonly #thrown: unknown[] = [];
  #native: Native.Run | undefined;

  /**
   * Starts a run; `start` is given its number.
   *
   * @throws ChelipedError when the engine does not take it.
   */
  constructor(
    callbacks: Callbacks,
    values: RunValues,
    listener: Listener,
    start: (bridge: Native.Bridge, number: number) => Native.Run,
  ) {
    this.#callbacks = callbacks;
    this.#values = values;
    this.listener = listener;
    do numbers = (numbers + 1) % 0x1_0000_0000;
    while (runs.has(numbers));
    this.#number = numbers;
    runs.set(this.#number, this);
    try {
      this.#native = attempt(() => start(connected(), this.#number));
    } catch (error) {
      runs.delete(this.#number);
      throw error;
    }
  }

  /** Ends the run. Functions that are at work are told at once. */
  cancel(reason: unknown): void {
    this.#native?.cancel();
    for (const call of this.#calls.values()) call.abort(reason);
  }

  /** A batch of events was read. */
  more(): void {
    this.#native?.more();
  }

  call(number: number, callback: number, payload: string): void {
    const values = this.#values;
    const call = new Call(values, (text) => connected().progress(number, text));
    this.#calls.set(number, call);
    values.enter(async () => {
      try {
        const answer = this.#callbacks.get(callback);
        if (answer === undefined) throw new InternalError(`there is no function number ${callback}`);
        connected().settle(number, await answer(payload, call));
      } catch (error) {
        // What is thrown after the run has ended interests nobody.
        if (this.#calls.has(number)) connected().fail(number, this.#keep(error), described(error));
      } finally {
        this.#calls.delete(number);
      }
    });
  }

  /** The engine waits for a call no longer. */
  drop(number: number): void {
    const call = this.#calls.get(number);
    this.#calls.delete(number);
    call?.abort(stopped());
  }

  finish(text: string, conversation: Native.Conversation | null): void {
    runs.delete(this.#number);
    for (const number of [...this.#calls.keys()]) this.drop(number);
    const told = parse(text) as { ok: unknown } | { error: WireError };
    const outcome = "error" in told ? { error: fromWire(told.error, this.#thrown) } : told;
    this.listener.done(outcome, conversation);
  }

  #keep(error: unknown): number {
    return this.#thrown.push(error) - 1;
  }
}

/** Why a call is stopped whose run goes on, or has ended without it. */
function stopped(): DOMException {
  return new DOMException(
    "the engine waits for this call no longer: its time is up or its run has ended",
    "AbortError",
  );
}

/** What was thrown, in words for the operator. */
function described(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : `${typeof error} was thrown: ${String(error)}`;
  } catch {
    return "something was thrown that cannot be put into words";
  }
}

/** Runs that one signal ends, with its only listener: many listeners on one signal are a warning of the platform. */
interface Followers {
  readonly runs: Set<Run>;
  readonly abort: () => void;
}

const followers = new WeakMap<AbortSignal, Followers>();

/** Ends the run when the signal is aborted. Gives a function that leaves the signal alone again. */
export function follow(signal: AbortSignal | undefined, run: Run): () => void {
  if (signal === undefined) return () => {};
  const { runs, abort } = followers.get(signal) ?? listening(signal);
  runs.add(run);
  return () => {
    runs.delete(run);
    if (runs.size > 0 || followers.get(signal)?.runs !== runs) return;
    followers.delete(signal);
    signal.removeEventListener("abort", abort);
  };
}

function listening(signal: AbortSignal): Followers {
  const runs = new Set<Run>();
  const abort = () => {
    followers.delete(signal);
    for (const run of runs) run.cancel(signal.reason);
  };
  const followed = { runs, abort };
  followers.set(signal, followed);
  signal.addEventListener("abort", abort, { once: true });
  return followed;
}

// The way to the engine is weak, so that an idle agent keeps no process alive. Whoever waits for a run does, by this timer
// that never fires. It is made early, before anybody can put false timers in place of the real ones.
const alive = setInterval(() => {}, 0x7fff_ffff).unref();
let waiting = 0;

/** Keeps the process alive until the promise is settled. */
export async function held<T>(promise: Promise<T>): Promise<T> {
  waiting += 1;
  alive.ref();
  try {
    return await promise;
  } finally {
    waiting -= 1;
    if (waiting === 0) alive.unref();
  }
}
