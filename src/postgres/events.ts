// Reads, changes and deletes single events. Creates are in event-creation.ts, searches in search.ts, lists in lists.ts.
import { EVENT_COLUMNS, type EventRow, encodeEvent } from '../domain/events/event.ts';
import { WORDS_VERSION, type Words } from '../domain/events/words.ts';
import type { FoundRecord, ReplaceOutcome } from '../domain/store.ts';
import { toWire } from '../domain/wire.ts';
import type { Statements } from './client/database.ts';
import type { Sql } from './client/driver.ts';
import { codeOf } from './client/errors.ts';
import { numberOf, TYPES, wireOf } from './records.ts';
import { tokenizer, wordsFrom, wordsText } from './words.ts';

const UNIQUE_VIOLATION = '23505';

/** Class of the advisory locks that let changes of one agent's events run one after the other. The second number is from the agent's ID. */
export const LOCK = 1701;

const REPLACED = EVENT_COLUMNS.filter(([name]) => name !== 'event_id' && name !== 'agent_id');

const [JSON_AT, ID_AT, VERSION_AT, OWNER_AT, MAX_BYTES_AT, WORDS_AT] = [1, 2, 3, 4, 5, 6].map(
  (at) => `$${REPLACED.length + at}`,
);

/**
 * Compare and set: updates the event only if its version is the one before, and if there is room for its growth. A trigger adds the
 * growth to the agent's sum.
 *
 * Who may run at the same time: reads, writes of other agents' events, and imports. No create, change or delete of an event
 * of the agent, because all of them take its advisory lock.
 * Why it is right: the snapshot is older than the lock, but `FOR UPDATE` reads the newest version of a row and tests the conditions
 * again. So an event that was changed or deleted meanwhile is not in `previous`, and nothing is replaced. `room` reads the agent's sum
 * in the same way, and keeps its row until the trigger has added the growth. The unique index finds an equal event.
 * Tried and rejected: without the advisory lock. A change that has locked an event and waits for the agent, and a delete that has locked the
 * agent and waits for the event, end in a deadlock (test/postgres/deadlock.test.ts).
 */
const REPLACE_EVENT = `WITH locked AS MATERIALIZED (SELECT pg_advisory_xact_lock(${LOCK}, hashtext(${OWNER_AT}::text))),
  previous AS MATERIALIZED (
    SELECT octet_length(json) AS bytes FROM events, locked
    WHERE event_id = ${ID_AT}::text AND version = ${VERSION_AT}::integer FOR UPDATE OF events
  ),
  room AS MATERIALIZED (
    SELECT 1 FROM agents, previous WHERE agent_id = ${OWNER_AT}::text::uuid AND (
      ${MAX_BYTES_AT}::bigint = 0 OR octet_length(${JSON_AT}::text) <= bytes
      OR event_bytes + octet_length(${JSON_AT}::text) - bytes <= ${MAX_BYTES_AT}::bigint
    ) FOR NO KEY UPDATE OF agents
  ),
  replaced AS (
    UPDATE events SET ${[
      ...REPLACED.map(([name, kind], at) => `${name} = $${at + 1}::${TYPES[kind]}`),
      `json = ${JSON_AT}::text`,
      `words = ${wordsFrom(`${WORDS_AT}::text`)}`,
      `words_by = ${-WORDS_VERSION}`, // negative: see check_event_words
    ].join(', ')} FROM room WHERE event_id = ${ID_AT}::text RETURNING 1
  )
  SELECT (SELECT count(*) FROM previous) AS found, (SELECT count(*) FROM replaced) AS replaced`;

function replaceValues(next: EventRow, json: string, maxBytes: number, words: Words): Value[] {
  const { event_id, version, agent_id } = next;
  const sent = REPLACED.map(([name]) => next[name]);
  return [...sent, json, event_id, version - 1, agent_id, maxBytes, wordsText(words)];
}

type Value = string | number | null;

