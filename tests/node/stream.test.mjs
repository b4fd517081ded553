// Streams: events, text, leaving early, forgetting, the response.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { test } from "node:test";
import { Agent, AgentResponse, CancelledError, Conversation, ScriptedProvider, tool } from "./support.mjs";
import { collectGarbage, until } from "./waiting.mjs";

const calling = (name, args = {}) => ({ calls: [{ name, arguments: args }] });

async function eventsOf(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

function works(_, { progress }) {
  progress("half");
  return "ok";
}

function withTool(execute = works) {
  const usage = { inputTokens: 3 };
  const model = new ScriptedProvider([
    { text: "I look.", ...calling("t", { n: 1 }) },
    { text: "All is well.", usage },
  ]);
  return new Agent({ provider: model, tools: [tool({ name: "t", description: "Works.", execute })] });
}

/** An agent whose answer has many pieces with a pause between them, and how often a hook saw its runs end. */
function slow(pieces, gapMs) {
  const ended = { aborted: 0, after: 0 };
  const chunks = Array.from({ length: pieces }, (_, index) => `${index} `);
  const agent = new Agent({
    provider: new ScriptedProvider([{ chunks, gapMs }], { repeat: true }),
    hooks: [
      { event: "agent.error", handle: () => ended.aborted++ },
      { event: "agent.after", handle: () => ended.after++ },
    ],
  });
  return { agent, ended };
}

test("events come in order, in camelCase, and end with the response", async () => {
  const events = await eventsOf(withTool().stream("go"));
  const types = events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);
  assert.deepEqual(types, [
    "run_started",
    "iteration",
    "text_delta",
    "usage",
    "text_discarded",
    "tool_call_started",
    "tool_call_progress",
    "tool_call_finished",
    "iteration",
    "text_delta",
    "usage",
    "finished",
  ]);
  const of = (type) => events.find((event) => event.type === type);
  assert.equal(typeof of("run_started").runId, "string");
  assert.deepEqual(of("tool_call_started"), {
    type: "tool_call_started",
    callId: "call_1",
    name: "t",
    arguments: { n: 1 },
    iteration: 1,
  });
  assert.deepEqual(of("tool_call_progress"), {
    type: "tool_call_progress",
    callId: "call_1",
    name: "t",
    message: "half",
  });
  const { durationMs, ...finished } = of("tool_call_finished");
  assert.equal(typeof durationMs, "number");
  assert.deepEqual(finished, { type: "tool_call_finished", callId: "call_1", name: "t", result: "ok", outcome: "ok" });
  const { response } = events.at(-1);
  assert.ok(response instanceof AgentResponse);
  assert.equal(response.inputTokens, 3);
  const kept = events.filter(({ type, iteration }) => type === "text_delta" && iteration === 2);
  assert.equal(kept.map(({ text }) => text).join(""), response.text);
});

test("the response can be had without reading events, before, while and after reading them", async () => {
  assert.equal((await withTool().stream("go").response).text, "All is well.");
  const stream = withTool().stream("go");
  const early = stream.response;
  const events = await eventsOf(stream);
  assert.equal(events.at(-1).type, "finished");
  assert.equal((await early).text, "All is well.");
  assert.equal(await stream.response, await early);
  const half = withTool().stream("go");
  await half.next();
  assert.equal((await half.response).text, "All is well.");
  assert.ok((await eventsOf(half)).length > 5, "what was not read is still there");
});

