// GET /v1/admin/agents/{agent_id}, the end of one key, and the filters of GET /v1/admin/audit, on both engines.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertError, type Client } from '../support/client.ts';
import { ENGINES } from '../support/engines.ts';
import { startTestService, type TestService, temporaryFolder, useTestService } from '../support/service.ts';

const UNKNOWN = '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90';

for (const [engine, newData] of Object.entries(ENGINES)) {
  describe(`an agent for administrators on ${engine}`, () => {
    let service: TestService;
    let administrator: Client;
    before(async () => {
      const limits = { RATE_LIMIT_READWRITE: '100', MAX_EVENTS_PER_AGENT: '7', MAX_MB_PER_AGENT: '2' };
      service = await startTestService({ ...(await newData()), ...limits });
      administrator = await service.newAdministrator();
    });
    after(() => service.close());

    const newAgent = async (name = 'City guide') => {
      const client = await service.client.register(name);
      const { agent_id } = await client.create();
      return { client, id: agent_id as string, path: `/v1/admin/agents/${agent_id}` };
    };

    it('has the fields of the list, the use of its limits, and its keys', async () => {
      const { client, id, path } = await newAgent();
      for (let times = 0; times < 4; times++) await client.nearby();
      const { status, body } = await administrator.get(path);
      assert.equal(status, 200);
      const { quota, keys, ...summary } = body;
      const [listed] = (await administrator.get('/v1/admin/agents', { q: id })).body.agents;
      assert.deepEqual(summary, listed);
      const { key } = (await client.get('/v1/agents/me')).body;
      assert.deepEqual(
        keys.map(({ last_used_at: _, ...others }: { last_used_at: string }) => others),
        [key],
      );
      assert.ok(Math.abs(Date.parse(keys[0].last_used_at) - Date.now()) < 60_000);
      const { resets_at, ...requests } = quota.requests;
      assert.deepEqual(requests, { used: 5, limit: 100 });
      assert.ok(Date.parse(resets_at) > Date.now() && Date.parse(resets_at) <= Date.now() + 3_600_000);
      assert.deepEqual(quota.events, { used: 1, limit: 7 });
      assert.equal(quota.bytes.limit, 2 * 1_048_576);
      const stored = (await administrator.get(`${path}/events`)).body.events[0];
      assert.equal(quota.bytes.used, Buffer.byteLength(JSON.stringify(stored)));
      assert.deepEqual(Object.keys(body), [...Object.keys(listed), 'quota', 'keys']);
    });

    it('has null for limits that there are not, and for a window that has not begun', async () => {
      const env = { RATE_LIMIT_READWRITE: '0', MAX_EVENTS_PER_AGENT: '0', MAX_MB_PER_AGENT: '0' };
      const free = await startTestService({ ...(await newData()), ...env, RATE_LIMIT_READ: '9' });
      try {
        const client = await free.client.register('free');
        const { agent_id } = await client.create();
        const operator = await free.newAdministrator();
        const read = async () => (await operator.get(`/v1/admin/agents/${agent_id}`)).body.quota;
        const { requests, events, bytes } = await read();
        assert.deepEqual([requests, events.limit, bytes.limit], [null, null, null]);
        await operator.patch(`/v1/admin/agents/${agent_id}`, { tier: 'read' });
        assert.deepEqual((await read()).requests, { used: 0, limit: 9, resets_at: null });
      } finally {
        await free.close();
      }
    });

    it('keeps the last use of each key over a restart', async () => {
      const data = { DATA_DIR: temporaryFolder(), ...(await newData()) };
      const before = await startTestService(data);
      const client = await before.client.register('used');
      const { agent_id } = await client.create();
      const rotated = (await client.post('/v1/auth/rotate', {})).body;
      const usesOf = async ({ newAdministrator }: TestService) => {
        const { keys } = (await (await newAdministrator()).get(`/v1/admin/agents/${agent_id}`)).body;
        return keys.map((key: Record<string, string>) => [key.prefix, key.last_used_at]);
      };
      const uses = await usesOf(before);
      assert.deepEqual([uses[0][1] === null, uses[1]], [false, [rotated.key_prefix, null]]);
      await before.close();
      const again = await startTestService(data);
      assert.deepEqual(await usesOf(again), uses);
      await again.close();
    });

    it('finds an ID in either case, and is 404 or 422 for others', async () => {
      const { id } = await newAgent();
      assert.equal((await administrator.get(`/v1/admin/agents/${id.toUpperCase()}`)).body.id, id);
      assertError(await administrator.get(`/v1/admin/agents/${UNKNOWN}`), 404, 'NOT_FOUND');
      assertError(await administrator.get('/v1/admin/agents/x'), 422, 'VALIDATION_ERROR');
    });

    it('loses one key at once, and only that, with an audit entry', async () => {
      const { client, id, path } = await newAgent('Two keys');
      const rotated = (await client.post('/v1/auth/rotate', {})).body;
      const next = service.client.with({ 'x-api-key': rotated.api_key });
      const [older, newer] = (await administrator.get(path)).body.keys;
      assert.equal(newer.prefix, rotated.key_prefix);
      assert.deepEqual([newer.last_used_at, newer.expires_at], [null, null]);
      const { status, text } = await administrator.delete(`${path}/keys/${older.prefix}`);
      assert.deepEqual([status, text], [204, '']);
      assertError(await client.nearby(), 401, 'INVALID_API_KEY');
      assert.equal((await next.nearby()).status, 200);
      const { keys } = (await administrator.get(path)).body;
      assert.deepEqual([keys.length, keys[0].prefix], [1, newer.prefix]);
      const { entries } = (await administrator.get('/v1/admin/audit', { limit: 1 })).body;
      const { action, target, target_name, detail, count, actor_email } = entries[0];
      assert.deepEqual(
        { action, target, target_name, detail, count, actor_email },
        {
          ...{ action: 'revoke_key', target: id, target_name: 'Two keys', count: 1 },
          ...{ detail: { key_prefix: older.prefix }, actor_email: 'admin@example.com' },
        },
      );
      assertError(await administrator.delete(`${path}/keys/${older.prefix}`), 404, 'NOT_FOUND');
      assert.equal((await administrator.delete(`${path}/keys/${newer.prefix}`)).status, 204);
      assertError(await next.nearby(), 401, 'INVALID_API_KEY');
      assert.deepEqual((await administrator.get(path)).body.keys, []);
    });

    it('gets a new key, shown once, which ends all others at once, with an audit entry', async () => {
      const { client, id, path } = await newAgent('Lost its key');
      const rotated = (await client.post('/v1/auth/rotate', {})).body;
      const second = service.client.with({ 'x-api-key': rotated.api_key });
      assert.deepEqual([(await client.nearby()).status, (await second.nearby()).status], [200, 200]);
      const { status, body, headers } = await administrator.post(`${path}/keys`);
      assert.equal(status, 200);
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.deepEqual(Object.keys(body), Object.keys(rotated));
      const { api_key, created_at, ...others } = body;
      const wanted = { key_prefix: api_key.slice(0, 8), tier: 'readwrite', rate_limit: 100 };
      assert.deepEqual(others, wanted);
      assert.ok(Math.abs(Date.parse(created_at) - service.clock.nowMs()) < 60_000);
      const third = service.client.with({ 'x-api-key': api_key });
      assert.equal((await third.nearby()).status, 200);
      assertError(await client.nearby(), 401, 'INVALID_API_KEY');
      assertError(await second.nearby(), 401, 'INVALID_API_KEY');
      assert.equal((await third.get('/v1/agents/me/events')).body.total, 1, 'its events stay');
      const { keys } = (await administrator.get(path)).body;
      assert.deepEqual([keys.length, keys[0].prefix, keys[0].expires_at], [1, body.key_prefix, null]);
      const { entries } = (await administrator.get('/v1/admin/audit', { action: 'new_key' })).body;
      const { action, target, target_name, detail, count, actor_email } = entries[0];
      assert.deepEqual(
        { action, target, target_name, detail, count, actor_email },
        {
          ...{ action: 'new_key', target: id, target_name: 'Lost its key', count: 1 },
          ...{ detail: { key_prefix: body.key_prefix }, actor_email: 'admin@example.com' },
        },
      );
      assert.equal((await administrator.post(`${path}/keys`, {})).status, 200, 'with an empty body, too');
      assertError(await third.nearby(), 401, 'INVALID_API_KEY');
    });

    it('keeps its keys if the request for a new one is wrong', async () => {
      const { client, path } = await newAgent();
      const overlap = await administrator.post(`${path}/keys`, { overlap_seconds: 3_600 });
      assertError(overlap, 422, 'VALIDATION_ERROR');
      assertError(await administrator.post(`/v1/admin/agents/${UNKNOWN}/keys`), 404, 'NOT_FOUND');
      assertError(await administrator.post('/v1/admin/agents/x/keys'), 422, 'VALIDATION_ERROR');
      assert.equal((await client.nearby()).status, 200);
    });

    it('keeps its keys if the prefix or the agent is another', async () => {
      const { client, path } = await newAgent();
      const [{ prefix }] = (await administrator.get(path)).body.keys;
      for (const other of [
        'lev_',
        'lev_%25%25%25%25',
        'lev_----',
        prefix.toUpperCase(),
        `${prefix}x`,
        'lev_%00aaa',
      ])
        assertError(await administrator.delete(`${path}/keys/${other}`), 404, 'NOT_FOUND');
      assertError(await administrator.delete(`/v1/admin/agents/${UNKNOWN}/keys/${prefix}`), 404, 'NOT_FOUND');
      assertError(await administrator.delete(`/v1/admin/agents/x/keys/${prefix}`), 422, 'VALIDATION_ERROR');
      assert.equal((await client.nearby()).status, 200);
    });
  });

  describe(`filters of the audit log on ${engine}`, () => {
    const service = useTestService(async () => await newData());
    let ada: Client;
    let one: string;
    let other: string;
    let noon: string;
    before(async () => {
      ada = await service.newAdministrator('ada@example.com');
      const bob = await service.newAdministrator('bob@example.com');
      const [first, second] = [
        await service.client.register('First'),
        await service.client.register('Second'),
      ];
      const walk = await first.create({ title: 'Lantern walk' });
      one = walk.agent_id;
      other = (await second.create({ title: 'Lantern fair' })).agent_id;
      await ada.patch(`/v1/admin/agents/${one}`, { tier: 'read' });
      await bob.delete(`/v1/admin/events/${walk.event_id}`);
      service.clock.advance(600_000);
      noon = new Date(service.clock.nowMs()).toISOString();
      service.clock.advance(60_000);
      await bob.delete(`/v1/admin/agents/${other}/events`);
    });

    const find = async (query: Record<string, string | number>) => {
      const answer = await ada.get('/v1/admin/audit', query);
      assert.equal(answer.status, 200, answer.text);
      const { entries, total, next_cursor } = answer.body;
      if (next_cursor === null) assert.equal(total, entries.length);
      return entries.map(({ action }: { action: string }) => action);
    };

    it('find what matches each and all of them', async () => {
      const all = ['delete_agent_events', 'delete_event', 'update_agent'];
      assert.deepEqual(await find({}), all);
      assert.deepEqual(await find({ actor: 'BOB@example.com' }), all.slice(0, 2));
      assert.deepEqual(await find({ action: 'update_agent' }), ['update_agent']);
      assert.deepEqual(await find({ agent_id: one.toUpperCase() }), all.slice(1));
      assert.deepEqual(await find({ agent_id: other }), all.slice(0, 1));
      assert.deepEqual(await find({ after: noon }), all.slice(0, 1));
      assert.deepEqual(await find({ before: noon }), all.slice(1));
      assert.deepEqual(await find({ q: 'LANTERN' }), all.slice(0, 2), 'also in titles of deleted events');
      assert.deepEqual(await find({ q: 'ada@' }), ['update_agent']);
      assert.deepEqual(await find({ q: '' }), all);
      assert.deepEqual(await find({ q: 'walk', actor: 'bob@example.com', agent_id: one, before: noon }), [
        'delete_event',
      ]);
      assert.deepEqual(await find({ q: 'walk', actor: 'ada@example.com' }), []);
    });

    it('are refused if they are invalid, all together', async () => {
      const answer = await ada.get('/v1/admin/audit', {
        ...{
          actor: '',
          action: 'nothing',
          agent_id: 'x',
          after: '2026-01-01',
          before: '9999-12-31T23:59:59-01:00',
        },
        ...{ q: 'x'.repeat(201), limit: 0, cursor: '-' },
      });
      assertError(answer, 422, 'VALIDATION_ERROR');
      const fields = answer.body.detail.map(({ loc }: { loc: string[] }) => loc.join('.')).sort();
      const names = ['action', 'actor', 'after', 'agent_id', 'before', 'cursor', 'limit', 'q'];
      assert.deepEqual(
        fields,
        names.map((name) => `query.${name}`),
      );
    });
  });
}
