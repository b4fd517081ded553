// Small programs that use the package, each in a process of its own.

import { execFile } from "node:child_process";

const PACKAGE = new URL("../../bindings-node/dist/index.js", import.meta.url);

const PRELUDE = `
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { once } from "node:events";
const url = ${JSON.stringify(PACKAGE.href)};
const require = createRequire(url);
const { Agent, ScriptedProvider, tool } = require(new URL(url).pathname.replace(/^\\/([A-Z]:)/, "$1"));
const hang = tool({ name: "hang", description: "Hangs.", execute: () => new Promise(() => {}) });
const model = (...steps) => new ScriptedProvider(steps, { byTurn: true });
const calling = (name) => ({ calls: [{ name }] });
`;

/** Runs a program: how it ended and what it printed. One that runs for twenty seconds is killed. */
export function run(program, flags = []) {
  const settings = { timeout: 20_000, env: { ...process.env, NODE_OPTIONS: "" } };
  return new Promise((resolve) => {
    const given = [...flags, "--input-type=module", "--eval", PRELUDE + program];
    execFile(process.execPath, given, settings, (error, stdout, stderr) => {
      resolve({ code: error ? error.code : 0, signal: error?.signal ?? null, stdout, stderr });
    });
  });
}

/** Program text for a worker thread with the same prelude. */
export function worker(program) {
  const source = JSON.stringify(PRELUDE + program);
  return `new Worker(new URL("data:text/javascript," + encodeURIComponent(${source})))`;
}
