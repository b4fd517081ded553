// Worker threads and the end of processes: every environment has its own agents, and none takes the process with it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { run, worker } from "./programs.mjs";

const ENDED = { code: 0, signal: null, stderr: "" };

function assertEnded({ stdout, ...ended }, output) {
  assert.deepEqual(ended, ENDED);
  assert.equal(stdout, output);
}

test("four workers run agents side by side, with tools, and end", async () => {
  const program = `
    const add = tool({ name: "add", description: "Adds.", execute: async () => 5 });
    const agent = new Agent({ provider: model(calling("add"), "five"), tools: [add] });
    const replies = await Promise.all(Array.from({ length: 20 }, () => agent.send("go")));
    for await (const event of agent.stream("go")) event.type;
    const { parentPort } = await import("node:worker_threads");
    parentPort.postMessage(replies.map(({ text }) => text).join());
  `;
  const outcome = await run(`
    const workers = Array.from({ length: 4 }, () => ${worker(program)});
    const replies = await Promise.all(workers.map(async (worker) => {
      const [[reply], [code]] = await Promise.all([once(worker, "message"), once(worker, "exit")]);
      return [reply, code];
    }));
    console.log(new Set(replies.map(String)).size, replies[0][1]);
  `);
  assertEnded(outcome, "1 0\n");
});

// What a worker is in the middle of when it is ended.
const MIDDLES = {
  "a tool that hangs": `
    const agent = new Agent({ provider: model(calling("hang"), "x"), tools: [hang] });
    for (let n = 0; n < 5; n += 1) agent.send("go").catch(() => {});`,
  "a model that is slow": `
    const agent = new Agent({ provider: model({ text: "x", latencyMs: 30 }) });
    for (let n = 0; n < 5; n += 1) agent.send("go").catch(() => {});`,
  "a stream": `
    const agent = new Agent({ provider: model({ chunks: Array.from({ length: 5000 }, () => "a "), gapMs: 1 }) });
    (async () => { for await (const event of agent.stream("go")) event.type; })().catch(() => {});`,
  "a busy tool": `
    const busy = tool({ name: "busy", description: "Is busy.", execute: async (_, call) => { call.progress("x"); return 1; } });
    const agent = new Agent({ provider: { name: "p", model: "m", send: () => calling("busy") }, tools: [busy], maxIterations: 1000 });
    for (let n = 0; n < 5; n += 1) agent.send("go").catch(() => {});`,
};

for (const [name, middle] of Object.entries(MIDDLES)) {
  test(`a worker that is terminated in the middle of ${name} takes nothing with it`, async () => {
    const program = `${middle}
      const { parentPort } = await import("node:worker_threads");
      parentPort.postMessage("begun");`;
    const outcome = await run(`
      for (let round = 0; round < 8; round += 1) {
        const worker = ${worker(program)};
        await once(worker, "message");
        await new Promise((resolve) => setTimeout(resolve, round * 3));
        await worker.terminate();
      }
      const agent = new Agent({ provider: model({ text: "alive", latencyMs: 60 }) });
      console.log((await agent.send("go")).text);
    `);
    assertEnded(outcome, "alive\n");
  });

  test(`a worker that exits in the middle of ${name} takes nothing with it`, async () => {
    const program = `${middle}
      setTimeout(() => process.exit(3), 15);`;
    const outcome = await run(`
      const codes = [];
      for (let round = 0; round < 5; round += 1) codes.push((await once(${worker(program)}, "exit"))[0]);
      console.log(codes.join());
    `);
    assertEnded(outcome, "3,3,3,3,3\n");
  });

  test(`a process that exits in the middle of ${name} exits with its own code`, async () => {
    const { code, signal, stderr } = await run(`${middle}
      setTimeout(() => process.exit(7), 15);`);
    assert.deepEqual({ code, signal, stderr }, { code: 7, signal: null, stderr: "" });
  });
}

test("an idle agent keeps no process alive", async () => {
  const started = performance.now();
  const outcome = await run(`
    globalThis.agent = new Agent({ provider: model("x"), tools: [hang] });
    console.log((await agent.send("go")).text);
  `);
  assertEnded(outcome, "x\n");
  assert.ok(performance.now() - started < 10_000);
});

test("a message that waits for its answer keeps the process alive", async () => {
  const program = (how) => `
    const agent = new Agent({ provider: model({ text: "late", latencyMs: 300 }) });
    ${how}.then((text) => console.log(text));
  `;
  assertEnded(await run(program(`agent.send("go").then(({ text }) => text)`)), "late\n");
  assertEnded(await run(program(`agent.stream("go").response.then(({ text }) => text)`)), "late\n");
  const all = `(async () => { for await (const event of agent.stream("go")) globalThis.last = event.type; return last; })()`;
  assertEnded(await run(program(all)), "finished\n");
});

test("a stream that nobody reads on keeps no process alive", async () => {
  const outcome = await run(`
    const chunks = Array.from({ length: 100000 }, () => "a ");
    const agent = new Agent({ provider: model({ chunks, gapMs: 1 }) });
    globalThis.stream = agent.stream("go");
    console.log((await stream.next()).value.type);
  `);
  assertEnded(outcome, "run_started\n");
});

test("an error that nobody catches ends the process as ever", async () => {
  const { code, stderr } = await run(`
    const agent = new Agent({ provider: model(calling("hang"), "x"), tools: [hang] });
    agent.send("go");
    setTimeout(() => { throw new Error("mine"); }, 20);
  `);
  assert.equal(code, 1);
  assert.match(stderr, /Error: mine/);
});

test("the package is one instance for import and require", async () => {
  const outcome = await run(`
    const imported = await import(url);
    const required = require(new URL(url).pathname.replace(/^\\/([A-Z]:)/, "$1"));
    const names = Object.keys(required);
    console.log(names.length > 30, names.every((name) => imported[name] === required[name]));
  `);
  assertEnded(outcome, "true true\n");
});

test("agents that nobody needs are forgotten, also when their tools know them", async () => {
  const outcome = await run(
    `
    const kept = [];
    for (let round = 0; round < 50; round += 1) {
      const t = tool({ name: "t", description: "Knows its agent.", execute: () => String(agent.model) });
      const agent = new Agent({ provider: model(calling("t"), "x"), tools: [t] });
      await agent.send("go");
      kept.push(new WeakRef(agent));
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    gc();
    console.log(kept.filter((agent) => agent.deref() !== undefined).length < 5);
  `,
    ["--expose-gc"],
  );
  assertEnded(outcome, "true\n");
});
