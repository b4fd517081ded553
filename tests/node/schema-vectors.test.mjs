// Runs tests/vectors/schemas/zod.json through zod 4 and zod 3: the JSON Schema that comes of a schema, and what a tool gets.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readSchema } from "../../bindings-node/dist/schema.js";
import { Agent, ScriptedProvider, tool, z, z3 } from "./support.mjs";

const { cases } = JSON.parse(readFileSync(new URL("../vectors/schemas/zod.json", import.meta.url), "utf8"));
const KEYS = ["name", "zod", "schema", "schema3", "zod3", "accepts", "refuses", "error"];

/** A schema of its source text. */
function made(source, library) {
  return new Function("z", `return ${source};`)(library);
}

/** Values that JSON has no form for, as the vectors write them. */
function shown(value) {
  if (typeof value === "bigint") return { $bigint: String(value) };
  if (value instanceof Date) return { $date: value.toISOString() };
  if (value instanceof Set) return { $set: [...value] };
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shown(member)]));
}

/** Lets a model call the tool: the arguments that it got, and the result. */
async function called(schema, given) {
  let got;
  const t = tool({
    name: "t",
    description: "Takes it.",
    inputSchema: schema,
    execute: (args) => {
      got = shown(args);
      return "ran";
    },
  });
  const calls = [{ name: "t", arguments: given }];
  const model = new ScriptedProvider([{ calls }, "done"]);
  await new Agent({ provider: model, tools: [t] }).send("go");
  return { got, result: model.requests[1].messages.at(-1).results[0] };
}

for (const version of [4, 3]) {
  const library = version === 4 ? z : z3;
  for (const vector of cases) {
    if (version === 3 && vector.zod3 === false) continue;
    test(`zod ${version}: ${vector.name}`, async () => {
      assert.deepEqual(
        Object.keys(vector).filter((key) => !KEYS.includes(key)),
        [],
      );
      if (vector.error !== undefined) {
        assert.throws(
          () => tool({ name: "t", description: "", inputSchema: made(vector.zod, library), execute: () => "" }),
          (error) => {
            assert.equal(error.code, "configuration");
            for (const part of vector.error) assert.ok(error.message.includes(part), `${part} in ${error.message}`);
            return true;
          },
        );
        return;
      }
      const schema = made(vector.zod, library);
      const expected = version === 3 ? (vector.schema3 ?? vector.schema) : vector.schema;
      assert.deepEqual(readSchema("t", schema).json, expected);
      for (const { arguments: given, value } of vector.accepts ?? []) {
        const { got, result } = await called(schema, given);
        assert.equal(result.content, "ran", JSON.stringify(given));
        assert.deepEqual(got, value);
      }
      for (const { arguments: given, message } of vector.refuses ?? []) {
        const { got, result } = await called(schema, given);
        assert.equal(result.outcome, "error", JSON.stringify(given));
        assert.equal(got, undefined, "the tool did not run");
        assert.ok(result.content.includes(message), `${message} in ${result.content}`);
      }
    });
  }
}

test("there are vectors", () => assert.ok(cases.length >= 25));
