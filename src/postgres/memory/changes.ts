// Statements that read the log of changes, each together with the current rows of the changed events and the state of the
// server, from one snapshot. What to do with them is decided in node-events.ts.
import type { Readable } from 'node:stream';
import type { Audience, EventType, Status } from '../../domain/events/event.ts';
import type { Wire } from '../../domain/wire.ts';
import type { IndexedEvent } from '../../memory/index-mapping.ts';
import type { Sql } from '../client/driver.ts';
import { STORED_WORDS } from '../words.ts';
import { openOf, parseSnapshot, type Snapshot, unseen } from './snapshot.ts';

/** Settings of a session that polls: one plan, which looks up each change by its index and sorts nothing. Other plans took up to 700 ms. */
export const POLL_SETTINGS = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_material: 'off',
  enable_sort: 'off',
  extra_float_digits: '1', // so that coordinates are exact
};

/** Maximum number of changes that a poll returns; more are read by `readChanges`. */
export const MAX_POLLED = 2_000;

/** A poll returns JSON up to this length, because the next searches probably need it. Longer JSON is read when it is needed. */
const MAX_POLLED_JSON = 4_096;

/** The `event_id` of a change of all events. */
export const ALL_EVENTS_CHANGED = '';

/**
 * SQL: identifies the history that the server continues, as `value/table/start`; null on a server that has not written its value
 * yet. Restarts count, too: somebody may have restored files in between.
 */
export const INCARNATION = `(SELECT value || '/' || tableoid || '/' || extract(epoch FROM pg_postmaster_start_time())
  FROM event_changes_incarnation)`;

/** State of the server in the snapshot of a statement. */
export interface ServerState {
  readonly snapshot: Snapshot;
  /** Undefined if the server has none yet. */
  readonly incarnation: string | undefined;
  /** The log has every change of transactions from this one on. */
  readonly horizon: bigint;
}

/** An entry of the log. */
export interface Change {
  readonly xid: bigint;
  readonly eventId: string;
  /** No other entry of the log has it. */
  readonly stamp: string;
}

/**
 * An entry of the log with the event's current row. In a poll, the entry of a deletion has no row, even if an undo has brought the event
 * back: the undo has an entry of its own. The same poll returns that, too, because the undo is later than the deletion: a node that has not
 * seen the deletion has not seen the undo.
 */
export interface ChangedEvent extends Change {
  readonly event: StoredEvent | undefined;
  /** As `readWords` takes them; empty if it was deleted. */
  readonly words: string;
  /** Undefined if it was deleted, or its JSON is to be read when it is needed. */
  readonly json?: Wire | undefined;
}

/** An event with its words, as `readWords` takes them. */
export interface ReadEvent {
  readonly event: StoredEvent;
  readonly words: string;
}

/** An event as the index needs it, without the number that the node gives to a change. */
export type StoredEvent = Omit<IndexedEvent, 'row'>;

/** Columns that `toEvent` takes, in this order. */
const INDEXED_COLUMNS =
  'event_id, version, start_ms, end_ms, lat, lng, event_type, audience, status, updated_ms, timezone, agent_id';

const STATE = `pg_current_snapshot()::text, ${INCARNATION}, (SELECT xid::text FROM event_changes_horizon), pg_is_in_recovery()`;
const STATE_COLUMNS = 4;

/** SQL: the changes with the rows of their events, if `condition` is true. `OFFSET 0` keeps the planner from joining in another order. */
const withEvents = (changes: string, json = 'NULL', condition = 'true') => `${changes} AS changed
  LEFT JOIN LATERAL (
    SELECT ${json} AS json, ${STORED_WORDS} AS words, ${INDEXED_COLUMNS} FROM events WHERE event_id = changed.event_id AND ${condition} OFFSET 0
  ) AS event ON true`;
const CHANGED_COLUMNS = 'changed.xid::text, changed.event_id, changed.stamp, event.*';

