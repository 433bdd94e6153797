// Store contract: pages of agents. Every sort in both directions, and searches, compared with a sorted array.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { AGENT_SORTS, type AgentListQuery, type AgentSort } from '../../src/domain/administration/list.ts';
import { type AgentRecord, TIERS } from '../../src/domain/agent.ts';
import type { Store } from '../../src/domain/store.ts';
import { Chance } from '../support/random.ts';
import { holds, oddText, searches, sorted, walk } from './listing.ts';
import { addAgent, addEvent, auditOf, NOW_MS } from './rows.ts';

const AGENTS = 90;
const SEED = 5;

const COLUMNS = {
  agent_name: 'agent_name',
  email: 'email',
  tier: 'tier',
  is_active: 'is_active',
  event_count: 'event_count',
  created_at: 'created_ms',
  last_used_at: 'last_used_ms',
} as const satisfies Partial<Record<AgentSort, keyof AgentRecord>>;

/** The sorts by activity are in contract-activity.ts. */
const SORTS = AGENT_SORTS.filter((key) => key in COLUMNS) as (keyof typeof COLUMNS)[];

export function agentListContract(store: () => Store): void {
  const chance = new Chance(SEED);
  const idOf = ({ agent_id }: AgentRecord) => agent_id;
  const query = (fields: Partial<AgentListQuery> = {}): AgentListQuery => ({
    q: '',
    sort: { key: 'created_at', descending: false },
    after: undefined,
    limit: 100,
    ...fields,
  });
  const all = (fields: Partial<AgentListQuery>) =>
    walk(query(fields), (asked: AgentListQuery) => store().agentPage(asked, NOW_MS));
  let agents: AgentRecord[];

  before(async () => {
    for (let number = 0; number < AGENTS; number++) {
      const { agent } = await addAgent(store(), {
        agent_name: chance.chance(0.1) ? 'Same' : oddText(chance),
        email: `${chance.pick(['a', 'A', 'ä', 'Ä', 'z'])}${chance.integer(1, 9)}@Example.com`,
        tier: chance.pick(TIERS),
        is_active: chance.chance(0.5),
        created_ms: NOW_MS + chance.integer(0, 9),
      });
      for (let events = chance.integer(0, 2); events > 0; events--) await addEvent(store(), agent);
      if (chance.chance(0.6)) store().noteUse(agent.agent_id, NOW_MS + chance.integer(0, 5) * 1_000);
    }
    agents = await store().listAgents();
    assert.equal(agents.length, AGENTS);
    assert.ok(agents.some((agent) => agent.last_used_ms === null));
  });

  for (const key of SORTS) {
    for (const descending of [false, true]) {
      it(`sorts by ${descending ? '-' : ''}${key}, on pages of any size, with any search`, async () => {
        for (const q of searches(
          chance,
          agents.map((agent) => agent.agent_name),
        )) {
          const sort = { key, descending };
          const limit = chance.pick([1, 3, 10, 30, 100]);
          const matching = agents.filter((agent) => holds(q, agent.agent_name, agent.email, agent.agent_id));
          const expected = sorted(matching, sort, (agent) => agent[COLUMNS[key]], idOf);
          const { items, totals, pages } = await all({ q, sort, limit });
          assert.deepEqual(items, expected, `${JSON.stringify(q)} by ${limit}`);
          assert.deepEqual([...totals], [expected.length]);
          assert.equal(pages, Math.max(1, Math.ceil(expected.length / limit)));
        }
      });
    }
  }

  it('finds an agent by a part of its ID, in either case', async () => {
    const [agent] = agents;
    for (const q of [
      agent!.agent_id,
      agent!.agent_id.toUpperCase(),
      agent!.agent_id.slice(9).toUpperCase(),
    ]) {
      assert.deepEqual((await all({ q })).items, [agent]);
    }
  });

  it('finds nothing across two fields', async () => {
    const { agent } = await addAgent(store(), { agent_name: 'left', email: 'right@example.com' });
    for (const q of ['leftright', 'left right', 'left\nright', 'left,right', 'left\ue000right']) {
      assert.deepEqual((await all({ q })).items, [], q);
    }
    for (const q of ['left', 'right']) assert.deepEqual((await all({ q })).items.map(idOf), [agent.agent_id]);
  });

  it('finds an agent by 200 different characters', async () => {
    const name = String.fromCodePoint(...Array.from({ length: 200 }, (_, at) => 0xe000 + at));
    const { agent } = await addAgent(store(), { agent_name: name });
    assert.deepEqual((await all({ q: name })).items.map(idOf), [agent.agent_id]);
  });

  describe('between two pages', () => {
    const names = ['b', 'd', 'f', 'h'].map((letter) => `between ${letter}`);
    const page = (after: AgentListQuery['after']) =>
      store().agentPage(
        query({ q: 'between', sort: { key: 'agent_name', descending: false }, limit: 2, after }),
        NOW_MS,
      );

    it('shows each unchanged agent once, even if others are added and deleted', async () => {
      const added = [];
      for (const agent_name of names) added.push((await addAgent(store(), { agent_name })).agent);
      const first = await page(undefined);
      assert.deepEqual(
        first.items.map(({ agent_name }) => agent_name),
        names.slice(0, 2),
      );
      const gone = added[1]!.agent_id;
      await store().deleteAll(gone, auditOf('delete_agent', gone), true);
      await addAgent(store(), { agent_name: 'Between A' });
      await addAgent(store(), { agent_name: 'BETWEEN E' });
      const second = await page(first.next);
      assert.deepEqual(
        second.items.map(({ agent_name }) => agent_name),
        ['BETWEEN E', 'between f'],
      );
      assert.equal(second.total, 5);
      const third = await page(second.next);
      assert.deepEqual([third.items.length, third.next], [1, undefined]);
    });

    it('shows each write in the next call', async () => {
      const { agent } = await addAgent(store(), { agent_name: 'at once' });
      const found = async () => (await all({ q: 'at once' })).items;
      for (let count = 1; count <= 20; count++) {
        await addEvent(store(), agent);
        assert.equal((await found())[0]?.event_count, count);
      }
      await store().updateAgent(agent.agent_id, { tier: 'admin' }, auditOf('update_agent', agent.agent_id));
      store().noteUse(agent.agent_id, NOW_MS + 7);
      const [shown] = await found();
      assert.deepEqual([shown?.tier, shown?.last_used_ms], ['admin', NOW_MS + 7]);
      await store().deleteAll(agent.agent_id, auditOf('delete_agent', agent.agent_id), true);
      assert.deepEqual(await found(), []);
    });
  });

  it('has an empty page, and the total, after the last', async () => {
    const after = { value: Number.MAX_SAFE_INTEGER, id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
    const { items, total, next } = await store().agentPage(query({ after }), NOW_MS);
    assert.deepEqual([items, next], [[], undefined]);
    assert.equal(total, (await store().listAgents()).length);
  });
}
