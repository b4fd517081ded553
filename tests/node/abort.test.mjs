// Ending runs from outside: signals, their reasons, and what the functions of a run see of it.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { Agent, hook, ScriptedProvider, tool } from "./support.mjs";
import { until } from "./waiting.mjs";

const calling = (name) => ({ calls: [{ name }] });

/** An agent whose tool hangs, and what the tool was given. */
function hanging(execute = () => new Promise(() => {})) {
  const seen = {};
  const hang = tool({
    name: "hang",
    description: "Hangs.",
    execute: (args, call) => {
      seen.signal = call.signal;
      return execute(args, call);
    },
  });
  const model = new ScriptedProvider([calling("hang"), "done"], { byTurn: true });
  return { seen, agent: new Agent({ provider: model, tools: [hang] }) };
}

test("an aborted signal rejects with its reason, and tools are told at once", async () => {
  const { seen, agent } = hanging();
  const controller = new AbortController();
  const answer = agent.send("go", { signal: controller.signal });
  await until(() => seen.signal !== undefined);
  const reason = new Error("my reason");
  controller.abort(reason);
  assert.equal(seen.signal.aborted, true);
  assert.equal(seen.signal.reason, reason);
  const started = performance.now();
  await assert.rejects(answer, (error) => error === reason);
  assert.ok(performance.now() - started < 100);
  assert.deepEqual(getEventListeners(controller.signal, "abort"), []);
});

test("without a reason it is the platform's AbortError, and a time-out its TimeoutError", async () => {
  const controller = new AbortController();
  const { agent } = hanging();
  const answer = agent.send("go", { signal: controller.signal });
  controller.abort();
  await assert.rejects(answer, { name: "AbortError" });
  await assert.rejects(agent.send("go", { signal: AbortSignal.timeout(20) }), { name: "TimeoutError" });
});

test("a signal that is aborted already rejects without a run", async () => {
  const model = new ScriptedProvider(["x"]);
  const agent = new Agent({ provider: model });
  const reason = { any: "value" };
  await assert.rejects(agent.send("go", { signal: AbortSignal.abort(reason) }), (error) => error === reason);
  const stream = agent.stream("go", { signal: AbortSignal.abort(reason) });
  await assert.rejects(stream.next(), (error) => error === reason);
  await assert.rejects(stream.response, (error) => error === reason);
  assert.equal(model.requests.length, 0);
});

test("the user's own listeners stay, and onabort too", async () => {
  const { seen, agent } = hanging();
  const controller = new AbortController();
  const told = [];
  controller.signal.onabort = () => told.push("onabort");
  controller.signal.addEventListener("abort", () => told.push("listener"));
  const answer = agent.send("go", { signal: controller.signal });
  await until(() => seen.signal !== undefined);
  controller.abort();
  await assert.rejects(answer, { name: "AbortError" });
  assert.deepEqual(told, ["onabort", "listener"]);
});

test("a thousand messages with one signal leave no listener and no warning", async () => {
  const warnings = [];
  const note = (warning) => warnings.push(warning.name);
  process.on("warning", note);
  const controller = new AbortController();
  const { signal } = controller;
  const agent = new Agent({ provider: new ScriptedProvider(["x"], { repeat: true }) });
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(Array.from({ length: 100 }, () => agent.send("go", { signal })));
  }
  await agent.stream("go", { signal }).response;
  await assert.rejects(new Agent({ provider: new ScriptedProvider([]) }).send("go", { signal }));
  assert.deepEqual(getEventListeners(signal, "abort"), []);
  const streams = Array.from({ length: 100 }, () => agent.stream("go", { signal }));
  await Promise.all(streams.map((stream) => stream.next()));
  await Promise.all(streams.map((stream) => stream.return()));
  await until(() => getEventListeners(signal, "abort").length === 0);
  process.off("warning", note);
  assert.deepEqual(warnings, []);
});

