// Check for an unfinished move: a database that is only partly filled must not be served.
import { UNFINISHED_MOVE, unfinishedMove } from '../../domain/transfer.ts';
import { findStoredSetting } from '../reader.ts';

/** Throws StartError if a move into this database was started but not finished. */
export function requireFinished(path: string): void {
  const source = findStoredSetting(path, UNFINISHED_MOVE);
  if (source !== undefined) throw unfinishedMove(`The database ${path}`, source);
}
