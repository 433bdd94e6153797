// Reads from the database file, in parallel to the writer. Single rows use one permanent connection. Reads of all rows open their
// own, because a running statement would keep the permanent one on an old snapshot.
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KeyDetails } from '../domain/administration/agent-details.ts';
import { AppError } from '../domain/errors.ts';
import { ulidMs } from '../domain/ids.ts';
import { UNFINISHED_MOVE, unfinishedMove } from '../domain/unfinished-move.ts';
import { INDEX_COLUMNS, type IndexColumns, type IndexedEvent, readIndexed } from '../memory/index-mapping.ts';
import { AGENT_COLUMNS, type AgentColumns, agentOf, type ColumnValues } from './columns.ts';
import { openForReading, readDatabase } from './connection.ts';
import { ACCESS_TOKENS, type AccessTokenRow } from './threads/grant-reader.ts';

/** Rows read before other requests can run. */
const ROWS_PER_BATCH = 1_000;

/** An agent with its keys, as read from SQLite. */
export interface AgentDetailColumns {
  readonly agent: AgentColumns;
  readonly eventBytes: number;
  readonly keys: readonly KeyDetails[];
}

/** The IDs of events begin with the time of their creation. */
const NEWEST_WRITE = `SELECT (SELECT max(event_id) FROM events) AS id, (SELECT max(ms) FROM (
  SELECT max(max(created_ms, coalesce(last_used_ms, 0))) AS ms FROM agents
  UNION ALL SELECT at_ms FROM audit WHERE audit_id = (SELECT max(audit_id) FROM audit))) AS otherMs`;

const FIND_SETTING = 'SELECT value FROM settings WHERE name = ?';

/** All methods throw UNAVAILABLE if the file cannot be read. */
export class Reader {
  readonly connection: DatabaseSync;
  readonly #path: string;
  readonly #agent;
  readonly #keys;
  readonly #setting;