export async function findEvent(statements: Statements, eventId: string): Promise<FoundRecord | undefined> {
  const [row] = await statements.run('repeatable', (sql) =>
    sql`SELECT version, json, updated_ms FROM events WHERE event_id = ${eventId}`.raw(),
  );
  if (!row) return undefined;
  const [version, json, updatedMs] = row;
  return { version: numberOf(version), json: wireOf(json), updatedMs: numberOf(updatedMs) };
}

export async function replaceEvent(
  statements: Statements,
  next: EventRow,
  maxBytes: number,
): Promise<ReplaceOutcome> {
  const json = encodeEvent(next);
  const values = replaceValues(next, json, maxBytes, await tokenizer.wordsOf(next));
  for (;;) {
    let hasRoom = true;
    try {
      const [{ found, replaced }] = await statements.run('once', (sql) =>
        sql.unsafe<[{ found: number; replaced: number }]>(REPLACE_EVENT, values, { prepare: true }),
      );
      if (replaced > 0) return { kind: 'replaced', record: { version: next.version, json: toWire(json) } };
      if (found === 0) return { kind: 'conflict' };
      hasRoom = false;
    } catch (error) {
      if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
    }
    // Also without room: a duplicate is reported first. If there is none after a violation, it was deleted meanwhile: try again.
    const id = await findDuplicate(statements, next);
    if (id !== undefined) return { kind: 'duplicate', id };
    if (!hasRoom) return { kind: 'size-limit' };
  }
}

/** ID of another event of the agent with the same title, start and place. */
async function findDuplicate(statements: Statements, event: EventRow): Promise<string | undefined> {
  const { agent_id, start_ms, lat, lng, title, event_id } = event;
  const [duplicate] = await statements.run(
    'repeatable',
    (sql) => sql<{ event_id: string }[]>`
      SELECT event_id FROM events WHERE agent_id = ${agent_id} AND start_ms = ${start_ms} AND lat = ${lat}
        AND lng = ${lng} AND title = ${title} AND event_id <> ${event_id}`,
  );
  return duplicate?.event_id;
}

/**
 * SQL: takes the agent's advisory lock, so that deletes and changes of its events run one after the other. Otherwise one that has
 * locked an event and waits for the agent could deadlock with one that has locked the agent and waits for the event.
 */
export function deletesLock(sql: Sql, agentId: string) {
  return sql`pg_advisory_xact_lock(${LOCK}::integer, hashtext(${agentId}))`;
}

/** Takes the locks of all agents that own these events in the table, and returns these agents. Everybody takes them in the same order. */
export async function lockDeletesOf(
  sql: Sql,
  eventIds: readonly string[],
  table: 'events' | 'deleted_events',
): Promise<ReadonlySet<string>> {
  const locked = await sql<{ agent_id: string }[]>`
    SELECT agent_id, pg_advisory_xact_lock(${LOCK}::integer, number) FROM (
      SELECT DISTINCT agent_id, hashtext(agent_id::text) AS number FROM ${sql(table)}
      WHERE event_id IN (SELECT value FROM json_array_elements_text(${JSON.stringify(eventIds)}::text::json) AS value)
      ORDER BY number
    ) AS locks`;
  return new Set(locked.map(({ agent_id }) => agent_id));
}

/**
 * Who may run at the same time, and why a deadlock is not possible: as for REPLACE_EVENT.
 * Why it is right: DELETE, too, reads the newest version of the row and tests the conditions again. So the version is compared with
 * that of the last change, and of two deletes only one gets the row and subtracts it from the agent's count. A trigger subtracts its bytes.
 */
export async function deleteEvent(
  statements: Statements,
  eventId: string,
  agentId: string,
  version?: number,
): Promise<boolean> {
  const { count } = await statements.run(
    'once',
    (sql) => sql`
      WITH locked AS MATERIALIZED (SELECT ${deletesLock(sql, agentId)}), gone AS (
        DELETE FROM events USING locked WHERE event_id = ${eventId} AND agent_id = ${agentId}
          AND version = coalesce(${version ?? null}::integer, version) RETURNING agent_id)
      UPDATE agents SET event_count = event_count - 1 FROM gone WHERE agents.agent_id = gone.agent_id`,
  );
  return count > 0;
}
