// PATCH /v1/admin/agents/{agent_id}: deactivates and reactivates an agent, and changes its tier.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { administrator, newAgent, reader } from './client.ts';
import { assertError, assertInvalid, type Fields, newEvent, randomPlace, UNKNOWN_UUID } from './samples.ts';

describe('PATCH /v1/admin/agents/{agent_id}', () => {
  const change = async (id: string, fields: Fields) => {
    const answer = await administrator.patch(`/v1/admin/agents/${id}`, fields);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };

  describe('200', () => {
    it('returns the summary after the change', async () => {
      const agent = await newAgent();
      await agent.create(newEvent());
      const summary = await agent.findSummary();
      const changed = await change(summary.id, { is_active: false, tier: 'read' });
      assert.deepEqual(changed, { ...summary, is_active: false, tier: 'read' });
      assert.deepEqual(await agent.findSummary(), changed);
    });

    it('refuses the key of a deactivated agent at once, and keeps its events', async () => {
      const place = randomPlace();
      const agent = await newAgent();
      const event = await agent.create(newEvent(place));
      await change(event.agent_id, { is_active: false });
      assertError(await agent.get(`/v1/events/${event.event_id}`), 401, 'INVALID_API_KEY');
      assertError(await agent.post('/v1/events', newEvent()), 401, 'INVALID_API_KEY');
      assert.deepEqual(await reader.read(event.event_id), event);
      assert.deepEqual((await reader.nearby({ ...place, radius: 0.1 })).events, [event]);
      assert.equal((await agent.findSummary()).event_count, 1);
    });

    it('accepts the key again once the agent is active again', async () => {
      const agent = await newAgent();
      const id = await agent.id();
      await change(id, { is_active: false });
      assert.equal((await change(id, { is_active: true })).is_active, true);
      await agent.create(newEvent());
    });

    it('changes what the key may do at once', async () => {
      const agent = await newAgent();
      const { agent_id, event_id } = await agent.create(newEvent());
      await change(agent_id, { tier: 'read' });
      assertError(await agent.patch(`/v1/events/${event_id}`, { cost: 'free' }), 403, 'INSUFFICIENT_TIER');
      await agent.read(event_id);
      for (const tier of ['readwrite', 'admin']) {
        assert.equal((await change(agent_id, { tier })).tier, tier);
        assert.equal((await agent.update(event_id, { cost: tier })).cost, tier);
      }
    });

    it('changes one field and keeps the other', async () => {
      const agent = await newAgent();
      const id = await agent.id();
      await change(id, { is_active: false });
      const { tier, is_active } = await change(id, { tier: 'admin' });
      assert.deepEqual({ tier, is_active }, { tier: 'admin', is_active: false });
    });

    it('changes nothing with an empty body, or with unknown fields', async () => {
      const agent = await newAgent();
      const summary = await agent.findSummary();
      assert.deepEqual(await change(summary.id, {}), summary);
      const unknown = {
        id: UNKNOWN_UUID,
        email: 'x@example.com',
        agent_name: 'x',
        event_count: 9,
        api_key: 'x',
      };
      assert.deepEqual(await change(summary.id, unknown), summary);
      assert.deepEqual(await agent.findSummary(), summary);
    });
  });

  describe('422', () => {
    const cases: [name: string, body: unknown, issues: string[]][] = [
      ['a tier that does not exist', { tier: 'root' }, ['body.tier: enum']],
      ['a tier in capitals', { tier: 'READ' }, ['body.tier: enum']],
      ['null as tier', { tier: null }, ['body.tier: string_type']],
      ['a word as is_active', { is_active: 'false' }, ['body.is_active: bool_type']],
      ['a number as is_active', { is_active: 0 }, ['body.is_active: bool_type']],
      ['null as is_active', { is_active: null }, ['body.is_active: bool_type']],
      ['both', { is_active: 1, tier: 2 }, ['body.is_active: bool_type', 'body.tier: string_type']],
      [
        'a tier and is_active',
        { tier: 'Admin', is_active: 1 },
        ['body.is_active: bool_type', 'body.tier: enum'],
      ],
      ['a list instead of an object', [], ['body']],
      ['no body', undefined, ['body: missing']],
    ];
    for (const [name, body, issues] of cases) {
      it(`refuses ${name}, and changes nothing`, async () => {
        const agent = await newAgent();
        const summary = await agent.findSummary();
        assertInvalid(await administrator.patch(`/v1/admin/agents/${summary.id}`, body), issues);
        assert.deepEqual(await agent.findSummary(), summary);
      });
    }

    it('lists the errors in path and body together', async () => {
      const answer = await administrator.patch('/v1/admin/agents/nobody', { tier: 'king', is_active: 1 });
      assertInvalid(answer, ['path.agent_id', 'body.is_active', 'body.tier']);
    });

    it('comes before 404', async () => {
      const answer = await administrator.patch(`/v1/admin/agents/${UNKNOWN_UUID}`, { tier: 'root' });
      assertInvalid(answer, ['body.tier: enum']);
    });
  });
});
