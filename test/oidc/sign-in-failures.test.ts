// Sign-ins that must not succeed: callbacks that belong to no request, or come too late or twice, refusals, and a provider
// that is down. Forged responses of a provider are in forged-answer.test.ts.
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { type Answer, assertError } from '../support/client.ts';
import { ConsoleBrowser } from '../support/console-browser.ts';
import { startOidcProvider, type TestProvider } from '../support/oidc-provider.ts';
import { freePort } from '../support/process.ts';
import { startTestService, type TestService } from '../support/service.ts';

const MINUTE_MS = 60_000;
const ADA = { sub: 'ada', email: 'ada@example.com', email_verified: true };
const SIGN_IN_COOKIE = 'local_events_signin';

function startServiceOf(issuer: string, env: Record<string, string> = {}): Promise<TestService> {
  return startTestService({
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: 'local-events-console',
    OIDC_CLIENT_SECRET: 'a-secret-that-only-tests-know-0123456789',
    ADMIN_SUBJECTS: 'ada',
    ...env,
  });
}

/** Asserts where the browser is redirected, and that nobody is signed in. */
async function assertFailed(
  browser: ConsoleBrowser,
  answer: Answer,
  problem: string,
  returnPath = '/admin',
): Promise<void> {
  assert.equal(answer.status, 303, answer.text);
  const location = `/admin/?problem=${problem}&return=${encodeURIComponent(returnPath)}`;
  assert.equal(answer.headers.get('location'), location);
  assert.equal(answer.text, '');
  assert.ok(!browser.cookies.has('local_events_session'));
  assert.equal((await browser.session()).user, null);
  assertError(await browser.get('/v1/admin/me'), 401, 'MISSING_TOKEN');
}

/** With another character in the middle: the last ones may stand for the same bytes. */
function tampered(sealed: string): string {
  return `${sealed.slice(0, 20)}${sealed[20] === 'A' ? 'B' : 'A'}${sealed.slice(21)}`;
}

