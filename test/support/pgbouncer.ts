// PgBouncer in transaction mode as a process of its own, in front of a test's database.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPgBouncer } from '../../scripts/machine.ts';
import { AS_ITS_USER, makeServerFolder } from './postgres-programs.ts';
import { freePort } from './process.ts';

function getPgBouncer(): string {
  const path = findPgBouncer();
  if (path !== undefined) return path;
  throw new Error('PgBouncer is missing. Install it, on Debian: apt-get install -y pgbouncer');
}

/** Whether the installed one keeps prepared statements in transaction mode: from version 1.21 on. */
export function keepsPreparedStatements(): boolean {
  const text = execFileSync(getPgBouncer(), ['--version'], { encoding: 'utf8' });
  const [, major, minor] = /^PgBouncer (\d+)\.(\d+)/m.exec(text)!;
  return Number(major) > 1 || Number(minor) >= 21;
}

export interface PgBouncer {
  /** URL of the database through PgBouncer. */
  readonly url: string;
  stop(): Promise<void>;
}

/** `lines` are added to its section of pgbouncer.ini. */
export async function startPgBouncer(databaseUrl: string, lines: readonly string[] = []): Promise<PgBouncer> {
  const url = new URL(databaseUrl);
  const folder = makeServerFolder();
  const file = (name: string) => join(folder, name);
  const port = await freePort();
  writeFileSync(file('users'), `"${url.username}" ""\n`);
  writeFileSync(
    file('pgbouncer.ini'),
    [
      '[databases]',
      `* = host=${url.hostname} port=${url.port}`,
      '[pgbouncer]',
      'pool_mode = transaction',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${file('users')}`,
      'default_pool_size = 5',
      ...lines,
    ].join('\n'),
  );
  // It refuses to run as root. It ends with this process, even if that is killed.
  const args = ['--pdeathsig=TERM', ...AS_ITS_USER, getPgBouncer(), file('pgbouncer.ini')];
  const child = spawn('setpriv', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    log += chunk;
  });
  const ended = once(child, 'exit');
  const remove = () => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', remove);
  while (!/process up/.test(log)) {
    if (child.exitCode !== null)
      throw new Error(`PgBouncer did not start:\n${log}${readFileSync(file('pgbouncer.ini'))}`);
    await sleep(20);
  }
  url.port = String(port);
  return {
    url: url.href,
    stop: async () => {
      process.off('exit', remove);
      remove();
      await ended;
    },
  };
}
