// JSON that loses nothing: integers that a number cannot hold are read as BigInt, on every version of Node.
//
// It reads JSON only. What JavaScript's values become is decided in `values.ts`.

/** A value read from JSON. Integers beyond 2^53 are BigInt. */
export type Json = string | number | bigint | boolean | null | Json[] | { [key: string]: Json };

const LONG_NUMBER = /\d{16}/;

/**
 * Reads JSON text.
 *
 * @throws SyntaxError when the text is not JSON.
 */
export function parse(text: string): unknown {
  // Only an integer of sixteen digits or more can be too large for a number.
  return LONG_NUMBER.test(text) ? new Reader(text).read() : JSON.parse(text);
}

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const WORDS = new Map<string, unknown>([
  ["t", true],
  ["f", false],
  ["n", null],
]);

/** A list or an object that is being read. */
type Open = { list: unknown[] } | { object: Record<string, unknown>; key: string };

/** Reads in one pass, without recursion, so that neither length nor depth is a danger. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): unknown {
    const open: Open[] = [];
    for (;;) {
      let value = this.#value(open);
      // A list or an object was opened that is not empty: its first value comes next.
      if (value === OPENED) continue;
      for (;;) {
        const place = open.at(-1);
        if (place === undefined) {
          if (this.#peek() !== "") throw this.#wrong();
          return value;
        }
        this.#put(place, value);
        const next = this.#peek();
        if (next === ",") {
          this.#at += 1;
          if ("object" in place) place.key = this.#key();
          break;
        }
        if (next !== ("list" in place ? "]" : "}")) throw this.#wrong();
        this.#at += 1;
        open.pop();
        value = "list" in place ? place.list : place.object;
      }
    }
  }

  #value(open: Open[]): unknown {
    const first = this.#peek();
    switch (first) {
      case "[": {
        this.#at += 1;
        const list: unknown[] = [];
        if (this.#take("]")) return list;
        open.push({ list });
        return OPENED;
      }
      case "{": {
        this.#at += 1;
        const object: Record<string, unknown> = {};
        if (this.#take("}")) return object;
        open.push({ object, key: this.#key() });
        return OPENED;
      }
      case '"':
        return this.#string();
      case "t":
      case "f":
      case "n": {
        const value = WORDS.get(first);
        const word = String(value);
        if (!this.#text.startsWith(word, this.#at)) throw this.#wrong();
        this.#at += word.length;
        return value;
      }
      default:
        return this.#number();
    }
  }

  #put(place: Open, value: unknown): void {
    if ("list" in place) place.list.push(value);
    else if (place.key === "__proto__") {
      // As JSON.parse does: a key like any other.
      Object.defineProperty(place.object, place.key, { value, writable: true, enumerable: true, configurable: true });
    } else place.object[place.key] = value;
  }

  #key(): string {
    if (this.#peek() !== '"') throw this.#wrong();
    const key = this.#string();
    if (!this.#take(":")) throw this.#wrong();
    return key;
  }

  #string(): string {
    const start = this.#at;
    let end = start;
    do {
      end = this.#text.indexOf('"', end + 1);
      if (end < 0) throw this.#wrong();
    } while (this.#escaped(end));
    this.#at = end + 1;
    return JSON.parse(this.#text.slice(start, this.#at));
  }

  /** Whether an odd number of backslashes stands before this place. */
  #escaped(place: number): boolean {
    let before = place;
    while (this.#text.charCodeAt(before - 1) === 0x5c) before -= 1;
    return (place - before) % 2 === 1;
  }

  #number(): number | bigint {
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.#text);
    if (match === null) throw this.#wrong();
    this.#at = NUMBER.lastIndex;
    const number = Number(match[0]);
    const isInteger = match[1] === undefined && match[2] === undefined;
    return isInteger && !Number.isSafeInteger(number) ? BigInt(match[0]) : number;
  }

  /** The next character that is no white space; nothing at the end. */
  #peek(): string {
    for (;;) {
      const character = this.#text.charAt(this.#at);
      if (character !== " " && character !== "\n" && character !== "\t" && character !== "\r") return character;
      this.#at += 1;
    }
  }

  #take(character: string): boolean {
    const there = this.#peek() === character;
    if (there) this.#at += 1;
    return there;
  }

  #wrong(): SyntaxError {
    const found = this.#text.charAt(this.#at);
    return new SyntaxError(
      found === "" ? "the JSON text ends too early" : `unexpected ${JSON.stringify(found)} at ${this.#at} in JSON`,
    );
  }
}

/** Says that a list or an object was opened. */
const OPENED = Symbol("opened");
