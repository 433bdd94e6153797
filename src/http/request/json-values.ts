// Counts the values in a JSON text without parsing it. A value of two bytes takes far more time and memory once it is
// parsed, so the size of a body alone does not limit what it costs.

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

/** A long string is searched for its end by native code; for a short one, a loop is faster than the call. */
const SHORT_STRING_BYTES = 32;

/** Whether the JSON has more than `max` values. The least that a value needs is two bytes: itself and a comma or bracket. */
export function hasMoreValues(json: Buffer, max: number): boolean {
  return json.length > 2 * max && countValues(json, max) > max;
}

/**
 * Counts objects, lists and the values in them at any depth, but not the names of fields. Stops above `max`. Exact for valid
 * JSON; of invalid JSON it counts what looks like values.
 */
export function countValues(json: Buffer, max: number): number {
  // The outermost value, and for every list or object that is not empty one more than it has commas.
  let count = 1;
  for (let at = 0; at < json.length && count <= max; at++) {
    const byte = json[at]!;
    if (byte === QUOTE) at = findStringEnd(json, at + 1);
    else if (byte === COMMA) count++;
    else if (isOpening(byte)) {
      while (isSpace(json[at + 1])) at++;
      if (!isClosing(json[at + 1])) count++;
    }
  }
  return count;
}

/** Position of the closing quote; the length of the text if there is none. */
function findStringEnd(json: Buffer, from: number): number {
  let at = from;
  while (at < json.length) {
    const near = Math.min(json.length, at + SHORT_STRING_BYTES);
    while (at < near) {
      const byte = json[at]!;
      if (byte === QUOTE) return at;
      at += byte === BACKSLASH ? 2 : 1;
    }
    const quote = json.indexOf(QUOTE, at);
    if (quote < 0) break;
    // A quote is escaped if the number of backslashes before it is odd.
    let first = quote;
    while (first > at && json[first - 1] === BACKSLASH) first--;
    if ((quote - first) % 2 === 0) return quote;
    at = quote + 1;
  }
  return json.length;
}

/** [ and { differ in one bit, as do ] and }. */
function isOpening(byte: number): boolean {
  return (byte | 0x20) === 0x7b;
}

function isClosing(byte: number | undefined): boolean {
  return byte !== undefined && (byte | 0x20) === 0x7d;
}

function isSpace(byte: number | undefined): boolean {
  return byte !== undefined && byte <= 0x20;
}
