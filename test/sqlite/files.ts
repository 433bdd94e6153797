// Reads and changes the files of the embedded engine while another process may have them open.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { decodeEvent, type EventRow, type StoredEvent } from '../../src/domain/events/event.ts';

/** Reads rows over a separate connection. */
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

/** Asserts that SQLite finds no error in the file, and that values stored twice are equal. */
export function assertSound(path: string): void {
  // Needs a connection that may write: on a read-only one SQLite skips CHECK constraints.
  const connection = new DatabaseSync(path, { timeout: 5000 });
  const findings = connection.prepare('PRAGMA integrity_check').all();
  connection.close();
  assert.deepEqual(
    findings.map(({ integrity_check }) => integrity_check),
    ['ok'],
  );
  assert.deepEqual(readRows(path, 'PRAGMA foreign_key_check'), []);
  // Rows that are being removed count as deleted.
  const stored = `events LEFT JOIN removals USING (agent_id) WHERE events.agent_id = agents.agent_id
    AND row_id > coalesce(up_to_row, 0)`;
  const miscounted = `SELECT agent_id FROM agents WHERE event_count <> (SELECT count(*) FROM ${stored})`;
  assert.deepEqual(readRows(path, miscounted), []);
  const missized = `SELECT agent_id FROM agents WHERE event_bytes <>
    (SELECT coalesce(sum(octet_length(json)), 0) FROM ${stored})`;
  assert.deepEqual(readRows(path, missized), []);
  const keyless = `SELECT agent_id FROM agents WHERE (agent_id NOT IN (SELECT agent_id FROM keys)) <>
    (agent_id IN (SELECT agent_id FROM removals WHERE with_agent = 1))`;
  assert.deepEqual(readRows(path, keyless), []);
  const columns = ['event_id', 'agent_id', 'title', 'timezone', 'lat', 'lng', 'audience', 'event_type'];
  const differs = columns.map((name) => `json_extract(json, '$.${name}') <> ${name}`).join(' OR ');
  assert.deepEqual(readRows(path, `SELECT json FROM events WHERE ${differs}`), []);
}

/** The events of the file that have not ended, in the order of a search. */
export function readOpenEvents(path: string, nowMs: number): EventRow[] {
  const sql = `SELECT version, updated_ms, json FROM events WHERE coalesce(end_ms, start_ms + 10800000) > ? ORDER BY start_ms, event_id`;
  return readRows(path, sql, nowMs).map((row) => decodeEvent(row as unknown as StoredEvent));
}

/** Counts transactions in the write-ahead log: a frame with the database size ends one. */
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
