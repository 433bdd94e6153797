// The console for tests: a real service on either engine, a real identity provider, and a real browser whose problems are
// recorded.
import assert from 'node:assert/strict';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import type { Client } from '../support/client.ts';
import { ENGINES } from '../support/engines.ts';
import { type Account, startOidcProvider } from '../support/oidc-provider.ts';
import { freePort } from '../support/process.ts';
import { startTestService, type TestService } from '../support/service.ts';

const ADA: Account = { sub: 'ada', email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' };
/** A person at the same provider who is not an administrator. */
const EVE: Account = { sub: 'eve', email: 'eve@example.com', email_verified: true, name: 'Eve Moneypenny' };

export interface ConsoleUnderTest {
  readonly service: TestService;
  readonly browser: Browser;
  /** API client of the administrator, to check the result of an action. */
  readonly administrator: Client;
  /** A page of a new visitor. */
  visit(path?: string, options?: BrowserContextOptions): Promise<Visit>;
  /** Stops the provider; `restartProvider` starts a new one on the same port. */
  stopProvider(): Promise<void>;
  restartProvider(): Promise<void>;
  close(): Promise<void>;
}

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts, violations of the policy, dialogs, requests to other hosts. */
  readonly problems: readonly string[];
  /** Signs in from the sign-in page through the provider, and waits for the view. */
  signIn(account?: string): Promise<void>;
  /** Signs in while the provider still has a session, and asks nothing. */
  signInAgain(): Promise<void>;
}

let launched: Promise<Browser> | undefined;
let openConsoles = 0;

/** One browser for all consoles that are open. It is closed with the last of them, or by `closeBrowser`. */
export function getBrowser(): Promise<Browser> {
  launched ??= launchBrowser();
  return launched;
}

export async function closeBrowser(): Promise<void> {
  const browser = await launched;
  launched = undefined;
  await browser?.close();
}

export async function openConsole(
  engine: keyof typeof ENGINES,
  env: Record<string, string> = {},
): Promise<ConsoleUnderTest> {
  const port = await freePort();
  const providerPort = await freePort();
  const startProvider = () =>
    startOidcProvider({
      accounts: [ADA, EVE],
      port: providerPort,
      redirectUris: [`http://127.0.0.1:${port}/admin/callback`],
    });
  let provider = await startProvider();
  const service = await startTestService({
    PORT: String(port),
    ...provider.env,
    ADMIN_EMAILS: ADA.email!,
    ...(await ENGINES[engine]()),
    ...env,
  });
  const browser = await getBrowser();
  openConsoles++;
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
      if (--openConsoles === 0) await closeBrowser();
    },
  };
}

/** Resolves when no part of the page is loading. */
export function untilLoaded(page: Page): Promise<void> {
  return page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
}

/** A page of a new visitor of the service; requests to origins in `others` are not problems. */
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
    reducedMotion: 'reduce', // drawing frames takes CPU time
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
    // A browser reports every response of 400 and above; a deliberate refusal is not a fault of the page.
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

/** Asserts that the page has had no problems so far. */
export function assertClean({ problems }: Visit): void {
  assert.deepEqual(problems, []);
}
