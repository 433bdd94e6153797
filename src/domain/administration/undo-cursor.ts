// Cursors of undos: how far an undo of many events has got, as text. Opaque, versioned, strict when decoded.
import { isUlid } from '../ids.ts';

export interface UndoPosition {
  /** ID of the last event of the previous step; empty for the first step. */
  readonly after: string;
  /** ID of the audit entry of this undo, if an earlier step wrote it. Clients can forge it: stores check that it belongs to this undo. */
  readonly into: number | undefined;
}

const VERSION = '1';

export function encodeUndoCursor({ after, into }: UndoPosition): string {
  return Buffer.from(`${VERSION}:restore:${after}:${into ?? ''}`).toString('base64url');
}

/** Returns undefined for anything that encodeUndoCursor did not write. */
export function decodeUndoCursor(cursor: string): UndoPosition | undefined {
  const [, , after, into] = Buffer.from(cursor, 'base64url').toString().split(':');
  if (after === undefined || into === undefined || !isUlid(after) || !/^([1-9]\d{0,14})?$/.test(into))
    return undefined;
  const position = { after, into: into === '' ? undefined : Number(into) };
  return encodeUndoCursor(position) === cursor ? position : undefined;
}
