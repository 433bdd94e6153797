// Reads what a node needs to begin, to catch up after many changes, and to go on after a failover. Each is one transaction with one
// snapshot, from which polling continues. Words are read later, in no common snapshot.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Words } from '../../domain/events/words.ts';
import type { EventStorage } from '../../memory/event-lookup.ts';
import { INDEX_BYTES_PER_EVENT, type MemoryLoader } from '../../memory/event-memory.ts';
import type { IndexOptions, StoredWords } from '../../memory/memory-words.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { Database, OwnConnection } from '../client/database.ts';
import type { Sql } from '../client/driver.ts';
import { isRead, readWords } from '../words.ts';
import { MIN_REMEMBERED } from './applied-changes.ts';
import {
  ALL_EVENTS_CHANGED,
  type Change,
  type ChangedEvent,
  readAllEvents,
  readChanges,
  readChangesFrom,
  readDeletes,
  readEvents,
  readNewest,
  readState,
  readWordsAfter,
  writeIncarnation,
} from './changes.ts';
import { type CurrentEvent, LoadedEvents } from './loaded-events.ts';

/** Number of our advisory lock. Nodes load one after the other, so that not all of them search by SQL at once. */
const LOCK = 7_305_914_228;
const LOCK_PAUSE_MS = 200;
/** After this time a node loads without the lock: the node that has it may be stuck. */
const LOCK_PATIENCE_MS = 60_000;

/** Maximum number of changes that a node follows. With more, it loads all events again. */
const MAX_FOLLOWED = 250_000;
const EVENTS_PER_READ = 1_000;
const WORDS_PER_READ = 500;

/** Characters of texts that are split into words between two turns of the event loop. */
const CHARS_PER_TURN = 10_000;

export interface LoadOptions extends IndexOptions {
  readonly cacheBytes: number;
  readonly indexMaxBytes: number;
  readonly nowMs: number;
  readonly commonHistoryMs?: number | undefined;
  readonly metrics?: Metrics | undefined;
  readonly signal: AbortSignal;
}

/** Loads all events, or returns their number if the index would be too large. */
export async function load(
  { sql }: OwnConnection,
  options: LoadOptions,
  storageOf: (loaded: () => LoadedEvents) => EventStorage,
): Promise<LoadedEvents | number> {
  await forgetForeignLog(sql);
  await writeIncarnation(sql);
  const lockUntilMs = performance.now() + LOCK_PATIENCE_MS;
  for (;;) {
    const read = await inSnapshot(sql, async () => {
      const mayRead = (await takeLock(sql)) || performance.now() > lockUntilMs;
      return mayRead ? await readAll(sql, options, storageOf) : undefined;
    });
    if (typeof read === 'number') return read;
    await read?.loader.finish(options.signal);
    if (read) return read.events;
    await sleep(LOCK_PAUSE_MS);
  }
}

async function readAll(
  sql: Sql,
  options: LoadOptions,
  storageOf: (loaded: () => LoadedEvents) => EventStorage,
): Promise<Unfinished | number> {
  const state = await readState(sql);
  const { incarnation } = state;
  if (incarnation === undefined) throw new Error('the database server has restarted');
  const count = await countEvents(sql);
  if (count * INDEX_BYTES_PER_EVENT > options.indexMaxBytes) return count;
  const storage = storageOf(() => events);
  const events = new LoadedEvents(options, storage, { ...state, incarnation }, await readServer(sql));
  events.note(await readNewest(sql, MIN_REMEMBERED));
  return { events, loader: await events.load(count, options.nowMs, readAllEvents(sql)) };
}

/**
 * The words of all events, in batches; other work runs in between. `requireUse` throws to end it. `onRead` gets the ID of the last
 * event of each batch.
 */
export async function* loadWords(
  database: Database,
  requireUse: () => void,
  onRead: (lastId: string) => void,
): AsyncGenerator<StoredWords> {
  for (let last: string | undefined = ''; last !== undefined; ) {
    const after: string = last;
    const rows = await database.run('repeatable', (sql) => readWordsAfter(sql, after, WORDS_PER_READ));
    requireUse();
    const words: Words[] = [];
    let chars = 0;
    for (const { words: stored } of rows) {
      const found = readWords(stored);
      words.push(typeof found === 'string' ? found : await found);
      if (isRead(stored)) continue;
      chars += stored.length;
      if (chars < CHARS_PER_TURN) continue;
      await nextTurn();
      chars = 0;
    }
    yield { ids: rows.map(({ id }) => id), versions: rows.map(({ version }) => version), words };
    last = rows.at(-1)?.id;
    if (last !== undefined) onRead(last);
  }
}

interface Unfinished {
  readonly events: LoadedEvents;
  readonly loader: MemoryLoader;
}

