// No open redirect: a sign-in always ends on a page of the console, whatever the link or the cookie says.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newSeal } from '../../src/oidc/seal.ts';
import { KEPT, REFUSED } from '../domain/return-paths.ts';
import { ConsoleBrowser, TYPED } from '../support/console-browser.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { CLIENT_ID, startTinyIssuer, type TinyIssuer } from '../support/tiny-issuer.ts';

const SECRET = 'the secret of the sessions of this test';

describe('the return path of a sign-in', () => {
  let issuer: TinyIssuer;
  let service: TestService;
  before(async () => {
    issuer = await startTinyIssuer();
    service = await startTestService({
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: CLIENT_ID,
      SESSION_SECRET: SECRET,
      TRUST_PROXY: 'loopback',
    });
  });
  after(async () => {
    await service.close();
    await issuer.close();
  });

  /** Each browser has its own network, because sign-ins are limited per network. */
  let networks = 0;
  const newBrowser = (cookies: [string, string][] = []) => {
    networks++;
    const from = { 'x-forwarded-for': `10.0.${networks >> 8}.${networks % 256}` };
    return new ConsoleBrowser(service.client.with(from), cookies);
  };

  /** Returns from the provider with a valid token; the Location that the browser is sent to. */
  async function comeBack(browser: ConsoleBrowser, state: string, nonce: string): Promise<string> {
    const id_token = await issuer.mint('ada@example.com', 600, { nonce });
    issuer.scripts['/token'] = () => ({ body: { access_token: 'x', token_type: 'Bearer', id_token } });
    const answer = await browser.comeBack(`${service.url}/admin/callback?code=x&state=${state}`);
    assert.equal(answer.status, 303);
    assert.ok(browser.cookies.has('local_events_session'));
    return answer.headers.get('location')!;
  }

  async function signIn(query: string): Promise<string> {
    const browser = newBrowser();
    const { searchParams } = new URL(await browser.begin(query));
    return comeBack(browser, searchParams.get('state')!, searchParams.get('nonce')!);
  }

  it('is the path in the link if that is a page of the console', async () => {
    for (const path of KEPT) assert.equal(await signIn(`?return=${encodeURIComponent(path)}`), path);
  });

  it('is /admin if the link says anything else', async () => {
    for (const path of REFUSED) {
      assert.equal(await signIn(`?return=${encodeURIComponent(path)}`), '/admin', JSON.stringify(path));
    }
    for (const query of [
      '',
      '?',
      '?return',
      '?return=%zz',
      '?return=%ff%fe',
      '?return=//evil.example&return=/admin/audit',
      '?Return=/admin/audit',
      '?return=%252Fadmin',
      '?return=/admin/audit%26return=x#',
    ]) {
      assert.equal(await signIn(query), '/admin', query);
    }
  });

  it('is /admin if the sign-in cookie says anything else', async () => {
    const binding = [issuer.url, CLIENT_ID];
    const { seal } = await newSeal({ secret: SECRET, binding, purpose: 'sign-in 1', clock: Date.now });
    const redirectUri = `${service.url}/admin/callback`;
    for (const returnPath of REFUSED) {
      const begun = { state: 'state', nonce: 'nonce', verifier: 'v'.repeat(43), redirectUri, returnPath };
      const sealed = await seal(begun, Date.now() + 60_000);
      const cookies: [string, string][] = [['local_events_signin', sealed]];
      const browser = newBrowser(cookies);
      assert.equal(await comeBack(browser, 'state', 'nonce'), '/admin', JSON.stringify(returnPath));
      const failed = newBrowser(cookies);
      const answer = await failed.comeBack(`${service.url}/admin/callback?error=x&state=state`);
      assert.equal(answer.headers.get('location'), '/admin/?problem=provider&return=%2Fadmin');
    }
  });

  it('is /admin in the redirect after a failed start of the sign-in', async (test) => {
    const away = await startTestService(
      { OIDC_ISSUER: 'http://127.0.0.1:9', OIDC_CLIENT_ID: CLIENT_ID },
      { until: test },
    );
    for (const path of REFUSED) {
      const url = `/admin/login?return=${encodeURIComponent(path)}`;
      const answer = await away.client.send('GET', url, { headers: TYPED });
      assert.equal(answer.headers.get('location'), '/admin/?problem=provider&return=%2Fadmin');
    }
  });

  it('is taken at once if there is no identity provider', async (test) => {
    const alone = await startTestService({}, { until: test });
    const to = async (path: string) => (await alone.client.send('GET', path)).headers.get('location');
    assert.equal(await to('/admin/login?return=/admin/audit'), '/admin/audit');
    assert.equal(await to('/admin/login?return=//evil.example'), '/admin');
    assert.equal(await to('/admin/callback?code=x&state=y'), '/admin');
  });
});
