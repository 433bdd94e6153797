// Pages of an agent with many events, by start: what they read (entries of one index, and the events of the page), and their
// totals.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type EventListQuery, WHENS } from '../../src/domain/administration/list.ts';
import { eventPageStatement } from '../../src/postgres/list-statements.ts';
import { newMigratedDatabase, type TestSql, withSql } from '../cli/moving.ts';
import { NOW_MS } from '../store/rows.ts';

const AGENT = '0197d2e8-9a40-7c55-8f3e-000000000001';
const LARGE = '0197d2e8-9a40-7c55-8f3e-000000000002';

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly Plan[];
}

function* scansOf(plan: Plan): Generator<string> {
  const { 'Node Type': type, 'Relation Name': relation, 'Index Name': index, Plans = [] } = plan;
  if (relation === 'events') yield `${type} ${index}`;
  for (const part of Plans) yield* scansOf(part);
}

describe('a page of an agent’s events by start', () => {
  let url: string;
  before(async () => {
    url = await newMigratedDatabase();
    await withSql(url, async (sql) => {
      await sql.unsafe(`
        INSERT INTO agents SELECT id::uuid, 'a@example.com', 'a', 'read', true, 1, NULL, events
          FROM (VALUES ('${AGENT}', 20000), ('${LARGE}', 30000)) AS new (id, events);
        INSERT INTO events (event_id, agent_id, version, title, start_ms, lat, lng, audience, event_type, timezone, status, updated_ms, json)
          SELECT lpad(n::text, 26, '0'), CASE WHEN n <= 20000 THEN '${AGENT}' ELSE '${LARGE}' END::uuid, 1, n::text,
            ${NOW_MS} + ((CASE WHEN n <= 20000 THEN n ELSE n - 20000 END) - 10000) * 60000::bigint, 1, 1, 'all', 'talk', 'UTC', 'scheduled', 0,
            to_json(repeat('x', 300))
          FROM generate_series(1, 50000) n`);
      await sql.unsafe('VACUUM ANALYZE events');
    });
  });

  /** The plan that a node gets: it must fit all parameters. */
  const explain = async (sql: TestSql, agentId: string, query: EventListQuery) => {
    const { text, values } = eventPageStatement(agentId, query, NOW_MS);
    const literals = values.map((value) => (typeof value === 'string' ? `'${value}'` : value));
    await sql.unsafe(
      'SET plan_cache_mode = force_generic_plan; SET jit = off; SET max_parallel_workers_per_gather = 0',
    );
    await sql.unsafe(`PREPARE page AS ${text}`);
    const [row] = await sql.unsafe(`EXPLAIN (FORMAT JSON) EXECUTE page (${literals.join(', ')})`);
    return [...new Set(scansOf(row!['QUERY PLAN'][0].Plan as Plan))].sort();
  };

  it('has the exact total, whether the upcoming events are few or many', async () => {
    // Minutes after the first event, at which ever more of the 30,000 events have ended.
    for (const minutes of [0, 10_000, 16_000, 29_000, 40_000]) {
      const nowMs = NOW_MS + (minutes - 10_000) * 60_000;
      const [counted] = await withSql(
        url,
        (sql) => sql`SELECT count(*) AS all, count(*) FILTER (WHERE ends_ms <= ${nowMs}) AS past,
          count(*) FILTER (WHERE ends_ms > ${nowMs}) AS upcoming FROM events WHERE agent_id = ${LARGE}`,
      );
      for (const when of WHENS) {
        const sort = { key: 'start_at', descending: false } as const;
        const { text, values } = eventPageStatement(
          LARGE,
          { q: '', when, sort, after: undefined, limit: 1 },
          nowMs,
        );
        const [row] = await withSql(url, (sql) => sql.unsafe(text, [...values]));
        assert.equal(Number(row!.total), Number(counted![when]), `${when} after ${minutes} minutes`);
      }
    }
  });

  for (const when of WHENS) {
    for (const descending of [false, true]) {
      it(`reads ${when} events from the index: ${descending ? 'descending' : 'ascending'}`, async () => {
        const sort = { key: 'start_at', descending } as const;
        const middleMs = NOW_MS + (when === 'past' ? -5_000 : 5_000) * 60_000;
        for (const agentId of [AGENT, LARGE]) {
          for (const after of [undefined, { value: middleMs, id: '01' }]) {
            const query = { q: '', when, sort, after, limit: 30 };
            const scans = await withSql(url, (sql) => explain(sql, agentId, query));
            assert.deepEqual(scans, ['Index Only Scan events_of_agent', 'Index Scan events_pkey']);
          }
        }
      });
    }
  }
});
