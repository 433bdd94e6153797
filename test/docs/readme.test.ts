// The README's commands, run as written: only the port differs, so that tests do not collide.
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

const blocksOf = (language: string) =>
  [...README.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map((match) => match[1]!);
const commands = blocksOf('sh');

/** Assigned by the service, so different in each run. */
const ASSIGNED = ['event_id', 'agent_id', 'created_at'];

/** Names and values in their order; for values that the service assigns, only the type. */
function membersOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(membersOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value).map(([name, inner]) => [
    name,
    ASSIGNED.includes(name) ? typeof inner : membersOf(inner),
  ]);
}

describe('README', () => {
  const [walkThrough, mcp, administration, ...untested] = commands.slice(1, -1);
  let port: number;
  let env: Record<string, string>;
  let service: ReturnType<typeof spawn>;
  /** Output of the first run of the commands, on a service without data. */
  let printed: ReturnType<typeof run>;

  before(async () => {
    port = await freePort();
    env = cleanEnv({ PORT: String(port), DATA_DIR: temporaryFolder(), npm_config_update_notifier: 'false' });
    service = spawn('npm', ['start'], { cwd: ROOT, env, detached: true, stdio: 'ignore' });
    while (!(await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined))?.ok) {
      assert.equal(service.exitCode, null, 'npm start ended');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    printed = run(`${walkThrough}\n${administration}`);
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

  it('begins with the start command and ends with the test command', () => {
    assert.equal(commands[0], 'npm ci && npm start\n');
    assert.equal(commands.at(-1), 'npm ci && npm test\n');
    assert.match(readFileSync(`${ROOT}/.ci/run`, 'utf8'), /^npm ci && npm test && npm run test:long$/m);
  });

  it('registers, publishes, finds and administers with the commands that it shows', () => {
    assert.match(mcp!, /^claude mcp add /);
    assert.deepEqual(untested, [], 'a command that no test runs');
    const [event, page, agents] = printed;
    assert.equal(event.start_at, '2031-05-01T16:00:00.000Z');
    assert.deepEqual(page, { events: [event], count: 1, total: 1, next_cursor: null });
    assert.equal(agents.total, 1);
    assert.equal(agents.agents[0].id, event.agent_id);
  });

  it('shows the actual response of the search: the same names in the same order, the same values', () => {
    const [sample, ...others] = blocksOf('json');
    assert.deepEqual(others, [], 'a sample that no test compares');
    const [, page] = printed;
    assert.deepEqual(membersOf(JSON.parse(sample!)), membersOf(page));
  });

  it('adds the service to Claude Code with a line that works', async () => {
    const { PATH = '' } = env;
    const { folder, connect } = standInForClaude();
    run(`export PATH=${folder}:${PATH}\n${walkThrough}\n${mcp}`);
    const client = await connect();
    assert.equal((await client.get('list_my_events')).total, 1);
    await client.close();
  });
});
