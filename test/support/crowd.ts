// Writes a large number of agents, one of them with a large number of events, into a store of either engine before a
// service opens it. The others may have events, too.
import { DatabaseSync } from 'node:sqlite';
import postgres from 'postgres';
import { type Config, readConfig } from '../../src/config.ts';
import { EVENT_DEFAULTS, EVENT_TYPES, type EventRow } from '../../src/domain/events/event.ts';
import { newUlid } from '../../src/domain/ids.ts';
import { openBulkWriter, openStore } from '../../src/engines.ts';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { systemRandom } from '../../src/system.ts';

const DAY_MS = 86_400_000;
const BATCH = 1_000;

export interface Crowd {
  readonly agents: number;
  /** Events of the last agent. */
  readonly events: number;
  /** Events of the others together, created during the last 30 days. */
  readonly othersEvents?: number;
}

/** Agents are named "Agent 0" and so on. Returns the ID of the last, which has the events; half of them have ended. */
export async function fillWithCrowd(
  env: Record<string, string>,
  crowd: Crowd,
  nowMs: number,
): Promise<string> {
  const config = readConfig(env);
  await (await openStore(config, nowMs)).close(); // creates the tables
  if (config.database) await addToPostgres(config.database.url, crowd.agents, nowMs);
  else addToSqlite(config, crowd.agents, nowMs);
  const agentId = agentIdOf(crowd.agents - 1);
  const { agents, events, othersEvents = 0 } = crowd;
  await addEvents(config, othersEvents, (number) => {
    const createdMs = nowMs - Math.round((30 * DAY_MS * (othersEvents - number)) / othersEvents);
    const title = `Concert ${number}`;
    return { ...eventOf(agentIdOf(number % (agents - 1)), number, othersEvents, nowMs, createdMs), title };
  });
  await addEvents(config, events, (number) =>
    eventOf(agentId, number, events, nowMs, nowMs - events + number),
  );
  return agentId;
}

function agentIdOf(number: number): string {
  return `${number.toString(16).padStart(8, '0')}-0000-7000-8000-000000000000`;
}

/** One agent per minute, each with its number; every third has been used. */
function addToSqlite(config: Config, count: number, nowMs: number): void {
  const database = new DatabaseSync(databasePath(config.dataDir));
  database
    .prepare(
      `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1 - 1)
       INSERT INTO agents (agent_id, email, agent_name, tier, is_active, created_ms, last_used_ms)
       SELECT printf('%08x-0000-7000-8000-000000000000', n), 'agent' || n || '@example.com', 'Agent ' || n,
         CASE n % 3 WHEN 0 THEN 'read' WHEN 1 THEN 'readwrite' ELSE 'admin' END, n % 10 <> 0,
         ?2 - (?1 - n) * 60000, CASE n % 3 WHEN 0 THEN ?2 - n * 1000 END
       FROM numbers`,
    )
    .run(count, nowMs);
  database.close();
}

async function addToPostgres(url: string, count: number, nowMs: number): Promise<void> {
  const sql = postgres(url, { max: 1 });
  await sql`
    INSERT INTO agents (agent_id, email, agent_name, tier, is_active, created_ms, last_used_ms)
    SELECT (lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000')::uuid, 'agent' || n || '@example.com',
      'Agent ' || n, CASE n % 3 WHEN 0 THEN 'read' WHEN 1 THEN 'readwrite' ELSE 'admin' END, n % 10 <> 0,
      ${nowMs}::bigint - (${count}::bigint - n) * 60000, CASE n % 3 WHEN 0 THEN ${nowMs}::bigint - n * 1000 END
    FROM generate_series(0, ${count}::bigint - 1) AS n`;
  await sql`ANALYZE agents`;
  await sql.end();
}

async function addEvents(config: Config, count: number, newRow: (number: number) => EventRow): Promise<void> {
  const writer = await openBulkWriter(config);
  for (let from = 0; from < count; from += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, count - from) }, (_, at) => newRow(from + at));
    await writer.createEvents(rows, 0);
  }
  await writer.close();
}

function eventOf(
  agent_id: string,
  number: number,
  count: number,
  nowMs: number,
  createdMs: number,
): EventRow {
  const start_ms = nowMs + (number - count / 2) * 60_000 - DAY_MS / 8;
  return {
    ...EVENT_DEFAULTS,
    event_id: newUlid(createdMs, systemRandom),
    agent_id,
    version: 1,
    created_ms: createdMs,
    updated_ms: createdMs,
    title: `Event ${number}`,
    description: 'One of very many, with a text of some length, so that a page is as heavy as pages are.',
    start_ms,
    timezone: 'Europe/Berlin',
    location_name: `House ${number % 100}`,
    address: `Street ${number % 1_000}`,
    lat: (number % 180) - 90,
    lng: (number % 360) - 180,
    url: `https://example.com/${number}`,
    event_type: EVENT_TYPES[number % EVENT_TYPES.length]!,
  };
}
