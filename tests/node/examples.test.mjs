// Every example runs, and the web application does what it promises to a browser.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import http from "node:http";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Agent, ScriptedProvider, tool } from "./support.mjs";

const run = promisify(execFile);
const FOLDER = fileURLToPath(new URL("../../examples/node/", import.meta.url));
const PROGRAMS = {
  quickstart: "Snow in Oslo",
  tools: "the morning of the 24th",
  stream: "It is noon in Oslo.",
  hooks: "no shouting refused",
  approval: "The landlord got 1000",
  custom_provider: "The sums are 5, 42.",
  scripted_test: "a busy model is an error",
  demo: "disk is full",
};

test("every program is here", () => {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".mjs"));
  assert.deepEqual(names.map((name) => name.slice(0, -4)).sort(), [...Object.keys(PROGRAMS), "web_app"].sort());
});

for (const [name, expected] of Object.entries(PROGRAMS)) {
  test(`example ${name}`, async () => {
    // Set by the runner of these tests; the example is a program of its own.
    const { NODE_TEST_CONTEXT, ...env } = process.env;
    const { stdout, stderr } = await run(process.execPath, [`${FOLDER}${name}.mjs`], { timeout: 60_000, env });
    assert.equal(stderr, "");
    assert.ok(stdout.includes(expected), stdout);
  });
}

/** Serves an agent as the web application does, on a free port of this machine. */
async function served(agent, settings) {
  const { makeApp } = await import("../../examples/node/web_app.mjs");
  const server = makeApp(agent, settings).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}

function events(text) {
  const found = [...text.matchAll(/event: (\w+)\ndata: (.*)\n/g)];
  return found.map(([, type, data]) => ({ type, ...JSON.parse(data) }));
}

test("the web application streams an answer", async () => {
  const clock = tool({
    name: "clock",
    description: "Tells the time in a city.",
    inputSchema: { properties: { city: { type: "string", description: "The city." } }, required: ["city"] },
    execute: ({ city }) => `It is 12:00 in ${city}.`,
  });
  const { url, close } = await served(new Agent({ provider: "offline", tools: [clock] }));
  try {
    const page = await (await fetch(url)).text();
    assert.match(page, /text_discarded/);
    const query = new URLSearchParams({ message: 'What time is it in "Oslo"?' });
    const answer = await fetch(`${url}/ask?${query}`);
    assert.match(answer.headers.get("content-type"), /text\/event-stream/);
    const seen = events(await answer.text());
    assert.equal(seen[0].type, "run_started");
    assert.equal(seen.at(-1).type, "finished");
    assert.ok(seen.some(({ type }) => type === "tool_call_started"));
    const text = seen.filter(({ type }) => type === "text_delta").map((event) => event.text);
    assert.match(text.join(""), /12:00 in Oslo/);
  } finally {
    close();
  }
});

test("an error after the first byte is an event", async () => {
  const broken = { text: "half an answer", error: { kind: "server" }, failAfterChunks: 1 };
  const { url, close } = await served(new Agent({ provider: new ScriptedProvider([broken]) }));
  try {
    const seen = events(await (await fetch(`${url}/ask?message=Hi`)).text());
    assert.equal(seen.at(-1).type, "failed");
    assert.equal(seen.at(-1).code, "provider");
  } finally {
    close();
  }
});

test("a browser that goes away ends the run", { timeout: 20_000 }, async () => {
  const started = Promise.withResolvers?.() ?? resolvers();
  const aborted = Promise.withResolvers?.() ?? resolvers();
  const work = tool({
    name: "work",
    description: "Works for long.",
    execute: (_, { signal }) => {
      started.resolve();
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          aborted.resolve();
          reject(signal.reason);
        });
      });
    },
  });
  const model = new ScriptedProvider([{ calls: [{ name: "work" }] }]);
  const { url, close } = await served(new Agent({ provider: model, tools: [work] }));
  try {
    const asking = http.get(`${url}/ask?message=Hi`);
    asking.on("error", () => {});
    await started.promise;
    asking.destroy();
    await aborted.promise;
  } finally {
    close();
  }
});

test("silence is filled with heartbeats", async () => {
  const late = new ScriptedProvider([{ text: "late", latencyMs: 400 }]);
  const { url, close } = await served(new Agent({ provider: late }), { heartbeat: 50 });
  try {
    const text = await (await fetch(`${url}/ask?message=Hi`)).text();
    assert.ok(text.split(": still here").length > 2, text);
    assert.ok(text.indexOf("still here") < text.indexOf("late"));
  } finally {
    close();
  }
});

function resolvers() {
  let resolve;
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
