// What JavaScript's values become in JSON: exactly, or not at all. Nothing is dropped, rounded or guessed.
//
// Only in results of tools what is no valid Unicode becomes U+FFFD, so that one broken byte does not cost the rest.
//
// `undefined` and functions that a value holds, `NaN` and bytes are where JSON.stringify loses data; here they are
// refused, apart from `undefined` in an object, which means that the key is not there.

import { unusable } from "./errors.js";

/** A value that cannot be written as JSON; the message says which and where. */
export class UnwritableError extends TypeError {
  override readonly name = "UnwritableError";
}

/**
 * Writes a value as JSON text. Numbers, texts, booleans, `null`, lists and objects are written as they are; a `BigInt`
 * as an integer with all its digits; a `Date` in ISO form; a `Map` whose keys are texts as an object; a `Set` as a list;
 * what has a `toJSON` method as what that gives; other instances by their own fields. `undefined` is `null`.
 *
 * @throws UnwritableError for anything else.
 */
export function write(value: unknown): string {
  return written(value, wellFormed);
}

type Checked = (value: string, path: string) => string;

function written(value: unknown, checked: Checked): string {
  try {
    return text(value, "", new Set(), "", checked);
  } catch (error) {
    // The stack is the limit: a value that is deeper cannot be written in any other way either.
    if (error instanceof RangeError) throw new UnwritableError("the value is nested too deeply");
    throw error;
  }
}

/** Writes a value as the text of a result: a text as it is, bytes as UTF-8, anything else as JSON. */
export function writeText(value: unknown): string {
  if (value instanceof Uint8Array || value instanceof ArrayBuffer) return UTF8.decode(value);
  const plain = typeof value === "object" && value !== null ? simple(value, "", "") : value;
  return typeof plain === "string" ? repaired(plain) : written(plain, repaired);
}

const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Writes a setting as JSON text.
 *
 * @throws ConfigurationError naming the setting when it cannot be written.
 */
export function writeSetting(name: string, value: unknown): string {
  try {
    return write(value);
  } catch (error) {
    if (error instanceof UnwritableError) throw unusable(`${name}: ${error.message}`, error);
    throw error;
  }
}

const LONE_SURROGATE = /\p{Surrogate}/u;
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** A text for people whose broken characters do not matter. */
export function repaired(text: string): string {
  return text.replace(LONE_SURROGATES, "\ufffd");
}

function wellFormed(value: string, path: string): string {
  if (LONE_SURROGATE.test(value)) throw refused("a text with half a surrogate pair", path);
  return value;
}

function text(value: unknown, path: string, above: Set<object>, key: string, checked: Checked): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(checked(value, path));
    case "number":
      if (!Number.isFinite(value)) throw refused(String(value), path);
      return Object.is(value, -0) ? "-0" : String(value);
    case "bigint":
    case "boolean":
      return String(value);
    case "undefined":
      return "null";
    case "function":
      throw refused("a function", path);
    case "symbol":
      throw refused("a symbol", path);
    case "object": {
      if (value === null) return "null";
      const plain = simple(value, path, key);
      if (typeof plain !== "object" || plain === null) return text(plain, path, above, "", checked);
      if (above.has(plain)) throw refused("a value that contains itself", path);
      above.add(plain);
      const written = Array.isArray(plain) ? list(plain, path, above, checked) : object(plain, path, above, checked);
      above.delete(plain);
      return written;
    }
  }
}

function list(values: readonly unknown[], path: string, above: Set<object>, checked: Checked): string {
  // Array.from, so that holes count.
  const one = (value: unknown, index: number) => text(value, `${path}[${index}]`, above, String(index), checked);
  return `[${Array.from(values, one).join(",")}]`;
}

function object(value: object, path: string, above: Set<object>, checked: Checked): string {
  const members: string[] = [];
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const place = path === "" ? key : `${path}.${key}`;
    members.push(`${JSON.stringify(wellFormed(key, place))}:${text(member, place, above, key, checked)}`);
  }
  return `{${members.join(",")}}`;
}

/** An object as the list, plain object or simple value that stands for it. */
function simple(value: object, path: string, key: string): unknown {
  if (Array.isArray(value)) return value;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof Blob) {
    throw refused(`bytes (${value.constructor.name}); return them as an image(…) or a file(…) part`, path);
  }
  if (value instanceof Error) throw refused("an error; throw it instead", path);
  if ("then" in value && typeof value.then === "function") throw refused("a promise; await it first", path);
  if (value instanceof Date && Number.isNaN(value.getTime())) throw refused("an invalid date", path);
  if ("toJSON" in value && typeof value.toJSON === "function") {
    const plain: unknown = value.toJSON(key);
    return typeof plain === "object" && plain !== null && plain !== value ? simple(plain, path, key) : plain;
  }
  if (value instanceof Map) return fromMap(value, path);
  if (value instanceof Set) return [...value];
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf();
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(value));
  if (!isPlain && Object.keys(value).length === 0 && !isPlainOfAnotherRealm(value)) {
    throw refused(`a ${value.constructor?.name ?? "value"} without fields of its own; return a plain object`, path);
  }
  return value;
}

/** Objects of `node:vm` contexts have another Object.prototype, whose own prototype is null all the same. */
function isPlainOfAnotherRealm(value: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value);
  return prototype !== null && Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "hasOwnProperty");
}

function fromMap(map: Map<unknown, unknown>, path: string): Record<string, unknown> {
  const members = [...map].map(([key, member]): [string, unknown] => {
    if (typeof key !== "string") throw refused("a Map with keys that are no texts; use a list of pairs", path);
    return [key, member];
  });
  // Object.fromEntries defines, so that a key "__proto__" is a key.
  return Object.fromEntries(members);
}

function refused(what: string, path: string): UnwritableError {
  const place = path === "" ? "" : ` at ${path}`;
  return new UnwritableError(repaired(`this cannot be written as JSON${place}: ${what}`));
}
