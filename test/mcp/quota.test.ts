// Quotas at /mcp, on both engines: tool calls share that of HTTP; all other messages and refused calls have one of their own.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Answer, assertError, type Client } from '../support/client.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import { RawConnection } from '../support/raw-http.ts';
import { useTestService } from '../support/service.ts';
import { CURRENT, McpClient, OLDER } from './mcp-client.ts';
import { ACCEPT, call, current, currentCall, messagesIn, post } from './messages.ts';

const LIMIT = 6;
const SEARCH = { lat: 0, lng: 0 };
const NO_QUOTA = /^RATE_LIMITED: The quota of 6 per hour is used up\. Retry in (?:3600|35\d\d) s\.$/;

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const INITIALIZE = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1.0.0' },
  },
};

const left = ({ headers }: Answer) => /r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1];
const times = async (count: number, send: () => Promise<unknown>) => {
  for (let done = 0; done < count; done++) await send();
};
const textsOf = (answer: Answer): [isError: boolean, text: string][] => {
  assert.equal(answer.status, 200, answer.text);
  return messagesIn(answer).map(({ result }) => [result.isError === true, result.content[0].text]);
};

for (const engine of Object.keys(ENGINES) as Engine[]) {
  describe(`quotas at /mcp, on ${engine}`, () => {
    const service = useTestService(async () => ({
      ...(await ENGINES[engine]()),
      RATE_LIMIT_READWRITE: String(LIMIT),
      RATE_LIMIT_ADMIN: '0',
    }));

    const search = (agent: Client) => post(agent, call('search_events', SEARCH));
    const list = (agent: Client) => post(agent, LIST);
    const assertUsedUp = async (agent: Client) => {
      for (const body of [LIST, call('search_events', SEARCH)]) {
        const refused = await post(agent, body);
        assertError(refused, 429, 'RATE_LIMITED');
        assert.match(
          refused.body.error.message,
          /^The quota of 6 messages to \/mcp per hour is used up: .* Retry in \d+ s\.$/,
        );
        assert.match(refused.headers.get('ratelimit')!, /^"mcp";r=0;t=\d+$/);
        assert.equal(refused.headers.get('ratelimit-policy'), '"mcp";q=6;w=3600');
        assert.match(refused.headers.get('retry-after')!, /^(?:3600|35\d\d)$/);
      }
    };

    it('let a tool call cost a request, as over HTTP', async () => {
      const agent = await service.newAgent();
      assert.equal(left(await agent.nearby()), '5');
      assert.equal(left(await search(agent)), '4');
      assert.equal(left(await agent.send('POST', '/mcp', currentCall('search_events', SEARCH))), '3');
      assert.equal(left(await post(agent, call('get_event', { event_id: 'x' }))), '2');
      assert.equal(left(await agent.nearby()), '1');
    });

    it('let initialize, tools/list and every other message cost none', async () => {
      const agent = await service.newAgent();
      await agent.nearby();
      for (const [body, status] of [
        [INITIALIZE, 200],
        [{ jsonrpc: '2.0', method: 'notifications/initialized' }, 202],
        [LIST, 200],
        [{ ...LIST, method: 'ping' }, 200],
        [{ nonsense: true }, 400],
      ] as const) {
        const answer = await post(agent, body);
        assert.deepEqual([answer.status, left(answer)], [status, '5'], JSON.stringify(body));
      }
      const listed = await agent.send('POST', '/mcp', current('tools/list', {}));
      assert.deepEqual([listed.status, left(listed)], [200, '5']);
      assert.equal(left(await agent.nearby()), '4');
    });

    for (const revision of [CURRENT, OLDER[0]!]) {
      it(`make a call without quota left a tool error with the seconds to wait (${revision})`, async () => {
        const agent = await service.newAgent();
        const mcp = await McpClient.overHttp(service.url, agent.headers, revision);
        await times(LIMIT, () => agent.nearby());
        assert.match(await mcp.refusal('search_events', SEARCH), NO_QUOTA);
        assert.match(await mcp.refusal('create_event', {}), NO_QUOTA);
        assert.equal((await agent.get('/v1/agents/me')).status, 429);
        await mcp.close();
      });
    }

    it('refuse every request before its body is read when the messages are used up', async () => {
      const agent = await service.newAgent();
      await times(LIMIT, async () => assert.equal((await list(agent)).status, 200));
      await assertUsedUp(agent);
      // The body never arrives.
      const connection = await RawConnection.open(service.url);
      const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${agent.headers['x-api-key']}\r\nAccept: ${ACCEPT.accept}\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{`;
      connection.write(head);
      assert.equal((await connection.next('POST'))?.status, 429);
      connection.socket.destroy();
      assert.equal(left(await agent.nearby()), '5', 'requests over HTTP are not concerned');
    });

    it('count refused calls as messages', async () => {
      const agent = await service.newAgent();
      await times(LIMIT, () => agent.nearby());
      await times(LIMIT, async () => {
        const [[isError, text]] = textsOf(await search(agent)) as [[boolean, string]];
        assert.equal(isError, true);
        assert.match(text, NO_QUOTA);
      });
      await assertUsedUp(agent);
    });

    it('count what is refused before it reaches a tool as a message', async () => {
      const agent = await service.newAgent();
      const send = (raw: string) => agent.send('POST', '/mcp', { raw, headers: ACCEPT });
      assertError(await send('{'), 422, 'VALIDATION_ERROR');
      assertError(await send(' '.repeat(1_048_577)), 413, 'PAYLOAD_TOO_LARGE');
      await post(agent, call('no_such_tool'));
      await post(agent, { jsonrpc: '2.0', method: 'tools/call', params: { name: 'get_event' } });
      await post(
        agent,
        Array.from({ length: 11 }, () => LIST),
      );
      const last = await send('');
      assert.notEqual(last.status, 429);
      assert.equal(left(last), '6');
      await assertUsedUp(agent);
    });

    it('count every message of a batch', async () => {
      const agent = await service.newAgent();
      const calls = (count: number) =>
        Array.from({ length: count }, (_, at) => call('search_events', SEARCH, at));
      const first = await post(agent, [...calls(4), { ...LIST, id: 9 }]);
      assert.deepEqual([messagesIn(first).length, left(first)], [5, '2']);
      const second = textsOf(await post(agent, calls(4)));
      assert.deepEqual(second.map(([isError]) => isError).sort(), [false, false, true, true]);
      for (const [isError, text] of second) if (isError) assert.match(text, NO_QUOTA);
      // One list, two refused calls: three messages are left.
      assert.equal((await post(agent, [LIST, { ...LIST, id: 2 }, { ...LIST, id: 3 }])).status, 200);
      await assertUsedUp(agent);
    });

    it('are exact for calls at the same time', async () => {
      const agent = await service.newAgent();
      const answers = await Promise.all(Array.from({ length: 30 }, () => search(agent)));
      const done = answers.filter((answer) => answer.status === 200).flatMap(textsOf);
      assert.equal(done.filter(([isError]) => !isError).length, LIMIT);
      assert.ok(answers.every(({ status }) => status === 200 || status === 429));
      await assertUsedUp(agent);
    });

    it('do not exist for a tier without a limit', async () => {
      const agent = await service.newAgent();
      const { id } = (await agent.get('/v1/agents/me')).body.agent;
      await (await service.newAdministrator()).patch(`/v1/admin/agents/${id}`, { tier: 'admin' });
      await times(2 * LIMIT, async () => {
        const answers = [await list(agent), await search(agent)];
        assert.deepEqual(answers.map(left), [undefined, undefined]);
        assert.ok(answers.every(({ status }) => status === 200));
      });
      const mcp = await McpClient.overHttp(service.url, agent.headers);
      const { text, structured } = await mcp.call('get_my_agent');
      assert.equal(structured.quota, null);
      assert.match(
        text,
        /with the tier admin\. You may search, read, publish.*\nTool calls and requests per hour: no limit\.\n/,
      );
      await mcp.close();
    });

    it('are shown by get_my_agent, with limits and tier', async () => {
      const agent = await service.newAgent();
      const event = await agent.create();
      const mcp = await McpClient.overHttp(service.url, agent.headers);
      const { text, structured } = await mcp.call('get_my_agent');
      const { limits, ...me } = structured;
      const { body } = await agent.get('/v1/agents/me');
      const { last_used_at } = me.agent;
      assert.deepEqual(me, {
        ...body,
        agent: { ...body.agent, last_used_at },
        quota: { ...body.quota, remaining: 4 },
      });
      const bytes = Buffer.byteLength(JSON.stringify(event));
      assert.deepEqual(limits, {
        events: { used: 1, limit: 100_000 },
        bytes: { used: bytes, limit: 104_857_600 },
      });
      const [who, requests, stored] = text.split('\n');
      assert.equal(
        who,
        `You are the agent ${JSON.stringify(body.agent.agent_name)} with the tier readwrite. You may search, read, publish, and change and delete your own events.`,
      );
      assert.match(
        requests!,
        /^Tool calls and requests per hour: 4 of 6 left; renewed in 3\d\d\d s, at \d{4}-/,
      );
      assert.equal(stored, `Events: 1 of 100000. Bytes of their JSON: ${bytes} of 104857600.`);
      await (await service.newAdministrator()).patch(`/v1/admin/agents/${body.agent.id}`, { tier: 'read' });
      assert.match(
        (await mcp.call('get_my_agent')).text,
        /with the tier read\. You may search and read\. An administrator/,
      );
      assert.match(
        await mcp.refusal('get_my_agent', { verbose: true }),
        /verbose: unknown field; this request takes none/,
      );
      await mcp.close();
    });
  });
}
