// Signing in to the console and out, over HTTP, with a real identity provider; in a long run on both engines.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertError } from '../support/client.ts';
import { ConsoleBrowser, OWN_PAGE, TYPED } from '../support/console-browser.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import {
  type Account,
  PUBLIC_CLIENT_ID,
  startOidcProvider,
  type TestProvider,
} from '../support/oidc-provider.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';

const HOUR_MS = 3_600_000;
const PNG = Buffer.from('not really, but nobody looks');

const ADA: Account = { sub: 'ada', email: 'Ada@Example.com', email_verified: true, name: 'Ada Lovelace' };
const BOB: Account = { sub: 'bob', email: 'bob@example.com', email_verified: true };
/** As Microsoft Entra describes people: it does not say whether the e-mail is verified. */
const EVE: Account = {
  sub: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
  email: 'eve@corp.example',
  name: 'Eve',
};
const NOBODY: Account = { sub: 'nobody' };
const CARL: Account = { sub: 'carl', picture: '/picture' };
const DORA: Account = { sub: 'dora', picture: 'http://pictures.example/dora.png' };

const ALLOWED = { ADMIN_EMAILS: 'ada@example.com', ADMIN_SUBJECTS: `${EVE.sub},nobody,carl,dora` };

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  const newData = ENGINES[engine];
  describe(`signing in, on ${engine}`, () => {
    let provider: TestProvider;
    let service: TestService;
    let data: Record<string, string>;
    before(async () => {
      provider = await startOidcProvider({
        accounts: [ADA, BOB, EVE, NOBODY, CARL, DORA],
        picture: (response) => void response.writeHead(200, { 'content-type': 'image/png' }).end(PNG),
      });
      data = await newData();
      service = await start();
    });
    after(async () => {
      await service.close();
      await provider.close();
    });

    /** Starts a service with this provider; its client has a secret unless `env` names another client. */
    async function start(env: Record<string, string> = {}): Promise<TestService> {
      const started = await startTestService({
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: provider.clientId,
        ...(env.OIDC_CLIENT_ID ? {} : { OIDC_CLIENT_SECRET: provider.clientSecret }),
        ...ALLOWED,
        ...data,
        ...env,
      });
      provider.addRedirectUri(`${started.url}/admin/callback`);
      return started;
    }

    const newBrowser = (of = service) => new ConsoleBrowser(of.client);
    const newSignedIn = async (person = ADA, of = service) => {
      const browser = newBrowser(of);
      assert.equal((await browser.signIn(provider, person)).status, 303);
      return browser;
    };

    it('turns an anonymous visitor into an administrator, with the session in one cookie', async () => {
      const browser = newBrowser();
      const { host } = new URL(provider.issuer);
      assert.deepEqual(await browser.session(), {
        provider: host,
        user: null,
        is_administrator: false,
        expires_at: null,
      });
      assertError(await browser.get('/v1/admin/me'), 401, 'MISSING_TOKEN');
      const back = await browser.signIn(provider, ADA, '?return=/admin/agents');
      assert.equal(back.status, 303, back.text);
      assert.equal(back.headers.get('location'), '/admin/agents');
      assert.deepEqual([...browser.cookies.keys()], ['local_events_session']);
      const { expires_at, ...session } = await browser.session();
      assert.deepEqual(session, {
        provider: host,
        user: { email: 'Ada@Example.com', name: 'Ada Lovelace', picture: '', subject: 'ada' },
        is_administrator: true,
      });
      const leftMs = Date.parse(expires_at) - service.clock.nowMs();
      assert.ok(leftMs > 8 * HOUR_MS - 60_000 && leftMs <= 8 * HOUR_MS, `${leftMs}`);
      assert.deepEqual((await browser.get('/v1/admin/me')).body, {
        email: 'Ada@Example.com',
        name: 'Ada Lovelace',
        picture: '',
      });
    });

    it('sends the provider the right parameters, with a new state, nonce and challenge each time', async () => {
      const browser = newBrowser();
      const asked = new URL(await browser.begin());
      assert.equal(asked.origin, provider.issuer);
      const { state, nonce, code_challenge, ...rest } = Object.fromEntries(asked.searchParams);
      assert.deepEqual(rest, {
        client_id: provider.clientId,
        redirect_uri: `${service.url}/admin/callback`,
        response_type: 'code',
        scope: 'openid email profile',
        code_challenge_method: 'S256',
      });
      for (const secret of [state, nonce, code_challenge]) assert.match(secret!, /^[\w-]{43}$/);
      assert.equal(new Set([state, nonce, code_challenge]).size, 3);
      const again = new URL(await browser.begin('?account=choose'));
      assert.equal(again.searchParams.get('prompt'), 'select_account');
      for (const name of ['state', 'nonce', 'code_challenge']) {
        assert.notEqual(again.searchParams.get(name), asked.searchParams.get(name), name);
      }
    });

    it('shows people who are not administrators who they are, and lets them do nothing', async () => {
      const browser = await newSignedIn(BOB);
      const session = await browser.session();
      assert.deepEqual(session.user, {
        email: 'bob@example.com',
        name: 'bob@example.com',
        picture: '',
        subject: 'bob',
      });
      assert.equal(session.is_administrator, false);
      assertError(await browser.get('/v1/admin/me'), 403, 'NOT_AN_ADMIN');
      assertError(await browser.send('DELETE', '/v1/admin/events/x'), 403, 'NOT_AN_ADMIN');
    });

    it('uses the subject if the provider does not verify the e-mail, or sends none', async () => {
      const eve = await (await newSignedIn(EVE)).session();
      assert.deepEqual([eve.user.email, eve.user.subject, eve.is_administrator], [EVE.email, EVE.sub, true]);
      const nobody = await (await newSignedIn(NOBODY)).session();
      assert.deepEqual([nobody.user.email, nobody.user.name, nobody.is_administrator], ['', 'nobody', true]);
    });

    it('checks the list of administrators on every request', async (test) => {
      const browser = await newSignedIn();
      const without = await start({ ...(await newData()), ADMIN_EMAILS: 'someone.else@example.com' });
      test.after(() => without.close());
      const there = browser.copy(without.client);
      assert.equal((await browser.session()).is_administrator, true);
      assert.equal((await there.session()).is_administrator, false);
      assertError(await there.get('/v1/admin/me'), 403, 'NOT_AN_ADMIN');
    });

    it('lasts eight hours', async (test) => {
      const short = await start(await newData());
      test.after(() => short.close());
      const browser = await newSignedIn(ADA, short);
      short.clock.advance(8 * HOUR_MS - 60_000);
      assert.equal((await browser.get('/v1/admin/me')).status, 200);
      short.clock.advance(60_000);
      assertError(await browser.get('/v1/admin/me'), 401, 'INVALID_TOKEN');
      assert.equal((await browser.session()).user, null);
    });

    it('ends with signing out, also for a copy of the cookie, and may be repeated', async () => {
      const browser = await newSignedIn();
      const [copy, other] = [browser.copy(), await newSignedIn()];
      const answer = await browser.send('POST', '/admin/logout');
      assert.equal(answer.status, 204, answer.text);
      assert.deepEqual([...browser.cookies], []);
      assertError(await browser.get('/v1/admin/me'), 401, 'MISSING_TOKEN');
      assertError(await copy.get('/v1/admin/me'), 401, 'INVALID_TOKEN');
      assert.equal((await copy.session()).user, null);
      assert.equal((await copy.get('/admin/picture')).status, 404);
      assert.equal((await copy.send('POST', '/admin/logout')).status, 204);
      assert.equal((await newBrowser().send('POST', '/admin/logout')).status, 204);
      assert.equal(
        (await other.get('/v1/admin/me')).status,
        200,
        'another session of the same person goes on',
      );
    });

    it('ends with signing out everywhere, in every browser, and later sign-ins work', async () => {
      const [browser, other, stranger] = [await newSignedIn(), await newSignedIn(), await newSignedIn(BOB)];
      const answer = await browser.send('POST', '/admin/logout-everywhere');
      assert.equal(answer.status, 204, answer.text);
      assert.deepEqual([...browser.cookies], []);
      assertError(await other.get('/v1/admin/me'), 401, 'INVALID_TOKEN');
      assert.equal((await other.session()).user, null);
      assert.equal((await other.get('/admin/picture')).status, 404);
      assertError(await other.send('POST', '/admin/logout-everywhere'), 401, 'INVALID_TOKEN');
      assertError(await newBrowser().send('POST', '/admin/logout-everywhere'), 401, 'INVALID_TOKEN');
      assert.notEqual((await stranger.session()).user, null, 'sessions of other people go on');
      assertError(await stranger.send('POST', '/admin/logout-everywhere'), 403, 'NOT_AN_ADMIN');
      assert.notEqual((await stranger.session()).user, null);
      const [later, another] = [await newSignedIn(), await newSignedIn()];
      for (const one of [later, another]) assert.equal((await one.get('/v1/admin/me')).status, 200);
      await service.close();
      service = await start();
      assertError(await other.copy(service.client).get('/v1/admin/me'), 401, 'INVALID_TOKEN');
      assert.equal((await later.copy(service.client).get('/v1/admin/me')).status, 200);
    });

    it('stays ended after a restart', async () => {
      const [ended, going] = [await newSignedIn(), await newSignedIn()];
      const copy = ended.copy();
      await ended.send('POST', '/admin/logout');
      await service.close();
      service = await start();
      assertError(await copy.copy(service.client).get('/v1/admin/me'), 401, 'INVALID_TOKEN');
      assert.equal((await going.copy(service.client).get('/v1/admin/me')).status, 200);
    });

    it('asks userinfo for e-mail and name if the ID token has none', async (test) => {
      const shy = await startOidcProvider({ accounts: [ADA, BOB], claimsInIdToken: false });
      test.after(() => shy.close());
      const asking = await start({ ...(await newData()), OIDC_ISSUER: shy.issuer });
      test.after(() => asking.close());
      shy.addRedirectUri(`${asking.url}/admin/callback`);
      const browser = newBrowser(asking);
      await browser.signIn(shy, ADA);
      assert.ok(shy.requests.includes('/me'), 'the userinfo endpoint of this provider');
      const { user, is_administrator } = await browser.session();
      assert.deepEqual([user.email, user.name, is_administrator], ['Ada@Example.com', 'Ada Lovelace', true]);
      const before = provider.requests.length;
      await newSignedIn();
      assert.ok(!provider.requests.slice(before).includes('/me'), 'and only then');
    });

    it('works for a client without a secret', async (test) => {
      const open = await start({ ...(await newData()), OIDC_CLIENT_ID: PUBLIC_CLIENT_ID });
      test.after(() => open.close());
      assert.equal((await (await newSignedIn(ADA, open)).session()).is_administrator, true);
    });

    it('shows a picture through the service', async () => {
      const browser = await newSignedIn(CARL);
      assert.equal((await browser.session()).user.picture, '/admin/picture');
      const answer = await browser.get('/admin/picture');
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.text, PNG.toString());
      for (const [name, value] of Object.entries({
        'content-type': 'image/png',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store', // the next visitor of this URL may be another person
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
        'cross-origin-resource-policy': 'same-origin',
      })) {
        assert.equal(answer.headers.get(name), value, name);
      }
      const outside = await browser.send('GET', '/admin/picture', { headers: TYPED });
      assertError(outside, 404, 'NOT_FOUND');
    });

    it('does not fetch the picture of a person who is not an administrator', async () => {
      const others = await start({ ...(await newData()), ADMIN_SUBJECTS: 'nobody' });
      const browser = await newSignedIn(CARL, others);
      assert.equal((await browser.session()).user.picture, '');
      assertError(await browser.get('/admin/picture'), 404, 'NOT_FOUND');
      await others.close();
    });

    it('shows no picture from another host without TLS, or without a session', async () => {
      const browser = await newSignedIn(DORA);
      assert.equal((await browser.session()).user.picture, '');
      assertError(await browser.get('/admin/picture'), 404, 'NOT_FOUND');
      assertError(await newBrowser().get('/admin/picture'), 404, 'NOT_FOUND');
      assertError(await (await newSignedIn()).get('/admin/picture'), 404, 'NOT_FOUND');
    });

    it('does not change how tokens work', async () => {
      const token = await provider.idToken('ada');
      const bearer = service.client.with({ authorization: `Bearer ${token}` });
      assert.equal((await bearer.get('/v1/admin/me')).status, 200);
      const browser = await newSignedIn(BOB);
      const both = { ...OWN_PAGE, authorization: `Bearer ${token}` };
      assert.equal((await browser.send('GET', '/v1/admin/me', { headers: both })).body.name, 'Ada Lovelace');
      const basic = { ...OWN_PAGE, authorization: 'Basic of-a-proxy-in-front' };
      assertError(await browser.send('GET', '/v1/admin/me', { headers: basic }), 403, 'NOT_AN_ADMIN');
    });

    it('does not take a token instead of a sign-in', async () => {
      const token = await provider.idToken('ada');
      const browser = newBrowser();
      assertError(await browser.send('POST', '/admin/token', { body: { token } }), 404, 'NOT_FOUND');
      assert.equal(browser.cookies.size, 0);
    });
  });
}
