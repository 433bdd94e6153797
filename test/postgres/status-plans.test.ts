// Searches by status: what they read. Cancelled events are few, and those that are scheduled must cost no more than all of them.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { ALL_EVENTS, type NearbyQuery, type SearchedStatus } from '../../src/domain/events/nearby.ts';
import { searchStatement } from '../../src/postgres/search.ts';
import { newMigratedDatabase, withSql } from '../cli/moving.ts';
import { NOW_MS } from '../store/rows.ts';

const AGENT = '0197d2e8-9a40-7c55-8f3e-000000000001';

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Heap Fetches'?: number;
  readonly Plans?: readonly Plan[];
}

/** Rows of the table, not of an index, that the plan has read. */
function rowsRead(plan: Plan): number {
  const { 'Relation Name': relation, 'Node Type': type, 'Actual Loops': loops = 1, Plans = [] } = plan;
  const found = (plan['Actual Rows'] ?? 0) + (plan['Rows Removed by Filter'] ?? 0);
  const own = relation === 'events' ? (type === 'Index Only Scan' ? (plan['Heap Fetches'] ?? 0) : found) : 0;
  return Plans.reduce((sum, part) => sum + rowsRead(part), own * loops);
}

function* indexesOf(plan: Plan): Generator<string> {
  if (plan['Index Name'] !== undefined) yield plan['Index Name'];
  for (const part of plan.Plans ?? []) yield* indexesOf(part);
}

describe('a search by status', () => {
  let url: string;
  before(async () => {
    url = await newMigratedDatabase();
    await withSql(url, async (sql) => {
      await sql.unsafe(`
        INSERT INTO agents VALUES ('${AGENT}', 'a@example.com', 'a', 'read', true, 1, NULL, 40000);
        INSERT INTO events (event_id, agent_id, version, title, start_ms, lat, lng, audience, event_type, timezone, updated_ms, status, json)
          SELECT lpad(n::text, 26, '0'), '${AGENT}', 1, n::text, ${NOW_MS} + n * 60000::bigint, n % 80, n % 170, 'all', 'talk', 'UTC', 0,
            CASE WHEN n % 400 = 0 THEN 'cancelled' ELSE 'scheduled' END, to_json(repeat('x', 300))
          FROM generate_series(1, 40000) n`);
      await sql.unsafe('VACUUM ANALYZE events');
    });
  });

  const explain = (status: SearchedStatus, fields: Partial<NearbyQuery> = {}): Promise<Plan> =>
    withSql(url, async (sql) => {
      const { text, values } = searchStatement({ ...ALL_EVENTS, status, limit: 30, ...fields }, NOW_MS);
      await sql.unsafe(
        'SET plan_cache_mode = force_generic_plan; SET jit = off; SET max_parallel_workers_per_gather = 0',
      );
      await sql.unsafe(`PREPARE search AS ${text}`);
      const literals = values.map((value) => (typeof value === 'string' ? `'${value}'` : value));
      const [row] = await sql.unsafe(
        `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE search (${literals.join(', ')})`,
      );
      return row!['QUERY PLAN'][0].Plan as Plan;
    });

  for (const status of ['scheduled', 'cancelled', 'any'] as const) {
    it(`reads few events without a radius: ${status}`, async () => {
      const plan = await explain(status);
      // The page, twice: once to order it, once for its JSON.
      assert.ok(rowsRead(plan) < 150, `${rowsRead(plan)} ${JSON.stringify(plan)}`);
      assert.equal([...indexesOf(plan)].includes('events_cancelled'), status !== 'any');
    });
  }
});
