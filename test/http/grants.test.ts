// Grants over HTTP: agents and administrators list and end them, rotations keep or end them, and retention removes idle ones. What happens to
// their tokens is in test/store/.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertError, type Client } from '../support/client.ts';
import { insertGrant } from '../support/grants.ts';
import { startTestService, temporaryFolder, useTestService } from '../support/service.ts';

const UNKNOWN = '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90';
const PATH = '/v1/agents/me/grants';
const DAY_MS = 86_400_000;

describe('grants', () => {
  const service = useTestService({ OAUTH: 'off' });

  const newAgent = async () => {
    const client = await service.newAgent();
    const { id } = (await client.get('/v1/agents/me')).body.agent;
    return { client, id: id as string };
  };
  const idsOf = async (client: Client) =>
    (await client.get(PATH)).body.grants.map(({ grant_id }: { grant_id: string }) => grant_id);

  describe('GET /v1/agents/me/grants', () => {
    it('lists the clients that may act for the agent, the newest first', async () => {
      const { client, id } = await newAgent();
      assert.deepEqual((await client.get(PATH)).body, { grants: [] });
      const nowMs = service.clock.nowMs();
      const created_ms = nowMs - 2 * DAY_MS;
      const older = insertGrant(service.folder, id, { created_ms, last_used_ms: nowMs, scopes: 'read' });
      const newer = insertGrant(service.folder, id, {
        ...{ client_name: '<b>Cursor</b>', client_host: null, created_ms: nowMs - DAY_MS },
      });
      insertGrant(service.folder, (await newAgent()).id);
      insertGrant(service.folder, id, { created_ms: nowMs - 181 * DAY_MS });
      const iso = (ms: number) => new Date(ms).toISOString();
      assert.deepEqual((await client.get(PATH)).body, {
        grants: [
          {
            grant_id: newer,
            client: { name: '<b>Cursor</b>', host: null },
            scopes: ['read', 'publish'],
            created_at: iso(nowMs - DAY_MS),
            last_used_at: iso(nowMs - DAY_MS),
          },
          {
            grant_id: older,
            client: { name: 'Claude', host: 'claude.ai' },
            scopes: ['read'],
            created_at: iso(created_ms),
            last_used_at: iso(nowMs),
          },
        ],
      });
    });
  });

  describe('DELETE /v1/agents/me/grants/{grant_id}', () => {
    it('ends the grant, by its ID in either case, and no other', async () => {
      const { client, id } = await newAgent();
      const [first, second] = [insertGrant(service.folder, id), insertGrant(service.folder, id)];
      const { status, text } = await client.delete(`${PATH}/${first.toUpperCase()}`);
      assert.deepEqual([status, text], [204, '']);
      assert.deepEqual(await idsOf(client), [second]);
      assertError(await client.delete(`${PATH}/${first}`), 404, 'NOT_FOUND');
    });

    it('is 404 for a grant of another agent, which stays, and 422 for what is no ID', async () => {
      const [one, other] = [await newAgent(), await newAgent()];
      const grantId = insertGrant(service.folder, other.id);
      for (const id of [grantId, UNKNOWN])
        assertError(await one.client.delete(`${PATH}/${id}`), 404, 'NOT_FOUND');
      assertError(await one.client.delete(`${PATH}/x`), 422, 'VALIDATION_ERROR');
      assert.deepEqual(await idsOf(other.client), [grantId]);
    });
  });

  describe('DELETE /v1/agents/me/grants', () => {
    it('ends all grants of the agent, also if there are none', async () => {
      const [one, other] = [await newAgent(), await newAgent()];
      for (const { id } of [one, one, other]) insertGrant(service.folder, id);
      for (let time = 0; time < 2; time++) assert.equal((await one.client.delete(PATH)).status, 204);
      assert.deepEqual(await idsOf(one.client), []);
      assert.equal((await idsOf(other.client)).length, 1);
    });

    it('refuses parameters and fields: who names a grant does not mean all', async () => {
      const { client, id } = await newAgent();
      const grantId = insertGrant(service.folder, id);
      assertError(await client.send('DELETE', `${PATH}?grant_id=${UNKNOWN}`), 422, 'VALIDATION_ERROR');
      const body = { grant_id: UNKNOWN };
      assertError(await client.send('DELETE', PATH, { body }), 422, 'VALIDATION_ERROR');
      assert.deepEqual(await idsOf(client), [grantId]);
    });
  });

  describe('POST /v1/auth/rotate', () => {
    it('keeps grants, and ends them with end_grants', async () => {
      const { client, id } = await newAgent();
      const grantId = insertGrant(service.folder, id);
      const plain = await client.post('/v1/auth/rotate', { end_grants: false });
      assert.deepEqual(await idsOf(client), [grantId]);
      const ending = await client.post('/v1/auth/rotate', { end_grants: true });
      assert.deepEqual([ending.status, Object.keys(ending.body)], [200, Object.keys(plain.body)]);
      assert.deepEqual(await idsOf(client), []);
      for (const end_grants of ['true', 1, null])
        assertError(await client.post('/v1/auth/rotate', { end_grants }), 422, 'VALIDATION_ERROR');
    });
  });

  describe('for administrators', () => {
    it('are listed as the agent sees them; 404 for an unknown agent, 422 for what is no ID', async () => {
      const administrator = await service.newAdministrator();
      const { client, id } = await newAgent();
      insertGrant(service.folder, id);
      const path = `/v1/admin/agents/${id.toUpperCase()}/grants`;
      assert.deepEqual((await administrator.get(path)).body, (await client.get(PATH)).body);
      assertError(await administrator.get(`/v1/admin/agents/${UNKNOWN}/grants`), 404, 'NOT_FOUND');
      assertError(await administrator.get('/v1/admin/agents/x/grants'), 422, 'VALIDATION_ERROR');
    });

    it('are ended with an audit entry, one by one', async () => {
      const administrator = await service.newAdministrator();
      const [{ client, id }, other] = [await newAgent(), await newAgent()];
      const [first, second] = [insertGrant(service.folder, id), insertGrant(service.folder, id)];
      const path = `/v1/admin/agents/${id}/grants`;
      const latest = async () => (await administrator.get('/v1/admin/audit', { limit: 1 })).body.entries[0];
      assert.equal((await administrator.delete(`${path}/${first}`)).status, 204);
      assert.deepEqual(await idsOf(client), [second]);
      const { id: entryId, at: _, ...entry } = await latest();
      assert.deepEqual(entry, {
        ...{ actor_email: 'admin@example.com', actor_subject: entry.actor_subject, action: 'end_grant' },
        ...{ target: id, target_name: entry.target_name, detail: { grant_id: first }, count: 1 },
      });
      const found = await administrator.get('/v1/admin/audit', { action: 'end_grant', agent_id: id });
      assert.equal(found.body.total, 1);
      assertError(await administrator.delete(`${path}/${first}`), 404, 'NOT_FOUND');
      assertError(
        await administrator.delete(`/v1/admin/agents/${other.id}/grants/${second}`),
        404,
        'NOT_FOUND',
      );
      assertError(await administrator.delete(`${path}/x`), 422, 'VALIDATION_ERROR');
      assert.equal((await latest()).id, entryId);
      assert.deepEqual(await idsOf(client), [second]);
    });
  });
});

