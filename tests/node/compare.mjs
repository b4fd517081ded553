// Compares what a vector expects with what a run showed. Says nothing of how it was run.

import { isDeepStrictEqual } from "node:util";
import { parse } from "../../bindings-node/dist/json.js";

/** Keys that an expectation may have. */
const KEYS = new Set(
  (
    "text error failed stop_reason provider model iterations tools_called usage steps input_tokens output_tokens " +
    "cache_read_tokens cache_write_tokens thinking run_id persist_error events event_payloads requests tool_inputs gate " +
    "results history saves conversation stream stream_events replay"
  ).split(" "),
);

/** Events that only a stream has, or has at another place. */
const STREAM_EVENTS = new Set(["stream.start", "stream.end", "stream.abort", "run.text_discarded"]);

const NOTHING = Symbol("nothing");

/** What differs between the expectation of a case and an outcome; empty when nothing does. */
export function differences(vector, mode, outcome) {
  const problems = [];
  const echoes = (vector.tools ?? []).some(({ returns = [] }) => returns.some(({ echo }) => echo));
  const withRead = (items, key) => items.map((item) => ({ ...item, [key]: read(item[key]) }));
  for (const [key, expected] of Object.entries(vector.expect)) {
    if (!KEYS.has(key)) {
      problems.push(`unknown key ${key}`);
    } else if (key === "events") {
      compareEvents(mode, expected, outcome.events, problems);
    } else if (key === "event_payloads") {
      comparePayloads(expected, outcome.event_payloads, problems);
    } else if (key === "stream" || key === "stream_events") {
      if (mode === "live") compare(key, expected, key === "stream" ? outcome.stream : outcome.events, problems);
    } else if (key === "replay") {
      if (mode === "replay") compare(key, expected, outcome.stream, problems);
    } else if (key === "tool_inputs" || key === "gate") {
      // A callback gets the arguments read, not as the text that came.
      compare(key, withRead(expected, "arguments"), withRead(outcome[key], "arguments"), problems);
    } else if (key === "results" && echoes) {
      // What a tool got as values it gives back in its own spelling.
      compare(key, withRead(expected, "content"), withRead(outcome.results, "content"), problems);
    } else {
      compare(key, expected, key in outcome ? outcome[key] : NOTHING, problems);
    }
  }
  if (!("error" in vector.expect)) compare("error", null, outcome.error, problems);
  if (mode !== "send" && outcome.text !== null) compare("stream.joined", outcome.text, outcome.stream.joined, problems);
  return problems;
}

/** JSON text as values in their order; other texts as they are. */
function read(text) {
  try {
    return Object.entries(parse(text));
  } catch {
    return text;
  }
}

function compareEvents(mode, expected, seen, problems) {
  const kept = (names) => names.filter((name) => mode === "send" || !STREAM_EVENTS.has(name)).join(" ");
  if (kept(expected) !== kept(seen)) problems.push(`events\n  expected ${kept(expected)}\n  got      ${kept(seen)}`);
}

function comparePayloads(expected, seen, problems) {
  for (const wanted of expected) {
    const index = wanted.index ?? 0;
    const found = seen.filter(({ event }) => event === wanted.event)[index];
    compare(`event ${wanted.event} ${index}`, wanted.payload, found === undefined ? NOTHING : found.payload, problems);
  }
}

/** Objects may hold more than expected; everything else must be equal. */
function compare(path, expected, seen, problems) {
  if (isPlain(expected) && isPlain(seen)) {
    for (const [key, value] of Object.entries(expected)) {
      compare(`${path}.${key}`, value, key in seen ? seen[key] : NOTHING, problems);
    }
  } else if (Array.isArray(expected) && Array.isArray(seen) && expected.length === seen.length) {
    for (const [index, value] of expected.entries()) compare(`${path}[${index}]`, value, seen[index], problems);
  } else if (!isDeepStrictEqual(expected, seen)) {
    problems.push(`${path}\n  expected ${show(expected)}\n  got      ${seen === NOTHING ? "nothing" : show(seen)}`);
  }
}

function isPlain(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function show(value) {
  return JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? `${inner}n` : inner));
}
