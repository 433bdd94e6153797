// Cursors of restores: how far a restore of many events is, as text. Opaque, versioned, strict when decoded.
import { isUlid } from './ids.ts';

export interface RestorePosition {
  /** Event ID of the last one of the previous step; empty at first. */
  readonly after: string;
  /** The entry of this restore, if an earlier step wrote it. A client may send any: stores check that it is this restore's. */
  readonly into: number | undefined;
}

const VERSION = '1';

export function encodeRestoreCursor({ after, into }: RestorePosition): string {
  return Buffer.from(`${VERSION}:restore:${after}:${into ?? ''}`).toString('base64url');
}

/** Returns undefined for anything that encodeRestoreCursor did not write. */
export function decodeRestoreCursor(cursor: string): RestorePosition | undefined {
  const [, , after, into] = Buffer.from(cursor, 'base64url').toString().split(':');
  if (after === undefined || into === undefined || !isUlid(after) || !/^([1-9]\d{0,14})?$/.test(into))
    return undefined;
  const position = { after, into: into === '' ? undefined : Number(into) };
  return encodeRestoreCursor(position) === cursor ? position : undefined;
}
