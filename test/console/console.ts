// The console for tests: a real service on either engine, a real identity provider, a real browser that keeps account of
// everything that goes wrong in it.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import type { Client } from '../support/client.ts';
import { ENGINES } from '../support/engines.ts';
import { type Account, startOidcProvider } from '../support/oidc-provider.ts';
import { freeServerPort } from '../support/process.ts';
import { startTestService, type TestService } from '../support/service.ts';

const ADA: Account = { sub: 'ada', email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' };
/** Somebody at the same provider whom nobody made an administrator. */
const EVE: Account = { sub: 'eve', email: 'eve@example.com', email_verified: true, name: 'Eve Moneypenny' };

export interface ConsoleUnderTest {
  readonly service: TestService;
  readonly browser: Browser;
  /** Sends the token of the administrator, to see what became of an action. */
  readonly administrator: Client;
  /** A page of a new visitor. */
  visit(path?: string, options?: BrowserContextOptions): Promise<Visit>;
  /** Ends the provider, and starts one in its place. */
  stopProvider(): Promise<void>;
  restartProvider(): Promise<void>;
  close(): Promise<void>;
}

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts, violations of the policy, dialogs, requests to other hosts. */
  readonly problems: readonly string[];
  /** From the page of the sign-in, through the provider, back to where one was. */
  signIn(account?: string): Promise<void>;
  /** The same where the provider still knows who it is, and asks nothing. */
  signInAgain(): Promise<void>;
}

let launched: Promise<Browser> | undefined;
after(async () => (await launched)?.close());

/** The browser of this test file: one for all its tests. */
export function getBrowser(): Promise<Browser> {
  launched ??= launchBrowser();
  return launched;
}

export async function openConsole(
  engine: keyof typeof ENGINES,
  env: Record<string, string> = {},
): Promise<ConsoleUnderTest> {
  const port = await freeServerPort();
  const providerPort = await freeServerPort();
  const startProvider = () =>
    startOidcProvider({
      accounts: [ADA, EVE],
      port: providerPort,
      redirectUris: [`http://127.0.0.1:${port}/admin/callback`],
    });
  let provider = await startProvider();
  const service = await startTestService({
    PORT: String(port),
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.clientId,
    OIDC_CLIENT_SECRET: provider.clientSecret,
    ADMIN_EMAILS: ADA.email!,
    ...(await ENGINES[engine]()),
    ...env,
  });
  const browser = await getBrowser();
  const token = await provider.idToken(ADA.sub);
  return {
    service,
    browser,
    administrator: service.client.with({ authorization: `Bearer ${token}` }),
    visit: (path, options) => visit(browser, service.url, path, options, [provider.issuer]),
    stopProvider: () => provider.close(),
    restartProvider: async () => {
      provider = await startProvider();
    },
    close: async () => {
      await Promise.all(browser.contexts().map((context) => context.close()));
      await service.close();
      await provider.close();
    },
  };
}

/** A page of a new visitor of the service, who may also be sent to these other origins. */
export async function visit(
  browser: Browser,
  url: string,
  path = '/admin',
  options: BrowserContextOptions = {},
  others: readonly string[] = [],
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const problems = watch(page, [url, ...others]);
  await page.goto(url + path);
  const begin = () => page.getByRole('link', { name: /^Sign in with/ }).click();
  const arrived = () => page.getByRole('button', { name: /^Account of/ }).waitFor();
  return {
    page,
    context,
    problems,
    signIn: async (account = ADA.sub) => {
      await begin();
      await page.getByRole('button', { name: `Sign in as ${account}` }).click();
      await arrived();
    },
    signInAgain: async () => {
      await begin();
      await arrived();
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

/** Asserts that nothing went wrong in the page so far. */
export function assertClean({ problems }: Visit): void {
  assert.deepEqual(problems, []);
}
