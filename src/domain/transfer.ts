// The port for moving everything from one engine to the other: the tables that both have, row by row, as plain values.
// It knows no rule of the service; which vault is moved where, and when that is over, is decided by the command.
import { createHash } from 'node:crypto';
import { StartError } from './errors.ts';
import { type ColumnKind, EVENT_COLUMNS } from './event.ts';

/** Every table with its columns, the key first, in an order in which no row refers to one that comes later. */
export const TABLES = {
  settings: { name: 'text', value: 'text' },
  agents: {
    agent_id: 'uuid',
    email: 'text',
    agent_name: 'text',
    tier: 'text',
    is_active: 'boolean',
    created_ms: 'integer',
    last_used_ms: 'integer',
    event_count: 'integer',
  },
  keys: {
    key_hash: 'text',
    agent_id: 'uuid',
    prefix: 'text',
    created_ms: 'integer',
    expires_ms: 'integer',
  },
  events: { ...Object.fromEntries(EVENT_COLUMNS), json: 'text' },
  audit: {
    audit_id: 'integer',
    at_ms: 'integer',
    actor_subject: 'text',
    actor_email: 'text',
    action: 'text',
    target: 'text',
    target_name: 'text',
    detail: 'text',
    count: 'integer',
  },
  ended_sessions: { session_id: 'text', expires_ms: 'integer' },
} as const satisfies Record<string, Record<string, ColumnKind>>;

export type Table = keyof typeof TABLES;
export const TABLE_NAMES = Object.keys(TABLES) as Table[];

/** Names and kinds of the columns of a table, the key first. */
export function columnsOf(table: Table): [name: string, kind: ColumnKind][] {
  return Object.entries(TABLES[table]);
}

/** The first value of a row; in the order of its bytes, or of the number. */
export type Key = string | number;

/** The values of a row in the order of the table's columns. */
export type Values = readonly (string | number | boolean | null)[];

/** The setting that a vault has while a move into it is under way; its value names the source. It is no row of the move. */
export const UNFINISHED_MOVE = 'unfinished_move';

/** What whoever would serve or use half of the data is told. */
export function unfinishedMove(place: string, source: string): StartError {
  return new StartError(
    `${place} holds a part of the data of ${source}: a move was not finished. Run the same "move" again to finish it.`,
  );
}

/** One engine's data, held by this process alone as far as the engine can tell. Every promise may reject with UNAVAILABLE. */
export interface TransferStore {
  /** Where the data comes from, if a move into this vault has begun and not ended. */
  findUnfinished(): Promise<string | undefined>;
  count(table: Table): Promise<number>;
  findLastKey(table: Table): Promise<Key | undefined>;
  /** Rows after the key, or all, in the order of keys; some at a time. */
  rows(table: Table, after?: Key): AsyncIterable<readonly Values[]>;

  /** Notes that a move from there is under way, and drops settings and ended sessions of before, in one step. */
  begin(source: string): Promise<void>;
  /** Adds rows in one step that survives a power cut. */
  write(table: Table, rows: readonly Values[]): Promise<void>;
  /** Makes all ready to be served, and notes at last that the move is over. */
  finish(): Promise<void>;
  /** What an operator does to begin a move anew. */
  readonly howToEmpty: string;

  close(): Promise<void>;
}

export interface Digest {
  readonly rows: number;
  readonly sha256: string;
}

/** The number and the checksum of rows, the same for the same rows in whatever portions they come. */
export async function digest(
  batches: AsyncIterable<readonly Values[]>,
  onRows: (count: number) => void,
): Promise<Digest> {
  const hash = createHash('sha256');
  let rows = 0;
  for await (const batch of batches) {
    for (const values of batch) hash.update(`${JSON.stringify(values)}\n`);
    rows += batch.length;
    onRows(batch.length);
  }
  return { rows, sha256: hash.digest('hex') };
}
