// Starts the demo: the service with sample data, and an identity provider with one administrator, in one process.
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { readConfig } from '../src/config.ts';
import { StartError } from '../src/domain/errors.ts';
import { openStore } from '../src/engines.ts';
import { startService } from '../src/service.ts';
import { systemClock } from '../src/system.ts';
import { startOidcProvider, type TestProvider } from '../test/support/oidc-provider.ts';
import { fill, SPAM_PLACE, SPAM_TITLE, spamStart } from './fill.ts';

export const ADMINISTRATOR = {
  sub: 'ada',
  email: 'ada@example.com',
  email_verified: true,
  name: 'Ada Lovelace',
};

export interface Demo {
  readonly url: string;
  /** URL of the identity provider. */
  readonly issuer: string;
  readonly folder: string;
  /** Key of the visitor's agent. */
  readonly key: string;
  close(): Promise<void>;
}

/** Uses this port and the next. Throws StartError. */
export async function startDemo(port: number, logLevel = 'warn'): Promise<Demo> {
  // One folder per port: only one process can listen on the port, so only one uses the folder.
  const folder = fileURLToPath(new URL(`data/${port}`, import.meta.url));
  const provider = await startProvider(port + 1, `http://127.0.0.1:${port}/admin/callback`);
  try {
    const config = readConfig({
      PORT: String(port),
      // Users of another name of this machine are redirected to this one, which the provider knows.
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      DATA_DIR: folder,
      LOG_LEVEL: logLevel,
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: provider.clientId,
      OIDC_CLIENT_SECRET: provider.clientSecret,
      OIDC_NAME: 'the demo’s provider',
      ADMIN_EMAILS: ADMINISTRATOR.email,
      PUBLIC_READ: 'on',
    });
    rmSync(folder, { recursive: true, force: true });
    const store = await openStore(config, systemClock());
    const keys = await fill(store, systemClock(), ADMINISTRATOR).finally(() => store.close());
    const service = await startService(config, { logger: pino({ level: config.logLevel }) });
    const spam = publishSpam(service.url, keys.spammer);
    const close = async () => {
      clearInterval(spam);
      await Promise.all([service.close(), provider.close()]);
    };
    void service.prepareDocuments();
    return { url: service.url, issuer: provider.issuer, folder, key: keys.visitor, close };
  } catch (error) {
    await provider.close();
    throw error;
  }
}

const SPAM_EVERY_MS = 10_000;

/** The spammer goes on until an administrator deactivates it, lowers its tier or revokes its key. */
function publishSpam(url: string, key: string): NodeJS.Timeout {
  let number = 0;
  return setInterval(() => {
    number++;
    const event = {
      ...{ title: `${SPAM_TITLE} No. ${number}`, event_type: 'market', cost: 'from 9.99' },
      ...{ start_at: new Date(spamStart(Date.now(), number)).toISOString() },
      ...{ ...SPAM_PLACE, url: 'https://watches.example/' },
    };
    fetch(`${url}/v1/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: JSON.stringify(event),
    }).catch(() => {}); // the next one is tried in any case
  }, SPAM_EVERY_MS);
}

async function startProvider(port: number, redirectUri: string): Promise<TestProvider> {
  try {
    return await startOidcProvider({ accounts: [ADMINISTRATOR], port, redirectUris: [redirectUri] });
  } catch (cause) {
    throw new StartError(
      `The demo's identity provider cannot listen on port ${port}: ${(cause as Error).message}. ` +
        'Set PORT to another port; the demo uses that port and the next.',
      { cause },
    );
  }
}
