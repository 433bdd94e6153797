// `npm run demo`, used as a visitor would.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Browser } from 'playwright-core';
import { assertClean, untilLoaded, visit } from '../console/console.ts';
import { launchBrowser } from '../support/browser.ts';
import { findViolations } from '../support/page-checks.ts';
import { freePort, launchCommand, type RunningProcess, untilPrinted } from '../support/process.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('npm run demo', () => {
  let port: number;
  let demo: RunningProcess;
  let browser: Browser;
  let folder: string;

  before(async () => {
    port = await freePort();
    folder = `${ROOT}demo/data/${port}`;
    demo = start();
    await untilPrinted(demo, ({ stdout }) => stdout.includes('Ctrl+C'));
    browser = await launchBrowser();
  });
  after(async () => {
    await browser.close();
    await rm(folder, { recursive: true, force: true });
  });

  const start = () =>
    launchCommand('npm', ['run', '-s', 'demo'], {
      cwd: ROOT,
      detached: true,
      env: { PORT: String(port), DATA_DIR: '/nonexistent' },
    });

  it('prints a link, which leads to a console full of agents and events', async () => {
    const { stdout } = demo.output();
    const url = /The console +(\S+)\/admin/.exec(stdout)?.[1];
    assert.equal(url, `http://127.0.0.1:${port}`);
    assert.ok(existsSync(folder));
    for (const path of ['/', '/docs', '/for-agents', '/llms.txt', '/admin']) {
      assert.ok(stdout.includes(`${url}${path}`), path);
      assert.equal((await fetch(url + path)).status, 200, path);
    }
    const visitor = await visit(browser, url, '/admin', {}, [`http://127.0.0.1:${port + 1}`]);
    const { page } = visitor;
    await page.getByRole('link', { name: 'Sign in with the demo’s provider' }).click();
    await page.getByRole('heading', { name: 'Who are you?' }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await findViolations(page), []);
    }
    await page.goBack();
    await visitor.signIn();
    const counts = page.getByRole('region', { name: 'Counts' });
    await counts.getByText(/^5,1[2-9]\d$/).waitFor(); // 5,120, and what the spammer has published since
    const said = (await counts.innerText()).replaceAll(/\s+/g, ' ');
    const [, active, upcoming] = /Agents 42 .*Active today (\d+) .*Upcoming ([\d,]+) /.exec(said) ?? [];
    assert.ok(Number(active) > 10, said);
    assert.ok(Number(upcoming?.replace(',', '')) > 2_000, said);
    // Who created most today is the spammer, far ahead of all others.
    await page.getByRole('columnheader', { name: '24 h' }).getByRole('button').click();
    await page.waitForURL(/sort=-events_24h/);
    await untilLoaded(page);
    assert.equal(await page.locator('tbody .row-link').first().innerText(), 'Weekend bargains');
    const today = (await page.locator('tbody .column-day').allInnerTexts()).map(Number);
    assert.ok(today[0]! >= 120 && today[1]! < today[0]! / 2, String(today));
    await page.getByRole('searchbox', { name: 'Search agents' }).fill('bargains');
    await page.getByRole('link', { name: 'Weekend bargains' }).click();
    await page
      .getByText(/^CHEAP WATCHES/)
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByText('deleted the agent Cheap watches').waitFor();
    assertClean(visitor);
  });

  it('prints a key, and commands with it that work', async () => {
    const { stdout } = demo.output();
    const key = /^ {2}(lev_\w+)$/m.exec(stdout)?.[1];
    const command = /^ {2}(curl .*)$/m.exec(stdout)?.[1] ?? '';
    assert.ok(key && command.includes(key), stdout);
    const found = await promisify(execFile)('sh', ['-c', command]);
    assert.equal(JSON.parse(found.stdout).count, 3);
    // The spammer is at it.
    const countSpam = async () => {
      const response = await fetch(
        `http://127.0.0.1:${port}/v1/events/nearby?lat=0&lng=0&q=cheap+watches&limit=1`,
        { headers: { 'x-api-key': key } },
      );
      return ((await response.json()) as { total: number }).total;
    };
    assert.ok((await countSpam()) >= 120);
    while ((await countSpam()) === 120) await sleep(200);
    const [, url, header] = /^ {2}claude mcp add .* (\S+\/mcp) --header "X-API-Key: (.*)"$/m.exec(stdout)!;
    assert.equal(header, key);
    const client = new McpClient({ name: 'demo', version: '1' });
    const requestInit = { headers: { 'X-API-Key': key } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url!), { requestInit }));
    assert.ok((await client.listTools()).tools.length > 0);
    await client.close();
  });

  it('shows events at once, without spam, and many in the next 7 days in every city', async () => {
    const url = `http://127.0.0.1:${port}`;
    const visitor = await visit(browser, url, '/');
    const { page } = visitor;
    const results = page.locator('#results');
    await results.locator('.events li').first().waitFor();
    const cities = page.getByRole('group', { name: 'Cities' }).getByRole('button');
    assert.equal(await cities.count(), 10);
    for (const city of await cities.all()) {
      const name = await city.innerText();
      const place = await city.getAttribute('data-place');
      for (const [when, least] of [
        ['', 50],
        ['next_7_days', 50],
        ['tonight', 1],
      ] as const) {
        const answer = page.waitForResponse((response) => {
          const { searchParams: sent } = new URL(response.url());
          return (sent.get('when') ?? '') === when && sent.get('place') === place;
        });
        if (when === '') await city.click();
        else await page.getByLabel('When', { exact: true }).selectOption(when);
        const { total, events } = (await (await answer).json()) as {
          total: number;
          events: { title: string }[];
        };
        assert.ok(total >= least, `${name}, ${when}: ${total}`);
        await results.getByText(`${total.toLocaleString('en')} event`).waitFor();
        assert.ok(
          events.every(({ title }) => !title.startsWith('CHEAP WATCHES')),
          name,
        );
      }
      await page.getByLabel('When', { exact: true }).selectOption('');
    }
    const key = /^ {2}(lev_\w+)$/m.exec(demo.output().stdout)![1]!;
    const ask = async (query: string) => {
      const response = await fetch(`${url}/v1/events/nearby?${query}`, { headers: { 'x-api-key': key } });
      return (await response.json()) as { total: number; events: { title: string; lat: number }[] };
    };
    const spam = await ask('lat=36.1&lng=-115.2&radius=25&q=cheap');
    assert.ok(spam.total >= 120, 'spam is elsewhere');
    const first = await ask('lat=0&lng=0&limit=100');
    assert.ok(first.events.every(({ title }) => !title.startsWith('CHEAP WATCHES')));
    // The key of the demo is not kept: the form for an own one stays.
    await page.reload();
    await results.locator('.events li').first().waitFor();
    assert.ok(await page.getByLabel('E-mail').isVisible());
    assertClean(visitor);
    await visitor.context.close();
  });

  it('refuses to run twice on the same ports, and does not affect the first run', async () => {
    const { code, stderr } = await start().ended;
    assert.equal(code, 1);
    assert.match(stderr, /cannot listen on port \d+: .*Set PORT to another/);
    const { status } = await fetch(`http://127.0.0.1:${port}/health`);
    assert.equal(status, 200);
  });

  it('exits with 2 for a bad port', async () => {
    const options = { cwd: ROOT, env: { PORT: 'x' } };
    const { code, stderr } = await launchCommand('npm', ['run', '-s', 'demo'], options).ended;
    assert.equal(code, 2);
    assert.match(stderr, /^PORT must be/);
  });

  it('ends on SIGTERM', async () => {
    process.kill(-demo.child.pid!, 'SIGTERM');
    await demo.ended;
    await assert.rejects(fetch(`http://127.0.0.1:${port}/health`));
  });
});
