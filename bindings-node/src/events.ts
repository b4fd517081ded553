// Events of a stream, and the way from the wire to them. Payloads of hooks are in `payloads.ts`.

import type { ToolOutcome } from "./data.js";
import { parse } from "./json.js";
import { camelKeys } from "./names.js";
import { type AgentResponse, type Usage, usageOf } from "./response.js";

/**
 * Something that happened in a run, told by its `type`. All `text_delta` pieces that no `text_discarded` took back,
 * joined, are exactly the text of the response.
 */
export type StreamEvent =
  /** The message was accepted. */
  | { type: "run_started"; runId: string }
  /** A piece of the answer. */
  | { type: "text_delta"; text: string; iteration: number; attempt: number }
  /** A piece of readable reasoning. */
  | { type: "thinking_delta"; text: string; iteration: number; attempt: number }
  /** The pieces of this iteration and attempt are not part of the answer. */
  | { type: "text_discarded"; iteration: number; attempt: number }
  /** A tool call is about to be decided and run. */
  | { type: "tool_call_started"; callId: string; name: string; arguments: Record<string, unknown>; iteration: number }
  /** A tool tells how far it is. */
  | { type: "tool_call_progress"; callId: string; name: string; message: string }
  /** A tool call has its result. */
  | {
      type: "tool_call_finished";
      callId: string;
      name: string;
      result: string;
      outcome: ToolOutcome;
      durationMs: number;
    }
  /** An iteration starts. */
  | { type: "iteration"; iteration: number }
  /** Tokens of one model call. */
  | { type: "usage"; iteration: number; usage: Usage }
  /** The answer is complete. Nothing follows. */
  | { type: "finished"; response: AgentResponse };

/** An event as the engine wrote it, before the last one has its response. */
export type WireEvent =
  | Exclude<StreamEvent, { type: "finished" }>
  | { type: "finished"; response: Record<string, unknown> }
  | { type: "failed" };

/** Reads a batch of events. */
export function readEvents(text: string): WireEvent[] {
  return (parse(text) as Record<string, unknown>[]).map(readEvent);
}

function readEvent(wire: Record<string, unknown>): WireEvent {
  // The keys of these have no underscore, and there are many of them.
  if (wire.type === "text_delta" || wire.type === "thinking_delta") return wire as WireEvent;
  const event = camelKeys(wire);
  if (event.type === "usage") event.usage = usageOf(event.usage);
  return event as WireEvent;
}
