// The native module: loaded here and nowhere else. No value of it reaches the users of the package.

import type * as Native from "../native.cjs";

export type { Native };

function load(): typeof Native {
  try {
    // The loader that `napi build` writes picks the file for this platform.
    return require("../native.cjs");
  } catch (cause) {
    const place = `${process.platform}-${process.arch}`;
    throw new Error(
      `cheliped has no native module for ${place}: install the package again with optional dependencies, ` +
        "or run `npm run prepare` in a checkout",
      { cause },
    );
  }
}

/** The native module. */
export const native: typeof Native = load();
