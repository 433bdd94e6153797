// Looks into the files of the embedded engine, beside whoever holds them.
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { decodeEvent, type EventRow } from '../../src/domain/event.ts';

/** Reads rows over a connection of its own. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into rows of every shape
export function readRows(path: string, sql: string, ...parameters: (string | number)[]): any[] {
  const connection = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
  try {
    return connection
      .prepare(sql)
      .all(...parameters)
      .map((row) => ({ ...row }));
  } finally {
    connection.close();
  }
}

/** Changes the database behind the store's back. */
export function execute(path: string, sql: string): void {
  const connection = new DatabaseSync(path, { timeout: 5000 });
  try {
    connection.exec(sql);
  } finally {
    connection.close();
  }
}

/** The events of the file that have not ended, in the order of a search. */
export function readOpenEvents(path: string, nowMs: number): EventRow[] {
  const sql = `SELECT version, json FROM events WHERE coalesce(end_ms, start_ms + 10800000) > ? ORDER BY start_ms, event_id`;
  return readRows(path, sql, nowMs).map(({ version, json }) => decodeEvent(json, version));
}

/** How many transactions the write-ahead log holds: a frame that names the size of the database ends one. */
export function countCommits(path: string): number {
  const log = readFileSync(`${path}-wal`);
  const frameBytes = 24 + log.readUInt32BE(8);
  const salt = log.subarray(16, 24);
  let commits = 0;
  for (let at = 32; at + frameBytes <= log.length; at += frameBytes) {
    if (!log.subarray(at + 8, at + 16).equals(salt)) break; // left over from before the last checkpoint
    if (log.readUInt32BE(at + 4) !== 0) commits++;
  }
  return commits;
}
