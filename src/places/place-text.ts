// Reads a text that names a place: the name, what tells it from others behind commas, and behind a semicolon coordinates, as Resolved-Place
// has them.
import type { Place } from '../domain/events/geo.ts';
import { nameKey } from './place-names.ts';

/** A way of reading a text: as keys. */
export interface Reading {
  readonly name: string;
  readonly qualifiers: readonly string[];
  /** Whether a comma separates the name from what is behind it. */
  readonly isSeparated: boolean;
}

export interface PlaceText {
  /** The likeliest first. None if the text has no name, or too many parts. */
  readonly readings: readonly Reading[];
  readonly coordinates: Place | undefined;
}

const COORDINATES = /^([^;]*);\s*(-?\d{1,3}(?:\.\d+)?)\s*,\s*(-?\d{1,3}(?:\.\d+)?)\s*$/;
const COMMAS = /[,，、،;]/;

/** So that a look-up takes a bounded time. */
const MAX_PARTS = 12;
/** Words behind a name without a comma that may say where it is. */
const MAX_TRAILING_WORDS = 3;

export function readPlaceText(text: string): PlaceText {
  const [, name = text, lat, lng] = COORDINATES.exec(text) ?? [];
  const coordinates = lat === undefined ? undefined : { lat: Number(lat), lng: Number(lng) };
  const parts = name
    .split(COMMAS, MAX_PARTS + 1)
    .map(nameKey)
    .filter((key) => key !== '');
  if (parts.length === 0 || parts.length > MAX_PARTS) return { readings: [], coordinates };
  return { readings: parts.length > 1 ? splitAtCommas(parts) : splitAtSpaces(parts[0]!), coordinates };
}

/** Names have commas, too: Washington, D.C. */
function splitAtCommas(parts: readonly string[]): Reading[] {
  return parts.map((_, at) => ({
    name: parts.slice(0, at + 1).join(' '),
    qualifiers: parts.slice(at + 1),
    isSeparated: true,
  }));
}

function splitAtSpaces(key: string): Reading[] {
  const words = key.split(' ');
  const readings: Reading[] = [{ name: key, qualifiers: [], isSeparated: true }];
  for (let count = 1; count <= MAX_TRAILING_WORDS && count < words.length; count++) {
    const at = words.length - count;
    const name = words.slice(0, at).join(' ');
    readings.push({ name, qualifiers: [words.slice(at).join(' ')], isSeparated: false });
  }
  return readings;
}
