// `npm run demo`: the service with a lively world in a folder of its own, and an identity provider with one administrator,
// all in this process. It begins anew each time.
import { rmSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { readConfig } from '../src/config.ts';
import { StartError } from '../src/domain/errors.ts';
import { openStore, startService, systemClock } from '../src/service.ts';
import { startOidcProvider, type TestProvider } from '../test/support/oidc-provider.ts';
import { AGENTS, EVENTS, fill } from './fill.ts';

const ADMINISTRATOR = { sub: 'ada', email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' };

async function main(): Promise<void> {
  const port = readPort();
  // One folder for each port: whoever listens there is the only one to use it.
  const folder = fileURLToPath(new URL(`data/${port}`, import.meta.url));
  const provider = await startProvider(port + 1, `http://127.0.0.1:${port}/admin/callback`);
  const config = readConfig({
    PORT: String(port),
    DATA_DIR: folder,
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn',
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.clientId,
    OIDC_CLIENT_SECRET: provider.clientSecret,
    ADMIN_EMAILS: ADMINISTRATOR.email,
  });
  console.log(`Making ${EVENTS.toLocaleString('en')} events of ${AGENTS} agents in ten cities …`);
  rmSync(folder, { recursive: true, force: true });
  const store = await openStore(config, systemClock());
  await fill(store, systemClock(), ADMINISTRATOR.email).finally(() => store.close());
  const service = await startService(config, { logger: pino({ level: config.logLevel }) });
  console.log(`
  The console   ${service.url}/admin   sign in as ${ADMINISTRATOR.name}: one click, no password
  The API       ${service.url}/docs
  The data      ${relative('', folder)}, made anew by each start

Ctrl+C ends it.`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void Promise.all([service.close(), provider.close()]));
  }
}

function readPort(): number {
  const port = Number(process.env.PORT || 8080);
  if (Number.isInteger(port) && port > 0 && port < 65_535) return port;
  throw new StartError(`PORT must be a whole number from 1 to 65534; it is "${process.env.PORT}".`);
}

async function startProvider(port: number, redirectUri: string): Promise<TestProvider> {
  try {
    return await startOidcProvider({ accounts: [ADMINISTRATOR], port, redirectUris: [redirectUri] });
  } catch (cause) {
    throw new StartError(
      `The demo's identity provider cannot listen on port ${port}: ${(cause as Error).message}. Set PORT to another; it takes that one and the next.`,
      { cause },
    );
  }
}

try {
  await main();
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exit(1); // the provider listens already
}
