// The npm package and a clone, installed in empty folders as an operator would: packages come from the registry, and the README's
// commands pass there.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectBy } from '../docs/mcp-setup.ts';
import {
  administration,
  assertWalkThrough,
  ROOT,
  runCommands,
  type Shell,
  walkThrough,
} from '../docs/readme.ts';
import { npm, PATH } from '../support/npm.ts';
import { cleanEnv, freePort } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';
import { packPackage } from './package.ts';

const newShell = async (cwd: string): Promise<Shell> => {
  const port = await freePort();
  return { port, cwd, env: cleanEnv({ PATH, PORT: String(port), npm_config_update_notifier: 'false' }) };
};

/** Runs the service with this command until the end of the test, and waits until it is ready. */
async function serve(t: TestContext, command: string, { cwd, env, port }: Shell): Promise<string> {
  const child = spawn('sh', ['-c', command], { cwd, env, detached: true, stdio: 'ignore' });
  const gone = once(child, 'exit');
  t.after(async () => {
    if (child.exitCode === null) process.kill(-child.pid!, 'SIGTERM');
    await gone;
  });
  const url = `http://127.0.0.1:${port}`;
  while (!(await fetch(`${url}/health`).catch(() => undefined))?.ok) {
    assert.equal(child.exitCode, null, `"${command}" ended`);
    await sleep(100);
  }
  return url;
}

describe('the npm package, installed in an empty folder', { timeout: 600_000 }, () => {
  let tarball: string;
  before(() => {
    tarball = packPackage();
  });

  for (const option of ['', '--omit=dev --ignore-scripts']) {
    it(`passes the README's walk-through after "npm install ${option}"`, async (t) => {
      const shell = await newShell(temporaryFolder());
      writeFileSync(join(shell.cwd, 'package.json'), '{}');
      await npm(['install', ...option.split(' ').filter(Boolean), tarball], shell.cwd);
      for (const name of ['node', 'typescript', 'vite'])
        assert.ok(!existsSync(join(shell.cwd, 'node_modules', name)), name);
      const url = await serve(t, 'npx local-events serve', shell);

      const script = `${walkThrough}\n${administration}`.replaceAll('npm run -s cli --', 'npx local-events');
      assertWalkThrough(runCommands(script, shell));
      assert.match(await (await fetch(`${url}/admin`)).text(), /\/admin\/assets\/index-/);
      assert.ok(existsSync(join(shell.cwd, 'data/local-events.db')));

      const { api_key: key } = (await (
        await fetch(`${url}/v1/auth/register`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ email: 'you@example.com', agent_name: 'Bridge' }),
        })
      ).json()) as { api_key: string };
      const args = ['--prefix', shell.cwd, 'local-events', 'mcp', '--url', url];
      const env = { ...shell.env, LOCAL_EVENTS_API_KEY: key };
      const client = await connectBy({ command: 'npx', args, env });
      assert.equal((await client.client.listTools()).tools.length, 8);
      await client.close();
    });
  }
});

describe('a clone without development packages', { timeout: 600_000 }, () => {
  it('passes the README\'s walk-through after "npm ci --omit=dev && npm start" with Node 26', async (t) => {
    const folder = join(temporaryFolder(), 'clone');
    const skipped = ['node_modules', 'lib', 'data', '.git', 'dist'];
    cpSync(ROOT, folder, { recursive: true, filter: (path) => !skipped.includes(basename(path)) });
    const shell = await newShell(folder);
    await npm(['ci', '--omit=dev'], folder);
    assert.ok(!existsSync(join(folder, 'node_modules/node')));
    const url = await serve(t, 'npm start', shell);
    assertWalkThrough(runCommands(`${walkThrough}\n${administration}`, shell));
    // The console is built with development packages.
    assert.match(await (await fetch(`${url}/admin`)).text(), /is not built/);
  });
});