describe('the callback of a sign-in', () => {
  let provider: TestProvider;
  let service: TestService;
  before(async () => {
    provider = await startOidcProvider({ accounts: [ADA, { sub: 'mallory' }] });
    service = await startServiceOf(provider.issuer);
    provider.addRedirectUri(`${service.url}/admin/callback`);
  });
  after(async () => {
    await service.close();
    await provider.close();
  });

  const newBrowser = () => new ConsoleBrowser(service.client);
  /** A browser that signed in at the provider and has not returned yet. */
  const newWaiting = async (query = '') => {
    const browser = newBrowser();
    return { browser, back: new URL(await provider.answer(await browser.begin(query), ADA)) };
  };
  const tokensAsked = () => provider.requests.filter((path) => path === '/token').length;

  it('is exchanged at the provider at most 100 times an hour per network', async () => {
    const limited = await startServiceOf(provider.issuer);
    provider.addRedirectUri(`${limited.url}/admin/callback`);
    try {
      const browser = new ConsoleBrowser(limited.client);
      const asked = new URL(await browser.begin('?return=/admin/audit'));
      const cookies = [...browser.cookies];
      const back = `${limited.url}/admin/callback?code=guess&state=${asked.searchParams.get('state')}`;
      const before = tokensAsked();
      const problems = new Map<string | undefined, number>();
      for (let tries = 0; tries < 105; tries++) {
        const answer = await new ConsoleBrowser(limited.client, cookies).comeBack(back);
        const problem = /problem=(\w+)/.exec(answer.headers.get('location')!)?.[1];
        problems.set(problem, (problems.get(problem) ?? 0) + 1);
        assert.match(answer.headers.get('location')!, /&return=%2Fadmin%2Faudit$/);
      }
      assert.deepEqual(
        [...problems],
        [
          ['provider', 100],
          ['often', 5],
        ],
      );
      assert.ok(tokensAsked() - before <= 100, 'one request to the provider for each');
      limited.clock.advance(61 * MINUTE_MS);
      const later = new ConsoleBrowser(limited.client);
      await later.begin();
      assert.match((await later.comeBack(back)).headers.get('location')!, /problem=state/);
    } finally {
      await limited.close();
    }
  });

  it('costs no attempt without the cookie and the state of a sign-in', async (test) => {
    const limited = await startServiceOf(provider.issuer);
    test.after(() => limited.close());
    provider.addRedirectUri(`${limited.url}/admin/callback`);
    const waiting = new ConsoleBrowser(limited.client);
    const asked = new URL(await waiting.begin());
    const sealed = waiting.cookies.get(SIGN_IN_COOKIE)!;
    const state = asked.searchParams.get('state')!;
    const before = tokensAsked();
    // A cookie that was not sealed here, a cookie with another state, and no cookie: each more often than attempts are allowed.
    for (const [cookie, sentState] of [
      ['made-up', state],
      [tampered(sealed), state],
      [sealed, 'x'.repeat(43)],
      [undefined, state],
    ] as const) {
      for (let tries = 0; tries < 110; tries++) {
        const stranger = new ConsoleBrowser(limited.client, cookie ? [[SIGN_IN_COOKIE, cookie]] : []);
        const answer = await stranger.comeBack(`${limited.url}/admin/callback?code=guess&state=${sentState}`);
        assert.match(answer.headers.get('location')!, /problem=state/);
      }
    }
    assert.equal(tokensAsked(), before);
    await waiting.comeBack(await provider.answer(asked.href, ADA));
    assert.equal((await waiting.session()).is_administrator, true);
  });

  it('fails with another state, and the code is not exchanged', async () => {
    const before = tokensAsked();
    for (const change of [
      (sent: URLSearchParams) => sent.set('state', 'x'.repeat(43)),
      (sent: URLSearchParams) => sent.set('state', ''),
      (sent: URLSearchParams) => sent.delete('state'),
      (sent: URLSearchParams) => sent.append('state', sent.get('state')!),
      (sent: URLSearchParams) => sent.append('state', 'x'),
      (sent: URLSearchParams) => sent.set('state', `${sent.get('state')} `),
    ]) {
      const { browser, back } = await newWaiting('?return=/admin/audit');
      change(back.searchParams);
      await assertFailed(browser, await browser.comeBack(back.href), 'state', '/admin/audit');
    }
    assert.equal(tokensAsked(), before);
  });

  it('fails in a browser that did not start this sign-in', async () => {
    const before = tokensAsked();
    const { back } = await newWaiting('?return=/admin/audit');
    const stranger = newBrowser();
    await assertFailed(stranger, await stranger.comeBack(back.href), 'state');
    const victim = newBrowser();
    await victim.begin();
    await assertFailed(victim, await victim.comeBack(back.href), 'state');
    assert.equal(tokensAsked(), before);
  });

  it('works only once', async () => {
    const { browser, back } = await newWaiting();
    const copy = browser.copy();
    assert.equal((await browser.comeBack(back.href)).headers.get('location'), '/admin');
    assert.ok(browser.cookies.has('local_events_session'));
    const fresh = browser.copy();
    fresh.cookies.delete('local_events_session');
    await assertFailed(fresh, await fresh.comeBack(back.href), 'state');
    await assertFailed(copy, await copy.comeBack(back.href), 'provider');
  });

  it('keeps an existing session when it fails', async () => {
    const { browser, back } = await newWaiting();
    await browser.comeBack(back.href);
    const again = await browser.comeBack(back.href);
    assert.equal(again.headers.get('location'), '/admin/?problem=state&return=%2Fadmin');
    assert.equal((await browser.get('/v1/admin/me')).status, 200);
  });

  it('removes the sign-in cookie even when it fails', async () => {
    const { browser, back } = await newWaiting();
    assert.ok(browser.cookies.has(SIGN_IN_COOKIE));
    back.searchParams.set('state', 'x');
    await browser.comeBack(back.href);
    assert.ok(!browser.cookies.has(SIGN_IN_COOKIE));
  });

  it('works for ten minutes', async (test) => {
    const timed = await startServiceOf(provider.issuer);
    test.after(() => timed.close());
    provider.addRedirectUri(`${timed.url}/admin/callback`);
    const [quick, slow] = [new ConsoleBrowser(timed.client), new ConsoleBrowser(timed.client)];
    const quickBack = await provider.answer(await quick.begin(), ADA);
    const slowBack = await provider.answer(await slow.begin('?return=/admin/audit'), ADA);
    timed.clock.advance(10 * MINUTE_MS - 2_000);
    assert.equal((await quick.comeBack(quickBack)).headers.get('location'), '/admin');
    timed.clock.advance(2_000);
    await assertFailed(slow, await slow.comeBack(slowBack), 'state');
  });

  it('fails with a cookie that was changed, or sealed for another purpose', async () => {
    const signedIn = newBrowser();
    await signedIn.signIn(provider, ADA);
    const session = signedIn.cookies.get('local_events_session')!;
    for (const change of [
      tampered,
      (sealed: string) => sealed.replace(/\.[^.]+$/, '.'),
      (sealed: string) => `${sealed}.`,
      (sealed: string) => `${sealed}; ${SIGN_IN_COOKIE}=${sealed}`,
      (sealed: string) => `"${sealed}"`,
      () => '',
      () => session,
    ]) {
      const { browser, back } = await newWaiting();
      browser.cookies.set(SIGN_IN_COOKIE, change(browser.cookies.get(SIGN_IN_COOKIE)!));
      await assertFailed(browser, await browser.comeBack(back.href), 'state');
    }
    const { browser } = await newWaiting();
    const thief = newBrowser();
    thief.cookies.set('local_events_session', browser.cookies.get(SIGN_IN_COOKIE)!);
    assertError(await thief.get('/v1/admin/me'), 401, 'INVALID_TOKEN');
  });

  it('fails with the code of another person', async () => {
    const { back: stolen } = await newWaiting();
    const mallory = newBrowser();
    const own = new URL(await provider.answer(await mallory.begin(), { sub: 'mallory' }));
    own.searchParams.set('code', stolen.searchParams.get('code')!);
    await assertFailed(mallory, await mallory.comeBack(own.href), 'provider');
  });

  it('fails without a code, with two, or from another issuer', async () => {
    for (const change of [
      (sent: URLSearchParams) => sent.delete('code'),
      (sent: URLSearchParams) => sent.set('code', ''),
      (sent: URLSearchParams) => sent.append('code', 'x'),
      (sent: URLSearchParams) => sent.set('iss', 'https://evil.example'),
      (sent: URLSearchParams) => sent.delete('iss'),
      (sent: URLSearchParams) => sent.set('id_token', 'x.y.z'),
      (sent: URLSearchParams) => sent.set('response', 'x.y.z'),
    ]) {
      const { browser, back } = await newWaiting();
      change(back.searchParams);
      await assertFailed(browser, await browser.comeBack(back.href), 'provider');
    }
  });

  it('does not repeat the text of a refusal', async () => {
    const browser = newBrowser();
    const back = await provider.answer(await browser.begin('?return=/admin/audit'), 'refuses');
    assert.match(back, /error=access_denied.*words/);
    const answer = await browser.comeBack(back);
    await assertFailed(browser, answer, 'denied', '/admin/audit');
    assert.doesNotMatch(JSON.stringify([...answer.headers]), /words|access_denied/);
  });

  it('does not repeat the text of another error', async () => {
    for (const error of [
      'server_error',
      'login_required',
      '<script>',
      'access_denied%00',
      'x'.repeat(5_000),
    ]) {
      const { browser, back } = await newWaiting();
      back.searchParams.delete('code');
      back.searchParams.set('error', error);
      back.searchParams.set('error_description', 'words of the provider');
      const answer = await browser.comeBack(back.href);
      await assertFailed(browser, answer, 'provider');
    }
    assert.doesNotMatch(JSON.stringify(service.log), /words of the provider|<script>/);
  });

  it('works only with GET', async () => {
    const { browser, back } = await newWaiting();
    const path = back.pathname + back.search;
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      assert.equal((await browser.send(method, path)).status, 405, method);
    }
    assert.notEqual((await browser.send('HEAD', path)).status, 303);
    assert.equal((await browser.comeBack(back.href)).headers.get('location'), '/admin');
  });
});