const POLLED_JSON = `CASE WHEN octet_length(json) <= ${MAX_POLLED_JSON} THEN json END`;
/** If nothing has changed, a single row has only the state. */
const POLL = `SELECT ${STATE}, ${CHANGED_COLUMNS} FROM (SELECT 1) AS one LEFT JOIN (
    ${withEvents(`(SELECT * FROM ${unseen('$1::text', '$2::text')} AS unseen LIMIT ${MAX_POLLED + 1})`, POLLED_JSON, 'NOT changed.is_delete')}
  ) ON true`;

export interface Poll {
  readonly state: ServerState;
  /** Undefined if there are more than MAX_POLLED. */
  readonly changes: readonly ChangedEvent[] | undefined;
}

/** The changes since the snapshot. One plain statement: a function could see several snapshots. Throws on a standby. */
export async function poll(sql: Sql, since: Snapshot): Promise<Poll> {
  const found = await sql.unsafe(POLL, [String(since.xmax), openOf(since)], { prepare: true }).raw();
  const rows = found as unknown as readonly (readonly (Buffer | null)[])[];
  const state = toState(rows[0]!.map(textOf));
  if (rows.length > MAX_POLLED) return { state, changes: undefined };
  const isEmpty = rows[0]![STATE_COLUMNS] === null;
  const changes = isEmpty ? [] : rows.map((row) => toChange(row.slice(STATE_COLUMNS).map(textOf)));
  return { state, changes };
}

/** The state in the snapshot of a transaction. Throws on a standby. */
export async function readState(sql: Sql): Promise<ServerState> {
  const [row] = await sql.unsafe(`SELECT ${STATE}`).raw();
  return toState((row as unknown as readonly (Buffer | null)[]).map(textOf));
}

/** Gives the server a value for its incarnation, if it has none. */
export async function writeIncarnation(sql: Sql): Promise<void> {
  await sql`INSERT INTO event_changes_incarnation DEFAULT VALUES ON CONFLICT DO NOTHING`;
}

/** All changes since this snapshot except deletions. To be called in a transaction, which has a later snapshot. */
export function readChanges(sql: Sql, since: Snapshot): AsyncGenerator<ChangedEvent[]> {
  return readLog(sql, unseenSince(since, 'NOT is_delete'));
}

/** Events that a transaction deleted. */
export interface Deletes {
  readonly xid: bigint;
  readonly count: number;
  /** Separated by commas, as bytes: for a string of this length V8 would collect garbage while searches wait. */
  readonly eventIds: Buffer;
  /** Of one of the deletions: a server that has its entry has the whole transaction. */
  readonly stamp: string;
}

/**
 * Returns the deletions among the first `limit` changes since the snapshot, and the number of other changes among them. To be called in
 * the transaction that then reads these others.
 */
export async function readDeletes(
  sql: Sql,
  since: Snapshot,
  limit: number,
): Promise<{ deletes: Deletes[]; others: number }> {
  // A row for each transaction: a row for each deletion would take four times as long.
  const found = await sql
    .unsafe(
      `SELECT xid::text, is_delete, count(*), string_agg(event_id, ',') FILTER (WHERE is_delete) AS ids, min(stamp)::text AS stamp
     FROM (SELECT * FROM ${unseenSince(since)} AS unseen LIMIT ${limit}) AS first GROUP BY first.xid, is_delete`,
    )
    .raw();
  const deletes: Deletes[] = [];
  let others = 0;
  for (const [xid, isDelete, count, eventIds, stamp] of found as unknown as readonly (readonly Buffer[])[]) {
    if (String(isDelete) === 'f') others += Number(count);
    else
      deletes.push({
        xid: BigInt(String(xid)),
        count: Number(count),
        eventIds: eventIds!,
        stamp: String(stamp),
      });
  }
  return { deletes, others };
}

function unseenSince(since: Snapshot, condition?: string): string {
  return unseen(`'${since.xmax}'`, `'${openOf(since)}'`, condition);
}

/** All changes, also deletions, of transactions from this one on. */
export function readChangesFrom(sql: Sql, xid: bigint): AsyncGenerator<ChangedEvent[]> {
  return readLog(sql, `(SELECT xid, event_id, stamp FROM event_changes WHERE xid >= '${xid}'::xid8)`);
}

