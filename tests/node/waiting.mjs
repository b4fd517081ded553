// Waiting for something to become true, with a bound.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Waits until a condition holds; fails after five seconds. */
export async function until(condition) {
  const limit = Date.now() + 5000;
  while (!condition()) {
    if (Date.now() > limit) throw new Error(`waited for five seconds in vain: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");

/** Collects what nobody refers to. */
export function collectGarbage() {
  gc();
}
