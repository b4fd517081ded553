// Options, errors and events are those of the engine's tables: none is missing, none is more.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import * as cheliped from "./support.mjs";

const { tables } = createRequire(import.meta.url)("../../bindings-node/native.cjs");
const TABLES = JSON.parse(readFileSync(new URL("../vectors/tables.json", import.meta.url), "utf8"));
const source = (name) => readFileSync(new URL(`../../bindings-node/src/${name}`, import.meta.url), "utf8");
const camel = (name) => name.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase());

test("the file is what the engine says", () => {
  assert.deepEqual(JSON.parse(tables()), TABLES);
});

test("every error has its class", () => {
  for (const { code, class: name } of TABLES.errors) {
    const kind = cheliped[name];
    assert.ok(kind?.prototype instanceof cheliped.ChelipedError, name);
    assert.equal(new kind("m", { details: {} }).code, code);
  }
  const classes = Object.values(cheliped).filter((value) => value?.prototype instanceof cheliped.ChelipedError);
  assert.equal(classes.length, TABLES.errors.length);
});

test("every option is in the types, has its words, and a method of the builder", () => {
  const [, body] = source("settings.ts").match(/export interface AgentOptions \{\n([\s\S]*?)\n\}/);
  const typed = [...body.matchAll(/^ {2}(\w+)\?:/gm)].map(([, name]) => name);
  const documented = [...body.matchAll(/\*\/\n {2}(\w+)\?:/g)].map(([, name]) => name);
  const names = [...TABLES.options, ...TABLES.parts].map(({ name }) => camel(name));
  assert.deepEqual(typed.toSorted(), names.toSorted());
  assert.deepEqual(documented.toSorted(), names.toSorted());
  for (const name of names) assert.equal(typeof cheliped.Agent.builder()[name], "function", name);
});

test("every option reaches the engine", () => {
  for (const { name, kind } of TABLES.options) {
    const wrong = kind === "names" ? [7] : [1, 2];
    assert.throws(
      () => new cheliped.Agent({ provider: "offline", [camel(name)]: wrong }),
      (error) => {
        assert.equal(error.code, "configuration");
        assert.ok(error.message.includes(name) || error.message.includes(camel(name)), error.message);
        return true;
      },
    );
  }
  assert.throws(() => new cheliped.Agent({ provider: "offline", maxIteration: 3 }), /maxIteration/);
});

test("every event has a payload, and every event of a stream a type", () => {
  const payloads = source("payloads.ts");
  for (const { name } of TABLES.events) assert.ok(payloads.includes(`"${name}": `), name);
  const typed = [...source("events.ts").matchAll(/\btype: "(\w+)"/g)].map(([, type]) => type);
  const streamed = TABLES.events.map(({ stream }) => stream).filter((stream) => stream !== null);
  assert.deepEqual([...new Set(typed)].toSorted(), streamed.toSorted());
});
