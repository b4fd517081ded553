// Sending messages: answers, errors, context, tools and the other functions of an agent.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { test } from "node:test";
import {
  Agent,
  AgentResponse,
  Conversation,
  GuardError,
  hook,
  MemoryError,
  ProviderError,
  RunSuspendedError,
  ScriptedProvider,
  ToolDenied,
  ToolFailed,
  ToolRetry,
  tool,
} from "./support.mjs";

const calling = (name, args = {}) => ({ calls: [{ name, arguments: args }] });
const lastResult = (model) => model.requests.at(-1).messages.at(-1).results[0];

/** An agent with one tool, asked once: the response and what the model was given. */
async function ran(execute, options = {}, definition = {}) {
  const model = new ScriptedProvider([calling("t", { n: 1 }), "done"]);
  const t = tool({ name: "t", description: "Works.", ...definition, execute });
  const response = await new Agent({ provider: model, tools: [t], ...options }).send("go", options.send);
  return { response, result: lastResult(model) };
}

test("a message is answered, with everything it took", async () => {
  const usage = { inputTokens: 3, outputTokens: 2 };
  const agent = new Agent({ provider: new ScriptedProvider([{ text: "Hello.", usage, thinking: "hm" }]) });
  const response = await agent.send("Hi");
  assert.ok(response instanceof AgentResponse);
  assert.equal(response.text, "Hello.");
  assert.equal(String(response), "Hello.");
  assert.deepEqual(
    { ...response, durationMs: 0, runId: "r" },
    {
      text: "Hello.",
      provider: "scripted",
      model: "scripted-1",
      iterations: 1,
      inputTokens: 3,
      outputTokens: 2,
      durationMs: 0,
      toolsCalled: [],
      cacheReadTokens: null,
      cacheWriteTokens: null,
      thinking: "hm",
      runId: "r",
      stopReason: "stop",
      failed: false,
      usage: wholeUsage(usage),
      steps: [wholeUsage(usage)],
      persistError: null,
    },
  );
  assert.equal(response.totalTokens, 5);
});

function wholeUsage(usage) {
  const none = { cacheReadTokens: null, cacheWriteTokens: null, reasoningTokens: null, inputTokensTotal: null };
  return { inputTokens: null, outputTokens: null, ...none, ...usage };
}

test("a tool gets its arguments with every digit, and what it knows of its call", async () => {
  let seen;
  const model = ScriptedProvider.fromJSON(
    '[{"calls": [{"name": "t", "arguments": {"n": 12345678901234567890}}]}, {"text": "done"}]',
  );
  const db = { rows: 3 };
  const t = tool({
    name: "t",
    description: "Works.",
    execute: (args, call) => {
      seen = {
        args,
        ...call,
        context: call.context,
        caller: call.caller,
        metadata: call.metadata,
        signal: call.signal,
      };
      return call.context.rows;
    },
  });
  const agent = new Agent({ provider: model, tools: [t] });
  const caller = { tenant: "acme", user: "ada", scopes: ["read"] };
  const response = await agent.send("go", { context: db, caller, metadata: { trace: 1 } });
  assert.equal(lastResult(model).content, "3");
  assert.equal(seen.args.n, 12345678901234567890n);
  assert.equal(seen.context, db);
  assert.deepEqual(seen.caller, caller);
  assert.deepEqual(seen.metadata, { trace: 1 });
  assert.equal(seen.runId, response.runId);
  assert.equal(seen.callId, "call_1");
  assert.equal(seen.idempotencyKey, `${response.runId}:call_1`);
  assert.equal(seen.iteration, 1);
  assert.equal(seen.signal.aborted, false);
});

for (const [name, execute, content, outcome] of [
  ["returns a plain value", () => 7, "7", "ok"],
  ["returns nothing", () => {}, "null", "ok"],
  ["returns a promise", async () => "later", "later", "ok"],
  ["throws at once", () => fail(new Error("secret")), "the tool failed", "error"],
  ["rejects", async () => fail(new Error("secret")), "the tool failed", "error"],
  ["throws undefined", () => fail(undefined), "the tool failed", "error"],
  ["throws what cannot be shown", () => fail(Object.create(null)), "the tool failed", "error"],
  ["says that it failed", () => fail(new ToolFailed("no such order")), "no such order", "error"],
  ["asks for another try", async () => fail(new ToolRetry("give the number")), "give the number", "error"],
  ["denies", () => fail(new ToolDenied("not yours")), "not yours", "error"],
]) {
  test(`a tool that ${name} gives a result`, async () => {
    const { response, result } = await ran(execute);
    assert.equal(response.text, "done");
    assert.equal(result.outcome, outcome);
    assert.ok(result.content.includes(content), result.content);
    assert.ok(!result.content.includes("secret"), result.content);
  });
}

