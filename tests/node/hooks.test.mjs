// Hooks that the engine brings along.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { inspect } from "node:util";
import { Agent, ConfigurationError, DebugLogHook, ScriptedProvider, SecurityAlertHook } from "./support.mjs";

test("a debug log has a line for every event", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "cheliped-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "events.jsonl");
  const agent = new Agent({
    provider: new ScriptedProvider(["Hello."]),
    hooks: [new DebugLogHook({ path, label: "support" })],
  });
  await agent.send("Hi");
  const lines = readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual([...new Set(lines.map(({ event }) => event))], ["support"]);
  const names = lines.map(({ context }) => context.event);
  assert.ok(names.includes("agent.before") && names.includes("agent.after"), names.join());
});

test("security alerts need an https address and show no secret", () => {
  const made = (settings, env) =>
    new Agent({ provider: "offline", hooks: [new SecurityAlertHook(settings)], env: { variables: env ?? {} } });
  made({});
  made({ url: "https://alerts.example.com/x", signingSecret: "s", events: ["guard.blocked"], timeoutMs: 500 });
  for (const [settings, env] of [
    [{ url: "http://alerts.example.com" }],
    [{ url: "nowhere" }],
    [{ url: "https://alerts.example.com", signingSecret: "whsec_*" }],
    [{ url: "https://alerts.example.com", retries: 3 }],
    [{}, { CHELIPED_SECURITY_WEBHOOK: "http://alerts.example.com" }],
  ]) {
    assert.throws(() => made(settings, env), ConfigurationError, JSON.stringify(settings));
  }
  const hook = new SecurityAlertHook({ url: "https://alerts.example.com/token", signingSecret: "very-secret" });
  assert.ok(!/secret|token/.test(inspect(hook, { depth: null, showHidden: true }) + JSON.stringify(hook)));
});
