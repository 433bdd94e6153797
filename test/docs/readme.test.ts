// The README's commands, run as written: only the port differs, so that tests do not collide.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { cleanEnv, freePort } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';
import { standInForClaude } from './mcp-setup.ts';
import {
  administration,
  assertWalkThrough,
  blocksOf,
  commands,
  mcp,
  membersOf,
  others,
  ROOT,
  runCommands,
  type Shell,
  start,
  walkThrough,
} from './readme.ts';

describe('README', () => {
  let shell: Shell;
  let service: ReturnType<typeof spawn>;
  /** Output of the first run of the commands, on a service without data. */
  let printed: ReturnType<typeof runCommands>;

  before(async () => {
    const port = await freePort();
    const env = cleanEnv({
      PORT: String(port),
      DATA_DIR: temporaryFolder(),
      npm_config_update_notifier: 'false',
    });
    shell = { port, cwd: ROOT, env };
    service = spawn('npm', ['start'], { cwd: ROOT, env, detached: true, stdio: 'ignore' });
    while (!(await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined))?.ok) {
      assert.equal(service.exitCode, null, 'npm start ended');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    printed = runCommands(`${walkThrough}\n${administration}`, shell);
  });
  after(async () => {
    const gone = once(service, 'exit');
    process.kill(-service.pid!, 'SIGTERM');
    await gone;
  });

  it('begins with the start command and ends with the test command', () => {
    assert.equal(start, 'npm ci && npm start\n');
    assert.equal(commands.at(-1), 'npm ci && npm test\n');
    assert.match(readFileSync(`${ROOT}/.ci/run`, 'utf8'), /^npm ci && npm test && npm run test:long$/m);
  });

  it('registers, publishes, finds and administers with the commands that it shows', () => {
    assert.match(mcp!, /^claude mcp add /);
    assert.deepEqual(others.slice(0, -1), [], 'a command that no test runs');
    assertWalkThrough(printed);
  });

  it('shows the actual response of the search: the same names in the same order, the same values', () => {
    const [sample, ...others] = blocksOf('json');
    assert.deepEqual(others, [], 'a sample that no test compares');
    const [, page] = printed;
    assert.deepEqual(membersOf(JSON.parse(sample!)), membersOf(page));
  });

  it('adds the service to Claude Code with a line that works', async () => {
    const { PATH = '' } = shell.env;
    const { folder, connect } = standInForClaude();
    runCommands(`export PATH=${folder}:${PATH}\n${walkThrough}\n${mcp}`, shell);
    const client = await connect();
    assert.equal((await client.get('list_my_events')).total, 1);
    await client.close();
  });
});