  constructor(path: string) {
    this.#path = path;
    this.connection = openForReading(path);
    this.#agent = this.connection.prepare(
      `SELECT ${AGENT_COLUMNS}, event_bytes FROM stored_agents WHERE agent_id = ?`,
    );
    this.#keys = this.connection.prepare(
      `SELECT key_hash, prefix, created_ms, expires_ms, last_used_ms FROM keys
       WHERE agent_id = ? AND (expires_ms IS NULL OR expires_ms > ?) ORDER BY created_ms, key_hash`,
    );
    this.#setting = this.connection.prepare(FIND_SETTING);
  }

  findAgentDetails(agentId: string, nowMs: number): AgentDetailColumns | undefined {
    return translated(() => {
      const found = this.#agent.get(agentId) as (AgentColumns & { event_bytes: number }) | undefined;
      if (!found) return undefined;
      const keys = this.#keys.all(agentId, nowMs).map((row) => ({ ...row })) as unknown as KeyDetails[];
      const { event_bytes, ...agent } = found;
      return { agent, eventBytes: event_bytes, keys };
    });
  }

  findSetting(name: string): string | undefined {
    return translated(() => this.#setting.get(name)?.value as string | undefined);
  }

  /** Time of the newest create, registration, request (to 10 seconds) or change by an administrator; undefined if there was none. */
  newestWriteMs(): number | undefined {
    const { id, otherMs } = translated(() => this.connection.prepare(NEWEST_WRITE).get()!) as {
      id: string | null;
      otherMs: number | null;
    };
    const times = [id === null ? null : ulidMs(id), otherMs].filter((ms) => ms !== null);
    return times.length === 0 ? undefined : Math.max(...times);
  }

  countEvents(): number {
    return translated(
      () => this.connection.prepare('SELECT count(*) AS count FROM stored_events').get()!.count as number,
    );
  }

  countFreeBytes(): number {
    return translated(() => freeBytesIn(this.connection));
  }

  /** The active agent that holds the key, unless the key has expired. */
  findAgentByKey(keyHash: string, nowMs: number): AgentColumns | undefined {
    const sql = `SELECT ${AGENT_COLUMNS} FROM agents WHERE is_active = 1 AND agent_id =
      (SELECT agent_id FROM keys WHERE key_hash = ? AND (expires_ms IS NULL OR expires_ms > ?))`;
    return translated(() => this.connection.prepare(sql).get(keyHash, nowMs) as AgentColumns | undefined);
  }

  /** Ordered by creation. */
  eachAgent(visit: (agent: AgentColumns) => void): Promise<void> {
    const sql = `SELECT ${AGENT_COLUMNS} FROM stored_agents ORDER BY created_ms, agent_id`;
    return this.#each(sql, (row) => visit(agentOf(row)));
  }

  eachKey(visit: (keyHash: string, agentId: string, expiresMs: number | undefined) => void): Promise<void> {
    const sql = 'SELECT key_hash, agent_id, expires_ms FROM keys';
    return this.#each<[string, string, number | null]>(sql, ([keyHash, agentId, expiresMs]) =>
      visit(keyHash, agentId, expiresMs ?? undefined),
    );
  }

  /** Those that have not expired; the first to expire come first. */
  eachAccessToken(nowMs: number, visit: (token: AccessTokenRow) => void): Promise<void> {
    const sql = `${ACCESS_TOKENS} AND expires_ms > ${Math.max(0, nowMs)} ORDER BY expires_ms`;
    return this.#each<[string, string, string, string, string, number]>(
      sql,
      ([token_hash, grant_id, agent_id, client_id, scopes, expires_ms]) =>
        visit({ token_hash, grant_id, agent_id, client_id, scopes, expires_ms }),
    );
  }

  /** Like `#each`, but reads a batch with one call, which takes a quarter less time. */
  async eachEvent(visit: (event: IndexedEvent) => void): Promise<void> {
    const connection = translated(() => openForReading(this.#path));
    try {
      const sql = `SELECT ${INDEX_COLUMNS} FROM stored_events WHERE row_id > ? ORDER BY row_id LIMIT ${ROWS_PER_BATCH}`;
      const statement = translated(() => connection.prepare(sql));
      statement.setReturnArrays(true);
      translated(() => connection.exec('BEGIN')); // one snapshot for all batches
      for (let after = 0, isLast = false; !isLast; ) {
        const rows = translated(() => statement.all(after) as unknown as IndexColumns[]);
        for (const row of rows) {
          const event = readIndexed(row);
          visit(event);
          after = event.row;
        }
        isLast = rows.length < ROWS_PER_BATCH;
        await nextTurn();
      }
    } finally {
      connection.close();
    }
  }

  /** Visits the rows of one snapshot, and lets other requests run after each batch. */
  async #each<Row extends ColumnValues>(sql: string, visit: (row: Row) => void): Promise<void> {
    for await (const rows of this.batches<Row>(sql, [])) {
      for (const row of rows) visit(row);
      await nextTurn();
    }
  }

  /** Yields the rows of one snapshot in batches, each row as an array: far cheaper than an object. */
  async *batches<Row extends ColumnValues>(
    sql: string,
    parameters: readonly string[],
  ): AsyncGenerator<Row[]> {
    const connection = translated(() => openForReading(this.#path));
    try {
      const rows = translated(() => {
        const statement = connection.prepare(sql);
        statement.setReturnArrays(true);
        return statement.iterate(...parameters);
      });
      for (;;) {
        const batch = translated(() => take<Row>(rows));
        if (batch.length > 0) yield batch;
        if (batch.length < ROWS_PER_BATCH) return;
      }
    } finally {
      connection.close();
    }
  }

  close(): void {
    this.connection.close();
  }
}

/** Bytes of the file that deletes have freed, for new rows. */
export function freeBytesIn(database: DatabaseSync): number {
  const value = (pragma: string) => Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get()!)[0]);
  return value('freelist_count') * value('page_size');
}

/** Reads a setting, even while another process uses the file; undefined if there is none yet. */
export function findStoredSetting(path: string, name: string): string | undefined {
  try {
    const found = readDatabase(path, (database) => database.prepare(FIND_SETTING).get(name));
    return found?.value as string | undefined;
  } catch {
    return undefined; // the table may not exist yet; any other problem is reported when the store is opened
  }
}

/** Throws StartError if a move into this database was started but not finished. */
export function requireFinishedMove(path: string): void {
  const source = findStoredSetting(path, UNFINISHED_MOVE);
  if (source !== undefined) throw unfinishedMove(`The database ${path}`, source);
}

function take<Row>(rows: Iterator<unknown>): Row[] {
  const batch: Row[] = [];
  while (batch.length < ROWS_PER_BATCH) {
    const next = rows.next();
    if (next.done) break;
    batch.push(next.value as Row);
  }
  return batch;
}

function translated<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw unavailable(error);
  }
}

function unavailable(cause: unknown): AppError {
  return new AppError('UNAVAILABLE', 'The store could not be read. Retry.', { cause });
}
