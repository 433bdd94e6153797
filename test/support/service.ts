// A real service in this process, on a free port, with a folder and a clock of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext } from 'node:test';
import { pino } from 'pino';
import { readConfig } from '../../src/config.ts';
import type { Clock, Random, Uptime } from '../../src/domain/clock-and-random.ts';
import { getSigningKey } from '../../src/engines.ts';
import { mintToken } from '../../src/oidc/local-issuer.ts';
import { startService } from '../../src/service.ts';
import { systemRandom } from '../../src/system.ts';
import { Client } from './client.ts';

const folders: string[] = [];
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is deleted when the test process ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'local-events-test-'));
  folders.push(folder);
  return folder;
}

/** The clock of a test service: real time unless given another, plus what the test adds. */
export interface TestClock {
  /** Moves the service's time forward. */
  advance(ms: number): void;
  nowMs(): number;
}

export interface TestService {
  readonly url: string;
  readonly folder: string;
  readonly clock: TestClock;
  /** The log lines so far, parsed. */
  readonly log: readonly Record<string, unknown>[];
  /** A client without credentials. */
  readonly client: Client;
  /** Registers an agent and returns a client that sends its key. */
  newAgent(): Promise<Client>;
  /** An administrator's token from the service's own issuer. */
  newToken(email?: string): Promise<string>;
  /** A client that sends such a token. */
  newAdministrator(email?: string): Promise<Client>;
  close(): Promise<void>;
}

interface TestOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly uptime?: Uptime;
  /** The service is closed when this test ends. */
  readonly until?: TestContext;
}

/** A service for all tests of a describe: it runs from before the first of them until after the last. */
export function useTestService(
  env: Record<string, string> | (() => Promise<Record<string, string>>) = {},
  options: TestOptions = {},
): TestService {
  let service: TestService;
  before(async () => {
    service = await startTestService(typeof env === 'function' ? await env() : env, options);
  });
  after(() => service.close());
  return {
    get url() {
      return service.url;
    },
    get folder() {
      return service.folder;
    },
    get clock() {
      return service.clock;
    },
    get log() {
      return service.log;
    },
    get client() {
      return service.client;
    },
    newAgent: () => service.newAgent(),
    newToken: (email) => service.newToken(email),
    newAdministrator: (email) => service.newAdministrator(email),
    close: () => service.close(),
  };
}

/** Starts a service. `env` overrides variables; quotas are off unless it sets them. Time and randomness are real by default. */
export async function startTestService(
  env: Record<string, string> = {},
  { clock = Date.now, random = systemRandom, uptime, until }: TestOptions = {},
): Promise<TestService> {
  const folder = env.DATA_DIR ?? temporaryFolder();
  const config = readConfig({
    PORT: '0',
    DATA_DIR: folder,
    RATE_LIMIT_READ: '0',
    RATE_LIMIT_READWRITE: '0',
    RATE_LIMIT_ADMIN: '0',
    REGISTRATIONS_PER_HOUR: '0',
    FAILED_REGISTRATIONS_PER_HOUR: '0',
    CLIENT_REGISTRATIONS_PER_HOUR: '0',
    ...env,
  });
  let offsetMs = 0;
  const nowMs = () => clock() + offsetMs;
  const log: Record<string, unknown>[] = [];
  const logger = pino(
    { level: config.logLevel },
    { write: (line: string) => void log.push(JSON.parse(line)) },
  );
  const service = await startService(config, { logger, clock: nowMs, random, ...(uptime && { uptime }) });
  until?.after(() => service.close());
  const client = new Client(service.url);
  const newToken = async (email = 'admin@example.com') =>
    mintToken(await getSigningKey(config), { email, name: 'Ada', hours: 1 }, nowMs());
  return {
    url: service.url,
    folder,
    clock: {
      nowMs,
      advance: (ms) => {
        offsetMs += ms;
      },
    },
    log,
    client,
    newAgent: () => client.register(),
    newToken,
    newAdministrator: async (email) => client.with({ authorization: `Bearer ${await newToken(email)}` }),
    close: () => service.close(),
  };
}
