// Creates events. Those that arrive while others are being created share the next statement, and so one commit, which takes far
// less of the database's time. A shared statement never waits for locks of an agent, so that one agent cannot delay the creates of
// others. Whatever it leaves out is created alone.
import { AppError } from '../domain/errors.ts';
import { EVENT_COLUMNS, type EventRow, encodeEvent } from '../domain/events/event.ts';
import { WORDS_VERSION } from '../domain/events/words.ts';
import type { CreateOutcome } from '../domain/store.ts';
import { toWire } from '../domain/wire.ts';
import { type Distribution, Metrics, queueMetrics } from '../metrics/metrics.ts';
import { noConnection } from './client/concurrency-limit.ts';
import type { Database, Statements } from './client/database.ts';
import { codeOf } from './client/errors.ts';
import { LOCK } from './events.ts';
import { TYPES } from './records.ts';
import { tokenizer, wordsFrom, wordsText } from './words.ts';

/** Error codes of PostgreSQL; the last two are our own, raised by create_event. */
const FOREIGN_KEY_VIOLATION = '23503';
const EVENT_LIMIT = 'LE001';
const SIZE_LIMIT = 'LE002';

/** Maximum number of events that are created alone at a time, before further ones share statements. */
const MAX_ALONE = 2;

/** Maximum number of events in a shared statement, for each connection of the pool. All of them wait if the statement is slow. */
const SHARED_PER_CONNECTION = 2;

/** Maximum time that a shared statement waits for a writer that does not take our advisory locks, such as an import. */
const LOCK_TIMEOUT_MS = 100;

/**
 * Size of PostgreSQL's list of new words, in kilobytes, at which a shared statement moves them into the index. At the default of 4 MB that
 * takes 230 ms, and everybody would wait for it.
 */
const PENDING_WORDS_KB = 512;

/** Events whose JSON is longer are created alone, because storing their words takes long. */
const MAX_SHARED_CHARS = 16_384;

const COLUMNS = EVENT_COLUMNS.filter(([name]) => name !== 'version');
const OWNER_AT = `$${COLUMNS.findIndex(([name]) => name === 'agent_id') + 1}`;

/**
 * Calls create_event. Its parameters are the columns of a new event in order, its JSON, the agent's two limits, and the words.
 *
 * Who may run at the same time: any number of creates, because the advisory lock of the agent is taken shared; no change or delete of an
 * event of the agent, because these take it exclusively. Without the lock, a change could hold the agent's row and wait for a title that
 * this create has inserted, while this create waits for the agent's row: a deadlock.
 * Why it is right: of two creates of equal events, the unique index makes the second wait for the first, and create_event then returns
 * what the first has stored. The agent's counts are updated in the same transaction.
 *
 * PostgreSQL could call create_event before it takes the lock. So a parameter of create_event needs the result of taking it: that result
 * is always the empty text, and is appended to the JSON.
 */
const CREATE_ALONE = `SELECT created.* FROM (
  SELECT pg_advisory_xact_lock_shared(${LOCK}, hashtext(${OWNER_AT}::uuid::text))::text AS nothing OFFSET 0
) AS locked, LATERAL create_event(${[
  ...COLUMNS.map(([, kind], at) => `$${at + 1}::${TYPES[kind]}`),
  `$${COLUMNS.length + 1}::text || nothing`,
  `$${COLUMNS.length + 2}::integer`,
  `$${COLUMNS.length + 3}::bigint`,
  `$${COLUMNS.length + 4}::text`,
  `${WORDS_VERSION}`,
].join(', ')}) AS created`;

const NAMES = COLUMNS.map(([name]) => name).join(', ');

/**
 * Creates the events of the first parameter; the next two are the limits of their agents. Returns the new events, and those that were
 * there already. It leaves out, and its caller creates alone: new events of an agent that is being changed, near a limit or unknown;
 * all but one of equal events; events that another node is creating.
 *
 * Who may run at the same time: creates of other agents, and reads. The agent's advisory lock is taken exclusively, but never waited for:
 * an agent that is busy elsewhere is left out. So the caller sends no events of agents for whom it is creating one alone.
 * Why it is right: all parts see one snapshot. An event that was stored after it is not in `existing`, but the unique index finds it: ON
 * CONFLICT DO NOTHING returns no row, so the event is left out. Counts are those of the rows that were inserted. The agent's row
 * is locked before its limits are read, so that two statements cannot both use the last room.
 *
 * Existing events are looked up as the next ones in the order of events_identity. Tried and rejected: comparing with =, for which
 * PostgreSQL chose an index by agent and start and read every event of the agent with that start (160,404 events in one test; a test of
 * thousands of equal starts took 48 s instead of 7.6 s).
 */
