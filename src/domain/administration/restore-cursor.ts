// Cursors of restores: how far a restore of many events has got, as text. Opaque, versioned, strict when decoded.
import { isUlid } from '../ids.ts';

export interface RestorePosition {
  /** ID of the last event of the previous step; empty for the first step. */
  readonly after: string;
  /** ID of the audit entry of this restore, if an earlier step wrote it. Clients can forge it: stores check that it belongs to this restore. */
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
