// JSON as it goes over the wire: its UTF-8 bytes in a string, one character each. Such strings are joined and sent without
// another look at the text, and take one byte a character in memory, whatever the language.

declare const WIRE: unique symbol;

export type Wire = string & { readonly [WIRE]: true };

export function toWire(json: string): Wire {
  const isAscii = Buffer.byteLength(json) === json.length;
  return (isAscii ? json : Buffer.from(json).toString('latin1')) as Wire;
}

export function fromWire(wire: Wire): string {
  return Buffer.from(wire, 'latin1').toString();
}

/** Puts wire forms and punctuation together. */
export function joinWire(before: string, items: readonly Wire[], after: string): Wire {
  return `${before}${items.join(',')}${after}` as Wire;
}
