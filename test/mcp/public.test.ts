// /mcp/public: the tools that read, for whoever has no key, with the official client in every revision.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Answer, assertError, type Client } from '../support/client.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import { useTestService } from '../support/service.ts';
import { CURRENT, McpClient, OLDER } from './mcp-client.ts';
import { ACCEPT, call, currentCall, messagesIn } from './messages.ts';

const PATH = '/mcp/public';
const SEARCH = { lat: 0, lng: 0 };
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const READING = ['search_events', 'get_event', 'find_places'];
const WRITING = ['create_event', 'update_event', 'delete_event', 'list_my_events', 'get_my_agent'];

const send = (client: Client, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  client.send('POST', PATH, { body, headers: { ...ACCEPT, ...headers } });
const textOf = (answer: Answer): string => {
  assert.equal(answer.status, 200, answer.text);
  const [{ result }] = messagesIn(answer);
  return result.content[0].text;
};

describe('without PUBLIC_READ', () => {
  const service = useTestService();

  it('/mcp/public does not exist', async () => {
    assertError(await send(service.client, LIST), 404, 'NOT_FOUND');
    assert.equal((await service.client.get('/')).body.links.mcp_public, undefined);
    for (const path of ['/llms.txt', '/SKILL.md', '/.well-known/api-catalog'])
      assert.doesNotMatch((await service.client.get(path)).text, /mcp\/public/, path);
  });
});

describe('with PUBLIC_READ', () => {
  const service = useTestService({ PUBLIC_READ: 'on', LOG_AGENT: 'on' });
  let eventId: string;
  before(async () => {
    const agent = await service.newAgent();
    eventId = (await agent.create({ title: 'Lantern workshop', lat: 0, lng: 0 })).event_id;
  });

  for (const revision of [CURRENT, ...OLDER]) {
    it(`the official client finds and reads events (${revision})`, async () => {
      const mcp = await McpClient.overHttp(service.url, {}, revision, PATH);
      const { tools } = await mcp.client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        READING,
      );
      for (const { annotations } of tools) assert.equal(annotations?.readOnlyHint, true);
      const instructions = mcp.client.getInstructions()!;
      assert.match(instructions, /search by the name of a place and time, and read events/);
      assert.doesNotMatch(instructions, /publish your own/);
      assert.equal(mcp.client.getServerVersion()?.name, 'local-events-public');
      const { events } = await mcp.get('search_events', SEARCH);
      assert.equal(events[0].event_id, eventId);
      assert.equal((await mcp.get('get_event', { event_id: eventId })).title, 'Lantern workshop');
      assert.equal((await mcp.get('find_places', { q: 'Kreuzberg, Berlin' })).places[0].country, 'DE');
      assert.match(await mcp.refusal('search_events', { lat: 91, lng: 0 }), /must be 90 or less/);
      await mcp.close();
    });
  }

  it('tools that need an agent do not exist', async () => {
    for (const name of WRITING) {
      const args = { event_id: eventId, title: 'changed' };
      const old = await send(service.client, call(name, args));
      assert.match(old.text, new RegExp(`Tool ${name} not found`));
      const { body, headers } = currentCall(name, args);
      assert.match((await send(service.client, body, headers)).text, new RegExp(`Tool ${name} not found`));
    }
    const agent = await service.newAgent();
    assert.equal((await agent.get(`/v1/events/${eventId}`)).body.title, 'Lantern workshop');
  });

  it('a key is refused, and not ignored', async () => {
    const key = (await service.newAgent()).headers['x-api-key']!;
    const ways: Record<string, string>[] = [
      { 'x-api-key': key },
      { 'x-api-key': '' },
      { authorization: `Bearer ${key}` },
    ];
    for (const headers of ways) {
      const answer = await send(service.client, LIST, headers);
      assertError(answer, 401, 'INVALID_API_KEY');
      assert.equal(answer.body.error.message, 'This URL takes no key. Send it to /mcp, which has all tools.');
    }
    // What a gateway on the way adds is not ours.
    assert.equal((await send(service.client, LIST, { authorization: 'Bearer of.a.gateway' })).status, 200);
  });

  it('only POST, in the limits of /mcp, with its headers', async () => {
    assert.equal((await service.client.get(PATH)).status, 405);
    const tooLong = { raw: ' '.repeat(1_048_577), headers: ACCEPT };
    assertError(await service.client.send('POST', PATH, tooLong), 413, 'PAYLOAD_TOO_LARGE');
    const preflight = await service.client.send('OPTIONS', PATH, {
      headers: { origin: 'https://a.example' },
    });
    assert.equal(preflight.status, 204);
    assert.match(preflight.headers.get('access-control-allow-headers')!, /Mcp-Protocol-Version/);
    assert.equal(preflight.headers.get('access-control-allow-origin'), '*');
    const rebound = await send(service.client, LIST, { host: 'attacker.example' });
    assertError(rebound, 403, 'ORIGIN_NOT_ALLOWED');
  });

  it('the line of a request has no agent', async () => {
    await send(service.client, call('search_events', SEARCH));
    const { route, status, agent, network } = service.log.at(-1)!;
    assert.deepEqual([route, status, agent, network], [PATH, 200, undefined, '127.0.0.1']);
  });

  it('is in the links and in the guide', async () => {
    assert.equal((await service.client.get('/')).body.links.mcp_public, `${service.url}${PATH}`);
    const guide = (await service.client.get('/llms.txt')).text;
    assert.ok(
      guide.includes(`At \`${service.url}${PATH}\` the tools that search and read events need neither key`),
    );
    assert.ok(
      (await service.client.get('/SKILL.md')).text.includes(`the tools at \`${service.url}${PATH}\``),
    );
    const catalog = (await service.client.get('/.well-known/api-catalog')).body.linkset;
    assert.equal(catalog.at(-1).anchor, `${service.url}${PATH}`);
    const page = (await service.client.with({ accept: 'text/html' }).get('/')).text;
    assert.ok(page.includes(`<code>${service.url}${PATH}</code>`));
  });
});