const CREATE_SHARED = `WITH sent AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::text::json)
      AS sent (${COLUMNS.map(([name, kind]) => `${name} ${TYPES[kind]}`).join(', ')}, json text, words text)
  ), existing AS MATERIALIZED (
    SELECT sent.event_id AS sent_id, next.event_id, next.version, next.json FROM sent, LATERAL (
      SELECT * FROM events
        WHERE (agent_id, start_ms, lat, lng, title) >= (sent.agent_id, sent.start_ms, sent.lat, sent.lng, sent.title)
        ORDER BY agent_id, start_ms, lat, lng, title LIMIT 1
    ) AS next WHERE (next.agent_id, next.start_ms, next.lat, next.lng, next.title)
      = (sent.agent_id, sent.start_ms, sent.lat, sent.lng, sent.title)
  ), missing AS MATERIALIZED (
    SELECT * FROM sent WHERE event_id NOT IN (SELECT sent_id FROM existing)
  ), owners AS MATERIALIZED (
    SELECT agent_id, count(*) AS events, sum(octet_length(json)) AS bytes FROM missing GROUP BY agent_id
  ), locked AS MATERIALIZED (
    SELECT * FROM owners WHERE pg_try_advisory_xact_lock(${LOCK}, hashtext(agent_id::text))
      AND set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', true) <> ''
      AND set_config('gin_pending_list_limit', '${PENDING_WORDS_KB}', true) <> ''
  ), allowed AS MATERIALIZED (
    SELECT agent.* FROM locked, LATERAL (
      SELECT agent_id FROM agents WHERE agent_id = locked.agent_id
        AND ($2::integer = 0 OR event_count + events <= $2::integer)
        AND ($3::bigint = 0 OR event_bytes + bytes <= $3::bigint)
      FOR NO KEY UPDATE SKIP LOCKED
    ) AS agent
  ), created AS (
    INSERT INTO events (${NAMES}, version, json, words, words_by)
      SELECT ${NAMES}, 1, json, ${wordsFrom('words')}, ${WORDS_VERSION} FROM missing JOIN allowed USING (agent_id)
      ON CONFLICT DO NOTHING RETURNING event_id, agent_id, octet_length(json) AS bytes
  ), counted AS (
    UPDATE agents SET event_count = event_count + added.events, event_bytes = event_bytes + added.bytes
      FROM (SELECT agent_id, count(*) AS events, sum(bytes) AS bytes FROM created GROUP BY agent_id) AS added
      WHERE agents.agent_id = added.agent_id
  )
  SELECT event_id AS sent_id, event_id, NULL AS version, NULL AS json FROM created UNION ALL SELECT * FROM existing`;

/** A row of create_event; the other columns are null for a new event. */
interface CreatedAlone {
  readonly kind: 'created' | 'existing';
  readonly found_id: string;
  readonly found_version: number;
  readonly found_json: string;
}

/** A row of CREATE_SHARED: the event with the ID that was sent, or the one that was there instead. */
interface CreatedShared {
  readonly sent_id: string;
  readonly event_id: string;
  /** The next two are null for a new event. */
  readonly version: number;
  readonly json: string;
}

/** Values of a new event's columns, its JSON, and its words as a parameter. */
interface NewEvent {
  readonly row: EventRow;
  readonly json: string;
  readonly words: string;
}

/** The maximum number and bytes of an agent's events; 0 is none. */
type Limits = readonly [events: number, bytes: number];

interface Waiting extends NewEvent {
  readonly limits: Limits;
  readonly sinceMs: number;
  /** Refuses it. */
  readonly timer: NodeJS.Timeout;
  /** Undefined: to be created alone. */
  readonly outcome: PromiseWithResolvers<CreateOutcome | undefined>;
}

export class EventCreation {
  readonly #database: Database;
  readonly #maxShared: number;
  #waiting: Waiting[] = [];
  readonly #waits: Distribution;
  /** Number of events that are being created alone. */
  #alone = 0;
  /** The same by agent: a shared statement would leave out other events of these agents. */
  readonly #aloneOf = new Map<string, number>();
  #isSharing = false;

  constructor(database: Database) {
    this.#database = database;
    const { poolSize, metrics = new Metrics() } = database.limits;
    this.#maxShared = SHARED_PER_CONNECTION * poolSize;
    this.#waits = queueMetrics(metrics, 'creates', () => this.#waiting.length);
  }

