// What a tool may return, and what becomes of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import vm from "node:vm";
import { Agent, file, image, Part, ScriptedProvider, ToolRefusal, tool } from "./support.mjs";

/** What the model is given when a tool returns a value. */
async function given(value) {
  const model = new ScriptedProvider([{ calls: [{ name: "t" }] }, "done"]);
  const returns = tool({ name: "t", description: "Returns it.", execute: () => value });
  await new Agent({ provider: model, tools: [returns] }).send("go");
  return model.requests[1].messages.at(-1).results[0];
}

class Point {
  #secret = 1;
  constructor() {
    this.x = 1;
  }
  get y() {
    return this.#secret;
  }
}

for (const [name, value, text] of [
  ["a text as it is", "plain", "plain"],
  ["an empty text", "", ""],
  ["nothing", undefined, "null"],
  ["null", null, "null"],
  ["a boolean", false, "false"],
  ["a number", 0.1, "0.1"],
  ["minus zero", -0, "-0"],
  ["a large number", 1e21, "1e+21"],
  ["a BigInt with all its digits", 12345678901234567890n, "12345678901234567890"],
  ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
  ["a list", [1, "a", null, undefined, [2n]], '[1,"a",null,null,[2]]'],
  // biome-ignore lint/suspicious/noSparseArray: a hole is what is tested.
  ["a list with a hole", [1, , 3], "[1,null,3]"],
  ["an object", { a: 1, b: undefined, c: { d: new Date(0) } }, '{"a":1,"c":{"d":"1970-01-01T00:00:00.000Z"}}'],
  ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
  ["an object of another realm", vm.runInNewContext("({})"), "{}"],
  [
    "a map of texts",
    new Map([
      ["b", 1],
      ["a", { c: 2n }],
    ]),
    '{"b":1,"a":{"c":2}}',
  ],
  ["a map with a key __proto__", new Map([["__proto__", 1]]), '{"__proto__":1}'],
  ["a set", new Set([1, "a"]), '[1,"a"]'],
  ["what has a toJSON", { toJSON: () => ({ a: 1n }) }, '{"a":1}'],
  ["what gives a text as its JSON", new URL("https://example.com/a b"), "https://example.com/a%20b"],
  ["an instance by its own fields", new Point(), '{"x":1}'],
  ["a boxed value", Object(5), "5"],
  ["the same value twice", ((a) => [a, a])({ b: 1 }), '[{"b":1},{"b":1}]'],
  ["characters beyond the basic plane", ["😀"], '["😀"]'],
  ["a list of texts", ["a", "b"], '["a","b"]'],
]) {
  test(`a tool may return ${name}`, async () => {
    assert.deepEqual(await given(value), { call_id: "call_1", name: "t", content: text, outcome: "ok" });
  });
}

for (const [name, value, text] of [
  ["a buffer", Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x20, 0x34, 0x32]), "caf\ufffd 42"],
  ["an array buffer", new TextEncoder().encode("ok").buffer, "ok"],
  ["half a surrogate pair", "a\ud800 b", "a\ufffd b"],
  ["half a surrogate pair inside", { a: ["x\udfff", "y"] }, '{"a":["x\ufffd","y"]}'],
]) {
  test(`a tool may return ${name}: what is no Unicode is replaced and the rest stays`, async () => {
    assert.deepEqual(await given(value), { call_id: "call_1", name: "t", content: text, outcome: "ok" });
  });
}

const round = {};
round.self = { round };

for (const [name, value, words] of [
  ["NaN", Number.NaN, "NaN"],
  ["an infinite number inside", { a: [Number.NEGATIVE_INFINITY] }, "at a[0]: -Infinity"],
  ["a function", () => {}, "a function"],
  ["a function inside", { a: { b() {} } }, "at a.b: a function"],
  ["a symbol", Symbol("s"), "a symbol"],
  ["bytes inside", { a: new Uint8Array(1) }, "at a: bytes (Uint8Array)"],
  ["a blob", new Blob([]), "bytes (Blob)"],
  ["what contains itself", round, "at self.round: a value that contains itself"],
  ["half a surrogate pair in a key", { "\udc00": 1 }, "half a surrogate pair"],
  ["an invalid date", new Date(Number.NaN), "an invalid date"],
  ["an error", new Error("secret"), "throw it instead"],
  ["a promise inside", { a: Promise.resolve(1) }, "at a: a promise; await it first"],
  ["a map with other keys", new Map([[1, 2]]), "keys that are no texts"],
  ["a regular expression", /a/, "a RegExp without fields"],
  ["a response of fetch", new Response("a"), "without fields of its own"],
  ["a generator", (function* () {})(), "without fields of its own"],
  ["what is too deep", Array.from({ length: 100_000 }).reduce((inner) => [inner], 1), "nested too deeply"],
]) {
  test(`a tool that returns ${name} gives an error result that says so`, async () => {
    const { content, outcome } = await given(value);
    assert.equal(outcome, "error");
    assert.ok(content.includes(words), content);
    assert.ok(!content.includes("secret"), content);
  });
}

test("pictures and files are content", async () => {
  const picture = image("image/png", Buffer.from("abc"));
  const wire = { type: "image", media_type: "image/png", data: { base64: "YWJj" } };
  assert.deepEqual((await given(picture)).content, [wire]);
  const paper = file("application/pdf", "a.pdf", { url: new URL("https://example.com/a.pdf") });
  assert.deepEqual((await given(["see", paper])).content, [
    { type: "text", text: "see" },
    { type: "file", media_type: "application/pdf", name: "a.pdf", data: { url: "https://example.com/a.pdf" } },
  ]);
  assert.deepEqual((await given(Part.fromJSON(wire))).content, [wire]);
  const view = new Uint8Array(Buffer.from("xabcx").buffer, Buffer.from("xabcx").byteOffset, 0);
  assert.deepEqual(image("image/png", view).toJSON().data, { base64: "" });
  assert.throws(() => image("image/png", "a path"), { code: "configuration" });
});

test("a refusal is content that counts as a failure", async () => {
  assert.deepEqual(await given(new ToolRefusal('{"error":"closed"}', "the shop is closed")), {
    call_id: "call_1",
    name: "t",
    content: '{"error":"closed"}',
    outcome: "error",
  });
});