test("a slow reader slows the run and loses nothing", async () => {
  const chunks = Array.from({ length: 3000 }, (_, index) => `${index} `);
  const agent = new Agent({ provider: new ScriptedProvider([{ chunks }]) });
  let text = "";
  let count = 0;
  for await (const event of agent.stream("go")) {
    count += 1;
    if (count % 500 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    if (event.type === "text_delta") text += event.text;
  }
  assert.equal(text, chunks.join(""));
});

test("leaving the loop ends the run", async () => {
  const { agent, ended } = slow(1000, 5);
  const stream = agent.stream("go");
  for await (const event of stream) if (event.type === "text_delta") break;
  await until(() => ended.aborted === 1);
  assert.equal(ended.after, 0);
  assert.deepEqual(await stream.next(), { done: true, value: undefined });
  await assert.rejects(stream.response, CancelledError);
});

test("disposing of a stream ends the run; doing so twice, or after the end, does nothing", async () => {
  const { agent, ended } = slow(1000, 5);
  const stream = agent.stream("go");
  await stream.next();
  await stream[Symbol.asyncDispose]();
  await stream[Symbol.asyncDispose]();
  await until(() => ended.aborted === 1);
  const done = withTool().stream("go");
  await eventsOf(done);
  await done[Symbol.asyncDispose]();
  assert.equal((await done.response).text, "All is well.");
});

test("nothing happens until a stream is read", async () => {
  const model = new ScriptedProvider(["x"]);
  const stream = new Agent({ provider: model }).stream("go");
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(model.requests.length, 0);
  await stream.return();
  assert.deepEqual(await stream.next(), { done: true, value: undefined });
  await assert.rejects(stream.response, CancelledError);
  assert.equal(model.requests.length, 0);
});

test("an error is thrown to the reader once, and the response rejects with it", async () => {
  const failing = () => new Agent({ provider: new ScriptedProvider([{ error: { kind: "auth", message: "no key" } }]) });
  const stream = failing().stream("go");
  await assert.rejects(eventsOf(stream), { code: "provider" });
  assert.deepEqual(await stream.next(), { done: true, value: undefined });
  await assert.rejects(stream.response, { code: "provider", kind: "auth" });
  await assert.rejects(failing().stream("go").response, { code: "provider" });
  await assert.rejects(eventsOf(failing().stream(7)), { code: "configuration" });
  await assert.rejects(failing().stream(7).response, { code: "configuration" });
});

test("a stream that fails and that nobody looks at is no unhandled rejection", async () => {
  const unhandled = [];
  const note = (reason) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  try {
    const agent = new Agent({ provider: new ScriptedProvider([{ error: { kind: "auth" } }], { repeat: true }) });
    agent.stream("go");
    agent.stream("go").response;
    const read = agent.stream("go");
    read.response;
    await assert.rejects(eventsOf(read));
    const left = withTool().stream("go");
    left.response;
    await left.next();
    await left.return();
    for (let round = 0; round < 5; round += 1) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.deepEqual(unhandled, []);
  } finally {
    process.off("unhandledRejection", note);
  }
});

test("a stream that was begun and forgotten ends its run", async () => {
  const { agent, ended } = slow(100_000, 1);
  await (async () => {
    await agent.stream("go").next();
  })();
  await until(() => {
    collectGarbage();
    return ended.aborted === 1;
  });
});

test("a response that is awaited keeps its run although the stream is forgotten", async () => {
  const { agent } = slow(20, 5);
  const response = agent.stream("go").response;
  for (let round = 0; round < 10; round += 1) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.match((await response).text, /^0 1 .* 19 $/);
});

test("the text alone: with tools when the reply has ended, without as it is written", async () => {
  const texts = [];
  for await (const text of withTool().stream("go").toReadableStream()) texts.push(text);
  assert.deepEqual(texts, ["All is well."]);
  const plain = new Agent({ provider: new ScriptedProvider(["one two three"]) });
  const pieces = [];
  const stream = plain.stream("go");
  for await (const text of stream.toReadableStream()) pieces.push(text);
  assert.equal(pieces.join(""), "one two three");
  assert.ok(pieces.length > 1, "it comes in pieces");
});

test("the text alone can be used as the body of a response", async () => {
  const body = withTool().stream("go").toReadableStream().pipeThrough(new TextEncoderStream());
  assert.equal(await new Response(body).text(), "All is well.");
});

test("cancelling the text ends the run, and errors are those of the run", async () => {
  const { agent, ended } = slow(1000, 5);
  const reader = agent.stream("go").toReadableStream().getReader();
  await reader.read();
  await reader.cancel();
  await until(() => ended.aborted === 1);
  const failing = new Agent({ provider: new ScriptedProvider([{ error: { kind: "auth" } }]) });
  await assert.rejects(failing.stream("go").toReadableStream().getReader().read(), { code: "provider" });
  const begun = withTool().stream("go");
  await begun.next();
  assert.throws(() => begun.toReadableStream(), { code: "run_state" });
  await begun.return();
});

test("a stream in a conversation gives the conversation with its response", async () => {
  const agent = new Agent({ provider: new ScriptedProvider(["one"]) });
  const conversation = new Conversation({ id: "c" });
  const events = await eventsOf(agent.stream("hi", { conversation }));
  assert.equal(events.at(-1).response.conversation.turns, 1);
  assert.equal(conversation.turns, 0);
});

test("functions of a stream see the async context of the call of stream", async () => {
  const storage = new AsyncLocalStorage();
  const seen = [];
  const agent = withTool(() => void seen.push(storage.getStore()));
  const stream = storage.run("a", () => agent.stream("go"));
  await storage.run("b", () => eventsOf(stream));
  assert.deepEqual(seen, ["a"]);
});

test("two readers share the events", async () => {
  const stream = withTool().stream("go");
  const both = await Promise.all([eventsOf(stream), eventsOf(stream)]);
  assert.equal(both.flat().filter(({ type }) => type === "finished").length, 1);
  assert.equal(both.flat().filter(({ type }) => type === "iteration").length, 2);
});
