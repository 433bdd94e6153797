// The front page: in a real browser for people, as JSON for programs.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { asksForHtml } from '../../src/http/browser/front.ts';
import { assertClean, closeBrowser, getBrowser, type Visit, visit } from '../console/console.ts';
import type { Client } from '../support/client.ts';
import { countBytes, findOverflow, findViolations } from '../support/page-checks.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';

const HTML = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
/** As in the issue of what a page may weigh: everything that the front page loads, compressed. */
const MAX_BYTES = 60_000;

let service: TestService;
let agent: Client;
before(async () => {
  service = await startTestService();
  agent = await service.newAgent();
  for (const [day, title] of ['Lantern workshop', '<b>bold</b> & "quoted"', 'مساء'].entries()) {
    const start_at = `2031-05-0${day + 1}T18:00:00Z`;
    await agent.create({ title, start_at, lat: 52.52, lng: 13.4, timezone: 'Europe/Berlin' });
  }
});
after(async () => {
  await closeBrowser();
  await service.close();
});

describe('GET / for programs', () => {
  it('is JSON unless HTML is asked for', () => {
    const cases: [accept: string | undefined, isHtml: boolean][] = [
      [undefined, false],
      ['', false],
      ['*/*', false],
      ['application/json', false],
      ['text/plain, */*', false],
      ['text/html', true],
      [HTML.accept, true],
      ['application/xhtml+xml', true],
      ['TEXT/HTML;q=0.5', true],
      ['text/html;q=0', false],
      ['text/html;q=0.5, application/json', false],
      ['text/html, application/json;q=0.5', true],
      ['text/html, application/json', true],
    ];
    for (const [accept, isHtml] of cases) assert.equal(asksForHtml(accept), isHtml, String(accept));
  });

  it('has the links of the page, all of which exist', async () => {
    const { status, headers, body, text } = await service.client.get('/');
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
    assert.ok(text.length < 1_024, `${text.length} bytes`);
    assert.equal(body.name, 'local-events');
    const page = (await service.client.with(HTML).get('/')).text;
    for (const [name, url] of Object.entries<string>(body.links)) {
      assert.ok(url.startsWith(`${service.url}/`), url);
      const path = url.slice(service.url.length);
      const found = await service.client.get(path.replace(/#.*/, ''));
      // These need a body, a key or another method, and say so.
      const expected = { register: 405, search: 401, mcp: 405, mcp_connect: 405 }[name] ?? 200;
      assert.equal(found.status, expected, name);
      if (!['register', 'health', 'mcp'].includes(name)) assert.ok(page.includes(path), name);
    }
    const guide = await service.client.get('/for-agents');
    assert.match(guide.text, /id="mcp"/, 'the anchor of mcp_setup');
  });

  it('names the public URL', async (test) => {
    const behind = await startTestService({ PUBLIC_URL: 'https://events.example.org' }, { until: test });
    const { links } = (await behind.client.get('/')).body;
    assert.equal(links.docs, 'https://events.example.org/docs');
    const page = (await behind.client.with(HTML).get('/')).text;
    assert.match(page, /curl "https:\/\/events\.example\.org\/v1\/events\/nearby\?/);
    assert.doesNotMatch(page, /BASE_URL/);
  });

  it('is cached apart from the page, and revalidated', async () => {
    const [page, links] = [await service.client.with(HTML).get('/'), await service.client.get('/')];
    for (const answer of [page, links]) {
      assert.match(answer.headers.get('vary')!, /^Accept(?:, Accept-Encoding)?$/);
      assert.equal(answer.headers.get('cache-control'), 'no-cache');
    }
    const etag = page.headers.get('etag')!;
    const known = { 'if-none-match': etag };
    assert.equal((await service.client.with({ ...HTML, ...known }).get('/')).status, 304);
    assert.equal((await service.client.with(known).get('/')).status, 200);
  });

  it('has the strict policy of the console', async () => {
    const [front, admin] = [await service.client.with(HTML).get('/'), await service.client.get('/admin')];
    for (const name of [
      'content-security-policy',
      'x-frame-options',
      'referrer-policy',
      'permissions-policy',
    ]) {
      assert.equal(front.headers.get(name), admin.headers.get(name), name);
    }
    assert.match(front.headers.get('content-security-policy')!, /script-src 'self'; style-src 'self';/);
    assert.doesNotMatch(front.text, /<style|\sstyle=|\son\w+=|<script>/);
  });

  it('gives /docs the same headers, but for its own policy of contents', async () => {
    const [front, docs] = [await service.client.with(HTML).get('/'), await service.client.get('/docs')];
    for (const name of [
      'cross-origin-opener-policy',
      'cross-origin-resource-policy',
      'permissions-policy',
      'referrer-policy',
      'x-frame-options',
    ]) {
      assert.notEqual(front.headers.get(name), null, name);
      assert.equal(docs.headers.get(name), front.headers.get(name), name);
    }
  });
});

async function open(options: BrowserContextOptions = {}, at = service): Promise<Visit> {
  const visitor = await visit(await getBrowser(), at.url, '/', options);
  await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  return visitor;
}

async function register(page: Page): Promise<string> {
  await page.getByLabel('E-mail').fill('new@example.com');
  await page.getByLabel('Name of your agent').fill('Weekend planner');
  await page.getByRole('button', { name: 'Get a key' }).click();
  await page.locator('#new-key').waitFor();
  return page.locator('#new-key-text').innerText();
}

const search = (page: Page) => page.getByRole('button', { name: 'Search', exact: true }).click();
const clipboard = (page: Page) => page.evaluate('navigator.clipboard.readText()') as Promise<string>;

describe('the front page', () => {
  it(`loads at most ${MAX_BYTES} bytes, all from the service`, async () => {
    const visitor = await open();
    const bytes = await countBytes(visitor.page);
    await visitor.page.reload({ waitUntil: 'networkidle' });
    const session = await visitor.context.newCDPSession(visitor.page);
    await session.send('Network.clearBrowserCache');
    await visitor.page.goto(service.url, { waitUntil: 'networkidle' });
    assert.ok(bytes() > 5_000 && bytes() < MAX_BYTES, `${bytes()} bytes`);
    assertClean(visitor);
    await visitor.context.close();
  });

  it('gives a key with one click, shows it once, and copies it', async () => {
    const visitor = await open();
    const { page } = visitor;
    const key = await register(page);
    assert.match(key, /^lev_\w+$/);
    const own = await service.client.with({ 'x-api-key': key }).get('/v1/agents/me');
    assert.equal(own.body.agent.agent_name, 'Weekend planner');
    await page.getByRole('button', { name: 'Copy the key' }).click();
    await page.getByText('Copied').waitFor();
    assert.equal(await clipboard(page), key);
    // The tab keeps it for requests, but no text shows it again.
    await page.reload();
    assert.equal(await page.getByLabel('API key').inputValue(), key);
    assert.ok(!(await page.innerText('body')).includes(key));
    // Nor does it ask for an e-mail address again.
    await page.getByText(`This tab has the key ${key.slice(0, 8)}…`).waitFor();
    assert.equal(await page.getByLabel('E-mail').isVisible(), false);
    await page.getByRole('button', { name: 'Get another key' }).click();
    assert.equal(await page.getByLabel('E-mail').evaluate((field) => field.matches(':focus')), true);
    const other = await open();
    assert.equal(await other.page.getByLabel('API key').inputValue(), '', 'another tab has none');
    assertClean(visitor);
    await other.context.close();
    await visitor.context.close();
  });

  it('searches with the form, and shows what agents wrote as text', async () => {
    const visitor = await open();
    const { page } = visitor;
    await register(page);
    await search(page);
    const results = page.locator('#results');
    await results.getByText('3 events').waitFor();
    assert.deepEqual(await results.locator('.event-title').allInnerTexts(), [
      'Lantern workshop',
      '<b>bold</b> & "quoted"',
      'مساء',
    ]);
    assert.match(await results.innerText(), /Thu 1 May, 20:00/, 'in the timezone of the event');
    await results.getByText('The response as JSON').click();
    assert.equal(JSON.parse(await results.locator('pre').innerText()).total, 3);
    await page.getByRole('button', { name: 'Tokyo' }).click();
    assert.equal(await page.getByLabel('Place', { exact: true }).inputValue(), 'Tokyo');
    await search(page);
    await results.getByText('0 events').waitFor();
    assertClean(visitor);
    await visitor.context.close();
  });

  it('says how to see events, shows them once there is a key, and follows the form', async () => {
    const visitor = await open();
    const { page } = visitor;
    const results = page.locator('#results');
    const searches: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/nearby')) searches.push(request.url());
    });
    await results.getByText('Events appear here as soon as there is a key').waitFor();
    await page.getByRole('button', { name: 'London' }).click();
    await page.getByRole('button', { name: 'Berlin' }).click();
    await results.getByText('Events appear here as soon as there is a key').waitFor();
    assert.deepEqual(searches, [], 'nothing is sent without a key');
    await register(page);
    await results.getByText('3 events').waitFor();
    await page.getByRole('button', { name: 'Tokyo' }).click();
    await results.getByText('0 events').waitFor();
    await page.getByRole('button', { name: 'Berlin' }).click();
    await results.getByText('3 events').waitFor();
    await page.getByLabel('Words').fill('lantern');
    await page.keyboard.press('Tab');
    await results.getByText('1 event').waitFor();
    await page.getByLabel('When', { exact: true }).selectOption('Next 7 days');
    await results.getByText('0 events').waitFor();
    assert.match(await page.locator('#curl').innerText(), /&when=next_7_days&q=lantern"/);
    await page.getByLabel('When', { exact: true }).selectOption('');
    await results.getByText('1 event').waitFor();
    await page.reload();
    await results.getByText('3 events').waitFor();
    assertClean(visitor);
    await visitor.context.close();
  });

  it('shows the results of the last choice, whichever response comes last', async () => {
    const visitor = await open();
    const { page } = visitor;
    await register(page);
    const results = page.locator('#results');
    await results.getByText('3 events').waitFor();
    const { promise, resolve } = Promise.withResolvers<void>();
    await page.route('**/nearby?place=Tokyo*', async (route) => {
      await promise;
      await route.continue();
    });
    const late = page.waitForResponse(/place=Tokyo/);
    await page.getByRole('button', { name: 'Tokyo' }).click();
    await page.getByRole('button', { name: 'Berlin' }).click();
    await results.getByText('3 events').waitFor();
    resolve();
    await (await late).finished();
    await page.evaluate('new Promise((done) => setTimeout(done))');
    assert.match(await results.innerText(), /3 events/);
    await visitor.context.close();
  });

  it('publishes an event with the form, finds it, and deletes it', async () => {
    const visitor = await open();
    const { page } = visitor;
    const publish = () => page.getByRole('button', { name: 'Publish', exact: true }).click();
    await publish();
    await page.locator('#publish-form').getByText('X-API-Key').waitFor();
    const key = await register(page);
    await page.getByLabel('Title').fill('');
    await page.getByLabel('Coordinates').fill('somewhere');
    await publish();
    await page.locator('#publish-title-field-problem:not(:empty)').waitFor();
    assert.match(await page.locator('#publish-place-problem').innerText(), /^lat .*lng /);
    await page.getByLabel('Title').fill("It's a <b>party</b>");
    await page.getByLabel('City').selectOption('Tokyo');
    assert.equal(await page.getByLabel('Timezone').inputValue(), 'Asia/Tokyo');
    await page.getByLabel('Start').fill('2031-05-01T19:30');
    const { title, ...event } = JSON.parse(
      (await page.locator('#publish-curl').innerText())
        .split("-d '")[1]!
        .slice(0, -1)
        .replaceAll("'\\''", "'"),
    );
    assert.deepEqual(
      [title, event.lat, event.start_at],
      ["It's a <b>party</b>", 35.682, '2031-05-01T19:30:00'],
    );
    await publish();
    const published = page.locator('#published');
    await published.getByText("Published It's a <b>party</b>").waitFor();
    const id = await published.locator('code').innerText();
    const stored = (await service.client.with({ 'x-api-key': key }).get(`/v1/events/${id}`)).body;
    assert.deepEqual([stored.start_at, stored.timezone], ['2031-05-01T10:30:00.000Z', 'Asia/Tokyo']);
    await page.getByRole('button', { name: 'Copy the request' }).click();
    const { stdout } = await promisify(execFile)('sh', ['-c', await clipboard(page)]);
    assert.equal(JSON.parse(stdout).event_id, id, 'the command creates the same event');
    await page.getByRole('group', { name: 'Cities' }).getByRole('button', { name: 'Tokyo' }).click();
    await page.locator('#results').getByText('1 event').waitFor();
    await published.getByRole('button', { name: 'Delete it' }).click();
    await published.getByText('Deleted.').waitFor();
    await page.locator('#results').getByText('0 events').waitFor();
    assertClean(visitor);
    await visitor.context.close();
  });

  it('has the settings of MCP clients on tabs, which the keyboard moves between', async () => {
    const visitor = await open();
    const { page } = visitor;
    const key = await register(page);
    const tab = (name: string) => page.getByRole('tab', { name, exact: true });
    await tab('Claude Code').focus();
    for (const name of [
      'Cursor',
      'VS Code',
      'Codex',
      'Others',
      'Claude Desktop',
      'Chat clients',
      'Claude Code',
    ]) {
      await page.keyboard.press('ArrowRight');
      assert.equal(await tab(name).getAttribute('aria-selected'), 'true');
      assert.equal(await page.getByRole('tabpanel').count(), 1);
    }
    await tab('Chat clients').click();
    await page.getByRole('button', { name: 'Copy the URL' }).click();
    assert.equal(await clipboard(page), `${service.url}/mcp/connect`);
    await tab('Others').click();
    await page.getByRole('button', { name: 'Copy the settings for Others' }).click();
    const copied = JSON.parse(await clipboard(page)).mcpServers['local-events'];
    assert.deepEqual([copied.url, copied.headers.Authorization], [`${service.url}/mcp`, `Bearer ${key}`]);
    assert.ok(!(await page.innerText('body')).includes(copied.headers.Authorization));
    const plain = await open({ javaScriptEnabled: false });
    for (const name of ['Claude Code', 'Cursor', 'Codex'])
      assert.ok(
        await plain.page.locator('#connect').getByText(name, { exact: true }).last().isVisible(),
        name,
      );
    await plain.context.close();
    await visitor.context.close();
  });

  it('has a command that does the same as the form', async () => {
    const visitor = await open();
    const { page } = visitor;
    const key = await register(page);
    await page.getByLabel('Radius in miles').fill('5.5');
    assert.match(
      await page.locator('#curl').innerText(),
      /radius=5\.5" -H "X-API-Key: lev_\w{4}…" -H "Prefer: handling=strict"$/,
    );
    await page.getByRole('button', { name: 'Copy the command' }).click();
    const command = await clipboard(page);
    assert.ok(command.includes(key));
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    assert.equal(JSON.parse(stdout).total, 3);
    await page.getByRole('tab', { name: 'Claude Code' }).click();
    await page.getByRole('button', { name: 'Copy the settings for Claude Code' }).click();
    assert.equal(
      await clipboard(page),
      `claude mcp add --transport http local-events ${service.url}/mcp --header "X-API-Key: ${key}"`,
    );
    await visitor.context.close();
  });

  it('says what the API says when it refuses', async () => {
    const strict = await startTestService({ REGISTRATIONS_PER_HOUR: '1' });
    const visitor = await open({}, strict);
    const { page } = visitor;
    const refused = (path: string, init: object) =>
      page.evaluate(([to, options]) => fetch(to, options).then((answer) => answer.json()), [
        path,
        init,
      ] as const) as Promise<{ error: { message: string }; detail: { msg: string }[] }>;
    const post = (body: object) => ({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

    await page.getByRole('button', { name: 'Get a key' }).click();
    const { detail } = await refused('/v1/auth/register', post({ email: '', agent_name: '' }));
    await page.locator('#email-problem', { hasText: detail[0]!.msg }).waitFor();
    assert.equal(await page.locator('#agent_name-problem').innerText(), detail[1]!.msg);
    const email = page.getByLabel('E-mail');
    assert.equal(await email.getAttribute('aria-invalid'), 'true');
    assert.equal(await email.evaluate((field) => field.matches(':focus')), true);

    await search(page);
    const missing = await refused('/v1/events/nearby?lat=0&lng=0', {});
    await page.getByText(missing.error.message).waitFor();

    await register(page);
    await page.getByLabel('Place', { exact: true }).fill('91, 0');
    await search(page);
    await page.locator('#place-problem', { hasText: /90/ }).waitFor();

    await page.reload();
    await page.getByRole('button', { name: 'Get another key' }).click();
    await page.getByLabel('E-mail').fill('more@example.com');
    await page.getByLabel('Name of your agent').fill('One more');
    await page.getByRole('button', { name: 'Get a key' }).click();
    await page.locator('#registration [data-problem]').waitFor();
    const body = { email: 'a@example.com', agent_name: 'a' };
    const limited = await refused('/v1/auth/register', post(body));
    assert.match(limited.error.message, /quota of 1 per hour/);
    const shown = await page.getByRole('alert').first().innerText();
    assert.equal(shown.replaceAll(/\d+/g, 'N'), limited.error.message.replaceAll(/\d+/g, 'N'));
    await strict.close();
    await page.getByRole('button', { name: 'Get a key' }).click();
    await page.getByText('The service does not respond.').waitFor();
    await visitor.context.close();
  });

  it('is used with the keyboard alone', async () => {
    const visitor = await open();
    const { page } = visitor;
    const isAt = (name: string) => page.evaluate(`document.activeElement?.${name}`);
    const press = async (key: string, times = 1) => {
      for (let time = 0; time < times; time++) await page.keyboard.press(key);
    };
    await press('Tab');
    assert.equal(await isAt('textContent'), 'Skip to content');
    await press('Enter');
    await press('Tab', 3); // two links of the introduction
    assert.equal(await isAt('id'), 'email');
    await page.keyboard.type('keys@example.com');
    await press('Tab');
    await page.keyboard.type('Keyboard');
    await press('Enter');
    await page.locator('#new-key').waitFor();
    assert.equal(await isAt('ariaLabel'), 'Copy the key');
    await press('Enter');
    await page.getByText('Copied').waitFor();
    await press('Tab', 2);
    assert.equal(await isAt('textContent'), 'London');
    await press('Shift+Tab');
    await press('Space');
    await press('Tab', 15);
    assert.equal(await isAt('textContent'), 'Search');
    await press('Enter');
    await page.getByText('3 events').waitFor();
    assertClean(visitor);
    await visitor.context.close();
  });

  it('has no violation of axe-core, dark and in a long run light, and fits on 320 pixels', async () => {
    const visitor = await open({ viewport: { width: 320, height: 700 } });
    const { page } = visitor;
    const check = async (state: string) => {
      assert.equal(await findOverflow(page), 0, state);
      for (const colorScheme of size(['dark'] as const, ['light', 'dark'] as const)) {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await findViolations(page), [], `${state}, ${colorScheme}`);
      }
    };
    await check('at first');
    await page.getByRole('button', { name: 'Get a key' }).click();
    await page.locator('#email-problem:not(:empty)').waitFor();
    await check('with errors');
    await register(page);
    await search(page);
    await page.getByText('3 events').waitFor();
    await page.getByText('The response as JSON').click();
    await check('with a key and results');
    await page.setViewportSize({ width: 1280, height: 900 });
    await check('wide');
    await visitor.context.close();
  });

  it('is light or dark as the system prefers, until the visitor chooses', async () => {
    const visitor = await open({ colorScheme: 'dark' });
    const { page } = visitor;
    const ground = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    assert.equal(await ground(), 'rgb(14, 16, 20)');
    await page.getByRole('button', { name: 'Theme: system. Switch to light.' }).click();
    assert.equal(await ground(), 'rgb(249, 250, 251)');
    await page.reload();
    assert.equal(await ground(), 'rgb(249, 250, 251)');
    await page.goto(`${service.url}/admin`);
    assert.equal(
      await page.evaluate('document.documentElement.dataset.theme'),
      'light',
      'the console agrees',
    );
    await visitor.context.close();
  });

  it('copies where the browser has no clipboard for scripts: on http', async () => {
    const visitor = await open();
    const { page } = visitor;
    await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await page.reload();
    const key = await register(page);
    await page.evaluate(
      "document.body.append(Object.assign(document.createElement('textarea'), { id: 'paste' }))",
    );
    await page.getByRole('tab', { name: 'Claude Code' }).click();
    for (const [name, text] of [
      ['Copy the key', key],
      ['Copy the command', `X-API-Key: ${key}`],
      ['Copy the settings for Claude Code', `X-API-Key: ${key}`],
    ] as const) {
      const button = page.getByRole('button', { name, exact: true });
      await button.click();
      await button.getByText('Copied').waitFor();
      assert.equal(await button.evaluate((element) => element.matches(':focus')), true);
      await page.locator('#paste').fill('');
      await page.locator('#paste').press('Control+V');
      const pasted = await page.locator('#paste').inputValue();
      assert.ok(pasted.includes(text), `${name}: ${pasted}`);
      assert.ok(!pasted.includes('…'));
    }
    assert.equal(await page.locator('textarea').count(), 1);
    await visitor.context.close();
  });

  it('says how to register without JavaScript', async () => {
    const visitor = await open({ javaScriptEnabled: false });
    const shown = await visitor.page.locator('noscript').innerText();
    assert.ok(shown.includes(`curl -s ${service.url}/v1/auth/register`), shown);
    await visitor.context.close();
  });
});
