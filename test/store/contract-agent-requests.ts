// Store contract: requests and refusals of agents in the last hour, compared with counting every one of them.
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import type { AgentListQuery } from '../../src/domain/administration/list.ts';
import type { AgentRow } from '../../src/domain/agent.ts';
import type { Store } from '../../src/domain/store.ts';
import { Chance } from '../support/random.ts';
import { holds, sorted, walk } from './listing.ts';
import { addAgent, HOUR_MS, NOW_MS } from './rows.ts';

const STEP_MS = 300_000;

export function agentRequestsContract(store: () => Store): void {
  const chance = new Chance(30);
  const agents: AgentRow[] = [];
  const requests: { readonly agentId: string; readonly atMs: number; readonly isRefused: boolean }[] = [];

  const note = (agentId: string, atMs: number, isRefused: boolean) => {
    requests.push({ agentId, atMs, isRefused });
    store().noteUse(agentId, atMs);
    if (isRefused) store().noteRefusal(agentId, atMs);
  };
  const countsOf = (agentId: string, nowMs: number) => {
    const last = Math.floor(nowMs / STEP_MS) * STEP_MS;
    const own = requests.filter(
      (request) =>
        request.agentId === agentId &&
        request.atMs >= last + STEP_MS - HOUR_MS &&
        request.atMs < last + STEP_MS,
    );
    return { requests_1h: own.length, refusals_1h: own.filter(({ isRefused }) => isRefused).length };
  };
  const query = (fields: Partial<AgentListQuery>): AgentListQuery => ({
    q: '',
    sort: { key: 'created_at', descending: false },
    after: undefined,
    limit: 100,
    requests: true,
    ...fields,
  });
  const assertPages = async (nowMs: number) => {
    for (const key of ['requests_1h', 'refusals_1h'] as const) {
      for (const descending of [false, true]) {
        for (const q of ['', 'agent 1', 'nobody']) {
          const stored = (await store().listAgents()).filter(({ agent_name }) => holds(q, agent_name));
          const full = stored.map((agent) => ({ ...agent, requests: countsOf(agent.agent_id, nowMs) }));
          const sort = { key, descending };
          const expected = sorted(
            full,
            sort,
            (agent) => agent.requests[key],
            ({ agent_id }) => agent_id,
          );
          const { items, totals } = await walk(
            query({ q, sort, limit: chance.pick([3, 10, 100]) }),
            (asked: AgentListQuery) => store().agentPage(asked, nowMs),
          );
          assert.deepEqual(items, expected, `${q} by ${descending ? '-' : ''}${key}`);
          assert.deepEqual([...totals], [expected.length]);
        }
      }
    }
  };

  before(async () => {
    for (let at = 0; at < 30; at++)
      agents.push((await addAgent(store(), { agent_name: `agent ${at}` })).agent);
    // In the order of time, as requests come; some agents make none.
    const times = Array.from({ length: 500 }, () => NOW_MS - chance.integer(0, 2 * HOUR_MS)).sort();
    for (const atMs of times) note(chance.pick(agents.slice(5)).agent_id, atMs, chance.chance(0.3));
  });

  it('are in pages by them, in both directions, with a search and without', () => assertPages(NOW_MS));

  it('are counted at once, and no longer when an hour has passed', async () => {
    for (let sent = 0; sent < 7; sent++) note(agents[0]!.agent_id, NOW_MS, sent > 3);
    await assertPages(NOW_MS);
    await assertPages(NOW_MS + 30 * 60_000);
    await assertPages(NOW_MS + HOUR_MS + STEP_MS);
  });

  it('are in pages in another order, together with activity, and only if they are asked for', async () => {
    const { items } = await store().agentPage(query({ activity: true }), NOW_MS);
    for (const { agent_id, requests: found, activity } of items) {
      assert.deepEqual(found, countsOf(agent_id, NOW_MS));
      assert.deepEqual(activity, { events_24h: 0, events_7d: 0 });
    }
    const { requests: _, ...plain } = query({ sort: { key: 'requests_1h', descending: true } });
    for (const agent of (await store().agentPage(plain, NOW_MS)).items) assert.ok(!('requests' in agent));
  });

  it('of agents that do not exist are in no list', async () => {
    note('0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90', NOW_MS, true);
    await assertPages(NOW_MS);
  });
}
