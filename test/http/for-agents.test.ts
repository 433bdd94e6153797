// /llms.txt and /for-agents against the OpenAPI description: the same paths, fields, limits and codes, and none besides.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { ERRORS } from '../../src/domain/errors.ts';
import { launchBrowser } from '../support/browser.ts';
import { startTestService, useTestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';

const LIMITS = {
  RATE_LIMIT_READ: '1234',
  RATE_LIMIT_READWRITE: '2345',
  RATE_LIMIT_ADMIN: '0',
  REGISTRATIONS_PER_HOUR: '3456',
  FAILED_REGISTRATIONS_PER_HOUR: '5678',
  MAX_EVENTS_PER_AGENT: '4567',
  REGISTRATION_TIER: 'readwrite',
  PUBLIC_URL: 'https://events.example.org',
};
const BASE = LIMITS.PUBLIC_URL;

// biome-ignore lint/suspicious/noExplicitAny: the OpenAPI document is checked by its own tests
type Json = any;

describe('the guide for agents', () => {
  const service = useTestService(LIMITS);
  let api: Json;
  let text: string;
  let page: string;

  before(async () => {
    api = (await service.client.get('/openapi.json')).body;
    text = await (await fetch(`${service.url}/llms.txt`)).text();
    page = await (await fetch(`${service.url}/for-agents`)).text();
  });

  /** Every operation outside administration, with its parameters (of the path too) and the fields of its body. */
  function operations(): { name: string; operation: Json; fields: [string, string, Json, boolean][] }[] {
    return Object.entries<Json>(api.paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => method !== 'parameters' && methods[method].tags[0] !== 'Administration')
        .map((method) => {
          const operation = methods[method];
          const parameters = [...(operation.parameters ?? []), ...(methods.parameters ?? [])].filter(
            (each: Json) => each.name !== 'Prefer', // the guide explains it once
          );
          const reference = operation.requestBody?.content['application/json']?.schema.$ref;
          const body = reference ? api.components.schemas[reference.split('/').at(-1)] : { properties: {} };
          const fields: [string, string, Json, boolean][] = [
            ...parameters.map((each: Json) => [each.name, each.in, each.schema, each.required] as const),
            ...Object.entries<Json>(body.properties).map(
              ([name, schema]) => [name, 'body', schema, body.required?.includes(name) ?? false] as const,
            ),
          ].map((each) => [...each]);
          return { name: `${method.toUpperCase()} ${path}`, operation, fields };
        }),
    );
  }

  /** The text from the heading of this operation to the next heading. */
  function partOf(name: string): string {
    const [, after] = text.split(`\`${name}\`.`);
    assert.ok(after, `${name} is not there`);
    return after.split(/\n\*\*[^*]+\*\*(?: `|\n)/)[0]!;
  }

  it('lists every operation for agents, and no other', () => {
    const told = [...text.matchAll(/`((?:GET|POST|PATCH|DELETE|PUT) \/[^`]*)`/g)].map((match) => match[1]!);
    assert.deepEqual(
      told.sort(),
      operations()
        .map(({ name }) => name)
        .sort(),
    );
    for (const name of told) assert.ok(page.includes(`<code>${name}</code>`), name);
  });

  it('names only URLs that exist', async () => {
    const described = Object.keys(api.paths).map((path) => path.replaceAll(/\{\w+\}/g, '[^/]+'));
    const served = [
      '/openapi.json',
      '/docs',
      '/for-agents',
      '/llms.txt',
      '/mcp',
      '/mcp/connect',
      '/SKILL.md',
      '/.well-known/api-catalog',
    ];
    const known = new RegExp(`^(?:${[...described, ...served].join('|')})?$`);
    for (const content of [text, page]) {
      const named = [...content.matchAll(/https:\/\/events\.example\.org([^\s"'`)<?&]*)/g)].map(
        (match) => match[1]!,
      );
      assert.ok(named.length > 10);
      assert.deepEqual(
        named.filter((path) => !known.test(path)),
        [],
      );
    }
  });

  it('lists every field of each operation, with its place and all its limits', () => {
    for (const { name, fields } of operations()) {
      const rows = partOf(name)
        .split('\n')
        .filter((line) => line.startsWith('| `'));
      assert.equal(rows.length, fields.length, name);
      for (const [field, place, schema, isRequired] of fields) {
        const row = rows.find((each) => each.startsWith(`| \`${field}\` | ${place} | `));
        assert.ok(row, `${name}: ${field}`);
        const rules = row.split(' | ')[2]!;
        assert.equal(rules.includes('; required'), isRequired, row);
        for (const bound of [
          'minimum',
          'maximum',
          'minLength',
          'maxLength',
          'minItems',
          'maxItems',
          'default',
        ]) {
          if (schema[bound] !== undefined)
            assert.match(rules, new RegExp(`(?<![\\w.])${schema[bound]}(?![\\w.])`), row);
        }
        for (const value of schema.enum ?? schema.items?.enum ?? []) assert.ok(rules.includes(value), row);
        const numbers: string[] = rules.match(/-?\d+(?:\.\d+)?/g) ?? [];
        const known: string[] =
          JSON.stringify({ ...schema, description: '' }).match(/-?\d+(?:\.\d+)?/g) ?? [];
        assert.deepEqual(
          numbers.filter((number) => !known.includes(number)),
          [],
          row,
        );
      }
    }
  });

  it('lists every media type of each operation', () => {
    for (const { name, operation } of operations()) {
      for (const type of Object.keys(operation.responses[200]?.content ?? {})) {
        if (type !== 'application/json') assert.ok(partOf(name).includes(`\`${type}\``), `${name}: ${type}`);
      }
    }
  });

  it('lists every error code that an agent can get, with its status, and no other', () => {
    const described = [...operations().map(({ operation }) => operation), api.components.pathItems.mcp.post];
    const codes = described.flatMap((operation): string[] =>
      Object.values<Json>(operation.responses).flatMap(({ $ref = '' }) => $ref.split('/').at(-1).split('.')),
    );
    const possible = new Set<string>([...codes.filter((code) => code !== ''), 'METHOD_NOT_ALLOWED']);
    const rows = [...text.matchAll(/^\| `([A-Z_]+)` \| (\d+) \| (.*) \|$/gm)].map(([, ...row]) => row);
    const expected = Object.entries(ERRORS).filter(([code]) => possible.has(code));
    assert.deepEqual(
      rows,
      expected.map(([code, { status, meaning }]) => [code, String(status), meaning]),
    );
    const words = [...text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map((match) => match[1]!);
    assert.deepEqual(
      words.filter((word) => !possible.has(word) && word !== 'LOCAL_EVENTS_API_KEY'),
      [],
    );
  });

  it('lists every response header', () => {
    const headers = Object.entries<Json>(api.components.headers);
    assert.ok(headers.some(([name]) => name === 'X-Unknown-Parameters'));
    for (const [name, { description }] of headers)
      assert.ok(text.includes(`| \`${name}\` | ${description} |`), name);
  });

  it('states the limits that the operator set', () => {
    for (const row of [
      '| requests per hour with a key of the tier `read` | 1234 |',
      '| requests per hour with a key of the tier `readwrite` | 2345 |',
      '| requests per hour with a key of the tier `admin` | no limit |',
      '| registrations per hour from one network | 3456 |',
      '| failed registrations per hour from one network | 5678 |',
      '| events of an agent | 4567 |',
    ]) {
      assert.ok(text.includes(row), row);
    }
  });

  it('shows requests that work unchanged', async () => {
    const key = await service.client.post('/v1/auth/register', { email: 'a@example.com', agent_name: 'a' });
    const lines = [...text.matchAll(/^curl -s (?:-X (\w+) )?"([^"]+)"(.*)$/gm)];
    assert.equal(lines.length, operations().length);
    for (const [line, method, address, rest] of lines) {
      if (/revoke|rotate|mcp$/.test(address!)) continue; // they would end the key, or need another protocol
      const body = / -d '(.*)'$/.exec(rest!)?.[1];
      const answer = await fetch(address!.replace(BASE, service.url), {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: {
          ...(rest!.includes('X-API-Key: $KEY') && { 'x-api-key': key.body.api_key }),
          ...(rest!.includes('Prefer: handling=strict') && { prefer: 'handling=strict' }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body }),
      });
      // The event and the grant of the examples do not exist.
      const isUnknown = /\/(?:events|grants)\/0/.test(address!);
      const expected = isUnknown ? 404 : method === 'DELETE' ? 204 : 200;
      assert.equal(answer.status, expected, `${line}\n${await answer.text()}`);
      const isKeyed = rest!.includes('X-API-Key: $KEY');
      assert.equal(answer.headers.get('preference-applied'), isKeyed ? 'handling=strict' : null, line);
    }
  });

  it('shows the settings of generators that docs/clients.md has, whose programs are tested', () => {
    const tested = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
    const [, section = ''] = text.split('**Generated clients**');
    const [part = ''] = section.split('**MCP**');
    const shown = [
      ...part.matchAll(/^npx .*$/gm),
      ...part.matchAll(/(?<=`)(?:createClient|override|--default).*?(?=`)/g),
    ];
    assert.equal(shown.length, 5);
    for (const [line] of shown) assert.ok(tested.includes(line.replace(BASE, 'http://127.0.0.1:8080')), line);
  });

  it('shows client settings as valid JSON, with the URL and the key', () => {
    const settings = [...text.matchAll(/```json\n([\s\S]*?)\n```/g)].map((match) => JSON.parse(match[1]!));
    const servers = settings
      .map((each) => (each.mcpServers ?? each.servers)?.['local-events'])
      .filter((each) => each !== undefined);
    assert.equal(servers.length, 3);
    for (const { url, headers } of servers) {
      assert.equal(url, `${BASE}/mcp`);
      assert.match(Object.keys(headers).join(), /^(?:X-API-Key|Authorization)$/);
    }
  });

  it('names every MCP tool as tools/list does', async () => {
    const agent = await service.client.register();
    const headers = { accept: 'application/json, text/event-stream' };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const answer = await agent.send('POST', '/mcp', { body, headers });
    const { result } = JSON.parse(answer.text.slice(answer.text.indexOf('{'))) as Json;
    const rows = result.tools.map(({ name, title }: Json) => `| \`${name}\` | ${title} |`);
    assert.equal(rows.length, 8);
    for (const row of rows) assert.ok(text.includes(row), row);
  });

  it("names today's date, and the next day's after midnight", async () => {
    const dated = await startTestService({}, { clock: () => Date.parse('2026-11-30T23:30:00Z') });
    try {
      const etags = new Set<string | null>();
      for (const day of ['2026-11-30', '2026-12-01']) {
        for (const path of ['/llms.txt', '/for-agents']) {
          const response = await fetch(dated.url + path);
          assert.ok((await response.text()).includes(`Today is ${day} (UTC).`), `${path}: ${day}`);
          etags.add(response.headers.get('etag'));
        }
        dated.clock.advance(3_600_000);
      }
      assert.equal(etags.size, 4);
    } finally {
      await dated.close();
    }
  });

  it('says to look coordinates up, and warns of unknown parameters', () => {
    assert.match(
      text,
      /^- A search takes the name of a town or a district as `place` .* Do not guess coordinates\./m,
    );
    assert.match(text, /`X-Unknown-Parameters` .*`max_cost=5` finds everything/);
  });

  it('has questions whose parameters are known and valid', async () => {
    const [, table] = /\| question \| parameters \|\n[^\n]*\n((?:\|.*\n)+)/.exec(text)!;
    const queries = table!
      .split('\n')
      .flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, query]) => query!));
    assert.ok(queries.length >= 6);
    const agent = await service.newAgent();
    for (const query of queries) {
      const answer = await agent.get(`/v1/events/nearby?lat=52.52&lng=13.405&radius=10&${query}`);
      assert.equal(answer.status, 200, query);
      assert.equal(answer.headers.get('x-unknown-parameters'), null, query);
    }
  });

  it('has the same code and tables in the text and on the page', () => {
    const plain = (html: string) =>
      html
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll('&amp;', '&');
    const codes = (found: RegExpMatchArray[]) => found.map((match) => match[1]!);
    assert.deepEqual(
      codes([...page.matchAll(/<pre[^>]*><code>([\s\S]*?)<\/code>/g)]).map(plain),
      codes([...text.matchAll(/```\w+\n([\s\S]*?)\n```/g)]),
    );
    const cells = codes([...page.matchAll(/<td>([\s\S]*?)<\/td>/g)]).map(plain);
    const rows = text
      .split('\n')
      .filter((line) => /^\| (?!---|field|code \||what \||tool \||header \||question \|)/.test(line));
    assert.deepEqual(
      cells,
      rows.flatMap((row) =>
        row
          .slice(2, -2)
          .split(' | ')
          .map((cell) => cell.replaceAll('`', '').trim()),
      ),
    );
  });

  describe('/llms.txt', () => {
    it('has the format that llmstxt.org describes', () => {
      const outside = text.replaceAll(/```[\s\S]*?```/g, '');
      assert.match(text, /^# local-events\n\n> [^\n]+\n\n/);
      assert.deepEqual(outside.match(/^#+ .*/gm), ['# local-events', '## Documents']);
      const list = text.split('## Documents\n\n')[1]!.trimEnd().split('\n');
      for (const line of list) assert.match(line, /^- \[[^\]]+\]\(https:\/\/[^)]+\): .+$/);
    });

    it('is plain text that may be cached for five minutes', async () => {
      const { headers, status } = await fetch(`${service.url}/llms.txt`);
      assert.equal(status, 200);
      assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8');
      assert.equal(headers.get('cache-control'), 'public, max-age=300');
      assert.equal((await fetch(`${service.url}/for-agents`, { method: 'HEAD' })).status, 200);
      assert.equal((await fetch(`${service.url}/llms.txt`, { method: 'POST' })).status, 405);
    });
  });

  describe('/for-agents', () => {
    const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
    let browser: Browser;
    before(async () => {
      browser = await launchBrowser();
    });
    after(() => browser.close());

    it('has the policy of our other pages; its only script is the theme', async () => {
      const { headers } = await fetch(`${service.url}/for-agents`);
      const front = await fetch(service.url, { headers: { accept: 'text/html' } });
      assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
      for (const name of ['content-security-policy', 'cross-origin-opener-policy', 'referrer-policy']) {
        assert.ok(headers.get(name), name);
        assert.equal(headers.get(name), front.headers.get(name), name);
      }
      const scripts = [...page.matchAll(/<script[^>]*>/g)].map(([tag]) => tag);
      assert.equal(scripts.length, 1);
      assert.match(scripts[0]!, /^<script src="\/docs\/theme-[\w-]{12}\.js">$/);
      assert.ok(!/\son\w+=|\sstyle=|<style/.test(page));
    });

    it('has the header of the site and contents that lead to every section', async () => {
      const wide = await browser.newPage({ viewport: { width: 1280, height: 800 } });
      await wide.goto(`${service.url}/for-agents`);
      const header = wide.getByRole('banner').getByRole('link', { name: 'Guide' });
      assert.equal(await header.getAttribute('aria-current'), 'page');
      const titles = await wide.locator('main section > h2').allInnerTexts();
      const contents = wide.getByRole('navigation', { name: 'Contents' });
      assert.deepEqual(await contents.getByRole('link').allInnerTexts(), titles);
      assert.ok(titles.length >= 8);
      await contents.getByRole('link', { name: 'Errors' }).click();
      const top = () => wide.locator('#errors h2').evaluate((title) => title.getBoundingClientRect().top);
      while (Math.abs((await top()) - 100) > 60) await wide.waitForTimeout(20);
      assert.ok(await contents.isVisible(), 'they stay in view');
      await wide.getByRole('button', { name: /^Theme/ }).click();
      await wide.close();
    });

    for (const colorScheme of size(['dark'] as const, ['light', 'dark'] as const)) {
      it(`is readable on a phone, ${colorScheme}, and loads nothing from other hosts`, async () => {
        // The page's policy would block axe-core, which is injected as text.
        const context = await browser.newContext({
          viewport: { width: 360, height: 740 },
          colorScheme,
          bypassCSP: true,
        });
        const strict = await browser.newContext({ viewport: { width: 360, height: 740 }, colorScheme });
        const shown = await strict.newPage();
        const [asked, problems]: [string[], string[]] = [[], []];
        shown.on('request', (request) => asked.push(request.url()));
        shown.on('console', (message) => problems.push(message.text()));
        shown.on('pageerror', (error) => problems.push(error.message));
        await shown.goto(`${service.url}/for-agents`);
        assert.deepEqual(problems, []);
        assert.deepEqual(
          asked.filter((url) => !url.startsWith(service.url)),
          [],
        );
        const look = await shown.evaluate(
          '({ wide: document.documentElement.scrollWidth, paper: getComputedStyle(document.documentElement).backgroundColor })',
        );
        const paper = colorScheme === 'dark' ? 'rgb(14, 16, 20)' : 'rgb(249, 250, 251)';
        assert.deepEqual(look, { wide: 360, paper });
        await shown.getByRole('link', { name: 'Limits' }).click();
        await strict.close();

        const checked = await context.newPage();
        await checked.goto(`${service.url}/for-agents`);
        await checked.evaluate(AXE);
        const violations: Json = await checked.evaluate(
          'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)',
        );
        assert.deepEqual(
          violations.map(({ id, nodes }: Json) => [id, nodes[0].html]),
          [],
        );
        await context.close();
      });
    }
  });
});
