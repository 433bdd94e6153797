// The console for tests: a real service on either engine, a real identity provider, a real browser that keeps account of
// everything that goes wrong in it.
import assert from 'node:assert/strict';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import type { Client } from '../support/client.ts';
import { ENGINES } from '../support/engines.ts';
import { type Account, startOidcProvider, type TestProvider } from '../support/oidc-provider.ts';
import { freeServerPort } from '../support/process.ts';
import { startTestService, type TestService } from '../support/service.ts';

const ADA: Account = { sub: 'ada', email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' };
/** Somebody at the same provider whom nobody made an administrator. */
const EVE: Account = { sub: 'eve', email: 'eve@example.com', email_verified: true, name: 'Eve Moneypenny' };

export interface ConsoleUnderTest {
  readonly service: TestService;
  readonly provider: TestProvider;
  readonly browser: Browser;
  /** Sends the token of the administrator, to see what became of an action. */
  readonly administrator: Client;
  /** A page of a new visitor. What goes wrong in it is in `problems`. */
  visit(path?: string, options?: BrowserContextOptions): Promise<Visit>;
  close(): Promise<void>;
}

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts, violations of the policy, dialogs, requests to other hosts. */
  readonly problems: readonly string[];
  /** From the page of the sign-in, through the provider, back to where one was. */
  signIn(account?: string): Promise<void>;
}

export async function openConsole(
  engine: keyof typeof ENGINES,
  env: Record<string, string> = {},
): Promise<ConsoleUnderTest> {
  const port = await freeServerPort();
  const provider = await startOidcProvider({
    accounts: [ADA, EVE],
    redirectUris: [`http://127.0.0.1:${port}/admin/callback`],
  });
  const service = await startTestService({
    PORT: String(port),
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.clientId,
    OIDC_CLIENT_SECRET: provider.clientSecret,
    ADMIN_EMAILS: ADA.email!,
    ...(await ENGINES[engine]()),
    ...env,
  });
  const browser = await launchBrowser();
  const token = await provider.idToken(ADA.sub);
  const own = [service.url, provider.issuer];
  return {
    service,
    provider,
    browser,
    administrator: service.client.with({ authorization: `Bearer ${token}` }),
    visit: async (path = '/admin', options = {}) => {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 900 },
        locale: 'en-GB',
        timezoneId: 'Europe/Berlin',
        ...options,
      });
      const page = await context.newPage();
      const problems = watch(page, own);
      await page.goto(service.url + path);
      return { page, context, problems, signIn: (account = ADA.sub) => signIn(page, account) };
    },
    close: async () => {
      await browser.close();
      await service.close();
      await provider.close();
    },
  };
}

function watch(page: Page, own: readonly string[]): string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    // A browser reports every answer of 400 and more; what the service refuses on purpose is no fault of the page.
    if (message.type() === 'error' && !/^Failed to load resource/.test(message.text())) {
      problems.push(`console: ${message.text()}`);
    }
  });
  page.on('request', (request) => {
    const { origin } = new URL(request.url());
    if (!own.includes(origin)) problems.push(`request: ${request.url()}`);
  });
  return problems;
}

async function signIn(page: Page, account: string): Promise<void> {
  await page.getByRole('link', { name: /^Sign in with/ }).click();
  const button = page.getByRole('button', { name: `Sign in as ${account}` });
  await button.click();
  await page.waitForURL((url) => url.pathname.startsWith('/admin') && url.pathname !== '/admin/callback');
}

/** Asserts that nothing went wrong in the page so far. */
export function assertClean({ problems }: Visit): void {
  assert.deepEqual(problems, []);
}
