// The text form of a position in the order of a search (start, then event_id): opaque, versioned, strict when read back.
import { EARLIEST_MS, LATEST_MS } from './datetime.ts';
import { isUlid } from './ids.ts';

/** The place just after an event in the order of every search. */
export interface Position {
  readonly startMs: number;
  readonly id: string;
}

const VERSION = '1';

export function encodeCursor(position: Position): string {
  return Buffer.from(`${VERSION}:${position.startMs}:${position.id}`, 'latin1').toString('base64url');
}

/** Undefined for anything that encodeCursor did not write. */
export function decodeCursor(text: string): Position | undefined {
  const [version, start, id] = Buffer.from(text, 'base64url').toString('latin1').split(':');
  if (version !== VERSION || start === undefined || id === undefined || !isUlid(id)) return undefined;
  const position = { startMs: Number(start), id };
  if (!Number.isInteger(position.startMs)) return undefined;
  if (position.startMs < EARLIEST_MS || position.startMs > LATEST_MS) return undefined;
  return encodeCursor(position) === text ? position : undefined;
}
