// Who sends how much and is refused how often, over HTTP and on both engines.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Query } from '../acceptance/json-client.ts';
import { type Answer, assertInvalid, type Client, newEvent } from '../support/client.ts';
import { ENGINES } from '../support/engines.ts';
import { useTestService } from '../support/service.ts';

const HOUR_MS = 3_600_000;

interface Listed {
  readonly agent_name: string;
  readonly requests_1h?: number;
  readonly refusals_1h?: number;
}

for (const [engine, env] of Object.entries(ENGINES)) {
  describe(`requests of the last hour on ${engine}`, () => {
    const service = useTestService(async () => ({ ...(await env()), RATE_LIMIT_READWRITE: '8' }));
    let administrator: Client;
    before(async () => {
      administrator = await service.newAdministrator('ada@example.com');
      await service.client.register('idle');
      const calm = await service.client.register('calm');
      await calm.get('/v1/agents/me');
      await calm.post('/v1/events', {});
      await calm.get('/v1/events/nothing');
      const greedy = await service.client.register('greedy');
      for (let sent = 0; sent < 8; sent++) assert.equal((await greedy.nearby()).status, 200);
      for (let sent = 0; sent < 3; sent++)
        assert.equal((await greedy.post('/v1/events', newEvent())).status, 429);
      const params = { name: 'get_event', arguments: { event_id: 'x' } };
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
      const accept = 'application/json, text/event-stream';
      assert.notEqual((await greedy.with({ accept }).post('/mcp', call)).status, 401);
    });

    const list = async (query: Query): Promise<Listed[]> => {
      const { status, body, text }: Answer = await administrator.get('/v1/admin/agents', query);
      assert.equal(status, 200, text);
      return body.agents;
    };
    const counts = (agents: Listed[]) =>
      agents.map(({ agent_name, requests_1h, refusals_1h }) => [agent_name, requests_1h, refusals_1h]);

    it('are in the list if include asks for them, and a 404 or 422 is no refusal', async () => {
      const expected = [
        ['idle', 0, 0],
        ['calm', 3, 0],
        ['greedy', 12, 4],
      ];
      // A request is counted as refused when its response is sent.
      for (const until = Date.now() + 10_000; ; ) {
        const found = counts(await list({ include: 'requests' }));
        if (found[2]![2] === 4 || Date.now() > until) break;
      }
      assert.deepEqual(counts(await list({ include: 'requests' })), expected);
      assert.deepEqual(counts(await list({ include: 'activity,requests' })), expected);
      for (const agent of [...(await list({})), ...(await list({ limit: 9 }))])
        assert.ok(!('requests_1h' in agent) && !('refusals_1h' in agent));
    });

    it('sort the list', async () => {
      for (const key of ['requests_1h', 'refusals_1h'])
        assert.equal((await list({ sort: `-${key}` }))[0]!.agent_name, 'greedy', key);
      assert.deepEqual(
        (await list({ sort: 'requests_1h' })).map(({ agent_name }) => agent_name),
        ['idle', 'calm', 'greedy'],
      );
      const first = await administrator.get('/v1/admin/agents', { sort: '-refusals_1h', limit: 2 });
      const cursor = first.body.next_cursor;
      const rest = await list({ sort: '-refusals_1h', limit: 2, cursor });
      assert.deepEqual([first.body.agents.length, rest.length], [2, 1]);
      assertInvalid(await administrator.get('/v1/admin/agents', { include: 'refusals' }));
    });

    it('are over after an hour', async () => {
      service.clock.advance(HOUR_MS);
      administrator = await service.newAdministrator('ada@example.com');
      for (const [, ...found] of counts(await list({ include: 'requests' }))) assert.deepEqual(found, [0, 0]);
    });
  });
}
