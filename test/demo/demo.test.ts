// `npm run demo`, used as a visitor would.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { assertClean, visit } from '../console/console.ts';
import { launchBrowser } from '../support/browser.ts';
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
    const visitor = await visit(browser, url, '/admin', {}, [`http://127.0.0.1:${port + 1}`]);
    const { page } = visitor;
    await visitor.signIn();
    const counts = page.getByRole('region', { name: 'Counts' });
    await counts.getByText('5,000', { exact: true }).waitFor();
    const said = (await counts.innerText()).replaceAll(/\s+/g, ' ');
    const [, active, upcoming] = /Agents 40 .*Active today (\d+) .*Upcoming ([\d,]+) /.exec(said) ?? [];
    assert.ok(Number(active) > 10, said);
    assert.ok(Number(upcoming?.replace(',', '')) > 2_000, said);
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByText('deleted the agent Cheap watches').waitFor();
    assertClean(visitor);
  });

  it('refuses to run twice on the same ports, and does not affect the first run', async () => {
    const { code, stderr } = await start().ended;
    assert.equal(code, 1);
    assert.match(stderr, /cannot listen on port \d+: .*Set PORT to another/);
    const { status } = await fetch(`http://127.0.0.1:${port}/health`);
    assert.equal(status, 200);
  });

  it('ends on SIGTERM', async () => {
    process.kill(-demo.child.pid!, 'SIGTERM');
    await demo.ended;
    await assert.rejects(fetch(`http://127.0.0.1:${port}/health`));
  });
});
