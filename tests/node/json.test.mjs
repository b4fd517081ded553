// Reading JSON without losing a digit.

import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "../../bindings-node/dist/json.js";
import { write } from "../../bindings-node/dist/values.js";
import { random } from "./random.mjs";

// Makes the text long enough for the reader of our own, which JSON.parse is compared with.
const LONG = "1234567890123456";

test("integers that a number cannot hold are BigInt, others are numbers", () => {
  for (const [text, value] of [
    ["9007199254740991", 9007199254740991],
    ["-9007199254740991", -9007199254740991],
    ["9007199254740992", 9007199254740992n],
    ["-9007199254740993", -9007199254740993n],
    ["123456789012345678901234567890", 123456789012345678901234567890n],
    ["0.12345678901234567890", Number("0.12345678901234567890")],
    ["1234567890123456.5", 1234567890123456.5],
    ["1234567890123456e3", 1234567890123456e3],
    ["-0", -0],
    ["1e400", Number.POSITIVE_INFINITY],
  ]) {
    assert.deepEqual(parse(`{"a":[${text}]}`), { a: [value] }, text);
  }
});

test("a long number inside a text stays a text", () => {
  assert.deepEqual(parse(`["${LONG}", "a\\"${LONG}\\\\"]`), [LONG, `a"${LONG}\\`]);
});

test("whatever JSON.parse refuses is refused", () => {
  for (const wrong of [
    "",
    " ",
    "[",
    "[1,]",
    "[,1]",
    "[1 2]",
    '{"a":1,}',
    '{"a"}',
    '{"a":}',
    "{a:1}",
    '{"a":1 "b":2}',
    '{"a":1]',
    "[1}",
    "tru",
    "nul",
    "truex",
    "01",
    "1.",
    ".5",
    "+1",
    "1e",
    "--1",
    '"a',
    '"a\\"',
    '"\n"',
    '"\\x"',
    '"\\u12"',
    "1 2",
    "[] []",
    "NaN",
    "'a'",
    "\u00a01",
    "]",
  ]) {
    const text = `[${LONG},${wrong}]`;
    assert.throws(() => JSON.parse(text), SyntaxError, text);
    assert.throws(() => parse(text), SyntaxError, text);
  }
});

test("a key __proto__ is a key", () => {
  const value = parse(`{"__proto__": {"polluted": ${LONG}}}`);
  assert.deepEqual(Object.keys(value), ["__proto__"]);
  assert.equal({}.polluted, undefined);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
});

test("of two equal keys the last one counts", () => {
  assert.deepEqual(parse(`{"a": ${LONG}, "a": 2}`), { a: 2 });
});

test("depth and length are no danger", () => {
  const depth = 200_000;
  let value = parse(`${"[".repeat(depth)}${LONG}${"]".repeat(depth)}`);
  let levels = 0;
  while (Array.isArray(value)) {
    value = value[0];
    levels += 1;
  }
  assert.equal(levels, depth);

  const started = performance.now();
  assert.equal(parse(`[${LONG}, "${"\\\\".repeat(1_000_000)}"]`)[1].length, 1_000_000);
  assert.equal(parse(`[${LONG}${",0".repeat(500_000)}]`).length, 500_001);
  assert.ok(performance.now() - started < 5000);
});

test("what was written is read again, for any value", () => {
  const next = random(7);
  for (let round = 0; round < 2000; round += 1) {
    const value = anything(next, 4);
    const text = write(value);
    assert.deepEqual(parse(text), value, text);
    // The reader of our own and that of the platform agree wherever the platform's loses nothing.
    const both = `[${LONG},${text}]`;
    if (!/\d{16}/.test(text)) assert.deepEqual(parse(both), JSON.parse(both));
  }
});

test("spaces may stand wherever JSON allows them", () => {
  assert.deepEqual(parse(` \n\t\r[ ${LONG} , { "a" : null } ] `), [Number(LONG), { a: null }]);
});

function anything(next, depth) {
  const kind = Math.floor(next() * (depth > 0 ? 9 : 6));
  const many = () => Math.floor(next() * 4);
  switch (kind) {
    case 0:
      return null;
    case 1:
      return next() < 0.5;
    case 2:
      return Math.floor((next() - 0.5) * 2 ** 54);
    case 3:
      return (next() - 0.5) * 10 ** Math.floor(next() * 30 - 15);
    case 4:
      return (BigInt(Math.floor(next() * 2 ** 50)) + 2n ** 53n) * (next() < 0.5 ? 1n : -(10n ** 20n));
    case 5:
      return words(next);
    case 6:
    case 7:
      return Array.from({ length: many() }, () => anything(next, depth - 1));
    default:
      return Object.fromEntries(Array.from({ length: many() }, () => [words(next), anything(next, depth - 1)]));
  }
}

function words(next) {
  const letters = [
    "a",
    '"',
    "\\",
    "\n",
    "\u0000",
    "é",
    "\u2028",
    "😀",
    "9007199254740993",
    "{",
    "]",
    ":",
    "toString",
    " ",
  ];
  return Array.from({ length: Math.floor(next() * 6) }, () => letters[Math.floor(next() * letters.length)]).join("");
}
