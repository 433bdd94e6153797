// Cursors of the search: a position in its order (start, then event_id) as text. Opaque, versioned, strict when decoded.
import { EARLIEST_MS, LATEST_MS } from './datetime.ts';
import { isUlid } from './ids.ts';

/** The position just after an event in the order of every search. */
export interface Position {
  readonly startMs: number;
  readonly id: string;
}

const VERSION = '1';

export function encodeCursor(position: Position): string {
  return Buffer.from(`${VERSION}:${position.startMs}:${position.id}`, 'latin1').toString('base64url');
}

/** Returns undefined for anything that encodeCursor did not write. */
export function decodeCursor(text: string): Position | undefined {
  const [version, start, id] = Buffer.from(text, 'base64url').toString('latin1').split(':');
  if (version !== VERSION || start === undefined || id === undefined || !isUlid(id)) return undefined;
  const position = { startMs: Number(start), id };
  if (!Number.isInteger(position.startMs)) return undefined;
  if (position.startMs < EARLIEST_MS || position.startMs > LATEST_MS) return undefined;
  return encodeCursor(position) === text ? position : undefined;
}
