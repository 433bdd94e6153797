// Types of the clock and the random source. service.ts creates both and passes them on, so that tests can replace them. No
// other file reads the time or creates random values.

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Clock = () => number;

/** Milliseconds that this process has run. No change of the machine's time moves it. */
export type Uptime = () => number;

/** Fills the array with unpredictable bytes and returns it. */
export type Random = (bytes: Uint8Array) => Uint8Array;