describe('a provider that is down', () => {
  /** A provider with a known port, and a service that starts before it. */
  async function prepare(test: TestContext) {
    const port = await freePort();
    const service = await startServiceOf(`http://127.0.0.1:${port}`);
    test.after(() => service.close());
    const redirectUris = [`${service.url}/admin/callback`];
    const start = () => startOidcProvider({ accounts: [ADA], port, redirectUris });
    return { service, browser: new ConsoleBrowser(service.client), start };
  }

  it('fails a sign-in at the start, and works later without a restart', async (test) => {
    const { service, browser, start } = await prepare(test);
    for (let time = 0; time < 3; time++) {
      const answer = await browser.send('GET', '/admin/login?return=/admin/audit');
      await assertFailed(browser, answer, 'provider', '/admin/audit');
      assert.deepEqual(answer.headers.getSetCookie(), []);
    }
    const logged = service.log.filter(({ level }) => level === 50);
    assert.equal(logged.length, 3);
    assert.match(JSON.stringify(logged[0]), /ECONNREFUSED.*The identity provider does not respond/);
    const provider = await start();
    test.after(() => provider.close());
    await browser.signIn(provider, ADA);
    assert.equal((await browser.session()).is_administrator, true);
  });

  it('fails a sign-in at the callback, and the next sign-in works again', async (test) => {
    const { service, browser, start } = await prepare(test);
    const earlier = await start();
    const back = await earlier.answer(await browser.begin('?return=/admin/audit'), ADA);
    await earlier.close();
    await assertFailed(browser, await browser.comeBack(back), 'provider', '/admin/audit');
    assert.match(JSON.stringify(service.log), /ECONNREFUSED.*Sign-in failed/);
    // Its discovery document is cached, so the redirect still works, but the provider is down.
    assert.match(await browser.begin(), /\/auth\?/);
    const provider = await start();
    test.after(() => provider.close());
    await browser.signIn(provider, ADA);
    assert.equal((await browser.session()).is_administrator, true);
  });

  it('does not affect existing sessions or signing out', async (test) => {
    const { browser, start } = await prepare(test);
    const provider = await start();
    await browser.signIn(provider, ADA);
    await provider.close();
    assert.equal((await browser.get('/v1/admin/me')).status, 200);
    assert.equal((await browser.session()).is_administrator, true);
    assert.equal((await browser.send('POST', '/admin/logout')).status, 204);
  });

  it('is asked once for its discovery document, however many sign in', async (test) => {
    const { browser, start } = await prepare(test);
    const provider = await start();
    test.after(() => provider.close());
    await Promise.all(Array.from({ length: 20 }, () => browser.begin()));
    await browser.begin();
    assert.deepEqual(provider.requests, ['/.well-known/openid-configuration']);
  });
});
