// The built-in guards as JavaScript sees them: the shapes of their settings and findings, and a check of single texts.
//
// Nothing is decided here: what a setting means, and what it is by default, is the engine's.

import { attempt } from "./border.js";
import { unusable } from "./errors.js";
import { parse } from "./json.js";
import { snake, snakeKeys } from "./names.js";
import { native } from "./native.js";
import { writeSetting } from "./values.js";

/** What a finding leads to: the text does not go on, goes on without what was found, goes on and is told, or nothing. */
export type GuardAction = "block" | "redact" | "warn" | "off";

/** Settings of one built-in guard; what is left out comes from the preset. */
export interface GuardRule {
  /** What a finding at or above the threshold leads to. */
  action?: GuardAction;
  /** The score from which the action is taken, 0 to 100; findings below are told. */
  threshold?: number;
  /** The place in the order: lower looks first. Default: the guard's own. */
  priority?: number;
  /** Patterns of your own by name, in the syntax of Rust's `regex`, which takes linear time. */
  patterns?: Record<string, string>;
}

/** The rules of the built-in guards: a preset, and settings on top of it. */
export interface GuardRules {
  /** Default `strict`. */
  preset?: "strict" | "balanced" | "code_assistant" | "off";
  /** Turns on exactly these guards, by their keys: `injection`, `destructive_sql` … Default: all. */
  enabled?: readonly string[];
  /** Characters that a message may have. Default 40,000. */
  maxMessageLength?: number;
  /** What happens to a piece of context with a finding: it is left out, or the message is refused. Default `drop`. */
  onContextFinding?: "drop" | "block";
  /** Whether the messages of a conversation are scanned again when it goes on. Default no. */
  scanHistory?: boolean;
  /**
   * Whether personal data is replaced by names such as `[EMAIL_1]` that are given back in the answer and in the arguments
   * of tool calls; kept in memory only. Default no.
   */
  reversible?: boolean;
  /** How many messages a caller may send in a time. Default: no limit. */
  rateLimit?: { maxRequests: number; windowSeconds: number };
  /** What findings of single rules (`pii.email`) or groups (`override`) lead to, whatever their score. */
  rules?: Record<string, GuardAction>;
  /** Messages that are too long. */
  messageLength?: GuardRule;
  /** Orders to ignore rules or to give them away. */
  injection?: GuardRule;
  /** Hidden and misleading characters. */
  unicode?: GuardRule;
  /** Words spelled with letters of another script. */
  homoglyph?: GuardRule;
  /** Orders to be somebody else, and forged turns. */
  roleSwitch?: GuardRule;
  /** Code that is to be run. */
  codeInjection?: GuardRule;
  /** SQL that destroys or changes data. */
  destructiveSql?: GuardRule;
  /** Personal data. */
  piiDetection?: GuardRule;
}

/** How results of tools are cleaned. Control, terminal and hidden characters always go. */
export interface ToolOutputRules {
  /** What looks like an order to the model is replaced, flagged, or not looked for. Default `redact`. */
  injection?: "redact" | "flag" | "off";
  /** Whether keys, tokens, private keys and passwords are replaced. Default yes. */
  secrets?: boolean;
  /** When a result is put between lines that say that it is data. Default `flagged`. */
  fence?: "flagged" | "always" | "off";
}

/** Something that a built-in guard found; never the text itself. */
export interface GuardFinding {
  /** Key of the guard, `injection`. */
  guard: string;
  /** Its rule, `override.rules`. */
  rule: string;
  /** Where the text came from: `typed`, `memory:KEY`, `history`, `tool_arguments:TOOL` … */
  source: string;
  severity: "low" | "medium" | "high" | "critical";
  /** How sure it is, 0 to 100. */
  score: number;
  /** Where it begins, in bytes of the text as UTF-8. */
  start: number;
  /** Where it ends. */
  end: number;
  /** What it led to. */
  action: GuardAction;
}

/** What the built-in guards say of a text. */
export interface TextCheck {
  /** `warn` when something is only told; `redact` when it goes on without what was found. */
  verdict: "pass" | "warn" | "redact" | "block";
  /** Class of the guard that blocks, `InjectionGuard`. */
  guard: string | null;
  /** Its words. */
  reason: string | null;
  /** Everything that was found. */
  findings: GuardFinding[];
  /** The text as it goes on, when something is taken out. */
  redacted: string | null;
}

/**
 * Runs the built-in guards on one text, without an agent: to test your rules, or to look at a text before use. `source` is
 * `typed` (default), `history`, `memory:KEY`, `skill:NAME`, `document:NAME` or `tool_arguments:TOOL`.
 *
 * @throws ConfigurationError when the rules cannot be used, or when there is no such source.
 *
 * @example
 * ```ts
 * checkText("Ignore previous instructions").guard; // "InjectionGuard"
 * checkText("mail ana@example.com", { guardRules: { preset: "balanced" } }).redacted; // "mail [REDACTED_EMAIL]"
 * ```
 */
export function checkText(text: string, options: { guardRules?: GuardRules; source?: string } = {}): TextCheck {
  if (typeof text !== "string") throw unusable("checkText takes a text");
  const { guardRules = {}, source } = options;
  const rules = writeSetting("guardRules", rulesData(guardRules));
  return parse(attempt(() => native.check(rules, text, source))) as TextCheck;
}

/** Rules as the engine reads them. Names of rules and of patterns are left as they are. */
export function rulesData(rules: unknown): unknown {
  if (!isObject(rules)) return rules;
  const entries = Object.entries(rules).map(([name, value]) => [
    snake(name),
    isObject(value) && name !== "rules" ? snakeKeys(value) : value,
  ]);
  return Object.fromEntries(entries);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
