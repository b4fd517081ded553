// Stand-ins for what an application brings: tools, gate, guards, interceptors that do what a vector says.

import { setTimeout as sleep } from "node:timers/promises";
import { Part, ToolDenied, ToolFailed, ToolRefusal, ToolRetry, tool } from "./support.mjs";

/** Waits of vectors are for a clock that can be paused. Here they pass, so they are longer than a busy machine adds. */
const SLOWER = 5;

/** What the stand-ins of one run have seen. */
export class World {
  toolInputs = [];
  gate = [];
  saves = [];
  events = [];
  #seen = new Map();

  /** Which of the different calls of this stand-in this is, from 0. */
  ordinal(standIn, call) {
    const calls = this.#seen.get(standIn) ?? [];
    this.#seen.set(standIn, calls);
    if (!calls.includes(call)) calls.push(call);
    return calls.indexOf(call);
  }
}

/** Waits for ever, or until the engine waits no longer. */
function hang(signal) {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

const whole = ({ text, times, then = "" }) => text.repeat(times) + then;

/** JSON with the integers that JavaScript cannot hold as numbers. */
export function written(value) {
  return JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? `\u0000${inner}\u0000` : inner)).replaceAll(
    /"\\u0000(-?\d+)\\u0000"/g,
    "$1",
  );
}

/** A tool that does one step of the vector for each call. */
export function makeTool(vector, world) {
  const { name, description = "", schema = {}, effect, idempotent, unlisted, returns: steps = [] } = vector;
  return tool({
    name,
    description,
    inputSchema: schema,
    mutating: { read_only: false, mutating: true }[effect],
    idempotent,
    listed: unlisted ? false : undefined,
    execute: async (args, call) => {
      world.toolInputs.push({ tool: name, arguments: written(args) });
      const ordinal = world.ordinal(name, call.callId);
      if (steps.length === 0) throw new ToolFailed("the vector says nothing about this tool");
      return step(steps[Math.min(ordinal, steps.length - 1)], args, call);
    },
  });
}

async function step(one, args, { progress, signal }) {
  if (one.latency_ms) await sleep(one.latency_ms * SLOWER, undefined, { signal });
  for (const message of one.progress ?? []) progress(message);
  if (one.hang) await hang(signal);
  if ("panic" in one) throw new Error(one.panic);
  if ("error" in one) throw new ToolFailed(one.error);
  if ("error_repeat" in one) throw new ToolFailed(whole(one.error_repeat));
  if ("retry" in one) throw new ToolRetry(one.retry);
  if ("denied" in one) throw new ToolDenied(one.denied);
  if ("internal" in one) throw new Error(one.internal);
  if ("refusal" in one) return new ToolRefusal(one.refusal.content, one.refusal.message);
  if ("parts" in one) return one.parts.map((part) => Part.fromJSON(part));
  if ("json" in one) return one.json;
  if ("repeat" in one) return whole(one.repeat);
  if (one.echo) return written(args);
  return one.text ?? "";
}

/** A gate that gives the vector's decisions in order. */
export function makeGate({ all, decides }, world) {
  return {
    all,
    async decide({ tool, arguments: args, mutating, findings, callId }, { signal }) {
      world.gate.push({ tool, arguments: written(args), mutating, findings });
      const decision = decides[Math.min(world.ordinal("the gate", callId), decides.length - 1)] ?? "allow";
      if (decision.policy !== undefined) return { deny: decision.policy };
      if (decision.allow_with !== undefined) return { allowWith: JSON.parse(decision.allow_with) };
      if (decision === "fail" || decision === "panic") throw new Error("the gate is broken");
      if (decision === "hang") await hang(signal);
      return { allow: true, deny: false, suspend: "suspend" }[decision];
    },
  };
}

/** What a guard or an interceptor does about a value: nothing, `block` or `replace`. */
async function act({ does, when }, shown, signal) {
  if (when !== undefined && when !== null && !shown.includes(when)) return null;
  if (does === "fail" || does === "panic") throw new Error("it is broken");
  if (does === "hang") await hang(signal);
  return does === "allow" ? null : does;
}

/** A guard that acts on texts which hold what the vector says. */
export function makeGuard(vector) {
  const { name, typed_only: typedOnly, priority, reason = "" } = vector;
  const scan = async ({ text }, { signal }) => ((await act(vector, text, signal)) === "block" ? reason : null);
  return { name, typedOnly, priority, scan };
}

const METHODS = {
  before_run: "beforeRun",
  before_model: "beforeModel",
  before_tool: "beforeTool",
  after_tool: "afterTool",
  before_persist: "beforePersist",
  before_send: "beforeSend",
};

/** An interceptor that acts at one point. */
export function makeInterceptor(vector) {
  const { name, priority, point, reason = "", with: given } = vector;
  return {
    name,
    priority,
    async [METHODS[point]](value, { signal }) {
      const done = await act(vector, shown(point, value), signal);
      if (done === "block") return { block: reason };
      if (done !== "replace") return null;
      if (point === "before_model") {
        return { replace: { ...value, messages: [...value.messages, { role: "system", content: given }] } };
      }
      return { replace: point === "before_tool" ? JSON.parse(given) : given };
    },
  };
}

function shown(point, value) {
  if (point === "before_model") return textOf(value.messages.at(-1).content ?? "");
  if (point === "before_tool") return `${value.name} ${written(value.arguments)}`;
  if (point === "after_tool") return textOf(value.content);
  if (point === "before_persist") return value.map((message) => textOf(message.content ?? "")).join("");
  return textOf(value);
}

function textOf(content) {
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
}

/** Keeps every save. */
export function makeCheckpoint(world, canSuspend) {
  return { canSuspend, save: (saved) => world.saves.push(saved) };
}
