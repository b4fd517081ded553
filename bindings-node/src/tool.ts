// Tools: what a model may call.

import { attempt, type Callback, nextNumber } from "./border.js";
import { content, isContent } from "./content.js";
import { type Call, ToolCall, type ToolContext } from "./context.js";
import { unusable } from "./errors.js";
import { parse } from "./json.js";
import { type Native, native } from "./native.js";
import { type Arguments, type InputSchema, type ReadSchema, readSchema } from "./schema.js";
import { ToolDenied, ToolFailed, ToolRefusal, ToolRetry } from "./tool-errors.js";
import { repaired, UnwritableError, write, writeSetting, writeText } from "./values.js";
import { warn } from "./warning.js";

/** What a tool is made of. */
export interface ToolDefinition<S extends InputSchema = InputSchema, C = unknown> {
  /** 1 to 64 letters, digits, `_` or `-`. */
  name: string;
  /** What it does and when to use it, for the model. */
  description: string;
  /**
   * The arguments: a schema of zod 3 or 4, of another library that follows Standard Schema with its JSON Schema
   * extension, or plain JSON Schema. Arguments are checked and converted by it before `execute` gets them. Default: no
   * arguments.
   */
  inputSchema?: S;
  /**
   * `true`: it changes something, so it is gated and runs alone. `false`: it changes nothing, so it may run beside
   * other such calls. Left out, it is not gated and runs alone.
   */
  mutating?: boolean;
  /** Whether running the same call twice does no harm, so that an interrupted call may run again. Default no. */
  idempotent?: boolean;
  /** Whether the model is told of it; a tool that is not listed can still be called by name. Default yes. */
  listed?: boolean;
  /**
   * Does the work. What it returns goes to the model: a text as it is, other values as JSON (see the README for what
   * JSON has no form for), pictures and files with {@link image} and {@link file}, alone or in a list. To steer the
   * model throw {@link ToolFailed}, {@link ToolRetry} or {@link ToolDenied}; any other error is a warning of
   * the process, and the model learns nothing of it.
   */
  execute: (args: Arguments<S>, call: ToolContext<C>) => unknown;
}

/** What an agent needs of a tool. */
export interface Made {
  /** The tool with its schema compiled. */
  readonly native: Native.Tool;
  /** The function's number. */
  readonly number: number;
  readonly callback: Callback;
}

let made: (tool: Tool) => Made;

/** A tool, made by {@link tool}. One tool can serve any number of agents. */
export class Tool {
  /** Its name. */
  readonly name: string;
  readonly #made: Made;

  static {
    made = (tool) => tool.#made;
  }

  /** Use {@link tool}. */
  constructor(name: string, made: Made) {
    this.name = name;
    this.#made = made;
  }
}

/** What is inside of a tool. */
export function insideOf(tool: Tool): Made {
  return made(tool);
}

/**
 * Makes a tool of a function.
 *
 * @example
 * ```ts
 * const refund = tool({
 *   name: "refund",
 *   description: "Refunds an order.",
 *   inputSchema: z.object({ orderId: z.string().describe("Number printed on the receipt") }),
 *   mutating: true,
 *   execute: async ({ orderId }, { signal }) => shop.refund(orderId, { signal }),
 * });
 * ```
 *
 * @throws ConfigurationError when the schema cannot be used; it names the tool and the field.
 */
export function tool<S extends InputSchema = {}, C = unknown>(definition: ToolDefinition<S, C>): Tool {
  const { name, description, inputSchema, mutating, idempotent, listed, execute, ...unknown } = definition;
  const [slip] = Object.keys(unknown);
  if (slip !== undefined) throw unusable(`tool ${JSON.stringify(name)}: there is no setting ${JSON.stringify(slip)}`);
  if (typeof execute !== "function") throw unusable(`tool ${JSON.stringify(name)}: execute must be a function`);
  const schema = readSchema(name, inputSchema);
  const number = nextNumber();
  const settings = { name, description, schema: schema.json, mutating, idempotent, listed };
  const text = writeSetting(`tool ${JSON.stringify(name)}`, settings);
  const compiled = attempt(() => new native.Tool(text, number));
  return new Tool(name, { native: compiled, number, callback: callback(name, schema, execute as Execute) });
}

type Execute = (args: unknown, call: ToolContext) => unknown;

/** What the engine tells of a call. */
interface Payload {
  run_id: string;
  call_id: string;
  idempotency_key: string;
  iteration: number;
  arguments: unknown;
}

function callback(name: string, schema: ReadSchema, execute: Execute): Callback {
  return async (payload: string, call: Call) => {
    const asked = parse(payload) as Payload;
    let args = asked.arguments;
    if (schema.check !== undefined) {
      const checked = await schema.check(args);
      if ("problems" in checked) return failure("failed", `the arguments do not fit: ${checked.problems}`);
      args = checked.value;
    }
    const context = new ToolCall(call, {
      runId: asked.run_id,
      callId: asked.call_id,
      idempotencyKey: asked.idempotency_key,
      iteration: asked.iteration,
    });
    try {
      return answer(await execute(args, context));
    } catch (error) {
      if (error instanceof ToolFailed) return failure("failed", error.message);
      if (error instanceof ToolRetry) return failure("retry", error.message);
      if (error instanceof ToolDenied) return failure("denied", error.message);
      // The model gets a fixed sentence, so nothing but this says what went wrong.
      if (!call.aborted) warn(`tool ${JSON.stringify(name)} failed`, error);
      throw error;
    }
  };
}

function answer(result: unknown): string {
  try {
    if (result instanceof ToolRefusal) {
      return write({ refusal: { content: content(result.content), message: result.message } });
    }
    return write({ ok: isContent(result) ? content(result) : writeText(result) });
  } catch (error) {
    // The words name a place and a type, nothing of the value.
    if (error instanceof UnwritableError)
      return failure("failed", `the tool gave a result that cannot be used: ${error.message}`);
    throw error;
  }
}

function failure(kind: "failed" | "retry" | "denied", message: string): string {
  return write({ error: { kind, message: repaired(message) } });
}
