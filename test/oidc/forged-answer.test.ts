// A provider, or an impostor, that responds to the exchange of a code with invalid data. It signs nobody in, and nothing of
// it is repeated anywhere.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { ConsoleBrowser } from '../support/console-browser.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { CLIENT_ID, type Scripted, startTinyIssuer, type TinyIssuer } from '../support/tiny-issuer.ts';

const ADA = 'ada@example.com';
const SECRET = 'the-client-secret-of-this-test-0123';
const ACCESS_TOKEN = 'an-access-token-that-is-nobodys-business';

describe('the response of a provider', () => {
  let issuer: TinyIssuer;
  let service: TestService;
  let standard: TinyIssuer['scripts'];
  before(async () => {
    issuer = await startTinyIssuer();
    standard = { ...issuer.scripts };
    service = await startService();
  });
  after(async () => {
    await service.close();
    await issuer.close();
  });
  beforeEach(() => {
    for (const path of Object.keys(issuer.scripts)) delete issuer.scripts[path];
    Object.assign(issuer.scripts, standard);
  });

  const startService = () =>
    startTestService({
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: CLIENT_ID,
      OIDC_CLIENT_SECRET: SECRET,
      ADMIN_EMAILS: ADA,
      LOG_LEVEL: 'trace',
    });

  const tokens = (id_token: unknown, more: object = {}): Scripted => ({
    body: { access_token: ACCESS_TOKEN, token_type: 'Bearer', expires_in: 3600, id_token, ...more },
  });

  /** Signs in; `answer` gets the nonce of the request and returns the provider's response. */
  async function signIn(answer: (nonce: string) => Scripted | Promise<Scripted>, on = service) {
    const browser = new ConsoleBrowser(on.client);
    const { searchParams } = new URL(await browser.begin());
    const [state, nonce] = [searchParams.get('state')!, searchParams.get('nonce')!];
    issuer.scripts['/token'] = () => answer(nonce);
    const back = await browser.comeBack(`${on.url}/admin/callback?code=the-code-of-ada&state=${state}`);
    return { browser, location: back.headers.get('location') };
  }

  async function assertSignedIn(answer: Parameters<typeof signIn>[0]): Promise<ConsoleBrowser> {
    const { browser, location } = await signIn(answer);
    assert.equal(location, '/admin', JSON.stringify(service.log.at(-2)));
    return browser;
  }

  async function assertRefused(answer: Parameters<typeof signIn>[0]): Promise<void> {
    const logged = service.log.length;
    const { browser, location } = await signIn(answer);
    assert.equal(location, '/admin/?problem=provider&return=%2Fadmin');
    assert.equal(browser.cookies.size, 0);
    const lines = service.log.slice(logged).filter(({ level }) => level === 50);
    assert.equal(lines.length, 1, 'the operator hears of it');
    const { err } = lines[0] as { err: { message: string } };
    assert.ok(err.message.length > 5 && err.message.length < 300, err.message);
    assertDiscreet();
  }

  /** Asserts that the log contains nothing from a response. */
  function assertDiscreet(): void {
    const log = JSON.stringify(service.log);
    for (const secret of [ACCESS_TOKEN, SECRET, 'the-code-of-ada', 'eyJ', ADA]) {
      assert.ok(!log.includes(secret), `the log has ${secret}`);
    }
  }

  const sound = (nonce: string, claims: JWTPayload = {}) => issuer.mint(ADA, 600, { nonce, ...claims });

  it('signs a person in if all of it is valid', async () => {
    const browser = await assertSignedIn(async (nonce) => tokens(await sound(nonce)));
    assert.equal((await browser.session()).user.email, ADA);
    assertDiscreet();
  });

  const unsound: Record<string, (nonce: string) => Scripted | Promise<Scripted>> = {
    'another nonce': async () => tokens(await sound('another')),
    'no nonce': async () => tokens(await issuer.mint(ADA)),
    'another audience': async (nonce) => tokens(await sound(nonce, { aud: 'another' })),
    'another audience besides ours, and no azp': async (nonce) =>
      tokens(await sound(nonce, { aud: [CLIENT_ID, 'another'] })),
    'our audience, issued for another client (azp)': async (nonce) =>
      tokens(await sound(nonce, { aud: [CLIENT_ID, 'another'], azp: 'another' })),
    'our audience alone, issued for another client (azp)': async (nonce) =>
      tokens(await sound(nonce, { azp: 'another' })),
    'a token of another type': async (nonce) =>
      tokens(await issuer.mint(ADA, 600, { nonce }, { typ: 'logout+jwt' })),
    'another issuer': async (nonce) => tokens(await sound(nonce, { iss: 'https://evil.example' })),
    'no subject': async (nonce) => tokens(await sound(nonce, { sub: '' })),
    'an expiry in the past': async (nonce) => tokens(await issuer.mint(ADA, -60, { nonce })),
    'no ID token': () => tokens(undefined),
    'an invalid ID token': () => tokens('x.y.z'),
    'an ID token that is an object': () => tokens({}),
    'an ID token without a signature': (nonce) =>
      tokens(
        new UnsecuredJWT({ nonce, email: ADA, email_verified: true })
          .setSubject('ada')
          .setIssuer(issuer.url)
          .setAudience(CLIENT_ID)
          .setIssuedAt()
          .setExpirationTime('1h')
          .encode(),
      ),
    'a signature of someone else': async (nonce) =>
      tokens(await forge(nonce, 'RS256', (await generateKeyPair('RS256')).privateKey)),
    'a signature with the secret of the client': async (nonce) =>
      tokens(await forge(nonce, 'HS256', new TextEncoder().encode(SECRET))),
    'no access token': async (nonce) => tokens(await sound(nonce), { access_token: undefined }),
    'a page': () => ({ headers: { 'content-type': 'text/html' }, body: `<b>${ACCESS_TOKEN}</b>` }),
    'invalid JSON': () => ({ body: `${ACCESS_TOKEN} is no JSON` }),
    'a list': () => ({ body: [ACCESS_TOKEN] }),
    nothing: () => ({ status: 204, body: '' }),
    'a redirect': () => ({ status: 302, headers: { location: `${issuer.url}/elsewhere` }, body: '' }),
    'an error': () => ({ status: 500, body: { error: 'server_error', error_description: ACCESS_TOKEN } }),
    'a used code': () => ({
      status: 400,
      body: { error: 'invalid_grant', error_description: 'the-code-of-ada was used' },
    }),
    'a non-standard error': () => ({ status: 400, body: { error: ACCESS_TOKEN, error_uri: ADA } }),
    'claims too long for a cookie': async (nonce) => tokens(await sound(nonce, { sub: 's'.repeat(4_000) })),
  };
  for (const [what, answer] of Object.entries(unsound)) {
    it(`signs nobody in with ${what}`, () => assertRefused(answer));
  }

  async function forge(nonce: string, alg: string, key: CryptoKey | Uint8Array): Promise<string> {
    return new SignJWT({ nonce, email: ADA, email_verified: true })
      .setProtectedHeader({ alg, kid: 'one' })
      .setSubject('ada')
      .setIssuer(issuer.url)
      .setAudience(CLIENT_ID)
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(key);
  }

  it('cannot make a symmetric key valid by publishing it', async () => {
    const own = await startService();
    const secret = Buffer.alloc(32, 7);
    const key = { kty: 'oct', k: secret.toString('base64url'), kid: 'one', alg: 'HS256' };
    issuer.scripts['/keys'] = () => ({ body: { keys: [key] } });
    const { location } = await signIn(async (nonce) => tokens(await forge(nonce, 'HS256', secret)), own);
    await own.close();
    assert.match(location!, /problem=provider/);
  });

  it('is verified with the published keys and the algorithms that the provider names', async () => {
    const own = await startService();
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const key = { ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'one' };
    const script = standard['/.well-known/openid-configuration']!;
    issuer.scripts['/.well-known/openid-configuration'] = async () => {
      const { body } = await script('', {});
      return { body: { ...(body as object), id_token_signing_alg_values_supported: ['ES256'] } };
    };
    issuer.scripts['/keys'] = () => ({ body: { keys: [key] } });
    const { location } = await signIn(async (nonce) => tokens(await forge(nonce, 'ES256', privateKey)), own);
    await own.close();
    assert.equal(location, '/admin');
  });

  describe('of userinfo', () => {
    const userinfo = (body: object | string, more: Partial<Scripted> = {}) => {
      issuer.scripts['/userinfo'] = (_body, headers) =>
        headers.authorization === `Bearer ${ACCESS_TOKEN}` ? { body, ...more } : { status: 401, body: {} };
    };
    const bare = async (nonce: string) => tokens(await sound(nonce, { email: undefined, sub: 'ada' }));

    it('is used if the ID token has no e-mail', async () => {
      userinfo({ sub: 'ada', email: ADA, email_verified: true, name: 'Ada', picture: 'https://x.example/a' });
      const { user, is_administrator } = await (await assertSignedIn(bare)).session();
      assert.deepEqual([user.email, user.name, user.picture], [ADA, 'Ada', '/admin/picture']);
      assert.equal(is_administrator, true);
    });

    it('must verify the e-mail itself: email_verified of the ID token is ignored', async () => {
      for (const email_verified of [undefined, false, 'true', 1]) {
        userinfo({ sub: 'ada', email: ADA, email_verified });
        const { user, is_administrator } = await (await assertSignedIn(bare)).session();
        assert.deepEqual([user.email, is_administrator], [ADA, false]);
      }
    });

    it('may have no e-mail either', async () => {
      userinfo({ sub: 'ada' });
      assert.equal((await (await assertSignedIn(bare)).session()).user.email, '');
    });

    for (const [what, script] of Object.entries({
      'is about someone else': () => userinfo({ sub: 'mallory', email: ADA, email_verified: true }),
      'has no subject': () => userinfo({ email: ADA, email_verified: true }),
      'is a page': () => userinfo(`<b>${ADA}</b>`, { headers: { 'content-type': 'text/html' } }),
      'is not JSON': () => userinfo(`${ACCESS_TOKEN} is no JSON`),
      'is an error': () => userinfo({ error: ACCESS_TOKEN }, { status: 403 }),
    })) {
      it(`signs nobody in if it ${what}`, async () => {
        script();
        await assertRefused(bare);
      });
    }

    it('is not requested if the ID token has an e-mail', async () => {
      const before = issuer.requests.length;
      await assertSignedIn(async (nonce) => tokens(await sound(nonce)));
      assert.ok(!issuer.requests.slice(before).includes('GET /userinfo'));
    });
  });

  describe('of the token endpoint', () => {
    /** A provider that accepts the secret in one place only, whatever methods it says it supports. */
    const wants = async (place: 'header' | 'body', supported?: string[]) => {
      const own = await startService();
      const script = standard['/.well-known/openid-configuration']!;
      issuer.scripts['/.well-known/openid-configuration'] = async () => {
        const { body } = await script('', {});
        return { body: { ...(body as object), token_endpoint_auth_methods_supported: supported } };
      };
      const browser = new ConsoleBrowser(own.client);
      const { searchParams } = new URL(await browser.begin());
      const id = await sound(searchParams.get('nonce')!);
      issuer.scripts['/token'] = (body, { authorization = '' }) => {
        const [name, secret] = Buffer.from(authorization.slice(6), 'base64').toString().split(':');
        const inHeader =
          decodeURIComponent(name!) === CLIENT_ID && decodeURIComponent(secret ?? '') === SECRET;
        const inBody = new URLSearchParams(body).get('client_secret') === SECRET;
        const holds = place === 'header' ? inHeader && !inBody : inBody && !authorization;
        return holds ? tokens(id) : { status: 401, body: { error: 'invalid_client' } };
      };
      const before = issuer.requests.length;
      const back = await browser.comeBack(
        `${own.url}/admin/callback?code=the-code-of-ada&state=${searchParams.get('state')}`,
      );
      await own.close();
      const asked = issuer.requests.slice(before).filter((one) => one === 'POST /token').length;
      return { location: back.headers.get('location'), asked };
    };

    it('may require the secret in the header or in the body', async () => {
      for (const supported of [undefined, ['client_secret_basic', 'client_secret_post']]) {
        assert.deepEqual(await wants('body', supported), { location: '/admin', asked: 1 });
        assert.deepEqual(await wants('header', supported), { location: '/admin', asked: 2 });
      }
      assert.deepEqual(await wants('header', ['client_secret_basic']), { location: '/admin', asked: 1 });
      assert.deepEqual(await wants('body', ['client_secret_post', 'none']), { location: '/admin', asked: 1 });
      assert.deepEqual(await wants('header', ['private_key_jwt']), { location: '/admin', asked: 1 });
    });

    it('may refuse the secret, which is logged for the operator', async () => {
      await assertRefused(() => ({ status: 401, body: { error: 'invalid_client' } }));
      assert.match(JSON.stringify(service.log), /invalid_client/);
    });

    it('may contain a challenge', () =>
      assertRefused(() => ({
        status: 401,
        headers: { 'www-authenticate': `Basic realm="${ACCESS_TOKEN}"` },
        body: { error: 'invalid_client' },
      })));
  });

  describe('of discovery', () => {
    const described = async (change: object): Promise<string> => {
      const own = await startService();
      const script = standard['/.well-known/openid-configuration']!;
      issuer.scripts['/.well-known/openid-configuration'] = async () => {
        const { body } = await script('', {});
        return { body: { ...(body as object), ...change } };
      };
      const answer = await new ConsoleBrowser(own.client).send('GET', '/admin/login');
      await own.close();
      return answer.headers.get('location')!;
    };

    for (const [what, change] of Object.entries({
      'names another issuer': { issuer: 'https://evil.example' },
      'names no issuer': { issuer: undefined },
      'has no authorization_endpoint': { authorization_endpoint: undefined },
      'has an authorization_endpoint that is not a URL': { authorization_endpoint: '/authorize' },
      'has no token_endpoint': { token_endpoint: undefined },
      'has no jwks_uri': { jwks_uri: undefined },
    })) {
      it(`redirects nobody to the provider if it ${what}`, async () => {
        assert.equal(await described(change), '/admin/?problem=provider&return=%2Fadmin');
      });
    }

    it('may have an authorization_endpoint with its own query', async () => {
      const location = new URL(await described({ authorization_endpoint: `${issuer.url}/a?tenant=one` }));
      assert.equal(location.pathname, '/a');
      assert.equal(location.searchParams.get('tenant'), 'one');
      assert.equal(location.searchParams.get('client_id'), CLIENT_ID);
    });
  });
});
