// An invalid message is a protocol error. An invalid call is a result that a model can read, with the code, every field and
// what to do. Neither reveals internals.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { assertError, type Client, newEvent } from '../support/client.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { CURRENT, McpClient, OLDER } from './mcp-client.ts';
import { call, current, currentCall, messagesIn, post } from './messages.ts';

const SEARCH = { lat: 0, lng: 0 };

describe('a call', () => {
  let service: TestService;
  let agent: Client;
  before(async () => {
    service = await startTestService({ MAX_EVENTS_PER_AGENT: '3' });
    agent = await service.newAgent();
  });
  after(() => service.close());

  for (const revision of [CURRENT, OLDER[0]!]) {
    describe(`from a client of revision ${revision}`, () => {
      let mcp: McpClient;
      before(async () => {
        mcp = await McpClient.overHttp(service.url, agent.headers, revision);
      });
      after(() => mcp.close());

      const refused: [name: string, args: Record<string, unknown>, lines: string[]][] = [
        [
          'search_events',
          { lat: 91, radius: '10', event_type: ['party'], starts_after: '2031-05-01', limit: 0, cursor: 'x' },
          [
            '- lat: must be 90 or less',
            '- lng: is required',
            '- radius: must be a number, not string',
            '- event_type.0: must be one of: workshop, performance',
            '- starts_after: must be',
            '- limit: must be 1 or more',
            '- cursor: must be a next_cursor of this service',
          ],
        ],
        ['search_events', {}, ['- place: is required, or lat and lng instead']],
        ['get_event', {}, ['- event_id: is required']],
        ['get_event', { event_id: 7 }, ['- event_id: must be a string, not number']],
        [
          'create_event',
          newEvent({ title: '', end_at: '2001-01-01T00:00:00Z', timezone: 'Mars/Base', lat: null }),
          ['- title: is required', '- timezone: must be', '- lat: is required', '- end_at: must lie'],
        ],
        [
          'update_event',
          { event_id: '01JZ9GX4T0QW3N1V8R5Y7K2MHD', title: null, lat: 'x' },
          ['- title: must be a string', '- lat: must be a number'],
        ],
        ['delete_event', { event_id: null }, ['- event_id: is required']],
        [
          'update_event',
          { title: 5, lat: 100, name: 'other' },
          [
            '- name: unknown field; this request takes: event_id, title, description',
            '- event_id: is required',
            '- title: must be a string',
            '- lat: must be 90 or less',
          ],
        ],
        [
          'search_events',
          { lat: 1, radius_km: 10, [`lev_${'x'.repeat(38)}`]: 1 },
          [
            '- radius_km: unknown field; this request takes: place, lat, lng, radius, ',
            '- ?: unknown field',
            '- lng: is required',
          ],
        ],
        [
          'list_my_events',
          { include_ended: 'yes', limit: 101, cursor: 'x' },
          [
            '- include_ended: must be true or false',
            '- limit: must be 100 or less',
            '- cursor: must be a next_cursor',
          ],
        ],
      ];
      for (const [name, args, lines] of refused) {
        it(`of ${name} names every invalid argument: ${lines.length}`, async () => {
          const [first, ...rest] = (await mcp.refusal(name, args)).split('\n');
          assert.equal(first, 'VALIDATION_ERROR: Fix these arguments and retry.');
          assert.equal(rest.length, lines.length, rest.join('\n'));
          for (const line of lines)
            assert.ok(
              rest.some((found) => found.startsWith(line)),
              `${line} in ${rest}`,
            );
        });
      }

      it('names at most twenty invalid arguments', async () => {
        const event_type = Array.from({ length: 30 }, () => 'party');
        const [, ...lines] = (await mcp.refusal('search_events', { ...SEARCH, event_type })).split('\n');
        assert.deepEqual([lines.length, lines.at(-1)], [21, 'and 10 more']);
      });

      it('may have null for optional arguments', async () => {
        const { total } = await mcp.get('search_events', { ...SEARCH, radius: null, cursor: null, limit: 1 });
        assert.equal(total, (await mcp.get('search_events', SEARCH)).total);
        const made = await mcp.get('create_event', newEvent({ audience: null, cost: null }));
        assert.equal(made.audience, 'all');
        await mcp.get('delete_event', { event_id: made.event_id });
      });

      it('says what a time must be, and nothing about URLs', async () => {
        const text = await mcp.refusal('search_events', { ...SEARCH, starts_after: '2031-05-01 18:00' });
        assert.match(text, /^- starts_after: must be an RFC 3339 date-time such as \S+$/m);
      });

      it('says what happened to an event', async () => {
        const asked = newEvent({ cost: '5 EUR' });
        const first = await mcp.call('create_event', asked);
        assert.match(first.text, /^Published\. /);
        const again = await mcp.call('create_event', { ...asked, cost: '7 EUR' });
        assert.match(again.text, /^You published this event before\. It is unchanged/);
        assert.deepEqual(again.structured, first.structured);
        const { event_id } = first.structured;
        assert.match((await mcp.call('update_event', { event_id })).text, /^Unchanged: no field/);
        const past = { event_id, start_at: '2021-05-01T18:00:00Z' };
        assert.match((await mcp.call('update_event', past)).text, /^Changed\. It has already ended/);
        assert.match((await mcp.call('get_event', { event_id })).text, /^Found\. The text of events/);
        const none = await mcp.call('list_my_events', { include_ended: true, cursor: null });
        assert.equal(none.structured.total, 1);
        await mcp.get('delete_event', { event_id });
        assert.match((await mcp.call('list_my_events', { include_ended: true })).text, /create_event/);
      });

      it('says if the timezone of an event does not fit its place', async () => {
        const warning =
          /Warning \(timezone_mismatch\): when it starts, the clocks at lat, lng show the time of (\S+), not of (\S+)\. /;
        const berlin = { lat: 52.52, lng: 13.405, timezone: 'Europe/Berlin' };
        const fitting = await mcp.call('create_event', newEvent(berlin));
        assert.doesNotMatch(fitting.text, /Warning/);
        const { event_id } = fitting.structured;
        const swapped = await mcp.call('update_event', { event_id, lat: 13.405, lng: 52.52 });
        assert.deepEqual(warning.exec(swapped.text)?.slice(1), ['Asia/Aden', 'Europe/Berlin']);
        assert.deepEqual(Object.keys(swapped.structured), Object.keys(fitting.structured));
        assert.doesNotMatch((await mcp.call('get_event', { event_id })).text, /Warning/);
        const other = await mcp.call('create_event', newEvent({ ...berlin, timezone: 'Asia/Tokyo' }));
        assert.deepEqual(warning.exec(other.text)?.slice(1), ['Europe/Berlin', 'Asia/Tokyo']);
        for (const { structured } of [fitting, other])
          await mcp.get('delete_event', { event_id: structured.event_id });
      });

      it('says why an event cannot be created or changed', async () => {
        const [one, two] = [newEvent(), newEvent()];
        const first = await mcp.get('create_event', one);
        const second = await mcp.get('create_event', two);
        const same = { event_id: second.event_id, title: one.title };
        assert.equal(
          await mcp.refusal('update_event', same),
          `DUPLICATE_EVENT: Your event ${first.event_id} already has this title, start and place. Change or delete that one instead.`,
        );
        await mcp.get('create_event', newEvent());
        assert.match(await mcp.refusal('create_event', newEvent()), /^EVENT_LIMIT_REACHED: .*Delete some/);
        for (const { event_id } of (await mcp.get('list_my_events')).events) {
          await mcp.get('delete_event', { event_id });
        }
      });

      it('of an unknown tool is a protocol error', async () => {
        for (const name of ['nothing', 'constructor', '__proto__', '']) {
          await assert.rejects(mcp.call(name), { code: -32_602 });
        }
      });
    });
  }
});

