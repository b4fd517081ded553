// Every run vector, in each of its ways.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "../../bindings-node/dist/json.js";
import { differences } from "./compare.mjs";
import { makeCheckpoint, makeGate, makeGuard, makeInterceptor, makeTool, World, written } from "./stand-ins.mjs";
import { Agent, ChelipedError, Conversation, hook, Part, ScriptedProvider } from "./support.mjs";

const RUNS = new URL("../vectors/runs/", import.meta.url);
/** Runs at the same time; those with limits of a few milliseconds go one by one. */
const AT_ONCE = 24;
const NEEDS_QUIET = /"(deadline_ms|tool_timeout_ms|model_call_timeout_ms|latency_ms)"/;

const camel = (name) => name.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase());
const snake = (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function keys(value, change) {
  if (Array.isArray(value)) return value.map((item) => keys(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [change(key), keys(item, change)]));
}

/** Every case with the text that it was written in, or those whose name holds what `CHELIPED_VECTOR` says. */
function vectors() {
  const only = process.env.CHELIPED_VECTOR ?? "";
  const files = readdirSync(RUNS).filter((name) => name.endsWith(".json"));
  const cases = files.flatMap((name) => parse(readFileSync(new URL(name, RUNS), "utf8")).cases);
  return cases.filter(({ name }) => name.includes(only));
}

function make(vector, mode, world) {
  const models = [vector.script, ...(vector.fallbacks ?? [])].map((script) => ScriptedProvider.fromJSON(script));
  const options = keys(vector.options ?? {}, camel);
  const agent = new Agent({
    ...options,
    ...(mode === "replay" ? { streamMode: "replay" } : {}),
    env: { nowMs: 1_700_000_000_000, idPrefix: "run-" },
    provider: models[0],
    fallbacks: models.slice(1),
    tools: (vector.tools ?? []).map((tool) => makeTool(tool, world)),
    skills: vector.skills ?? [],
    approval: vector.gate && makeGate(vector.gate, world),
    guards: (vector.guards ?? []).map(makeGuard),
    interceptors: (vector.interceptors ?? []).map(makeInterceptor),
    hooks: [hook((payload) => world.events.push(payload), { priority: 2 ** 31 - 1 })],
    checkpoint: makeCheckpoint(world, vector.can_suspend),
  });
  return { agent, models };
}

function told({ context = {}, conversation }) {
  const { tenant, user, scopes, deadline_ms: deadlineMs, parent_run_id: parentRunId, cancelled, pieces } = context;
  return {
    caller: (tenant ?? user ?? scopes) ? { tenant, user, scopes } : undefined,
    deadlineMs,
    parentRunId,
    pieces,
    signal: cancelled ? AbortSignal.abort() : undefined,
    conversation: conversation && Conversation.fromJSON(conversation),
  };
}

/** A text, a long text written as `{"repeat", "times"}`, or parts. */
function messageOf(written) {
  if (typeof written === "string") return written;
  if ("repeat" in written) return written.repeat.repeat(written.times);
  return written.map((part) => Part.fromJSON(part));
}

/** Runs a case and writes down everything that can be seen from outside. */
async function play(vector, mode) {
  const world = new World();
  const outcome = { text: null, error: null };
  const seen = [];
  const message = messageOf(vector.message);
  let models = [];
  try {
    const made = make(vector, mode, world);
    models = made.models;
    let response;
    if (mode === "send") {
      response = await made.agent.send(message, told(vector));
    } else {
      const stream = made.agent.stream(message, told(vector));
      for await (const event of stream) seen.push(event);
      response = await stream.response;
    }
    const { conversation, ...fields } = response;
    Object.assign(outcome, keys({ ...fields }, snake));
    if (conversation !== undefined) outcome.conversation = conversation.messages;
  } catch (error) {
    if (!(error instanceof ChelipedError)) throw error;
    seen.push({ type: "failed" });
    outcome.error = { code: error.code, details: error.details, message: error.message };
  }
  outcome.events = world.events.map(({ event }) => event);
  outcome.event_payloads = world.events.map((payload) => ({ event: payload.event, payload }));
  outcome.requests = models.flatMap((model) => model.requests);
  outcome.tool_inputs = world.toolInputs;
  outcome.gate = world.gate;
  outcome.history = world.saves.at(-1)?.state.history ?? [];
  outcome.results = outcome.history.flatMap((entry) => entry.results ?? []);
  outcome.saves = world.saves.map(({ what }) => what);
  if (mode !== "send") outcome.stream = streamOf(seen);
  return outcome;
}

function streamOf(seen) {
  const types = [];
  let deltas = [];
  let discards = 0;
  for (const event of seen) {
    if (event.type !== "text_delta" || types.at(-1) !== event.type) types.push(event.type);
    if (event.type === "text_delta") deltas.push(event);
    if (event.type === "text_discarded") {
      discards += 1;
      deltas = deltas.filter((delta) => delta.iteration !== event.iteration || delta.attempt !== event.attempt);
    }
  }
  const texts = deltas.map(({ text }) => text);
  return { types, discards, deltas: texts, joined: texts.join("") };
}

test("every vector", { timeout: 120_000 }, async (t) => {
  const found = vectors();
  assert.ok(process.env.CHELIPED_VECTOR || found.length >= 280, `only ${found.length} vectors were found`);
  const failures = [];
  const check = async (vector, mode) => {
    // Here aborting gives the signal's reason and no error of the engine; it has tests of its own.
    if (vector.context?.cancelled) return;
    const problems = differences(vector, mode, await play(vector, mode));
    if (problems.length > 0) failures.push(`${vector.name} (${mode})\n${problems.join("\n")}`);
  };
  const runs = found.flatMap((vector) => (vector.modes ?? ["send", "live", "replay"]).map((mode) => [vector, mode]));
  const is = (pattern) => (run) => pattern.test(written(run[0]));
  const quiet = runs.filter(is(NEEDS_QUIET));
  const loud = runs.filter((run) => !is(NEEDS_QUIET)(run));
  // What hangs until a limit passes takes no place from the others.
  const hanging = loud.filter(is(/"hang"/)).map((run) => check(...run));
  const rest = loud.filter((run) => !is(/"hang"/)(run));
  const work = async () => {
    for (let run = rest.pop(); run !== undefined; run = rest.pop()) await check(...run);
  };
  await Promise.all([...hanging, ...Array.from({ length: AT_ONCE }, work)]);
  for (const run of quiet) await check(...run);
  t.diagnostic(`${found.length} vectors`);
  assert.equal(failures.length, 0, `${failures.length} failed\n\n${failures.join("\n\n")}`);
});
