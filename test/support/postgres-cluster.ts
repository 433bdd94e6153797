// Real PostgreSQL clusters with PostGIS: each has its own folder and port and is removed when this process ends. A cluster
// can be stopped, killed, made to hang and followed by a standby. postgres.ts creates databases for tests.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import {
  childrenOf,
  isAlive,
  makeServerFolder,
  runProgram,
  signalAll,
  spawnServer,
} from './postgres-programs.ts';
import { freePort } from './process.ts';

/** Settings of postgresql.conf. */
export type Settings = Readonly<Record<string, string | number>>;

const SUPERUSER = 'postgres';

/**
 * Starts a fresh cluster that trusts every client on this machine. Without `fsync: 'on'` it does not wait for the disk:
 * data then survives a killed server, but not a power failure.
 */
export async function startCluster({ settings = {} }: { settings?: Settings } = {}): Promise<Cluster> {
  const cluster = new Cluster(await freePort(), settings);
  const locale = ['--encoding=UTF8', '--locale=C.UTF-8'];
  await runProgram('initdb', ['-D', cluster.data, '-U', SUPERUSER, '-A', 'trust', ...locale, '--no-sync']);
  await cluster.start();
  return cluster;
}

/** Clusters whose folders still exist. */
const clusters = new Set<Cluster>();
process.once('exit', () => {
  for (const cluster of clusters) cluster.removeNow();
});

export class Cluster {
  readonly port: number;
  readonly folder = makeServerFolder();
  readonly data = join(this.folder, 'data');
  readonly #settings: Settings;
  #server: ChildProcess | undefined;
  #wasKilled = false;

  constructor(port: number, settings: Settings) {
    this.port = port;
    this.#settings = settings;
    clusters.add(this);
  }

  url(database = SUPERUSER, user = SUPERUSER): string {
    return `postgres://${user}@127.0.0.1:${this.port}/${database}`;
  }

  /** PID of the postmaster: every other process of the server is its child. */
  get pid(): number {
    return this.#server!.pid!;
  }

  /** Starts or restarts the server; resolves when it accepts connections. */
  async start(): Promise<void> {
    const settings = {
      fsync: 'off',
      ...this.#settings,
      port: this.port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: this.folder,
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const logFile = join(this.folder, 'log');
    const log = openSync(logFile, 'a');
    const server = spawnServer(['-D', this.data, ...flags], {
      cwd: this.folder,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    server.unref(); // so that this process can end by itself
    this.#server = server;
    this.#wasKilled = false;
    while (!this.#isReady()) {
      if (hasEnded(server)) throw new Error(`PostgreSQL did not start:\n${readFileSync(logFile, 'utf8')}`);
      await sleep(10);
    }
  }

  /** The condition that pg_ctl waits for: the file's first line is the PID, its eighth the state. */
  #isReady(): boolean {
    try {
      const lines = readFileSync(join(this.data, 'postmaster.pid'), 'utf8').split('\n');
      return Number(lines[0]) === this.pid && lines[7]?.trim() === 'ready';
    } catch {
      return false; // not written yet
    }
  }

  /** Stops it as an operator would: connections end with an error. The data stays. */
  stop(): Promise<void> {
    return this.#end('SIGINT');
  }

  /**
   * Crashes it as a dying machine would: all processes at once. Were only the postmaster killed, its other processes would end one
   * by one, and until then show commits that still wait for the synchronous standby. The data stays.
   */
  async kill9(): Promise<void> {
    this.pause();
    const children = childrenOf(this.pid);
    signalAll(children, 'SIGKILL');
    await this.#end('SIGKILL');
    this.#wasKilled = true;
    // Until they have ended, it cannot be started again.
    while (children.some(isAlive)) await sleep(10);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#server!;
    if (hasEnded(server)) return;
    server.ref();
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  }

  /** Makes it hang: it neither responds to connections nor refuses them. */
  pause(): void {
    signalAll([this.pid], 'SIGSTOP');
    signalAll(childrenOf(this.pid), 'SIGSTOP');
  }

  resume(): void {
    signalAll([...childrenOf(this.pid), this.pid], 'SIGCONT');
  }

  /**
   * Starts a streaming replica. From now on a commit is acknowledged only once the replica has it, unless it is asynchronous.
   * At most one replica.
   */
  async startStandby(kind: 'synchronous' | 'asynchronous' = 'synchronous'): Promise<Cluster> {
    // By default, a standby retries a lost primary only every 5 s, and a promotion may wait for that.
    const settings = { wal_retrieve_retry_interval: '100ms', ...this.#settings };
    const standby = new Cluster(await freePort(), settings);
    const source = ['-h', '127.0.0.1', '-p', String(this.port), '-U', SUPERUSER];
    await runProgram('pg_basebackup', [...source, '-D', standby.data, '-R', '-c', 'fast', '--no-sync']);
    await standby.start();
    if (kind === 'asynchronous') return standby;
    await this.#administer(async (sql) => {
      // Set after the copy, so that the promoted standby waits for no replica.
      await sql`alter system set synchronous_standby_names = '*'`;
      await sql`select pg_reload_conf()`;
      const isSynchronous = async () =>
        (await sql`select 1 from pg_stat_replication where sync_state = 'sync'`).length === 1;
      while (!(await isSynchronous())) await sleep(10);
      // Commits wait only once the checkpointer has read the setting too, which it does before a checkpoint.
      await sql`checkpoint`;
    });
    return standby;
  }

  /** Stops a standby from receiving what its primary writes. */
  cutOff(): Promise<void> {
    return this.#administer(async (sql) => {
      await sql`alter system set primary_conninfo = ''`;
      await sql`select pg_reload_conf()`;
      while ((await sql`select 1 from pg_stat_wal_receiver`).length > 0) await sleep(10);
    });
  }

  /** Promotes a standby to primary; resolves when it accepts writes. */
  promote(): Promise<void> {
    return this.#administer(async (sql) => {
      await sql`select pg_promote()`;
    });
  }

  async #administer(work: (sql: postgres.Sql) => Promise<void>): Promise<void> {
    const sql = postgres(this.url(), { max: 1 });
    try {
      await work(sql);
    } finally {
      await sql.end();
    }
  }

  /** Ends it at once, whatever its state, and deletes its folder. */
  async remove(): Promise<void> {
    // A killed server leaves shared memory behind, which the next start finds and frees.
    if (this.#wasKilled) await this.start();
    this.removeNow();
  }

  /** The same for handlers of 'exit', which cannot wait. A killed server leaves some kilobytes of shared memory behind. */
  removeNow(): void {
    if (this.#server && !hasEnded(this.#server)) {
      this.resume();
      signalAll([this.pid], 'SIGQUIT');
      while (isAlive(this.pid)) sleepNow(10);
    }
    rmSync(this.folder, { recursive: true, force: true });
    clusters.delete(this);
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Blocks this process, for code that cannot await. */
function sleepNow(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
