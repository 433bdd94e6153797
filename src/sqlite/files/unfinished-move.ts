// Data that is only half there is not served: while a move into the folder is not finished, it cannot be opened.
import { UNFINISHED_MOVE, unfinishedMove } from '../../domain/transfer.ts';
import { findStoredSetting } from '../reader.ts';

/** Throws StartError if a move into this database has begun and not ended. */
export function requireFinished(path: string): void {
  const source = findStoredSetting(path, UNFINISHED_MOVE);
  if (source !== undefined) throw unfinishedMove(`The database ${path}`, source);
}
