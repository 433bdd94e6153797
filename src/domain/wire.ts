// JSON as it is sent: its UTF-8 bytes in a string, one character per byte. Such strings are joined and sent without another
// encoding, and take one byte per character in memory, in every language.

declare const WIRE: unique symbol;

export type Wire = string & { readonly [WIRE]: true };

export function toWire(json: string): Wire {
  const isAscii = Buffer.byteLength(json) === json.length;
  return (isAscii ? json : Buffer.from(json).toString('latin1')) as Wire;
}

export function fromWire(wire: Wire): string {
  return Buffer.from(wire, 'latin1').toString();
}

/**
 * Joins encoded items with commas, between `before` and `after`, which are encoded or ASCII. The items are not copied before
 * they are sent: V8 keeps the parts of a concatenation until its characters are needed, but `join` copies them at once.
 */
export function joinWire(before: string, items: readonly Wire[], after: string): Wire {
  let text = before;
  for (let at = 0; at < items.length; at++) text += at === 0 ? items[at] : `,${items[at]}`;
  return (text + after) as Wire;
}
