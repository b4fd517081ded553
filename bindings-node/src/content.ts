// What a message or a result holds beside text: pictures and files.

import { unusable } from "./errors.js";

/** Where the bytes of a picture or file are: the bytes themselves, base64, or an address that the provider fetches. */
export type Source = Uint8Array | ArrayBuffer | { base64: string } | { url: string | URL };

/** A part as JSON has it, the same in every language. */
export type WirePart =
  | { type: "text"; text: string }
  | { type: "image"; media_type: string; data: { base64: string } | { url: string } }
  | { type: "file"; media_type: string; name: string; data: { base64: string } | { url: string } };

/** A piece of a message or of a result. {@link image} and {@link file} make one; a text stands for itself. */
export class Part {
  readonly #wire: WirePart;

  private constructor(wire: WirePart) {
    this.#wire = wire;
  }

  /** A part from its JSON form. */
  static fromJSON(wire: WirePart): Part {
    return new Part(wire);
  }

  /** The part's JSON form. */
  toJSON(): WirePart {
    return this.#wire;
  }
}

/** What a message is: text, or texts, pictures and files in order. */
export type Message = string | readonly (string | Part)[];

/**
 * A picture for a message or a result.
 *
 * @example
 * ```ts
 * await agent.send(["What is on this picture?", image("image/png", await readFile("cat.png"))]);
 * ```
 */
export function image(mediaType: string, source: Source): Part {
  return Part.fromJSON({ type: "image", media_type: mediaType, data: data("image", source) });
}

/** A file for a message or a result; `name` is told to the model and has no path. */
export function file(mediaType: string, name: string, source: Source): Part {
  return Part.fromJSON({ type: "file", media_type: mediaType, name, data: data("file", source) });
}

function data(what: string, source: Source): { base64: string } | { url: string } {
  if (source instanceof ArrayBuffer) return { base64: Buffer.from(source).toString("base64") };
  if (source instanceof Uint8Array) {
    return { base64: Buffer.from(source.buffer, source.byteOffset, source.byteLength).toString("base64") };
  }
  if (typeof source === "object" && source !== null) {
    if ("base64" in source) return { base64: source.base64 };
    if ("url" in source) return { url: String(source.url) };
  }
  throw unusable(`${what}(…): the source must be a Uint8Array, an ArrayBuffer, { base64 } or { url }`);
}

/** Content as values of JSON. */
export function content(given: unknown): unknown {
  if (given instanceof Part) return [given];
  if (!Array.isArray(given)) return given;
  return given.map((part) => (typeof part === "string" ? { type: "text", text: part } : part));
}

/** Whether a tool's result is content and not a value: a part, or a list that holds one and nothing but texts beside it. */
export function isContent(value: unknown): value is Part | (string | Part)[] {
  if (value instanceof Part) return true;
  return (
    Array.isArray(value) &&
    value.some((part) => part instanceof Part) &&
    value.every((part) => typeof part === "string" || part instanceof Part)
  );
}