describe('idle grants', () => {
  it('are removed after 180 days, unless the clock may be wrong', async () => {
    const env = { DATA_DIR: temporaryFolder() };
    const startMs = Date.parse('2031-05-01T12:00:00Z');
    const first = await startTestService(env, { clock: () => startMs });
    const agent = await first.newAgent();
    const { id } = (await agent.get('/v1/agents/me')).body.agent;
    insertGrant(first.folder, id, { created_ms: startMs });
    const used = insertGrant(first.folder, id, { created_ms: startMs, last_used_ms: startMs + DAY_MS });
    await first.close();
    const laterMs = startMs + 180 * DAY_MS;
    const restart = async (confirmed: object, text: RegExp) => {
      const service = await startTestService({ ...env, ...confirmed }, { clock: () => laterMs });
      for (let tries = 0; tries < 500; tries++, await sleep(20))
        if (service.log.some(({ msg }) => text.test(String(msg)))) break;
      const { grants } = (await service.client.with(agent.headers).get(PATH)).body;
      const lines = service.log.map(({ msg }) => String(msg)).filter((msg) => /grants/.test(msg));
      await service.close();
      return { ids: grants.map(({ grant_id }: { grant_id: string }) => grant_id), lines };
    };
    assert.deepEqual(await restart({}, /^Old data is not removed/), { ids: [used], lines: [] });
    const confirmed = { CLOCK_CONFIRMED: new Date(laterMs).toISOString().slice(0, 10) };
    const removed = 'Removed 1 grants that were not used for 180 days.';
    assert.deepEqual(await restart(confirmed, /^Removed/), { ids: [used], lines: [removed] });
  });
});
