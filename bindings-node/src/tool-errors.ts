// What a tool throws or returns to steer the model. None of it reaches the caller of `send`.

import type { Message } from "./content.js";

/**
 * Thrown by a tool whose call cannot succeed; the message goes to the model. The same call failing again ends the run
 * with the failure as its answer.
 *
 * Any other error that a tool throws is a defect of the tool: the model gets a fixed sentence and nothing of the error,
 * which is a warning of the process (`process.on("warning", …)`).
 */
export class ToolFailed extends Error {}

/** Thrown by a tool to ask the model to try in another way; the message says how. It is not counted as a failure. */
export class ToolRetry extends Error {}

/** Thrown by a tool that refuses to do this; the message goes to the model. */
export class ToolDenied extends Error {}

for (const type of [ToolFailed, ToolRetry, ToolDenied]) {
  Object.defineProperty(type.prototype, "name", { value: type.name, configurable: true, writable: true });
}

/**
 * Returned by a tool that did its work and whose answer is a refusal or an error in its own form: the model gets the
 * content, the engine counts a failure.
 */
export class ToolRefusal {
  /** What the model gets. */
  readonly content: Message;
  /** What failed, in one line. */
  readonly message: string;

  constructor(content: Message, message: string) {
    this.content = content;
    this.message = message;
  }
}