test("a late result of a tool is dropped, and a late failure is nobody's", async () => {
  let finish;
  let breakIt;
  const { seen, agent } = hanging(
    () =>
      new Promise((resolve, reject) => {
        finish = resolve;
        breakIt = reject;
      }),
  );
  for (const late of [() => finish("late"), () => breakIt(new Error("late"))]) {
    seen.signal = undefined;
    const controller = new AbortController();
    const answer = agent.send("go", { signal: controller.signal });
    await until(() => seen.signal !== undefined);
    controller.abort();
    await assert.rejects(answer, { name: "AbortError" });
    late();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});

test("a tool that heeds its signal rejects with the reason, and that is no failure of a tool", async () => {
  const warnings = [];
  const note = (warning) => warnings.push(warning.message);
  process.on("warning", note);
  const { seen, agent } = hanging(
    (_, { signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
  );
  const controller = new AbortController();
  const answer = agent.send("go", { signal: controller.signal });
  await until(() => seen.signal !== undefined);
  controller.abort();
  await assert.rejects(answer, { name: "AbortError" });
  await new Promise((resolve) => setTimeout(resolve, 20));
  process.off("warning", note);
  assert.deepEqual(warnings, []);
});

test("a gate that waits for a person is told that nobody waits any more", async () => {
  let signal;
  const change = tool({ name: "change", description: "Changes.", mutating: true, execute: () => "changed" });
  const agent = new Agent({
    provider: new ScriptedProvider([calling("change"), "done"]),
    tools: [change],
    approval: (_, call) => {
      signal = call.signal;
      return new Promise(() => {});
    },
  });
  const controller = new AbortController();
  const answer = agent.send("go", { signal: controller.signal });
  await until(() => signal !== undefined);
  controller.abort();
  await assert.rejects(answer, { name: "AbortError" });
  assert.equal(signal.aborted, true);
});

test("a model of one's own is told, and a slow one is not waited for", async () => {
  let signal;
  const send = (_, call) => {
    signal = call.signal;
    return new Promise(() => {});
  };
  const agent = new Agent({ provider: { name: "own", model: "m", send } });
  const controller = new AbortController();
  const answer = agent.send("go", { signal: controller.signal });
  await until(() => signal !== undefined);
  controller.abort();
  await assert.rejects(answer, { name: "AbortError" });
  assert.equal(signal.aborted, true);
});

test("a stream that is aborted throws the reason to its reader", async () => {
  const chunks = Array.from({ length: 1000 }, (_, index) => `${index} `);
  const ended = [];
  const agent = new Agent({
    provider: new ScriptedProvider([{ chunks, gapMs: 5 }]),
    hooks: [hook("agent.error", ({ class: name }) => ended.push(name))],
  });
  const controller = new AbortController();
  const stream = agent.stream("go", { signal: controller.signal });
  await assert.rejects(
    async () => {
      for await (const event of stream) if (event.type === "text_delta") controller.abort();
    },
    { name: "AbortError" },
  );
  await assert.rejects(stream.response, { name: "AbortError" });
  assert.deepEqual(ended, ["CancelledError"]);
  assert.deepEqual(getEventListeners(controller.signal, "abort"), []);
});

test("aborting one of two runs leaves the other alone", async () => {
  const release = [];
  const { agent } = hanging(() => new Promise((resolve) => release.push(resolve)));
  const controller = new AbortController();
  const first = agent.send("go", { signal: controller.signal });
  const second = agent.send("go");
  await until(() => release.length === 2);
  controller.abort();
  await assert.rejects(first, { name: "AbortError" });
  for (const resolve of release) resolve("ok");
  assert.equal((await second).text, "done");
});

test("a tool that ends its own run by the signal", async () => {
  const controller = new AbortController();
  const { agent } = hanging(() => controller.abort());
  await assert.rejects(agent.send("go", { signal: controller.signal }), { name: "AbortError" });
});
