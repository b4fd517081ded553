// Numbers that look random and are the same in every run of the tests.

/** A generator of numbers from 0 to 1, exclusive, that a seed determines. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    // Mulberry: small, and good enough for tests.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
