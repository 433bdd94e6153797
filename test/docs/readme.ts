// The README's commands and samples, and a shell that runs the commands against any service.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const README = readFileSync(`${ROOT}/README.md`, 'utf8');

/** Code blocks in one language. */
export const blocksOf = (language: string) =>
  [...README.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map((match) => match[1]!);

export const commands = blocksOf('sh');
export const [start, walkThrough, mcp, administration, ...others] = commands;

/** Assigned by the service, so different in each run. */
const ASSIGNED = ['event_id', 'agent_id', 'created_at'];

/** Names and values in their order; for values that the service assigns, only the type. */
export function membersOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(membersOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value).map(([name, inner]) => [
    name,
    ASSIGNED.includes(name) ? typeof inner : membersOf(inner),
  ]);
}

/** Where the commands run. */
export interface Shell {
  readonly port: number;
  readonly cwd: string;
  readonly env: Record<string, string>;
}

/** Runs the commands as written, only with another port. Returns the JSON values that they print. */
export function runCommands(script: string, { port, cwd, env }: Shell) {
  const text = script.replaceAll('8080', String(port));
  const ended = spawnSync('bash', ['-euo', 'pipefail', '-c', text], { cwd, env, encoding: 'utf8' });
  assert.equal(ended.status, 0, ended.stderr);
  return ended.stdout.split(/(?<=\})(?=\{)/).map((json) => JSON.parse(json));
}

/** Fails unless walk-through and administration, on a service without data, printed what the README promises. */
export function assertWalkThrough([event, page, agents]: ReturnType<typeof runCommands>): void {
  assert.equal(event.start_at, '2031-05-01T16:00:00.000Z');
  assert.deepEqual(page, { events: [event], count: 1, total: 1, next_cursor: null });
  assert.equal(agents.total, 1);
  assert.equal(agents.agents[0].id, event.agent_id);
}
