// Types of the clock and the random source, and the durations that many files count in. service.ts creates both and passes them on, so that tests can replace them. No
// other file reads the time or creates random values.

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Clock = () => number;

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Milliseconds that this process has run. No change of the machine's time moves it. */
export type Uptime = () => number;

/** Fills the array with unpredictable bytes and returns it. */
export type Random = (bytes: Uint8Array) => Uint8Array;