describe('a message', () => {
  let service: TestService;
  let agent: Client;
  before(async () => {
    service = await startTestService();
    agent = await service.newAgent();
  });
  after(() => service.close());

  const wrong: [name: string, body: unknown, status: number, code: number][] = [
    ['nothing', undefined, 400, -32_700],
    ['null', null, 400, -32_600],
    ['a text', 'hello', 400, -32_600],
    ['an object', {}, 400, -32_600],
    ['a request without a version', { id: 1, method: 'tools/list' }, 400, -32_600],
    ['an empty batch', [], 400, -32_600],
    [
      'a batch of eleven',
      Array.from({ length: 11 }, (_, id) => call('search_events', SEARCH, id)),
      400,
      -32_600,
    ],
    ['a batch with an invalid message', [call('search_events', SEARCH), { hello: 1 }], 400, -32_600],
    [
      'a text with a message in it, of however many values',
      JSON.stringify(call('search_events', { ...SEARCH, event_type: Array(100_000).fill(1) })),
      400,
      -32_600,
    ],
    [
      'a batch of requests with the same ID',
      [call('search_events', SEARCH), { jsonrpc: '2.0', id: 1, method: 'ping' }],
      400,
      -32_600,
    ],
    ['a batch of the current revision', [currentCall('search_events', SEARCH).body], 400, -32_600],
    ['an unknown method', { jsonrpc: '2.0', id: 1, method: 'no/such' }, 200, -32_601],
    ['a request for prompts', { jsonrpc: '2.0', id: 1, method: 'prompts/list' }, 200, -32_601],
    ['a call without a name', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} }, 200, -32_602],
  ];
  for (const [name, body, status, code] of wrong) {
    it(`that is ${name} is a protocol error`, async () => {
      const headers = { 'content-type': 'application/json' };
      const answer = await post(agent, body, headers);
      assert.equal(answer.status, status, answer.text);
      const [message] = messagesIn(answer);
      assert.equal(message.jsonrpc, '2.0', answer.text);
      assert.equal(message.error.code, code, answer.text);
      assert.doesNotMatch(answer.text, /node_modules|\bat \w+ \(|ZodError/);
    });
  }

  it('has a response of limited length, however many of its values are wrong', async () => {
    const many = (count: number) => call('search_events', { ...SEARCH, event_type: Array(count).fill(1) });
    const answer = await post(agent, many(1_980));
    const [{ result }] = messagesIn(answer);
    assert.equal(result.isError, true, answer.text);
    assert.equal(result.content[0].text.split('\n').length, 22);
    assert.match(result.content[0].text, /and 1960 more$/);
    assert.ok(answer.text.length < 10_000);
    assertError(await post(agent, many(2_000)), 413, 'PAYLOAD_TOO_LARGE');
  });

  it('of the current revision needs its headers, and is a 404 for an unknown method', async () => {
    const unknown = await agent.send('POST', '/mcp', current('no/such', {}));
    assert.deepEqual([unknown.status, unknown.body.error.code], [404, -32_601], unknown.text);
    const { body, headers } = currentCall('search_events', SEARCH);
    const { 'mcp-method': _, ...without } = headers;
    const bare = await agent.send('POST', '/mcp', { body, headers: without });
    assert.deepEqual([bare.status, bare.body.error.code, bare.body.id], [400, -32_020, 1], bare.text);
  });

  it('in a batch is accepted in the revision that has batches, and refused in others', async () => {
    const batch = [
      call('search_events', SEARCH, 'a'),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      call('list_my_events', {}, 'b'),
    ];
    for (const headers of [{}, { 'mcp-protocol-version': '2025-03-26' }]) {
      const ids = messagesIn(await post(agent, [...batch, batch[1]], headers)).map(({ id }) => id);
      assert.deepEqual(ids.sort(), ['a', 'b']);
    }
    for (const revision of ['2025-06-18', '2025-11-25', CURRENT]) {
      const answer = await post(agent, batch, { 'mcp-protocol-version': revision });
      assert.deepEqual([answer.status, answer.body.error.code], [400, -32_600], answer.text);
    }
  });

  it('that subscribes gets a response at once: nothing ever changes, and no stream stays open', async () => {
    const notifications = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
    const answer = await agent.send('POST', '/mcp', current('subscriptions/listen', { notifications }));
    const [acknowledged, ended] = messagesIn(answer);
    assert.deepEqual(acknowledged.params.notifications, {});
    assert.equal(ended.id, 1);
  });

  it('must accept both response formats, in older revisions', async () => {
    const answer = await post(agent, call('search_events', SEARCH), { accept: 'application/json' });
    assert.equal(answer.status, 406, answer.text);
  });
});

describe('a fault of the service', () => {
  it('is a plain message, and is logged once with its cause', async (test) => {
    const service = await startTestService();
    const agent = await service.newAgent();
    const { event_id } = await agent.create();
    const mcp = await McpClient.overHttp(service.url, agent.headers);
    test.after(async () => {
      await mcp.close();
      await service.close();
    });
    const database = new DatabaseSync(databasePath(service.folder), { timeout: 5_000 });
    database.exec('ALTER TABLE events RENAME TO hidden');
    const before = service.log.length;
    const text = await mcp.refusal('update_event', { event_id, title: 'other' });
    database.exec('ALTER TABLE hidden RENAME TO events');
    database.close();
    assert.match(text, /^(?:UNAVAILABLE|INTERNAL_ERROR): [^\n]*Retry[^\n]*$/);
    assert.doesNotMatch(text, /SQL|table|hidden|\//);
    const errors = service.log.slice(before).filter(({ level }) => level === 50);
    assert.equal(errors.length, 1);
    assert.match(JSON.stringify(errors[0]), /no such table/);
  });
});
