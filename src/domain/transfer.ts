// The port for moving all data from one engine to the other: the tables that both have, row by row, as plain values.
// It knows no rules of the service. The `move` command decides what is moved where, and when the move is finished.
import { createHash } from 'node:crypto';
import { type ColumnKind, EVENT_COLUMNS } from './events/event.ts';

/** Columns of grants, which deleted_grants has, too. */
const GRANT_COLUMNS = {
  grant_id: 'uuid',
  agent_id: 'uuid',
  key_hash: 'text',
  current_key_hash: 'text',
  client_id: 'text',
  client_name: 'text',
  client_host: 'text',
  scopes: 'text',
  created_ms: 'integer',
  last_used_ms: 'integer',
  code_hash: 'text',
  redirect_uri: 'text',
  code_challenge: 'text',
  code_expires_ms: 'integer',
  exchanged_ms: 'integer',
} as const satisfies Record<string, ColumnKind>;

/** The same of their tokens. */
const GRANT_TOKEN_COLUMNS = {
  token_hash: 'text',
  grant_id: 'uuid',
  kind: 'text',
  scopes: 'text',
  created_ms: 'integer',
  expires_ms: 'integer',
} as const satisfies Record<string, ColumnKind>;

/** Names of these columns, for statements. */
export const GRANT_COLUMN_LIST = Object.keys(GRANT_COLUMNS).join(', ');
export const GRANT_TOKEN_COLUMN_LIST = Object.keys(GRANT_TOKEN_COLUMNS).join(', ');

/** Every table with its columns, the key first. The order is such that no row refers to a row of a later table. */
export const TABLES = {
  settings: { name: 'text', value: 'text', expires_ms: 'integer' },
  agents: {
    agent_id: 'uuid',
    email: 'text',
    agent_name: 'text',
    tier: 'text',
    is_active: 'boolean',
    created_ms: 'integer',
    last_used_ms: 'integer',
    event_count: 'integer',
    event_bytes: 'integer',
  },
  keys: {
    key_hash: 'text',
    agent_id: 'uuid',
    prefix: 'text',
    created_ms: 'integer',
    expires_ms: 'integer',
    last_used_ms: 'integer',
  },
  oauth_clients: {
    client_id: 'text',
    registered_ms: 'integer',
    is_used: 'boolean',
    client_name: 'text',
    redirect_uris: 'text',
  },
  grants: GRANT_COLUMNS,
  grant_tokens: GRANT_TOKEN_COLUMNS,
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
    titles: 'text',
    undo: 'text',
    restored_ms: 'integer',
  },
  deleted_events: { ...Object.fromEntries(EVENT_COLUMNS), json: 'text', audit_id: 'integer' },
  deleted_agents: {
    audit_id: 'integer',
    agent_id: 'uuid',
    email: 'text',
    agent_name: 'text',
    tier: 'text',
    is_active: 'boolean',
    created_ms: 'integer',
    last_used_ms: 'integer',
  },
  deleted_keys: {
    key_hash: 'text',
    prefix: 'text',
    created_ms: 'integer',
    expires_ms: 'integer',
    last_used_ms: 'integer',
    audit_id: 'integer',
  },
  deleted_grants: { ...GRANT_COLUMNS, audit_id: 'integer' },
  deleted_grant_tokens: { ...GRANT_TOKEN_COLUMNS, audit_id: 'integer' },
} as const satisfies Record<string, Record<string, ColumnKind>>;

export type Table = keyof typeof TABLES;
export const TABLE_NAMES = Object.keys(TABLES) as Table[];

/** Names and kinds of the columns of a table, the key first. */
export function columnsOf(table: Table): [name: string, kind: ColumnKind][] {
  return Object.entries(TABLES[table]);
}

/** The first value of a row. Texts are ordered by their bytes, numbers by value. */
export type Key = string | number;

/** The values of a row in the order of the table's columns. */
export type Values = readonly (string | number | boolean | null)[];

/** One engine's data, used by no other process as far as the engine can tell. Every promise may reject with UNAVAILABLE. */
export interface TransferStore {
  /** Source of an unfinished move to this store. */
  findUnfinished(): Promise<string | undefined>;
  count(table: Table): Promise<number>;
  findLastKey(table: Table): Promise<Key | undefined>;
  /** Rows after the key, or all rows, ordered by key, in batches. */
  rows(table: Table, after?: Key): AsyncIterable<readonly Values[]>;

  /** Marks a move from `source` as unfinished and removes old settings, in one transaction. */
  begin(source: string): Promise<void>;
  /** Adds rows in one transaction, which survives a power cut. */
  write(table: Table, rows: readonly Values[]): Promise<void>;
  /** Makes the data ready to be served, then marks the move as finished. */
  finish(): Promise<void>;
  /** How an operator empties this store to start a move from the beginning. */
  readonly howToEmpty: string;

  close(): Promise<void>;
}

export interface Digest {
  readonly rows: number;
  readonly sha256: string;
}

/** Number and checksum of the rows. The size of the batches does not matter. */
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
