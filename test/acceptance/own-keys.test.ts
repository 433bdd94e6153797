// POST /v1/auth/rotate and /v1/auth/revoke: agents manage their own keys.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Agent, administrator, anyone, newAgent, reader } from './client.ts';
import { assertError, assertInvalid, newEvent } from './samples.ts';

const ROTATE = '/v1/auth/rotate';
const REVOKE = '/v1/auth/revoke';

async function assertRefused(agent: Agent): Promise<void> {
  const answer = await agent.get('/v1/agents/me');
  assertError(answer, 401, 'INVALID_API_KEY');
  assert.match(answer.headers['www-authenticate']!, /^ApiKey /);
}

async function keyOf(
  agent: Agent,
): Promise<{ prefix: string; created_at: string; expires_at: string | null }> {
  const answer = await agent.get('/v1/agents/me');
  assert.equal(answer.status, 200, answer.text);
  return answer.body.key;
}

describe('POST /v1/auth/rotate', () => {
  describe('200', () => {
    it('responds as a registration does, with a key that works at once', async () => {
      const { answer, agent } = await (await newAgent()).rotate();
      assert.deepEqual(Object.keys(answer.body).sort(), [
        ...['api_key', 'created_at', 'key_prefix', 'rate_limit', 'tier'],
      ]);
      const { api_key, key_prefix, tier, rate_limit } = answer.body;
      assert.match(api_key, /^lev_[0-9A-Za-z]{38}$/);
      assert.deepEqual([key_prefix, tier, rate_limit], [api_key.slice(0, 8), 'readwrite', 10_000]);
      assert.equal(answer.headers['ratelimit-policy'], '"default";q=10000;w=3600');
      await agent.create(newEvent());
    });

    it('takes a JSON content type without a body', async () => {
      const agent = await newAgent();
      const headers = { 'content-type': 'application/json' };
      assert.equal((await agent.send('POST', REVOKE, { headers })).status, 204);
      for (const options of [{ headers }, { headers, raw: '' }])
        assert.equal((await (await newAgent()).send('POST', ROTATE, options)).status, 200);
    });

    it('keeps the old key valid for an hour without a body or with an empty one', async () => {
      for (const body of [undefined, {}]) {
        const old = await newAgent();
        const { answer } = await old.rotate(body);
        const { expires_at } = await keyOf(old);
        assert.equal(Date.parse(expires_at!) - Date.parse(answer.body.created_at), 3_600_000);
      }
    });

    it('keeps the old key valid for the requested time, up to a day', async () => {
      for (const overlap_seconds of [60, 86_400]) {
        const old = await newAgent();
        const { answer, agent } = await old.rotate({ overlap_seconds });
        const { expires_at } = await keyOf(old);
        assert.equal(Date.parse(expires_at!) - Date.parse(answer.body.created_at), overlap_seconds * 1_000);
        const { key_prefix: prefix, created_at } = answer.body;
        assert.deepEqual(await keyOf(agent), { prefix, created_at, expires_at: null });
      }
    });

    it('refuses the old key once it has expired', { timeout: 30_000 }, async () => {
      const old = await newAgent();
      const { agent } = await old.rotate({ overlap_seconds: 1 });
      while ((await old.get('/v1/agents/me')).status === 200) await sleep(100);
      await assertRefused(old);
      await keyOf(agent);
    });

    it('refuses the old key at once with an overlap of 0', async () => {
      const old = await newAgent();
      const { agent } = await old.rotate({ overlap_seconds: 0 });
      await assertRefused(old);
      for (const path of [ROTATE, REVOKE]) assertError(await old.post(path), 401, 'INVALID_API_KEY');
      await keyOf(agent);
    });

    it('leaves two keys at most, and can be repeated with the old one', async () => {
      const old = await newAgent();
      const { agent: lost } = await old.rotate();
      const { agent } = await old.rotate();
      await assertRefused(lost);
      assert.notEqual((await keyOf(old)).expires_at, null);
      assert.equal((await keyOf(agent)).expires_at, null);
    });

    it('keeps the events of the agent and its one quota', async () => {
      const old = await newAgent();
      const { event_id, agent_id } = await old.create(newEvent());
      const { agent } = await old.rotate();
      assert.equal((await agent.update(event_id, { cost: 'free' })).agent_id, agent_id);
      const remaining = async (by: Agent) => (await by.get('/v1/agents/me')).body.quota.remaining;
      assert.deepEqual([await remaining(old), await remaining(agent)], [9_996, 9_995]);
    });

    for (const [tier, limit] of Object.entries({ read: 10_000, admin: 100_000 })) {
      it(`works in the tier ${tier}`, async () => {
        const old = await newAgent();
        await administrator.patch(`/v1/admin/agents/${await old.id()}`, { tier });
        const { answer, agent } = await old.rotate();
        assert.deepEqual([answer.body.tier, answer.body.rate_limit], [tier, limit]);
        assert.equal((await agent.post(REVOKE)).status, 204);
      });
    }
  });

  describe('401', () => {
    it('refuses a request without a key, whatever its body', async () => {
      for (const path of [ROTATE, REVOKE]) {
        assertError(await anyone.post(path, { overlap_seconds: 'x' }), 401, 'MISSING_API_KEY');
        const headers = { 'x-api-key': 'nonsense' };
        assertError(await anyone.send('POST', path, { headers }), 401, 'INVALID_API_KEY');
      }
    });
  });

  describe('405', () => {
    it('refuses every other method', async () => {
      for (const path of [ROTATE, REVOKE]) {
        for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'])
          assertError(await reader.send(method, path), 405, 'METHOD_NOT_ALLOWED');
      }
    });
  });

  describe('413 and 415', () => {
    it('refuses a body that is too large or not JSON, and changes nothing', async () => {
      const agent = await newAgent();
      const options = { raw: '{}', headers: { 'content-type': 'text/plain' } };
      for (const path of [ROTATE, REVOKE]) {
        assertError(await agent.send('POST', path, options), 415, 'UNSUPPORTED_MEDIA_TYPE');
        const raw = ' '.repeat(16_385);
        assertError(await agent.send('POST', path, { raw }), 413, 'PAYLOAD_TOO_LARGE');
      }
      assert.equal((await keyOf(agent)).expires_at, null);
    });
  });

  describe('422', () => {
    const cases: [raw: string, issue: string][] = [
      ['{"overlap_seconds":-1}', 'body.overlap_seconds: greater_than_equal'],
      ['{"overlap_seconds":86401}', 'body.overlap_seconds: less_than_equal'],
      ['{"overlap_seconds":1e999}', 'body.overlap_seconds: less_than_equal'],
      ['{"overlap_seconds":0.5}', 'body.overlap_seconds: int_from_float'],
      ['{"overlap_seconds":"60"}', 'body.overlap_seconds: int_type'],
      ['{"overlap_seconds":null}', 'body.overlap_seconds: int_type'],
      ['{"overlap_seconds":true}', 'body.overlap_seconds: int_type'],
      ['{"overlap_seconds":[60]}', 'body.overlap_seconds: int_type'],
      ['{"overlap":0}', 'body.overlap: extra_forbidden'],
      ['null', 'body: dict_type'],
      ['[]', 'body: dict_type'],
      ['60', 'body: dict_type'],
      ['"60"', 'body: dict_type'],
      ['{"overlap_seconds":60', 'body: json_invalid'],
      [' ', 'body: json_invalid'],
    ];
    for (const [raw, issue] of cases) {
      it(`refuses ${raw}, and changes nothing`, async () => {
        const agent = await newAgent();
        assertInvalid(await agent.send('POST', ROTATE, { raw }), [issue]);
        assert.equal((await keyOf(agent)).expires_at, null);
      });
    }

    it('refuses what could leave the wrong key valid, and changes nothing', async () => {
      const agent = await newAgent();
      const guesses: [path: string, body: object | undefined, issue: string][] = [
        [`${ROTATE}?overlap_seconds=0`, undefined, 'query: extra_forbidden'],
        [`${REVOKE}?key=x`, undefined, 'query: extra_forbidden'],
        [REVOKE, { key_prefix: 'lev_4Zr8' }, 'body.key_prefix: extra_forbidden'],
      ];
      for (const [path, body, issue] of guesses) {
        assertInvalid(await agent.post(path, body), [issue]);
        assert.equal((await keyOf(agent)).expires_at, null);
      }
    });
  });
});

describe('POST /v1/auth/revoke', () => {
  it('ends the calling key at once, and keeps the other', async () => {
    const old = await newAgent();
    const { agent } = await old.rotate();
    const answer = await agent.post(REVOKE);
    assert.deepEqual([answer.status, answer.text], [204, '']);
    assert.match(answer.headers.ratelimit!, /^"default";r=9998;/);
    await assertRefused(agent);
    const { agent: next } = await old.rotate();
    assert.equal((await old.post(REVOKE, {})).status, 204);
    await assertRefused(old);
    await keyOf(next);
  });

  it('leaves an agent without a key, and keeps its events', async () => {
    const agent = await newAgent();
    const { event_id } = await agent.create(newEvent());
    assert.equal((await agent.post(REVOKE)).status, 204);
    assertError(await agent.post(REVOKE), 401, 'INVALID_API_KEY');
    await reader.read(event_id);
    const summary = await agent.findSummary();
    assert.deepEqual([summary.is_active, summary.event_count], [true, 1]);
    assert.equal((await administrator.delete(`/v1/admin/agents/${summary.id}`)).status, 204);
    assertError(await reader.get(`/v1/events/${event_id}`), 404, 'NOT_FOUND');
  });
});
