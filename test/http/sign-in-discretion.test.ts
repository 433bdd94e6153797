// What a sign-in reveals: no secret in responses under /admin or in the log, and strict headers on those responses.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bareServer, listen } from '../support/bare-server.ts';
import { type Answer, Client } from '../support/client.ts';
import { ConsoleBrowser, OWN_PAGE } from '../support/console-browser.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { CLIENT_ID, startTinyIssuer, type TinyIssuer } from '../support/tiny-issuer.ts';

const CLIENT_SECRET = 'the-client-secret-of-this-test-0123';
const SESSION_SECRET = 'the-session-secret-of-this-test-012';
const ACCESS_TOKEN = 'an-access-token-that-is-nobodys-business';
const CODE = 'a-code-that-is-nobodys-business';
const EMAIL = 'ada-in-private@example.com';

describe('a sign-in', () => {
  let issuer: TinyIssuer;
  let service: TestService;
  before(async () => {
    issuer = await startTinyIssuer();
    service = await startTestService({
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: CLIENT_ID,
      OIDC_CLIENT_SECRET: CLIENT_SECRET,
      SESSION_SECRET,
      ADMIN_EMAILS: EMAIL,
      LOG_LEVEL: 'trace',
    });
  });
  after(async () => {
    await service.close();
    await issuer.close();
  });

  it('leaves no code, state, cookie, token, secret or personal data in the log, and no token or secret in a response', async () => {
    const answers: Answer[] = [];
    const browser = new ConsoleBrowser(service.client);
    const note = async (answer: Promise<Answer>) => {
      answers.push(await answer);
      return answers.at(-1)!;
    };
    const begun = await note(browser.send('GET', '/admin/login?return=/admin/audit'));
    const { state = '', nonce = '' } = Object.fromEntries(
      new URL(begun.headers.get('location')!).searchParams,
    );
    const signInCookie = browser.cookies.get('local_events_signin')!;
    const id_token = await issuer.mint(EMAIL, 600, { nonce });
    let verifier = '';
    issuer.scripts['/token'] = (body) => {
      verifier = new URLSearchParams(body).get('code_verifier')!;
      return {
        body: { access_token: ACCESS_TOKEN, refresh_token: ACCESS_TOKEN, token_type: 'Bearer', id_token },
      };
    };
    const back = `/admin/callback?code=${CODE}&state=${state}`;
    const stranger = new ConsoleBrowser(service.client);
    await note(stranger.comeBack(service.url + back));
    await note(browser.comeBack(service.url + back));
    const session = browser.cookies.get('local_events_session')!;
    for (const path of ['/admin/session', '/v1/admin/me', '/v1/admin/agents', '/admin/picture', '/admin/x']) {
      await note(browser.get(path));
      await note(browser.get(`${path}?code=${CODE}&state=${state}&token=${id_token}&session=${session}`));
    }
    await note(browser.send('GET', `/admin/callback/${CODE}/${session}`));
    await note(browser.send('POST', back, { body: { code: CODE } }));
    await note(browser.send('POST', '/admin/token', { body: { token: id_token } }));
    await note(browser.send('POST', '/admin/logout', { body: { token: id_token } }));
    await note(browser.copy().get('/v1/admin/me'));
    const thief = new ConsoleBrowser(service.client, [['local_events_session', session]]);
    await note(thief.get('/v1/admin/me'));

    const log = JSON.stringify(service.log);
    assert.match(verifier, /^[\w-]{43}$/);
    const secrets = [CLIENT_SECRET, SESSION_SECRET, ACCESS_TOKEN, id_token, verifier, nonce];
    for (const secret of [...secrets, CODE, state, signInCookie, session, session.slice(-20), EMAIL, 'eyJ']) {
      assert.ok(!log.includes(secret), `the log has ${secret}`);
    }
    for (const answer of answers) {
      const { headers, text } = answer;
      const location = headers.get('location') ?? '';
      const all = `${text} ${location} ${JSON.stringify([...headers])}`;
      for (const secret of [CLIENT_SECRET, SESSION_SECRET, ACCESS_TOKEN, id_token, verifier, CODE]) {
        assert.ok(!all.includes(secret), `an answer has ${secret}`);
      }
      if (answer === begun) continue;
      for (const secret of [nonce, state, session, signInCookie]) {
        assert.ok(!`${text} ${location}`.includes(secret), `an answer has ${secret}`);
      }
    }
  });

  it('logs the pattern of each route', async () => {
    const lines = service.log.filter(({ msg }) => msg === 'request').map(({ route }) => route);
    for (const path of ['login', 'callback', 'session', 'picture', 'token', 'logout']) {
      assert.ok(lines.includes(`/admin/${path}`), path);
    }
    assert.ok(!lines.some((route) => /[?&=]/.test(String(route))));
  });

  /** Asserts the headers of every response under /admin except pages and pictures, which have their own. */
  function assertGuarded(answer: Answer, what: string): void {
    const { headers } = answer;
    assert.equal(headers.get('cache-control'), 'no-store', what);
    assert.equal(headers.get('referrer-policy'), 'same-origin', what);
    assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/, what);
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/, what);
    assert.equal(headers.get('x-frame-options'), 'DENY', what);
    assert.equal(headers.get('x-content-type-options'), 'nosniff', what);
    assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin', what);
    assert.ok(headers.get('x-request-id'), what);
  }

  it('has responses that are not cached, framed or leaked by Referer, errors included', async () => {
    const { client } = service;
    const ownPage = client.with(OWN_PAGE);
    const answers: [number, Answer][] = [
      [200, await client.get('/admin/session')],
      [200, await client.get('/%61dmin/session')],
      [302, await client.get('/admin/login')],
      [303, await client.get('/admin/callback')],
      [404, await client.get('/admin/picture')],
      [404, await ownPage.post('/admin/token', { token: 'x' })],
      [204, await ownPage.post('/admin/logout')],
      [401, await client.post('/admin/logout')],
      [401, await ownPage.post('/admin/logout-everywhere')],
      [401, await client.post('/admin/logout-everywhere')],
      [405, await client.send('PUT', '/admin/session')],
      [405, await client.send('OPTIONS', '/admin/session')],
      [404, await client.get('/admin/%zz')],
      [414, await client.get(`/admin/session?${'x'.repeat(9_000)}`)],
    ];
    for (const [status, answer] of answers) {
      assert.equal(answer.status, status, answer.text);
      assertGuarded(answer, `${status}`);
    }
  });

  it('has the same headers while the service starts', async (test) => {
    const app = bareServer({
      readiness: () => ({ done: 0, total: 10 }),
    });
    test.after(() => app.close());
    const client = new Client(await listen(app));
    for (const path of ['/admin/session', '/admin/login', '/admin/callback?code=x']) {
      const answer = await client.get(path);
      assert.equal(answer.status, 503, answer.text);
      assertGuarded(answer, path);
    }
  });

  it('does not change other responses', async () => {
    for (const path of ['/health', '/v1/admin/me', '/administrator', '/v1/events/nearby', '/openapi.json']) {
      const { headers } = await service.client.get(path);
      assert.equal(headers.get('referrer-policy'), null, path);
      assert.equal(headers.get('x-frame-options'), null, path);
    }
  });
});
