// The engine's own data as JSON has it: messages, requests, calls, results. Keys are the same in every language, because
// people store this data and hand it on.

import type { WirePart } from "./content.js";

/** Content as data: a text, or parts in order. */
export type WireContent = string | WirePart[];

/** A message of a history. */
export type WireMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: WireContent }
  | { role: "assistant"; content: string; calls?: WireCall[]; native?: unknown }
  | { role: "tool"; results: WireResult[] };

/** A call that the model asked for. */
export interface WireCall {
  id: string;
  provider_id?: string;
  name: string;
  arguments: Record<string, unknown>;
  fault?: unknown;
}

/** How a call ended. */
export type ToolOutcome = "ok" | "error" | "denied" | "not_run";

/** What the model is given for a call. */
export interface WireResult {
  call_id: string;
  name: string;
  content: WireContent;
  outcome: ToolOutcome;
}

/** A request to a model. */
export interface WireRequest {
  system: string;
  messages: WireMessage[];
  tools: { name: string; description: string; schema: Record<string, unknown> }[];
  tool_choice: "auto" | "none" | "required" | { name: string };
  options: Record<string, unknown>;
}

/** What a scripted provider was asked. */
export interface RecordedRequest {
  provider: string;
  model: string;
  system: string;
  /** Who speaks in each message. */
  roles: string[];
  messages: WireMessage[];
  /** Text of the last message. */
  last: string | null;
  /** Names of the tools that were offered. */
  tools: string[];
  /** Their descriptions. */
  descriptions: string[];
  tool_choice: unknown;
  streamed: boolean;
  options: Record<string, unknown>;
}
