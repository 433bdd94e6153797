// Administrators of the attacked service: one with a token, or one who signs in at an identity provider.
import assert from 'node:assert/strict';
import { Client } from '../support/client.ts';
import { runHere } from '../support/command.ts';
import { ConsoleBrowser } from '../support/console-browser.ts';
import { startOidcProvider } from '../support/oidc-provider.ts';

const ADA = { sub: 'ada', email: 'ada@example.com', email_verified: true };

/** A token for the service with this data. */
export async function mintToken(data: Record<string, string>): Promise<string> {
  const { stdout, stderr } = await runHere(['admin-token', '--email', ADA.email, '--name', 'Ada'], data);
  assert.ok(stdout.startsWith('ey'), stderr);
  return stdout.trim();
}

export interface SigningAdministrator {
  /** Settings of the service. */
  readonly env: Record<string, string>;
  /** Signs in and lists agents. Returns the status of the list, or where the sign-in led instead. */
  signInAndList(url: string): Promise<number | string>;
  close(): Promise<void>;
}

export async function startProvider(): Promise<SigningAdministrator> {
  const provider = await startOidcProvider({ accounts: [ADA] });
  return {
    env: {
      ...provider.env,
      ADMIN_SUBJECTS: ADA.sub,
    },
    signInAndList: async (url) => {
      provider.addRedirectUri(`${url}/admin/callback`);
      const browser = new ConsoleBrowser(new Client(url));
      const location = (await browser.signIn(provider, ADA)).headers.get('location');
      if (location !== '/admin') return `redirected to ${location}`;
      return (await browser.get('/v1/admin/agents?limit=20')).status;
    },
    close: () => provider.close(),
  };
}