function fail(error) {
  throw error;
}

test("a tool that never settles is stopped by its time limit and told so", async () => {
  let signal;
  const { result } = await ran(
    (_, call) => {
      signal = call.signal;
      return new Promise(() => {});
    },
    { toolTimeoutMs: 30 },
  );
  assert.equal(result.outcome, "error");
  assert.equal(signal.aborted, true);
  assert.equal(signal.reason.name, "AbortError");
});

test("what a tool threw is a warning for the operator", async () => {
  const warned = once(process, "warning");
  await ran(() => fail(new RangeError("too far")));
  const [warning] = await warned;
  assert.equal(warning.name, "ChelipedWarning");
  assert.match(warning.message, /tool "t" failed: RangeError: too far\n +at /);
});

test("hooks get the events that they ask for, in the order of their priority", async () => {
  const seen = [];
  await ran(() => "x", {
    hooks: [
      hook((event) => seen.push(event.event)),
      hook("tool.after", ({ tool_name, tool_result }) => seen.push([tool_name, tool_result]), { priority: -1000 }),
    ],
  });
  assert.deepEqual(
    seen.filter((event) => !String(event).startsWith("provider.")),
    ["agent.before", "agent.iteration", "tool.before", ["t", "x"], "tool.after", "agent.iteration", "agent.after"],
  );
});

test("a hook that throws is a warning, and the run goes on", async () => {
  const warned = once(process, "warning");
  const { response } = await ran(() => "x", { hooks: [hook("tool.after", () => fail(new Error("broken hook")))] });
  assert.equal(response.text, "done");
  const [warning] = await warned;
  assert.equal(warning.name, "ChelipedWarning");
  assert.match(warning.message, /tool\.after failed: Error: broken hook/);
});

test("guards pass, block, and block when they fail or are unreadable; the cause is the very object", async () => {
  const thrown = new Error("down");
  const guard = (scan) => new Agent({ provider: new ScriptedProvider(["done"]), guards: [{ name: "g", scan }] });
  assert.equal((await guard(() => undefined).send("hi")).text, "done");
  assert.equal((await guard(async () => null).send("hi")).text, "done");
  await assert.rejects(guard(({ text, source }) => `${source}: ${text}`).send("hi"), (error) => {
    assert.ok(error instanceof GuardError);
    assert.deepEqual([error.guard, error.reason, error.code], ["g", "typed: hi", "guard"]);
    return true;
  });
  await assert.rejects(guard(() => true).send("hi"), GuardError);
  await assert.rejects(
    guard(() => fail(thrown)).send("hi"),
    (error) => error instanceof GuardError && error.cause === thrown,
  );
  await assert.rejects(
    guard(() => fail(undefined)).send("hi"),
    (error) => "cause" in error && error.cause === undefined,
  );
});

test("an approval gate allows, denies, changes, and denies when it fails", async () => {
  const asked = [];
  const gate = (decide) => ran((args) => args, { approval: decide }, { mutating: true });
  const { result } = await gate((request) => {
    asked.push(request);
    return true;
  });
  assert.equal(result.content, '{"n":1}');
  const [{ runId, ...request }] = asked;
  assert.equal(typeof runId, "string");
  assert.deepEqual(request, {
    callId: "call_1",
    tool: "t",
    description: "Works.",
    arguments: { n: 1 },
    mutating: true,
    findings: [],
  });
  assert.equal((await gate(async () => ({ allowWith: { n: 2n ** 70n } }))).result.content, `{"n":${2n ** 70n}}`);
  for (const decide of [() => false, () => ({ deny: "no" }), () => undefined, () => "yes", () => 1]) {
    assert.equal((await gate(decide)).result.outcome, "denied");
  }
  const warned = once(process, "warning");
  assert.equal((await gate(() => fail(new Error("gate down")))).result.outcome, "denied");
  assert.match((await warned)[0].message, /gate down/);
  // Only calls that change something are gated, unless the gate wants all.
  assert.equal((await ran(() => "ran", { approval: () => false })).result.content, "ran");
  assert.equal((await ran(() => "ran", { approval: { all: true, decide: () => false } })).result.outcome, "denied");
});

