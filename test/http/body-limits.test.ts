// Limits of request bodies: bytes per route, JSON values, and issues in a 422. The largest valid bodies are accepted. How
// bodies are received is in receive-body.test.ts.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Answer, assertError, assertInvalid, type Client, newEvent } from '../support/client.ts';
import { OWN_PAGE } from '../support/console-browser.ts';
import { useTestService } from '../support/service.ts';
import { assertPlainError } from './plain-error.ts';

const KIB = 1_024;
const MIB = 1_048_576;
const ULID = '01JZ9GX4T0QW3N1V8R5Y7K2MHD';
const UUID = '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90';
const SMALL = [16 * KIB, 'The body is too large. Send at most 16 KiB.'] as const;
const LARGE = [MIB, 'The body is too large. Send at most 1 MiB.'] as const;
const LIST = [256 * KIB, 'The body is too large. Send at most 256 KiB.'] as const;
const TOO_MANY_VALUES = 'The body has too many JSON values. Send at most 2000.';

/** Escapes every character, as some encoders do with all that is not ASCII. */
function escapeAll(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(escapeAll).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map((pair) => pair.map(escapeAll).join(':'))
      .join(',')}}`;
  }
  if (typeof value !== 'string') return JSON.stringify(value);
  const units = Array.from({ length: value.length }, (_, at) => value.charCodeAt(at));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
}

describe('a request body', () => {
  const service = useTestService();
  let agent: Client;
  let administrator: Client;
  before(async () => {
    agent = await service.newAgent();
    administrator = await service.newAdministrator();
  });

  type Caller = () => Client;
  const asAgent: Caller = () => agent;
  const asAdministrator: Caller = () => administrator;
  const asBrowser: Caller = () => service.client.with(OWN_PAGE);
  const routes: [method: string, path: string, caller: Caller, limit: readonly [number, string]][] = [
    ['POST', '/v1/auth/register', () => service.client, SMALL],
    ['POST', '/v1/auth/rotate', asAgent, SMALL],
    ['POST', '/v1/auth/revoke', asAgent, SMALL],
    ['POST', '/v1/events', asAgent, LARGE],
    ['POST', '/v1/admin/events/delete', asAdministrator, LIST],
    ['PATCH', `/v1/events/${ULID}`, asAgent, LARGE],
    ['DELETE', `/v1/events/${ULID}`, asAgent, SMALL],
    ['PATCH', `/v1/admin/agents/${UUID}`, asAdministrator, SMALL],
    ['DELETE', `/v1/admin/agents/${UUID}`, asAdministrator, SMALL],
    ['DELETE', `/v1/admin/agents/${UUID}/events`, asAdministrator, SMALL],
    ['POST', `/v1/admin/agents/${UUID}/events/delete`, asAdministrator, SMALL],
    ['POST', `/v1/admin/agents/${UUID}/keys`, asAdministrator, SMALL],
    ['DELETE', `/v1/admin/events/${ULID}`, asAdministrator, SMALL],
    ['POST', '/mcp', asAgent, LARGE],
    ['POST', '/admin/token', asBrowser, SMALL],
    ['POST', '/admin/logout', asBrowser, SMALL],
  ];

  for (const [method, path, caller, [maxBytes, message]] of routes) {
    describe(`of ${method} ${path}`, () => {
      it(`has at most ${maxBytes} bytes; the 413 names the limit`, async () => {
        const send = (bytes: number) => caller().send(method, path, { raw: '['.padEnd(bytes, ' ') });
        const within = await send(maxBytes);
        assert.equal(within.status, 422, within.text);
        assert.match(within.text, /json_invalid/);
        const beyond = await send(maxBytes + 1);
        assertPlainError(beyond, 413, 'PAYLOAD_TOO_LARGE');
        assert.equal(beyond.body.error.message, message);
      });

      it('has at most 2000 JSON values; the 413 names the limit', async () => {
        // A list of 2000 values is valid JSON, but no route takes a list (at /mcp a batch has at most 10 messages).
        const send = (values: number) => caller().send(method, path, { body: Array(values - 1).fill(1) });
        const within = await send(2_000);
        assert.ok([204, 400, 404, 422].includes(within.status), within.text);
        assert.doesNotMatch(within.text, /json_invalid/);
        const beyond = await send(2_001);
        assertPlainError(beyond, 413, 'PAYLOAD_TOO_LARGE');
        assert.equal(beyond.body.error.message, TOO_MANY_VALUES);
      });
    });
  }

  it('has the limits that the API description names', async () => {
    const { paths, components } = (await service.client.get('/openapi.json')).body;
    const described = Object.entries<Record<string, { requestBody?: { description: string } }>>({
      ...paths,
      '/mcp': components.pathItems.mcp,
    }).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, { requestBody }]) =>
        requestBody ? [`${method.toUpperCase()} ${path}: ${requestBody.description}`] : [],
      ),
    );
    const filled = described.map((line) => line.replace('{event_id}', ULID).replace('{agent_id}', UUID));
    const expected = routes
      .filter(([method, path]) => method !== 'DELETE' && !path.startsWith('/admin/'))
      .map(([method, path, , [, message]]) => {
        const limit = /at most (.*)\.$/.exec(message)![1];
        return `${method} ${path}: At most ${limit} and 2000 JSON values.`;
      });
    assert.deepEqual(filled.sort(), expected.sort());
  });

  describe('that is as large as it may be', () => {
    const letters = (count: number) => '𝒶'.repeat(count);

    it('registers an agent', async () => {
      const email = `${letters(64)}@${letters(63)}.${letters(63)}.${letters(61)}`;
      const raw = escapeAll({ email, agent_name: letters(200) });
      assert.ok(raw.length > 5_448);
      const answer = await service.client.send('POST', '/v1/auth/register', { raw });
      assert.equal(answer.status, 200, answer.text);
    });

    it('deletes 1,000 events', async () => {
      const raw = escapeAll({ event_ids: Array(1_000).fill(ULID), for_good: true });
      const answer = await administrator.send('POST', '/v1/admin/events/delete', { raw });
      assert.deepEqual(answer.body, { deleted: 0, audit_id: null });
    });

    it('creates and changes an event', async () => {
      const fields = newEvent({
        title: letters(200),
        description: letters(10_000),
        location_name: letters(200),
        address: letters(500),
        url: letters(2_000),
        cost: letters(200),
      });
      const raw = escapeAll(fields);
      assert.ok(raw.length > 157_200);
      const created = await agent.send('POST', '/v1/events', { raw });
      assert.equal(created.status, 200, created.text);
      assert.equal(created.body.description, fields.description);
      const changed = await agent.send('PATCH', `/v1/events/${created.body.event_id}`, { raw });
      assert.equal(changed.status, 200, changed.text);
      const params = { name: 'create_event', arguments: { ...fields, lat: 1 } };
      const message = escapeAll({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
      const headers = { accept: 'application/json, text/event-stream' };
      const called = await agent.send('POST', '/mcp', { raw: message, headers });
      assert.equal(called.status, 200, called.text);
      assert.doesNotMatch(called.text, /isError/);
    });

    it('deletes a hundred events', async () => {
      const owner = await service.newAgent();
      const ids: string[] = [];
      for (let made = 0; made < 100; made++) ids.push((await owner.create()).event_id);
      const { id } = (await owner.get('/v1/agents/me')).body.agent;
      const raw = escapeAll({ event_ids: ids });
      assert.equal(raw.length, 15_960);
      const answer = await administrator.send('POST', `/v1/admin/agents/${id}/events/delete`, { raw });
      assert.deepEqual([answer.status, answer.body], [200, { deleted: 100 }]);
    });
  });

  describe('with as many values as it may have', () => {
    it('may have any number of commas, brackets and quotes in its texts', async () => {
      for (const text of [',', '[', '{', '"', '\\', '",', '\\",']) {
        const description = text.repeat(10_000 / text.length);
        assert.equal((await agent.create({ description })).description, description);
      }
    });

    it('may be nested as deeply as that allows', async () => {
      const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
      const send = (client: Client, path: string, raw: string) =>
        client.send('POST', path, { raw, headers: { accept: 'application/json, text/event-stream' } });
      const event = JSON.stringify(newEvent()).slice(0, -1);
      assert.equal((await send(agent, '/v1/events', `${event},"extra":${nested(1_992)}}`)).status, 200);
      assert.deepEqual(assertInvalid(await send(agent, '/v1/events', `${event},"title":${nested(1_992)}}`)), [
        'body.title: string_type',
      ]);
      for (const path of ['/v1/auth/register', '/v1/auth/rotate', '/v1/auth/revoke']) {
        const client = path.endsWith('register') ? service.client : agent;
        assert.deepEqual(assertInvalid(await send(client, path, nested(2_000))), ['body: dict_type']);
        assertError(await send(client, path, nested(2_001)), 413, 'PAYLOAD_TOO_LARGE');
      }
      const start = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":';
      const messages: [raw: string, status: number][] = [
        [nested(2_000), 400],
        [`${start}${nested(1_990)}}`, 400],
        [`${start}{"name":"search_events","arguments":${nested(1_990)}}}`, 200],
        [
          `${start}{"name":"search_events","arguments":{"lat":1,"lng":1,"event_type":${nested(1_980)}}}}`,
          200,
        ],
        [`${start}{"name":"search_events","arguments":{},"_meta":{"x":${nested(1_980)}}}}`, 200],
      ];
      for (const [raw, status] of messages) {
        const answer: Answer = await send(agent, '/mcp', raw);
        assert.equal(answer.status, status, answer.text.slice(0, 500));
        assert.ok(answer.text.length < 20_000, 'the response is short');
      }
    });
  });

  describe('that fails validation in many places', () => {
    it('gets the first 20 issues, and the message says how many more there are', async () => {
      const answer = await agent.nearby({ event_type: Array(300).fill('x'), audience: 'x' });
      assert.equal(assertInvalid(answer).length, 20);
      assert.match(answer.body.error.message, /; and 296 more; detail lists the first 20$/);
      assert.equal(answer.body.detail[19].loc[2], 19);
    });

    it('gets all of up to 20 issues', async () => {
      const answer = await agent.nearby({ event_type: Array(20).fill('x') });
      assert.equal(assertInvalid(answer).length, 20);
      assert.match(answer.body.error.message, /; and 15 more$/);
    });

    it('gets the first 20 of those in query, path and body together', async () => {
      const path = `/v1/admin/agents/nonsense/events/delete`;
      const answer = await administrator.post(path, { event_ids: Array(100).fill(1) });
      const issues = assertInvalid(answer);
      assert.deepEqual(
        [issues.length, issues[0], issues[19]],
        [20, 'path.agent_id: uuid_parsing', 'body.event_ids.18: string_type'],
      );
      assert.match(answer.body.error.message, /; and 96 more; detail lists the first 20$/);
      const broken = await agent.get(`/v1/events/nearby?${'%&'.repeat(1_000)}`);
      assert.equal(assertInvalid(broken).length, 20);
      assert.match(broken.body.error.message, /; and 15 more$/, 'the others are not even decoded');
    });
  });
});
