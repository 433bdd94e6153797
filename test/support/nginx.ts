// The load balancer of compose.yaml as a process of its own: nginx with deploy/nginx.conf, with other addresses and folders.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findNginx } from '../../scripts/machine.ts';
import { freePort } from './process.ts';
import { temporaryFolder } from './service.ts';

const CONFIGURATION = new URL('../../deploy/nginx.conf', import.meta.url);

export interface Balancer {
  readonly url: string;
  /** What it has logged. */
  errors(): string;
  stop(): Promise<void>;
}

/** Starts nginx in front of two nodes on these ports. */
export async function startBalancer(ports: readonly [number, number]): Promise<Balancer> {
  const nginx = findNginx();
  if (nginx === undefined)
    throw new Error('nginx is missing. Install it, on Debian: apt-get install -y nginx');
  const folder = temporaryFolder();
  const port = await freePort();
  const log = join(folder, 'log');
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  const text = readFileSync(CONFIGURATION, 'utf8')
    .replace('http {', `http {\n${folders.join('\n')}`)
    .replaceAll('node1:8080', `127.0.0.1:${ports[0]}`)
    .replaceAll('node2:8080', `127.0.0.1:${ports[1]}`)
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace('/dev/stderr crit', `${log} warn`)
    .replace(/^worker_rlimit_nofile.*$/m, ''); // an ordinary user may not raise it
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, text);
  // Its workers run as another user, who may not use the folder.
  const user = process.getuid!() === 0 ? 'user root;' : '';
  const globals = `daemon off; pid ${join(folder, 'pid')}; ${user}`;
  const args = ['-p', folder, '-e', log, '-c', file, '-g', globals];
  // It ends with this process, even if that is killed. It ends its own workers.
  const child = spawn('setpriv', ['--pdeathsig=TERM', nginx, ...args], { stdio: 'ignore' });
  const errors = () => readFileSync(log, 'utf8');
  const ended = once(child, 'exit');
  const kill = () => child.kill('SIGTERM');
  process.once('exit', kill);
  while (!(await isListening(port))) {
    if (child.exitCode !== null) throw new Error(`nginx did not start:\n${errors()}`);
    await sleep(20);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    errors,
    stop: async () => {
      process.off('exit', kill);
      kill();
      await ended;
    },
  };
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