for (const engine of Object.keys(ENGINES) as Engine[]) {
  describe(`quotas at /mcp/public, on ${engine}`, () => {
    const LIMIT = 4;
    const service = useTestService(async () => ({
      ...(await ENGINES[engine]()),
      PUBLIC_READ: 'on',
      PUBLIC_READS_PER_HOUR: String(LIMIT),
      PUBLIC_READ_NETWORKS: '203.0.113.0/24:6',
      TRUST_PROXY: 'loopback',
    }));
    const from = (address: string) => service.client.with({ 'x-forwarded-for': address });
    const left = ({ headers }: Answer) => /r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1];

    it('a tool call counts as a read without a key, other messages for themselves', async () => {
      const client = from('192.0.2.1');
      assert.equal(left(await client.nearby()), '3');
      assert.equal(left(await send(client, call('search_events', SEARCH))), '2');
      assert.equal(left(await send(client, LIST)), '2');
      assert.equal(left(await send(client, call('get_event', { event_id: 'x' }))), '1');
      assert.equal(left(await client.nearby()), '0');
      assert.match(
        textOf(await send(client, call('search_events', SEARCH))),
        /^RATE_LIMITED: Your network has used up its 4 requests per hour without a key\. POST \/v1\/auth\/register .* with tools to \/mcp\. Retry in 3[56]\d\d s\.$/,
      );
      assertError(await client.nearby(), 429, 'RATE_LIMITED');
      // One list and one refused call: two messages are left.
      for (const status of [200, 200, 429]) {
        const answer = await send(client, LIST);
        assert.equal(answer.status, status);
        if (status === 429) assert.match(answer.headers.get('ratelimit')!, /^"mcp";r=0;/);
      }
      assert.equal((await send(from('192.0.2.2'), LIST)).status, 200);
      assert.equal((await (await client.register()).nearby()).status, 200);
    });

    it('a listed network shares both', async () => {
      for (let host = 1; host <= 6; host++) {
        const answer = await send(from(`203.0.113.${host}`), call('search_events', SEARCH));
        assert.equal(left(answer), String(6 - host));
      }
      const refused = await send(from('203.0.113.7'), call('search_events', SEARCH));
      assert.match(textOf(refused), /^RATE_LIMITED: Your network has used up its 6 requests/);
    });
  });
}
