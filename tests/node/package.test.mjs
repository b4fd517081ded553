// The package as a whole: its settings, its errors, its command, what it says when it cannot be loaded.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import * as cheliped from "./support.mjs";

const { Agent, ChelipedError, Conversation, ScriptedProvider, tool } = cheliped;
const classes = new Map(Object.entries(cheliped));
const PACKAGE = fileURLToPath(new URL("../../bindings-node", import.meta.url));
const tables = JSON.parse(readFileSync(new URL("../vectors/tables.json", import.meta.url), "utf8"));

test("an option that does not exist, or has a wrong value, is told by its name", () => {
  const told = (options, words) =>
    assert.throws(
      () => new Agent({ provider: new ScriptedProvider(["x"]), ...options }),
      (error) => {
        assert.equal(error.code, "configuration");
        assert.match(error.message, words);
        return true;
      },
    );
  told({ maxIteration: 3 }, /there is no option maxIteration/);
  told({ max_iterations: 3 }, /it is spelled maxIterations/);
  told({ maxIterations: -1 }, /max_iterations/);
  told({ maxIterations: "8" }, /max_iterations/);
  told({ systemPrompt: () => "x" }, /systemPrompt|system_prompt|a function/);
  told({ tools: [{}] }, /tools: each must be made by tool/);
  told({ tools: {} }, /tools must be a list/);
  told({ hooks: [{ event: "tool.after" }] }, /hook: it must be an object with a method handle/);
  told({ guards: [() => null] }, /guard/);
  told({ interceptors: [{ name: "i" }] }, /beforeRun/);
  told({ approval: true }, /approval/);
  told({ provider: 7 }, /provider/);
  told({ provider: { provider: "openai", api_keys: "x" } }, /api_keys/);
  told({ provider: undefined, fallbacks: [new ScriptedProvider(["x"])], env: {} }, /ANTHROPIC_API_KEY/);
  assert.throws(() => new Agent(null), { code: "configuration" });
  assert.throws(() => new ScriptedProvider([{ txt: "x" }]), { code: "configuration" });
  assert.throws(() => tool({ name: "t", description: "", execute: () => "", mutates: true }), {
    code: "configuration",
  });
  assert.throws(() => tool({ name: "t", description: "" }), { code: "configuration" });
  assert.ok(new Agent({ provider: new ScriptedProvider(["x"]), maxIterations: undefined }));
});

test("the builder and the constructor make the same agent", async () => {
  const t = tool({ name: "t", description: "Works.", execute: () => "ok" });
  const options = { provider: new ScriptedProvider(["x"]), tools: [t], systemPrompt: "Be kind.", maxIterations: 3 };
  const built = Agent.builder().provider(options.provider).tool(t).systemPrompt("Be kind.").maxIterations(3).build();
  const made = new Agent(options);
  assert.equal(built.fingerprint, made.fingerprint);
  assert.equal(built.systemPrompt, made.systemPrompt);
  assert.deepEqual([built.provider, built.model], ["scripted", "scripted-1"]);
  assert.match(built.systemPrompt, /Be kind\./);
});

test("every code has its class, with code, name and base", () => {
  for (const { code, class: name } of tables.errors) {
    const error = new (classes.get(name))("words", { details: { a: 1 }, retryable: true, cause: "why" });
    assert.ok(error instanceof ChelipedError && error instanceof Error);
    assert.deepEqual(
      [error.code, error.name, error.message, error.details, error.retryable, error.cause],
      [code, name, "words", { a: 1 }, true, "why"],
    );
    assert.equal("cause" in new (classes.get(name))("words"), false);
    assert.match(String(error.stack), new RegExp(`^${name}: words`));
  }
});

test("keys and functions are not shown when an agent is printed", () => {
  const agent = new Agent({ provider: { provider: "openai:gpt-5", apiKey: "sk-secret" } });
  assert.ok(!inspect(agent, { depth: 10, showHidden: true }).includes("sk-secret"));
  assert.ok(!inspect(new Conversation({ id: "c" })).includes("native"));
  assert.throws(
    () => new Agent({ provider: { provider: "nobody:x", apiKey: "sk-secret" } }),
    (error) => error.code === "configuration" && !inspect(error).includes("sk-secret"),
  );
});

test("the command is the same as everywhere", () => {
  const command = join(PACKAGE, "dist/command.js");
  assert.match(execFileSync(process.execPath, [command, "--version"], { encoding: "utf8" }), /^cheliped \d/);
  const wrong = spawnSync(process.execPath, [command, "--colour"], { encoding: "utf8" });
  assert.equal(wrong.status, 2);
  const question = ["agent", "--provider", "offline", "--json", "What is 2 + 3?"];
  const answered = spawnSync(process.execPath, [command, ...question], { encoding: "utf8" });
  assert.equal(answered.status, 0, answered.stderr);
  assert.equal(JSON.parse(answered.stdout.trim().split("\n").at(-1)).type, "finished");
});

test("without a native module the package says in one sentence what to do", () => {
  const folder = mkdtempSync(join(tmpdir(), "cheliped-"));
  try {
    cpSync(join(PACKAGE, "dist"), join(folder, "dist"), { recursive: true });
    const tried = spawnSync(process.execPath, ["-e", `require(${JSON.stringify(join(folder, "dist"))})`], {
      encoding: "utf8",
    });
    assert.equal(tried.status, 1);
    assert.match(tried.stderr, /Error: cheliped has no native module for \w+-\w+: install the package again .*\n/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("importing the package starts nothing", () => {
  const program = `
    const before = process.getActiveResourcesInfo().length;
    require(${JSON.stringify(join(PACKAGE, "dist"))});
    console.log(process.getActiveResourcesInfo().length - before);
  `;
  assert.equal(execFileSync(process.execPath, ["-e", program], { encoding: "utf8" }), "0\n");
});
