// Signing in to the console and out, in a browser.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { BrowserContext } from 'playwright-core';
import type { Engine } from '../support/engines.ts';
import { startTestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';
import {
  assertClean,
  type ConsoleUnderTest,
  closeBrowser,
  getBrowser,
  openConsole,
  untilLoaded,
  visit,
} from './console.ts';

const NINE_HOURS_MS = 9 * 3_600_000;

/** Cookies of the service only: those of the provider are in the same jar, because cookies ignore ports. */
async function ourCookies(context: BrowserContext) {
  return (await context.cookies()).filter(({ name }) => name.includes('local_events'));
}

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  describe(`signing in to the console on ${engine}`, () => {
    let console: ConsoleUnderTest;
    before(async () => {
      console = await openConsole(engine);
    });
    after(() => console.close());

    it('leads through the provider and says who is signed in', async () => {
      const visit = await console.visit();
      await visit.signIn();
      const { page } = visit;
      await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
      await page.getByRole('button', { name: 'Account of Ada Lovelace' }).click();
      await page.getByText('ada@example.com').waitFor();
      assert.equal(await page.title(), 'Agents · local-events');
      assertClean(visit);
    });

    it('returns to the requested view', async () => {
      const visit = await console.visit('/admin/audit?from=a+link');
      await visit.signIn();
      await visit.page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();
      assert.equal(visit.page.url(), `${console.service.url}/admin/audit?from=a+link`);
      assertClean(visit);
    });

    it('ends with a sign-out, also for other tabs and copies of the cookie', async () => {
      const visit = await console.visit();
      await visit.signIn();
      const { page, context } = visit;
      const other = await context.newPage();
      await other.goto(`${console.service.url}/admin`);
      await other.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
      await untilLoaded(other); // a request still in progress would end the session before the click
      const [cookie] = await ourCookies(context);
      await page.getByRole('button', { name: 'Account of Ada Lovelace' }).click();
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.getByText('You are signed out.').waitFor();
      assert.deepEqual(await ourCookies(context), []);
      const copied = await console.service.client.send('GET', '/v1/admin/me', {
        headers: { cookie: `${cookie!.name}=${cookie!.value}`, 'sec-fetch-site': 'same-origin' },
      });
      assert.equal(copied.status, 401);
      await other.getByRole('link', { name: 'Audit log' }).click();
      await other.getByRole('link', { name: /^Sign in with/ }).waitFor();
      assertClean(visit);
    });

    it('is required again after the session has expired, and returns to the same view', async () => {
      const visit = await console.visit();
      await visit.signIn();
      const { page } = visit;
      await page.getByRole('searchbox', { name: 'Search agents' }).fill('nobody');
      await page.getByText('No agent matches').waitFor();
      const url = page.url();
      await untilLoaded(page); // a request still in progress would end the session before the search
      console.service.clock.advance(NINE_HOURS_MS);
      await page.getByRole('searchbox', { name: 'Search agents' }).fill('nobody else');
      await page.getByText('Your session has ended.').waitFor();
      console.service.clock.advance(-NINE_HOURS_MS); // the provider's clock did not move
      await visit.signInAgain();
      await page.getByText('No agent matches').waitFor();
      assert.equal(page.url(), url.replace('q=nobody', 'q=nobody+else'));
      assert.equal(await page.getByRole('searchbox', { name: 'Search agents' }).inputValue(), 'nobody else');
      assertClean(visit);
    });

    it('shows nothing to a person who is not an administrator', async () => {
      const visit = await console.visit();
      await visit.signIn('eve');
      const { page } = visit;
      await page.getByRole('heading', { name: 'Not an administrator' }).waitFor();
      const said = await page.getByRole('main').innerText();
      assert.match(said, /eve@example\.com/);
      assert.match(said, /ADMIN_SUBJECTS/);
      assert.equal(await page.getByRole('link', { name: 'Audit log' }).count(), 0);
      await page.getByRole('link', { name: 'Use another account' }).click();
      await page.getByRole('button', { name: 'Sign in as ada' }).click();
      await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
      assertClean(visit);
    });

    it('says if signing out fails', async () => {
      const visit = await console.visit();
      await visit.signIn('eve');
      const { page } = visit;
      await page.route('**/admin/logout', (route) => route.abort());
      await page.getByRole('main').getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.getByRole('status').getByText('You are still signed in.').waitFor();
      await page.unrouteAll();
      await page.getByRole('main').getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.getByText('You are signed out.').waitFor();
      assertClean({ ...visit, problems: visit.problems.filter((problem) => !/ERR_FAILED/.test(problem)) });
    });

    it('updates who is signed in when a tab becomes visible again', async () => {
      const visit = await console.visit();
      await visit.signIn();
      const { page, context } = visit;
      const other = await context.newPage();
      await other.goto(`${console.service.url}/admin/login?account=choose&return=/admin`);
      await other.getByRole('button', { name: 'Sign in as eve' }).click();
      await other.getByRole('heading', { name: 'Not an administrator' }).waitFor();
      // A headless browser never hides a tab.
      const lookAgain = () => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
      await lookAgain();
      await page.getByRole('button', { name: 'Account of Eve Moneypenny' }).waitFor();
      await page.route('**/admin/session', (route) => route.abort());
      const failed = page.waitForEvent('requestfailed');
      await lookAgain();
      await failed;
      await page.getByRole('heading', { name: 'Not an administrator' }).waitFor();
    });

    it('shows that it is loading while the service is slow', async () => {
      const visit = await console.visit();
      const { page } = visit;
      const { promise: answer, resolve: goOn } = Promise.withResolvers<void>();
      await page.route('**/admin/session', async (route) => {
        await answer;
        await route.continue();
      });
      await page.reload();
      await page.getByRole('status').getByText('Loading…').waitFor();
      goOn();
      await page.getByRole('link', { name: /^Sign in with/ }).waitFor();
      assertClean(visit);
    });

    it('refuses a callback that belongs to no sign-in of this browser', async () => {
      const visit = await console.visit('/admin/callback?code=stolen&state=made-up');
      await visit.page.getByRole('alert').waitFor();
      assert.match(await visit.page.getByRole('alert').innerText(), /not started in this browser/);
      assert.deepEqual(await ourCookies(visit.context), []);
      assert.doesNotMatch(visit.page.url(), /stolen|made-up/);
      await visit.signIn();
      await visit.page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
      assertClean(visit);
    });

    it('says that access was denied', async () => {
      const visit = await console.visit();
      await visit.page.getByRole('link', { name: /^Sign in with/ }).click();
      await visit.page.getByRole('button', { name: 'Refuse' }).click();
      await visit.page.getByRole('alert').waitFor();
      assert.match(await visit.page.getByRole('alert').innerText(), /access was denied/);
      assertClean(visit);
    });
  });

  it(`says if the provider is down, and works once it is back, on ${engine}`, async () => {
    const console = await openConsole(engine);
    try {
      const visit = await console.visit('/admin/audit');
      await console.stopProvider();
      await visit.page.getByRole('link', { name: /^Sign in with/ }).click();
      await visit.page.getByRole('alert').waitFor();
      assert.match(await visit.page.getByRole('alert').innerText(), /provider did not respond/);
      await console.restartProvider();
      await visit.signIn();
      await visit.page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();
      assertClean(visit);
    } finally {
      await console.close();
    }
  });
}

describe('signing in to the console without a provider', () => {
  after(closeBrowser);

  it('explains how to configure one, and takes a token', async () => {
    const service = await startTestService();
    try {
      const visitor = await visit(await getBrowser(), service.url, '/admin/audit');
      const { page } = visitor;
      await page.getByText('No identity provider is configured').waitFor();
      await page.getByText('Use an identity provider instead').click();
      for (const name of ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'ADMIN_EMAILS']) {
        assert.ok(await page.getByText(name, { exact: true }).isVisible(), name);
      }
      const token = page.getByLabel('Token');
      await token.fill('not a token');
      await token.press('Enter');
      await page.getByRole('alert').filter({ hasText: /token/i }).waitFor();
      await token.fill(await service.newToken());
      await token.press('Enter');
      await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();
      assert.equal(page.url(), `${service.url}/admin/audit`);
      assertClean(visitor);
    } finally {
      await service.close();
    }
  });
});