/** Follows more changes than a poll returns. False if there are too many, or if the server has another history. */
export async function followMany({ sql }: OwnConnection, loaded: LoadedEvents): Promise<boolean> {
  const read = await inSnapshot(sql, async () => {
    const many = readDeletes(sql, loaded.snapshot, MAX_FOLLOWED + 1);
    const [state, { deletes, others }] = await Promise.all([readState(sql), many]);
    if (state.incarnation !== loaded.incarnation || state.horizon > loaded.snapshot.xmin) return undefined;
    if (deletes.reduce((sum, { count }) => sum + count, others) > MAX_FOLLOWED) return undefined;
    const changes = others === 0 ? [] : await collect(readChanges(sql, loaded.snapshot));
    return changes && { state, changes, deletes };
  });
  if (read) await loaded.follow(read.state, read.changes, read.deletes);
  return read !== undefined;
}

/**
 * Goes on with a server that may have lost the end of the history, or has another one: a promoted standby, or one that
 * crashed. Reads again every event that was changed in the part that may be lost, and every event that the server changed.
 * False if that part is longer than what this node remembers.
 */
export async function reconcile({ sql }: OwnConnection, loaded: LoadedEvents): Promise<boolean> {
  const applied = loaded.applied.all();
  if (applied.length === 0) return false;
  const read = await inSnapshot(sql, async () => {
    const state = await readState(sql);
    const { incarnation } = state;
    if (incarnation === undefined || (await readServer(sql)) !== loaded.server) return undefined;
    // A transaction that was open at the last snapshot may have begun before the oldest remembered change.
    const from = applied.reduce((least, { xid }) => (xid < least ? xid : least), loaded.snapshot.xmin);
    if (state.horizon > from) return undefined;
    const log = await collect(readChangesFrom(sql, from));
    if (!log || !hasCommonHistory(log, loaded)) return undefined;
    const inLog = new Set(log.map(({ eventId }) => eventId));
    const others = [...new Set(applied.map(({ eventId }) => eventId))].filter((id) => !inLog.has(id));
    return { state: { ...state, incarnation }, changes: [...log, ...(await readCurrent(sql, others))], log };
  });
  if (read) await loaded.reconcile(read.state, read.changes, read.log);
  return read !== undefined;
}

function hasCommonHistory(log: readonly ChangedEvent[], loaded: LoadedEvents): boolean {
  const keyOf = ({ xid, stamp }: Pick<Change, 'xid' | 'stamp'>) => `${xid} ${stamp}`;
  const keys = new Set(log.map(keyOf));
  return loaded.applied.commonHistory().every((change) => keys.has(keyOf(change)));
}

async function readCurrent(sql: Sql, eventIds: readonly string[]): Promise<CurrentEvent[]> {
  const current: CurrentEvent[] = [];
  for (let from = 0; from < eventIds.length; from += EVENTS_PER_READ) {
    const ids = eventIds.slice(from, from + EVENTS_PER_READ);
    const found = new Map((await readEvents(sql, ids)).map((read) => [read.event.id, read]));
    for (const eventId of ids) {
      const { event, words = '' } = found.get(eventId) ?? {};
      current.push({ eventId, event, words });
    }
  }
  return current;
}

/** All changes in one array. Undefined if there are too many, or one of them is of all events. */
async function collect(batches: AsyncIterable<ChangedEvent[]>): Promise<ChangedEvent[] | undefined> {
  const all: ChangedEvent[] = [];
  let isUseful = true;
  // Reads to the end in any case, so that the connection can go on.
  for await (const batch of batches) {
    isUseful &&=
      all.length + batch.length <= MAX_FOLLOWED &&
      batch.every(({ eventId }) => eventId !== ALL_EVENTS_CHANGED);
    if (isUseful) for (const change of batch) all.push(change);
  }
  return isUseful ? all : undefined;
}

/**
 * Runs work in a transaction with one snapshot. After an error, the connection must not be used again. Searches wait meanwhile, and on a
 * busy machine every response takes a while: so BEGIN is sent together with the first statements, and nobody waits for ROLLBACK.
 */
export async function inSnapshot<T>(sql: Sql, work: () => Promise<T>): Promise<T> {
  const begun = sql`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`.then(() => {});
  try {
    const [result] = await Promise.all([work(), begun]);
    return result;
  } finally {
    sql`ROLLBACK`.catch(() => {}); // it fails only if the connection was lost; then the next statement fails, too
  }
}

/** Removes entries that came with a dump of another server: those of transactions that this server has not had yet. */
async function forgetForeignLog(sql: Sql): Promise<void> {
  await sql`DELETE FROM event_changes WHERE xid >= pg_snapshot_xmax(pg_current_snapshot())`;
  await sql`DELETE FROM event_changes_horizon WHERE xid > pg_snapshot_xmax(pg_current_snapshot())`;
}

async function countEvents(sql: Sql): Promise<number> {
  const [row] = await sql<
    [{ count: number }]
  >`SELECT coalesce(sum(event_count), 0)::bigint AS count FROM agents`;
  return row.count;
}

async function readServer(sql: Sql): Promise<string> {
  const [row] = await sql<[{ server: string }]>`
    SELECT system_identifier || '/' || 'event_changes'::regclass::oid AS server FROM pg_control_system()`;
  return row.server;
}

/** Takes the lock until the end of the transaction. False if another node has it. */
async function takeLock(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ is_taken: boolean }]>`SELECT pg_try_advisory_xact_lock(${LOCK}) AS is_taken`;
  return row.is_taken;
}