  create(row: EventRow, ...limits: Limits): Promise<CreateOutcome> {
    return this.#database.operation(async (statements) => {
      const event = { row, json: encodeEvent(row), words: wordsText(await tokenizer.wordsOf(row)) };
      const isLarge = event.json.length > MAX_SHARED_CHARS;
      const isQuiet = !this.#isSharing && this.#waiting.length === 0 && this.#alone < MAX_ALONE;
      const shared = isLarge || isQuiet ? undefined : await this.#share(statements, event, limits);
      return shared ?? this.#createAlone(statements, event, limits);
    });
  }

  async #createAlone(statements: Statements, event: NewEvent, limits: Limits): Promise<CreateOutcome> {
    const { agent_id } = event.row;
    this.#alone++;
    this.#aloneOf.set(agent_id, (this.#aloneOf.get(agent_id) ?? 0) + 1);
    try {
      return await createAlone(statements, event, limits);
    } finally {
      this.#alone--;
      const count = this.#aloneOf.get(agent_id)! - 1;
      if (count > 0) this.#aloneOf.set(agent_id, count);
      else this.#aloneOf.delete(agent_id);
      if (!this.#isSharing) void this.#createWaiting(statements);
    }
  }

  #share(statements: Statements, event: NewEvent, limits: Limits): Promise<CreateOutcome | undefined> {
    const outcome = Promise.withResolvers<CreateOutcome | undefined>();
    const timer = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      outcome.reject(noConnection());
    }, this.#database.limits.poolTimeoutMs);
    const waiting = { ...event, limits, sinceMs: performance.now(), timer, outcome };
    this.#waiting.push(waiting);
    if (!this.#isSharing) void this.#createWaiting(statements);
    return outcome.promise;
  }

  async #createWaiting(statements: Statements): Promise<void> {
    this.#isSharing = true;
    for (let events = this.#takeWaiting(); events.length > 0; events = this.#takeWaiting()) {
      try {
        const outcomes = await createShared(statements, events, events[0]!.limits);
        for (const { row, outcome } of events) outcome.resolve(outcomes.get(row.event_id));
      } catch (error) {
        // One event may have failed the statement, so each is created alone. Not after a refusal, which would meet each of them again.
        const isRefused = error instanceof AppError;
        for (const { outcome } of events) isRefused ? outcome.reject(error) : outcome.resolve(undefined);
      }
    }
    this.#isSharing = false;
  }

  /** Takes the next waiting events that can share a statement: of agents for whom nothing is created alone, all with the same limits. */
  #takeWaiting(): readonly Waiting[] {
    const taken: Waiting[] = [];
    const passed: Waiting[] = [];
    for (const event of this.#waiting) {
      if (taken.length === this.#maxShared) break;
      const isFree = !this.#aloneOf.has(event.row.agent_id);
      const isTaken = isFree && (taken.length === 0 || isSame(event.limits, taken[0]!.limits));
      (isTaken ? taken : passed).push(event);
    }
    this.#waiting = [...passed, ...this.#waiting.slice(taken.length + passed.length)];
    for (const { timer, sinceMs } of taken) {
      clearTimeout(timer);
      this.#waits.observe((performance.now() - sinceMs) / 1_000);
    }
    return taken;
  }
}

function isSame(a: Limits, b: Limits): boolean {
  return a[0] === b[0] && a[1] === b[1];
}

async function createShared(
  statements: Statements,
  events: readonly NewEvent[],
  limits: Limits,
): Promise<ReadonlyMap<string, CreateOutcome>> {
  const sent = events.map(({ row, json, words }) => ({
    ...Object.fromEntries(COLUMNS.map(([name]) => [name, row[name]])),
    json,
    words,
  }));
  const jsonOf = new Map(events.map(({ row, json }) => [row.event_id, json]));
  const found = await statements.run('repeatable write', (sql) =>
    sql.unsafe<CreatedShared[]>(CREATE_SHARED, [JSON.stringify(sent), ...limits], { prepare: true }),
  );
  return new Map(
    found.map(({ sent_id, event_id, version, json }) => [
      sent_id,
      // A retry finds the event that an earlier attempt created: it has the same ID.
      sent_id === event_id ? created(jsonOf.get(sent_id)!) : existing(version, json),
    ]),
  );
}

async function createAlone(
  statements: Statements,
  { row, json, words }: NewEvent,
  limits: Limits,
): Promise<CreateOutcome> {
  const values = [...COLUMNS.map(([name]) => row[name]), json, ...limits, words];
  try {
    const [found] = await statements.run('repeatable write', (sql) =>
      sql.unsafe<[CreatedAlone]>(CREATE_ALONE, values, { prepare: true }),
    );
    // As above, a retry may find its own event.
    if (found.kind === 'created' || found.found_id === row.event_id) return created(json);
    return existing(found.found_version, found.found_json);
  } catch (error) {
    if (codeOf(error) === EVENT_LIMIT) return { kind: 'limit' };
    if (codeOf(error) === SIZE_LIMIT) return { kind: 'size-limit' };
    if (codeOf(error) === FOREIGN_KEY_VIOLATION) return { kind: 'no-agent' };
    throw error;
  }
}

function created(json: string): CreateOutcome {
  return { kind: 'created', record: { version: 1, json: toWire(json) } };
}

function existing(version: number, json: string): CreateOutcome {
  return { kind: 'existing', record: { version, json: toWire(json) } };
}
