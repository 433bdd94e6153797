// What programs find that know only the host: the API catalog (RFC 9727) and the agent skill (agentskills.io), whose commands run.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { TOOLS } from '../../src/mcp/tools.ts';
import { cleanEnv } from '../support/process.ts';
import { useTestService } from '../support/service.ts';

const TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

interface Link {
  readonly href: string;
  readonly type?: string;
}
type Context = { readonly anchor: string } & Readonly<Record<string, readonly Link[]>>;

describe('/.well-known/api-catalog', () => {
  const service = useTestService({ PUBLIC_URL: 'https://events.example.org' });
  const BASE = 'https://events.example.org';
  const get = () => service.client.get('/.well-known/api-catalog');

  it('is a set of links, to HEAD a link to itself', async () => {
    const page = service.client.with({ origin: 'https://elsewhere.example' });
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await page.send(method, '/.well-known/api-catalog');
      assert.equal(status, 200);
      assert.equal(headers.get('content-type'), TYPE);
      assert.equal(headers.get('link'), `<${BASE}/.well-known/api-catalog>; rel="api-catalog"`);
      assert.equal(headers.get('access-control-allow-origin'), '*');
    }
  });

  it('names the APIs, and of each a description, documents and the status', async () => {
    const { linkset } = JSON.parse((await get()).text) as { linkset: Context[] };
    const [catalog, ...apis] = linkset;
    assert.equal(catalog!.anchor, `${BASE}/.well-known/api-catalog`);
    assert.deepEqual(
      catalog!.item!.map(({ href }) => href),
      apis.map(({ anchor }) => anchor),
    );
    assert.deepEqual(
      apis.map(({ anchor, ...relations }) => [anchor, Object.keys(relations)]),
      [
        [`${BASE}/v1`, ['service-desc', 'service-doc', 'status']],
        [`${BASE}/mcp`, ['service-doc', 'status']],
        [`${BASE}/mcp/connect`, ['service-doc', 'status']],
      ],
    );
  });

  it('links only to what exists, with the right type', async () => {
    const { linkset } = JSON.parse((await get()).text) as { linkset: Context[] };
    const links = linkset.slice(1).flatMap(({ anchor: _, ...relations }) => Object.values(relations).flat());
    assert.ok(links.length >= 7);
    for (const { href, type } of links) {
      const { status, headers } = await service.client.get(href.slice(BASE.length));
      assert.deepEqual([status, headers.get('content-type')!.split(';', 1)[0]], [200, type], href);
    }
  });
});

describe('/SKILL.md', () => {
  const service = useTestService();
  let skill: string;
  before(async () => {
    const { status, headers, text } = await service.client.get('/SKILL.md');
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/markdown; charset=utf-8']);
    skill = text;
  });

  it('begins with the fields of the format, within their limits', () => {
    const [, head = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(skill) ?? [];
    const fields = Object.fromEntries(
      head.split('\n').map((line) => {
        const [, name = '', value = ''] = /^([a-z-]+): (.+)$/.exec(line) ?? [];
        return [name, value.startsWith('"') ? JSON.parse(value) : value];
      }),
    );
    assert.deepEqual(Object.keys(fields), ['name', 'description', 'compatibility']);
    assert.match(fields.name, /^[a-z0-9]+(?:-[a-z0-9]+)*$/);
    assert.ok(fields.name.length <= 64);
    assert.ok(fields.description.length <= 1_024 && fields.description.includes('Use it when'));
    assert.ok(fields.compatibility.length <= 500);
    assert.ok(body.split('\n').length < 500);
    assert.ok(body.length < 20_000, 'about 5,000 tokens');
  });

  it('names all tools, and only URLs of this service that exist', async () => {
    for (const { name } of TOOLS) assert.ok(skill.includes(`\`${name}\``), name);
    const urls = [...skill.matchAll(/https?:\/\/[^\s"'`),]+/g)].map(([url]) => url.replace(/\.$/, ''));
    for (const url of urls) assert.ok(url.startsWith(service.url), url);
    assert.equal((await service.client.get('/llms.txt')).status, 200);
  });

  it('has commands that work, one after the other', async () => {
    const commands = [...skill.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, command]) => command!);
    let env: Record<string, string> = {};
    const run = async (command: string) => {
      const { stdout } = await promisify(execFile)('bash', ['-euc', command], { env: cleanEnv(env) });
      return stdout === '' ? undefined : JSON.parse(stdout);
    };
    const [register, search, create, cancel, remove, ...others] = commands;
    assert.deepEqual(others, []);
    env = { LOCAL_EVENTS_API_KEY: (await run(register!)).api_key };
    assert.deepEqual((await run(search!)).events, []);
    const event = await run(create!);
    assert.equal(event.start_at, '2031-05-01T16:00:00.000Z');
    env = { ...env, EVENT_ID: event.event_id };
    assert.equal((await run(cancel!)).status, 'cancelled');
    assert.equal(await run(remove!), undefined);
    assert.equal((await run(cancel!)).error.code, 'NOT_FOUND');
  });
});
