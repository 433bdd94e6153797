// Who may call /mcp, and what is refused before a message is read: the same rules and error envelope as HTTP.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { newApiKey } from '../../src/domain/api-key.ts';
import { systemRandom } from '../../src/system.ts';
import { assertError, type Client } from '../support/client.ts';
import { useTestService } from '../support/service.ts';
import { CURRENT, McpClient, OLDER } from './mcp-client.ts';
import { call, currentCall, post } from './messages.ts';

const SEARCH = { lat: 0, lng: 0 };

describe('POST /mcp', () => {
  const service = useTestService();
  let agent: Client;
  let key: string;
  before(async () => {
    agent = await service.newAgent();
    key = agent.headers['x-api-key']!;
  });

  const sendWith = (headers: Record<string, string>) =>
    post(service.client, call('search_events', SEARCH), headers);

  describe('401', () => {
    const missing: [name: string, headers: Record<string, string>][] = [
      ['no key', {}],
      ['an empty key', { 'x-api-key': '' }],
      ['another scheme', { authorization: 'Basic bGV2OmxldjI=' }],
      ['a bearer without a token', { authorization: 'Bearer ' }],
    ];
    for (const [name, headers] of missing) {
      it(`names both ways to send a key: ${name}`, async () => {
        const answer = await sendWith(headers);
        assertError(answer, 401, 'MISSING_API_KEY');
        assert.match(answer.body.error.message, /X-API-Key.*Authorization: Bearer.*\/v1\/auth\/register/);
        assert.match(answer.headers.get('www-authenticate')!, /^ApiKey realm=.*, Bearer realm=/);
      });
    }

    it('refuses keys that are mistyped, unknown, or of a deactivated agent, in either header', async () => {
      const gone = await service.newAgent();
      const { agent_id } = await gone.create();
      const administrator = await service.newAdministrator();
      await administrator.patch(`/v1/admin/agents/${agent_id}`, { is_active: false });
      for (const bad of [`${key}x`, newApiKey(systemRandom), gone.headers['x-api-key']!]) {
        for (const headers of [{ 'x-api-key': bad }, { authorization: `Bearer ${bad}` }]) {
          const answer = await sendWith(headers);
          assertError(answer, 401, 'INVALID_API_KEY');
          assert.match(answer.headers.get('www-authenticate')!, /^ApiKey .*Bearer /);
        }
      }
    });

    it('uses X-API-Key if both headers are sent, and takes Bearer in any case', async () => {
      const other = newApiKey(systemRandom);
      assert.equal((await sendWith({ 'x-api-key': key, authorization: `Bearer ${other}` })).status, 200);
      assertError(
        await sendWith({ 'x-api-key': other, authorization: `Bearer ${key}` }),
        401,
        'INVALID_API_KEY',
      );
      assert.equal((await sendWith({ 'x-api-key': '', authorization: `bearer  ${key}` })).status, 200);
    });

    it('refuses a bearer key on every other route', async () => {
      const bearer = service.client.with({ authorization: `Bearer ${key}` });
      assertError(await bearer.nearby(), 401, 'MISSING_API_KEY');
    });

    it('gives the official client the reason', async () => {
      await assert.rejects(McpClient.overHttp(service.url, {}), /requires authorization \(HTTP 401\)/);
      await assert.rejects(McpClient.overHttp(service.url, {}, OLDER[0]), /MISSING_API_KEY/);
    });
  });

  describe('the tier', () => {
    let reader: Client;
    before(async () => {
      reader = await service.newAgent();
      const { agent_id } = await reader.create();
      const administrator = await service.newAdministrator();
      await administrator.patch(`/v1/admin/agents/${agent_id}`, { tier: 'read' });
    });

    for (const revision of [CURRENT, OLDER[0]!]) {
      it(`read can read, and an error says how to get write access (${revision})`, async () => {
        const mcp = await McpClient.overHttp(service.url, reader.headers, revision);
        const { events } = await mcp.get('list_my_events');
        const [{ event_id }] = events;
        await mcp.get('search_events', SEARCH);
        await mcp.get('get_event', { event_id });
        for (const [name, args] of [
          ['create_event', {}],
          ['update_event', { event_id, title: 'mine' }],
          ['delete_event', { event_id }],
        ] as const) {
          assert.match(
            await mcp.refusal(name, args),
            /^INSUFFICIENT_TIER: This needs the readwrite tier; your key has the read tier\. An administrator/,
          );
        }
        assert.deepEqual((await mcp.get('list_my_events')).events, events);
        await mcp.close();
      });
    }

    it('does not let one agent change the events of another', async () => {
      const { event_id } = await agent.create();
      const mcp = await McpClient.overHttp(service.url, (await service.newAgent()).headers);
      assert.match(await mcp.refusal('update_event', { event_id, title: 'mine' }), /^NOT_FOUND: /);
      assert.match(await mcp.refusal('delete_event', { event_id }), /^NOT_FOUND: /);
      await mcp.get('get_event', { event_id });
      await mcp.close();
    });
  });

  describe('before the message is read', () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      it(`refuses ${method}: there is no stream to open and no session to end`, async () => {
        const answer = await agent.send(method, '/mcp', { headers: { accept: 'text/event-stream' } });
        assertError(answer, 405, 'METHOD_NOT_ALLOWED');
        assert.equal(answer.headers.get('allow'), 'POST, OPTIONS');
      });
    }

    it('refuses a body over 1 MiB, of another media type, compressed, or that is not JSON', async () => {
      const send = (raw: string, headers: Record<string, string> = {}) =>
        agent.send('POST', '/mcp', { raw, headers });
      assertError(await send(' '.repeat(1_048_577)), 413, 'PAYLOAD_TOO_LARGE');
      assertError(await send('{}', { 'content-type': 'text/plain' }), 415, 'UNSUPPORTED_MEDIA_TYPE');
      assertError(await send('{}', { 'content-encoding': 'gzip' }), 415, 'UNSUPPORTED_MEDIA_TYPE');
      assertError(await send('{'), 422, 'VALIDATION_ERROR');
    });

    it('checks the key first', async () => {
      assertError(await service.client.send('POST', '/mcp', { raw: '{' }), 401, 'MISSING_API_KEY');
    });
  });

  it('sends the headers of every other response, in each revision', async () => {
    const current = currentCall('search_events', SEARCH);
    const answers = [
      await agent.send('POST', '/mcp', current),
      await post(agent, call('search_events', SEARCH)),
      await post(agent, { jsonrpc: '2.0', method: 'notifications/initialized' }),
      await post(agent, call('nothing')),
    ];
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers.get('content-type')]),
      [
        [200, 'application/json; charset=utf-8'],
        [200, 'text/event-stream'],
        [202, null],
        [200, 'text/event-stream'],
      ],
    );
    for (const { headers } of answers) {
      assert.match(headers.get('x-request-id')!, /^[0-9A-Z]{8}-\w+$/);
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.ok(headers.has('content-length'), 'it is sent whole');
      assert.equal(headers.get('mcp-session-id'), null);
    }
  });

  it('writes one log line, without key, arguments and results', async () => {
    const answer = await sendWith({ authorization: `Bearer ${key}` });
    const requestId = answer.headers.get('x-request-id');
    const lines = service.log.filter((line) => line.requestId === requestId);
    assert.deepEqual(
      lines.map(({ method, route, status }) => [method, route, status]),
      [['POST', '/mcp', 200]],
    );
    assert.ok(!JSON.stringify(service.log).includes(key));
    assert.ok(!JSON.stringify(service.log).includes('search_events'));
  });
});