test("interceptors change and stop what the engine does, at the points that they have", async () => {
  const points = [];
  const noted = (point, answer) => {
    points.push(point);
    return answer;
  };
  const interceptor = {
    name: "i",
    beforeRun: (message) => noted(["run", message], { replace: ["changed"] }),
    beforeModel: (request) => noted(["model", request.messages.length]),
    beforeTool: ({ name, arguments: args }) => noted(["tool", name, args], { replace: { n: 2 } }),
    afterTool: ({ content }) => noted(["result", content], { replace: "other" }),
    beforeSend: (answer) => noted(["answer", answer], { replace: "sent" }),
  };
  const { response, result } = await ran((args) => args, { interceptors: [interceptor] });
  assert.equal(response.text, "sent");
  assert.equal(result.content, "other");
  assert.deepEqual(points, [
    ["run", "go"],
    ["model", 1],
    ["tool", "t", { n: 1 }],
    ["result", '{"n":2}'],
    ["model", 3],
    ["answer", "done"],
  ]);
  const blocked = { name: "b", beforeModel: () => ({ block: "closed" }) };
  await assert.rejects(
    ran(() => "x", { interceptors: [blocked] }),
    { code: "guard", reason: "closed" },
  );
  const thrown = new Error("down");
  const failing = { name: "f", beforeRun: () => fail(thrown) };
  await assert.rejects(
    ran(() => "x", { interceptors: [failing] }),
    (error) => error.cause === thrown,
  );
  await assert.rejects(
    ran(() => "x", { interceptors: [{ name: "u", beforeRun: () => "?" }] }),
    { code: "guard" },
  );
});

test("a model of one's own is asked, and its errors are those of a provider", async () => {
  const model = (send) => new Agent({ provider: { name: "own", model: "own-1", send } });
  const echo = model(({ messages, system, stream }) => ({
    text: `${messages[0].content} ${typeof system} ${stream}`,
    usage: { inputTokens: 4 },
  }));
  const response = await echo.send("hi");
  assert.equal(response.text, "hi string false");
  assert.deepEqual([response.provider, response.model, response.inputTokens], ["own", "own-1", 4]);
  assert.equal((await model(async () => "short").send("hi")).text, "short");
  const limited = model(() => ({ error: { kind: "rate_limit", message: "slow down", retryAfterMs: 5 } }));
  await assert.rejects(limited.send("hi"), (error) => {
    assert.ok(error instanceof ProviderError);
    assert.deepEqual([error.kind, error.retryable, error.details.retry_after_ms], ["rate_limit", true, 5]);
    return true;
  });
  const thrown = new TypeError("no model");
  await assert.rejects(model(() => fail(thrown)).send("hi"), (error) => error.cause === thrown);
  await assert.rejects(model(() => 7).send("hi"), ProviderError);
});

test("fallbacks are asked in order", async () => {
  const agent = new Agent({
    provider: new ScriptedProvider([{ error: { kind: "server" } }]),
    fallbacks: [{ name: "second", model: "m", send: () => "from the second" }],
  });
  assert.equal((await agent.send("hi")).provider, "second");
});

test("a run is saved, suspended and taken up again", async () => {
  const saved = [];
  const make = (decide) => {
    const model = new ScriptedProvider([calling("t", { n: 1 }), "done"], { byTurn: true });
    const t = tool({ name: "t", description: "Works.", mutating: true, execute: ({ n }) => `ran ${n}` });
    const checkpoint = { canSuspend: true, save: (state) => void saved.push(state) };
    return { model, agent: new Agent({ provider: model, tools: [t], approval: decide, checkpoint }) };
  };
  await assert.rejects(make(() => "suspend").agent.send("go"), (error) => {
    assert.ok(error instanceof RunSuspendedError);
    assert.equal(error.status, "awaiting_approval");
    return true;
  });
  assert.deepEqual(
    saved.map(({ what }) => what),
    ["run_started", "suspended"],
  );
  const { state, call } = saved.at(-1);
  assert.equal(call.name, "t");
  const { model, agent } = make(() => true);
  assert.equal((await agent.resume(state)).text, "done");
  assert.equal(lastResult(model).content, "ran 1");
  assert.equal((await make(() => true).agent.resume(JSON.stringify(state))).text, "done");
  const started = saved.find(({ what }) => what === "call_started");
  assert.equal(started.idempotencyKey, `${state.run_id}:call_1`);
  assert.equal(typeof started.argumentsHash, "string");
  await assert.rejects(make(() => true).agent.resume({ wrong: 1 }), { code: "configuration" });
  await assert.rejects(new Agent({ provider: model }).resume(state), { code: "run_state" });
});

test("a checkpoint that fails ends the run, with the very object as the cause", async () => {
  const thrown = new Error("disk full");
  await assert.rejects(
    ran(() => "x", { checkpoint: () => fail(thrown) }),
    (error) => {
      assert.ok(error instanceof MemoryError);
      assert.equal(error.cause, thrown);
      return true;
    },
  );
});

