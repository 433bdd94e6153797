// The clock and the random source, injected so that tests are exact. No other code in src/ reads the time or makes random
// values.

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Clock = () => number;

/** Fills the array with unpredictable bytes and returns it. */
export type Random = (bytes: Uint8Array) => Uint8Array;
