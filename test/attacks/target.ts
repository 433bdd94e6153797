// The attacked service: a process of its own with default settings, with its memory and its disk space measured from
// outside.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { BIN, cleanEnv, freePort, waitedForCoreMs } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';

export const MB = 2 ** 20;

const MEMORY_REPORT = fileURLToPath(new URL('memory-report.ts', import.meta.url));
const STOP_MS = 8_000;
const REPORT_MS = 10_000;

export class Target {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #env: Record<string, string>;
  readonly #folder: string;

  private constructor(url: string, child: ChildProcess, env: Record<string, string>, folder: string) {
    this.url = url;
    this.#child = child;
    this.#env = env;
    this.#folder = folder;
  }

  /** Starts the service and waits until it is ready. `env` has DATA_DIR or DATABASE_URL. */
  static async start(env: Record<string, string>): Promise<Target> {
    const folder = temporaryFolder();
    const port = await freePort();
    const log = openSync(join(folder, 'log'), 'a'); // a file, as operators have: a pipe would cost this process CPU time
    const child = spawn(process.execPath, ['--expose-gc', '--import', MEMORY_REPORT, BIN, 'serve'], {
      env: cleanEnv({ ...env, PORT: String(port), MEMORY_FILE: join(folder, 'memory') }),
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    const target = new Target(`http://127.0.0.1:${port}`, child, env, folder);
    for (;;) {
      const response = await fetch(`${target.url}/health`).catch(() => undefined);
      await response?.arrayBuffer();
      if (response?.ok) return target;
      assert.ok(target.isAlive, `the service did not start:\n${target.log()}`);
      await sleep(25);
    }
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The end of the log, with the reason if the process died. */
  log(): string {
    return readFileSync(join(this.#folder, 'log'), 'utf8').slice(-2_000);
  }

  /** Resident memory; undefined if the process has ended. */
  findResidentBytes(): number | undefined {
    try {
      const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) * 1024;
    } catch {
      return undefined;
    }
  }

  waitedMs(): number {
    return waitedForCoreMs(this.#child.pid!);
  }

  /** Heap and external memory in use after a collection; undefined if the process does not report it in time. */
  async findUsedBytes(): Promise<number | undefined> {
    const file = join(this.#folder, 'memory');
    rmSync(file, { force: true });
    this.#child.kill('SIGUSR2');
    for (let waitedMs = 0; waitedMs < REPORT_MS && this.isAlive; waitedMs += 20) {
      if (existsSync(file)) {
        const { heapUsed, external } = JSON.parse(readFileSync(file, 'utf8'));
        return heapUsed + external;
      }
      await sleep(20);
    }
    return undefined;
  }

  /** Size of the data folder with its journal, or of the database. */
  async diskBytes(): Promise<number> {
    const { DATA_DIR, DATABASE_URL } = this.#env;
    if (DATABASE_URL === undefined) {
      return readdirSync(DATA_DIR!).reduce((sum, name) => sum + statSync(join(DATA_DIR!, name)).size, 0);
    }
    const sql = postgres(DATABASE_URL, { max: 1 });
    const [row] = await sql`SELECT pg_database_size(current_database())::float8 AS bytes`;
    await sql.end();
    return row!.bytes;
  }

  /** Stops it as an operator does; kills it if it does not end. */
  async stop(): Promise<void> {
    if (!this.isAlive) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    const cut = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(cut);
  }
}
