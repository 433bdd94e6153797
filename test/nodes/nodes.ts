// Nodes for tests: real processes over one database, each with a client and an administrator.
import assert from 'node:assert/strict';
import { readConfig } from '../../src/config.ts';
import { getSigningKey } from '../../src/engines.ts';
import { mintToken } from '../../src/oidc/local-issuer.ts';
import { Client } from '../support/client.ts';
import { type Ended, launchService } from '../support/process.ts';

/** Quotas are off unless a test is about them. */
const NO_LIMITS = { RATE_LIMIT_READWRITE: '0', REGISTRATIONS_PER_HOUR: '0' };

export interface Node {
  readonly pid: number;
  readonly client: Client;
  readonly administrator: Client;
  /** Whether it still runs and was not restarted. */
  isRunning(): boolean;
  /** Its standard error, where the runtime reports uncaught errors. */
  errors(): string;
  /** Stops it with a signal. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

/** Starts all nodes at once; `bin` is that of another installation. */
export async function startNodes(
  count: number,
  databaseUrl: string,
  env: Record<string, string> = {},
  bin?: string,
): Promise<Node[]> {
  const settings = { ...NO_LIMITS, DATABASE_URL: databaseUrl, LOG_LEVEL: 'warn', ...env };
  const services = await Promise.all(Array.from({ length: count }, () => launchService(settings, [], bin)));
  const key = await getSigningKey(readConfig({ DATABASE_URL: databaseUrl }));
  const token = await mintToken(key, { email: 'admin@example.com', name: 'Ada', hours: 1 }, Date.now());
  return services.map(({ child, url, output, ended }) => {
    const client = new Client(url);
    return {
      pid: child.pid!,
      client,
      administrator: client.with({ authorization: `Bearer ${token}` }),
      isRunning: () => child.exitCode === null && child.signalCode === null,
      errors: () => output().stderr.replace(/^local-events [^ ]+ is ready\n(?: {2}.*\n)*/, ''),
      stop: (signal = 'SIGTERM') => {
        child.kill(signal);
        return ended;
      },
    };
  });
}

/** Stops all nodes, and asserts that they end cleanly and logged no problem. */
export async function stopSoundly(nodes: readonly Node[]): Promise<void> {
  const ended = await Promise.all(nodes.map((node) => node.stop()));
  assert.deepEqual(
    nodes.map((node, at) => ({ code: ended[at]!.code, errors: node.errors() })),
    nodes.map(() => ({ code: 0, errors: '' })),
  );
}

/** Registers one agent with the first node; returns a client of it for every node. */
export async function registerOnAll(nodes: readonly Node[]): Promise<Client[]> {
  const registration = { email: 'agent@example.com', agent_name: 'an agent of all nodes' };
  const { body } = await nodes[0]!.client.post('/v1/auth/register', registration);
  return nodes.map(({ client }) => client.with({ 'x-api-key': body.api_key }));
}