/** The newest entries of the log, oldest first. */
export async function readNewest(sql: Sql, count: number): Promise<Change[]> {
  const rows = await sql<{ xid: string; event_id: string; stamp: string }[]>`
    SELECT xid::text, event_id, stamp::text FROM event_changes ORDER BY event_changes.xid DESC LIMIT ${count}`;
  return rows.map(({ xid, event_id, stamp }) => ({ xid: BigInt(xid), eventId: event_id, stamp })).reverse();
}

/** All events. */
export async function* readAllEvents(sql: Sql): AsyncGenerator<StoredEvent[]> {
  for await (const lines of copy(sql, `SELECT ${INDEXED_COLUMNS} FROM events`)) yield lines.map(toEvent);
}

/** The words of the next `limit` events in the order of their IDs. */
export async function readWordsAfter(sql: Sql, eventId: string, limit: number): Promise<ReadWords[]> {
  const found = await sql
    .unsafe(
      `SELECT event_id, version, ${STORED_WORDS} FROM events WHERE event_id > $1 ORDER BY event_id LIMIT ${limit}`,
      [eventId],
    )
    .raw();
  return (found as unknown as readonly (readonly (Buffer | null)[])[]).map((row) => {
    const [id, version, words] = row.map(textOf);
    return { id: id!, version: Number(version), words: words! };
  });
}

/** Words as `readWords` takes them. */
interface ReadWords {
  readonly id: string;
  readonly version: number;
  readonly words: string;
}

/** These events, as far as they exist. */
export async function readEvents(sql: Sql, eventIds: readonly string[]): Promise<ReadEvent[]> {
  const found = await sql
    .unsafe(
      `SELECT ${STORED_WORDS}, ${INDEXED_COLUMNS} FROM events WHERE event_id = ANY (string_to_array($1::text, ','))`,
      [eventIds.join(',')],
    )
    .raw();
  return (found as unknown as readonly (readonly (Buffer | null)[])[]).map((row) => {
    const [words, ...columns] = row.map(textOf);
    return { event: toEvent(columns), words: words! };
  });
}

async function* readLog(sql: Sql, changes: string): AsyncGenerator<ChangedEvent[]> {
  for await (const lines of copy(sql, `SELECT ${CHANGED_COLUMNS} FROM ${withEvents(changes)}`))
    yield lines.map(toChange);
}

type Texts = readonly (string | null)[];

/** Rows of a query in batches. No column may have characters that COPY would escape, so JSON is left out. */
async function* copy(sql: Sql, query: string): AsyncGenerator<Texts[]> {
  const stream: Readable = await sql.unsafe(`COPY (${query}) TO STDOUT`).readable();
  let rest = '';
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop()!;
    yield lines.map((line) => line.split('\t').map((text) => (text === '\\N' ? null : text)));
  }
}

function toState([snapshot, incarnation, horizon, isStandby]: Texts): ServerState {
  if (isStandby !== 'f') throw new NotPrimary('the server is a standby');
  return {
    snapshot: parseSnapshot(snapshot!),
    incarnation: incarnation ?? undefined,
    horizon: BigInt(horizon ?? 0),
  };
}

class NotPrimary extends Error {
  readonly code = '25006';
}

function toChange([xid, eventId, stamp, json, words, ...columns]: Texts): ChangedEvent {
  const [id] = columns;
  return {
    json: (json ?? undefined) as Wire | undefined,
    words: words ?? '',
    xid: BigInt(xid!),
    eventId: eventId!,
    stamp: stamp!,
    event: id === null ? undefined : toEvent(columns),
  };
}

function toEvent(columns: Texts): StoredEvent {
  const [id, version, startMs, endMs, lat, lng, type, audience, status, updatedMs, timezone, agentId] =
    columns;
  return {
    id: id!,
    version: Number(version),
    startMs: Number(startMs),
    endMs: endMs === null ? null : Number(endMs),
    lat: Number(lat),
    lng: Number(lng),
    type: type as EventType,
    audience: audience as Audience,
    status: status as Status,
    updatedMs: Number(updatedMs),
    timezone: timezone!,
    agentId: agentId!,
  };
}

function textOf(bytes: Buffer | null): string | null {
  return bytes === null ? null : bytes.toString('latin1');
}