test("a conversation grows by a turn, is data, and comes back", async () => {
  const model = new ScriptedProvider(["one", "two"]);
  const agent = new Agent({ provider: model });
  const start = new Conversation({ id: "c1", metadata: { a: 1n } });
  const first = await agent.send("first", { conversation: start });
  assert.deepEqual([start.turns, first.conversation.turns, first.conversation.id], [0, 1, "c1"]);
  const stored = Conversation.fromJSON(JSON.stringify(first.conversation));
  assert.ok(stored instanceof Conversation);
  assert.deepEqual(stored.toJSON(), first.conversation.toJSON());
  assert.deepEqual(stored.metadata, { a: 1 });
  const second = await agent.send("second", { conversation: stored });
  assert.deepEqual(
    second.conversation.messages.map(({ role, content }) => [role, content]),
    [
      ["user", "first"],
      ["assistant", "one"],
      ["user", "second"],
      ["assistant", "two"],
    ],
  );
  assert.deepEqual(model.requests[1].roles, ["user", "assistant", "user"]);
  assert.equal((await new Agent({ provider: new ScriptedProvider(["x"]) }).send("x")).conversation, undefined);
  assert.notEqual(new Conversation().id, new Conversation().id);
  assert.throws(() => Conversation.fromJSON({ history: 7 }), { code: "configuration" });
});

test("skills are loaded by the model", async () => {
  const model = new ScriptedProvider([calling("load_skill", { name: "tea" }), "done"]);
  const skills = [{ name: "tea", description: "How to make tea.", instructions: "Boil water." }];
  await new Agent({ provider: model, skills }).send("tea please");
  assert.match(lastResult(model).content, /Boil water/);
});

test("functions see the async context of the one who sent the message", async () => {
  const storage = new AsyncLocalStorage();
  const seen = [];
  const note = (what) => seen.push(`${what}:${storage.getStore()}`);
  const t = tool({
    name: "t",
    description: "Works.",
    mutating: true,
    execute: async () => {
      await null;
      note("tool");
    },
  });
  const agent = new Agent({
    provider: {
      name: "own",
      model: "m",
      send: ({ messages }) => {
        note("provider");
        return messages.length === 1 ? calling("t") : "done";
      },
    },
    tools: [t],
    guards: [{ name: "g", scan: () => note("guard") && null }],
    hooks: [hook("agent.after", () => note("hook"))],
    approval: () => {
      note("gate");
      return true;
    },
    interceptors: [{ name: "i", beforeSend: () => void note("interceptor") }],
    checkpoint: ({ what }) => what === "run_started" && note("checkpoint"),
  });
  await Promise.all(["a", "b"].map((name) => storage.run(name, () => agent.send("go"))));
  const of = (name) => seen.filter((entry) => entry.endsWith(`:${name}`)).map((entry) => entry.split(":")[0]);
  const expected = ["checkpoint", "gate", "guard", "hook", "interceptor", "provider", "provider", "tool"];
  assert.deepEqual([...new Set(of("a"))].sort(), [...new Set(expected)]);
  assert.deepEqual(of("a").sort(), of("b").sort());
  assert.equal(seen.length, of("a").length * 2);
});

test("a deadline ends the run", async () => {
  const agent = new Agent({ provider: new ScriptedProvider([{ text: "late", latencyMs: 5000 }]) });
  await assert.rejects(agent.send("hi", { deadlineMs: 20 }), {
    code: "timeout",
    name: "TimeoutError",
    retryable: true,
  });
});

test("many messages are answered side by side", async () => {
  const t = tool({ name: "t", description: "Works.", execute: async ({ n }) => n });
  const model = new ScriptedProvider([calling("t", { n: 1 }), "done"], { byTurn: true });
  const agent = new Agent({ provider: model, tools: [t] });
  const responses = await Promise.all(Array.from({ length: 300 }, () => agent.send("go")));
  assert.equal(new Set(responses.map(({ runId }) => runId)).size, 300);
});

test("send and stream never throw, they reject", async () => {
  const agent = new Agent({ provider: new ScriptedProvider(["x"]) });
  for (const [message, options] of [
    [undefined],
    [7],
    ["hi", { deadlineMs: -1 }],
    ["hi", { metadata: { a: () => {} } }],
    ["hi", { caller: { name: "x" } }],
    ["half \ud800"],
    ["hi", null],
    ["hi", { conversaton: new Conversation() }],
    ["hi", { conversation: {} }],
    ["hi", { signal: {} }],
    ["hi", { acceptChangedConfig: true }],
  ]) {
    await assert.rejects(agent.send(message, options), { code: "configuration" });
    await assert.rejects(agent.stream(message, options).next(), { code: "configuration" });
    await assert.rejects(agent.stream(message, options).response, { code: "configuration" });
  }
});

test("an agent can be disposed of, and answers all the same", async () => {
  const agent = new Agent({ provider: new ScriptedProvider(["hello"]) });
  await agent[Symbol.asyncDispose]();
  assert.equal((await agent.send("hi")).text, "hello");
});
