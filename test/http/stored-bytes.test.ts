// MAX_MB_PER_NETWORK_AND_HOUR: how much the agents of one network may store per hour.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Answer, assertError, type Client, newEvent } from '../support/client.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import { useTestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';

/** 40,000 bytes in UTF-8; with the other fields it counts as 40 KiB. */
const LONG = '\u{1f600}'.repeat(10_000);
const FITTING = 26;

const SETTINGS = { MAX_MB_PER_NETWORK_AND_HOUR: '1', TRUST_PROXY: '127.0.0.1' };

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  describe(`bytes per network and hour, on ${engine}`, () => {
    const service = useTestService(async () => ({ ...(await ENGINES[engine]()), ...SETTINGS }));

    /** A new agent whose requests come from this address. */
    const agentAt = async (address: string) =>
      (await service.newAgent()).with({ 'x-forwarded-for': address });

    const fill = async (agents: readonly Client[], events = FITTING) => {
      for (let count = 0; count < events; count++)
        await agents[count % agents.length]!.create({ description: LONG });
    };

    function assertLimited(answer: Answer): void {
      assertError(answer, 429, 'RATE_LIMITED');
      assert.match(
        answer.body.error.message,
        /your network together may store at most 1 MB of events per hour/,
      );
      const seconds = Number(answer.headers.get('retry-after'));
      assert.ok(seconds > 3_000 && seconds <= 3_600, `${seconds}`);
    }

    it('refuses creates and growing changes of all agents of the network, and nothing else', async () => {
      const agents = [await agentAt('198.51.100.7'), await agentAt('198.51.100.7')];
      const kept = newEvent({ description: 'kept' });
      const { event_id } = await agents[0]!.create(kept);
      await fill(agents);
      assertLimited(await agents[0]!.post('/v1/events', newEvent()));
      assertLimited(await agents[1]!.post('/v1/events', newEvent()));
      assertLimited(await agents[0]!.patch(`/v1/events/${event_id}`, { description: 'longer' }));
      assertError(await agents[0]!.post('/v1/events', newEvent({ lat: 91 })), 422, 'VALIDATION_ERROR');
      assertError(await agents[1]!.patch(`/v1/events/${event_id}`, { description: LONG }), 404, 'NOT_FOUND');
      const shorter = await agents[0]!.patch(`/v1/events/${event_id}`, { description: 'less' });
      assert.deepEqual([shorter.status, shorter.body.description], [200, 'less']);
      assert.equal((await agents[0]!.get(`/v1/events/${event_id}`)).status, 200);
      assert.equal((await agents[0]!.delete(`/v1/events/${event_id}`)).status, 204);
      await (await agentAt('198.51.100.8')).create({ description: LONG });
      await service.newAgent().then((proxy) => proxy.create({ description: LONG }));
    });

    it('does not count a repeated create or a refused one, and begins again after an hour', async () => {
      const agent = await agentAt('198.51.100.9');
      const sent = newEvent({ description: LONG });
      await agent.create(sent);
      for (let times = 0; times < 2 * FITTING; times++) await agent.create(sent);
      await fill([agent], FITTING - 1);
      assertLimited(await agent.post('/v1/events', newEvent()));
      service.clock.advance(3_600_001);
      await agent.create({ description: LONG });
    });

    it('counts by how much changes grow an event', async () => {
      const agent = await agentAt('2001:db8:1:2::7');
      const { event_id } = await agent.create();
      const change = (description: string | null) => agent.patch(`/v1/events/${event_id}`, { description });
      for (let count = 0; count < FITTING; count++) {
        assert.equal((await change(LONG)).status, 200);
        assert.equal((await change(null)).status, 200);
      }
      assertLimited(await change(LONG));
      const neighbour = await agentAt('2001:db8:1:2::8');
      assertLimited(await neighbour.post('/v1/events', newEvent()));
    });

    it('counts the memory of words where it is more: a Chinese text of 500 characters has a thousand', async () => {
      const agent = await agentAt('198.51.100.11');
      const description = '東京'.repeat(250);
      for (let count = 0; count < 21; count++) await agent.create({ description });
      assertLimited(await agent.post('/v1/events', newEvent({ description })));
    });

    it('counts words by the rule of searches, whatever separates them', async () => {
      const agent = await agentAt('198.51.100.12');
      const words = Array.from({ length: 2_000 }, (_, at) => at.toString(36).padStart(3, '0'));
      for (let count = 0; count < 11; count++)
        await agent.create({ description: words.map((word) => `${word}\u00a0`).join('') });
      assertLimited(await agent.post('/v1/events', newEvent()));
    });

    it('applies to tools', async () => {
      const agent = await agentAt('198.51.100.10');
      await fill([agent]);
      const call = { name: 'create_event', arguments: newEvent() };
      const answer = await agent
        .with({ accept: 'application/json, text/event-stream' })
        .post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call });
      assert.match(answer.text, /may store at most 1 MB of events per hour/);
    });
  });
}
