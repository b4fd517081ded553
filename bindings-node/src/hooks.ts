// Hooks that the engine brings along. They run in the engine, so no event crosses to JavaScript for them.

import { snakeKeys } from "./names.js";

/** Settings of a {@link DebugLogHook}. */
export interface DebugLogSettings {
  /** The file. It is made when it is not there, for its owner alone; its folder must be. */
  path: string;
  /** What stands under `event` in each line. Default `event`; the event's name is in `context`. */
  label?: string;
}

/** Settings of a {@link SecurityAlertHook}. */
export interface SecurityAlertSettings {
  /**
   * An `https` address. Default: that in the environment variable `CHELIPED_SECURITY_WEBHOOK`; without one the hook does
   * nothing.
   */
  url?: string;
  /** The secret that signs alerts: `whsec_` and Base64, or any text. Default: none. */
  signingSecret?: string;
  /** Events that are told. Default `guard.blocked`. */
  events?: readonly string[];
  /** Milliseconds for a whole alert. Default 3000. */
  timeoutMs?: number;
}

/** A hook of the engine. */
export abstract class EngineHook {
  readonly #kind: string;
  // Private, so that nothing which prints the hook prints a secret.
  readonly #settings: object;

  protected constructor(kind: string, settings: object) {
    this.#kind = kind;
    this.#settings = { ...settings };
  }

  /** The settings as the engine reads them. */
  static data(hook: EngineHook): Record<string, unknown> {
    return { kind: hook.#kind, ...snakeKeys(hook.#settings) };
  }
}

/**
 * Appends one line of JSON for every event to a file: `{"ts", "event", "context"}`. Lines of several processes do not mix.
 * What cannot be written is dropped, with one warning; no run fails for it. The file holds what users and models say.
 *
 * @example
 * ```ts
 * new Agent({ hooks: [new DebugLogHook({ path: "events.jsonl" })] });
 * ```
 */
export class DebugLogHook extends EngineHook {
  constructor(settings: DebugLogSettings) {
    super("debug_log", settings);
  }
}

/**
 * Posts `{"alert", "guard", "reason", "at"}` to a web address when a guard has refused a message. What the user wrote is
 * not sent. The host must have public addresses only, redirects are not followed, and no run waits for an alert. Requests
 * carry `webhook-id`, `webhook-timestamp`, `content-digest` and, with a secret, `webhook-signature` (Standard Webhooks).
 *
 * @example
 * ```ts
 * new Agent({ hooks: [new SecurityAlertHook({ url: "https://alerts.example.com/x", signingSecret: "whsec_…" })] });
 * ```
 */
export class SecurityAlertHook extends EngineHook {
  constructor(settings: SecurityAlertSettings = {}) {
    super("security_alert", settings);
  }
}
