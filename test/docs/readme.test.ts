// The README's commands, run as they are written: only the port is another, so that tests do not collide.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cleanEnv, freePort } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';
import { standInForClaude } from './mcp-setup.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const README = readFileSync(`${ROOT}/README.md`, 'utf8');

const commands = [...README.matchAll(/^```sh\n(.*?)^```$/gms)].map((match) => match[1]!);

describe('README', () => {
  let port: number;
  let env: Record<string, string>;
  let service: ReturnType<typeof spawn>;

  before(async () => {
    port = await freePort();
    env = cleanEnv({ PORT: String(port), DATA_DIR: temporaryFolder(), npm_config_update_notifier: 'false' });
    service = spawn('npm', ['start'], { cwd: ROOT, env, detached: true, stdio: 'ignore' });
    while (!(await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined))?.ok) {
      assert.equal(service.exitCode, null, 'npm start ended');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
  after(async () => {
    const gone = once(service, 'exit');
    process.kill(-service.pid!, 'SIGTERM');
    await gone;
  });

  const run = (script: string) => {
    const ended = spawnSync('bash', ['-euo', 'pipefail', '-c', script.replaceAll('8080', String(port))], {
      cwd: ROOT,
      env,
      encoding: 'utf8',
    });
    assert.equal(ended.status, 0, ended.stderr);
    return ended.stdout.split(/(?<=\})(?=\{)/).map((text) => JSON.parse(text));
  };

  it('names the two lines that everything else rests on', () => {
    assert.equal(commands[0], 'npm ci && npm start\n');
    assert.equal(commands.at(-1), 'npm ci && npm test\n');
    assert.match(readFileSync(`${ROOT}/.ci/run`, 'utf8'), /^npm ci && npm test && npm run test:long$/m);
  });

  it('registers, publishes, finds and administers with the commands that it shows', () => {
    const [walkThrough, mcp, administration, ...rest] = commands.slice(1, -1);
    assert.match(mcp!, /^claude mcp add /);
    assert.deepEqual(rest, [], 'a command that no test runs');
    const [event, page, agents] = run(`${walkThrough}\n${administration}`);
    assert.equal(event.start_at, '2031-05-01T16:00:00.000Z');
    assert.deepEqual(page, { events: [event], count: 1, total: 1, next_cursor: null });
    assert.equal(agents.total, 1);
    assert.equal(agents.agents[0].id, event.agent_id);
  });

  it('makes it known to Claude Code with a line that works', async () => {
    const { PATH = '' } = env;
    const { folder, connect } = standInForClaude();
    const [walkThrough, mcp] = commands.slice(1, -1);
    run(`export PATH=${folder}:${PATH}\n${walkThrough}\n${mcp}`);
    const client = await connect();
    assert.equal((await client.get('list_my_events')).total, 1);
    await client.close();
  });
});
