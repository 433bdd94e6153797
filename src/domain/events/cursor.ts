// Cursors of the search: a position in its order as text. Opaque, versioned, strict when decoded. The order is by start, then
// event_id; or by distance from a centre first.
import { EARLIEST_MS, LATEST_MS } from '../datetime.ts';
import { isUlid } from '../ids.ts';
import type { Place } from './geo.ts';

/** The position just after an event in the order of every search. */
export interface Position {
  readonly startMs: number;
  readonly id: string;
  /** Squared chord between centre and event: only if the order is by distance. */
  readonly chord?: number;
}

/** A position in the order by distance from this centre. */
export interface DistancePosition extends Position {
  readonly chord: number;
  readonly centre: Place;
}

const VERSION = '1';
/** Another one, because a position in one order means nothing in the other. */
const DISTANCE_VERSION = '3';

/** Squared chord between antipodes, with room for rounding. */
const MAX_CHORD = 4.000001;

export function encodeCursor(position: Position): string {
  return encode(`${VERSION}:${position.startMs}:${position.id}`);
}

export function encodeDistanceCursor({ startMs, id, chord, centre }: DistancePosition): string {
  return encode(`${DISTANCE_VERSION}:${centre.lat}:${centre.lng}:${chord}:${startMs}:${id}`);
}

/** Returns undefined for anything that encodeCursor did not write. */
export function decodeCursor(text: string): Position | undefined {
  const [version, start, id] = decode(text);
  if (version !== VERSION) return undefined;
  const position = readPosition(start, id);
  return position && encodeCursor(position) === text ? position : undefined;
}

/** Returns undefined for anything that encodeDistanceCursor did not write. */
export function decodeDistanceCursor(text: string): DistancePosition | undefined {
  const [version, lat, lng, chord, start, id] = decode(text);
  if (version !== DISTANCE_VERSION) return undefined;
  const position = readPosition(start, id);
  if (!position) return undefined;
  const decoded = { ...position, chord: Number(chord), centre: { lat: Number(lat), lng: Number(lng) } };
  if (!(decoded.chord >= 0 && decoded.chord <= MAX_CHORD)) return undefined;
  return encodeDistanceCursor(decoded) === text ? decoded : undefined;
}

function readPosition(start: string | undefined, id: string | undefined): Position | undefined {
  if (start === undefined || id === undefined || !isUlid(id)) return undefined;
  const position = { startMs: Number(start), id };
  if (!Number.isInteger(position.startMs)) return undefined;
  if (position.startMs < EARLIEST_MS || position.startMs > LATEST_MS) return undefined;
  return position;
}

function encode(text: string): string {
  return Buffer.from(text, 'latin1').toString('base64url');
}

function decode(text: string): string[] {
  return Buffer.from(text, 'base64url').toString('latin1').split(':');
}
