// Google spells its issuer in two ways, in bearer tokens and in sign-ins, and has accounts with e-mails of any domain. A test
// cannot call Google, so its responses are served here.
import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import { AppError } from '../../src/domain/errors.ts';
import { providerVerifier, toIdentity } from '../../src/oidc/provider.ts';
import { sessionSeal } from '../../src/oidc/seal.ts';
import { providerSignIn } from '../../src/oidc/sign-in.ts';
import { systemRandom } from '../../src/system.ts';
import { ConsoleBrowser } from '../support/console-browser.ts';
import { startTestService, type TestService } from '../support/service.ts';

const GOOGLE = 'https://accounts.google.com';
const ELSEWHERE = 'https://elsewhere.example';

describe('Google', () => {
  let privateKey: CryptoKey;
  let idToken: string;
  before(async () => {
    const pair = await generateKeyPair('ES256', { extractable: true });
    privateKey = pair.privateKey;
    const jwk: JWK = { ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'ES256' };
    const documents: Record<string, unknown> = {
      'https://www.googleapis.com/oauth2/v3/certs': { keys: [jwk] },
    };
    for (const issuer of [GOOGLE, ELSEWHERE]) {
      documents[`${issuer}/.well-known/openid-configuration`] = {
        issuer,
        authorization_endpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
        token_endpoint: 'https://oauth2.googleapis.com/token',
        id_token_signing_alg_values_supported: ['ES256'],
        jwks_uri: 'https://www.googleapis.com/oauth2/v3/certs',
      };
    }
    const { fetch } = globalThis;
    mock.method(globalThis, 'fetch', async (url: string | URL, init?: RequestInit) => {
      if (String(url).startsWith('http://127.0.0.1:')) return fetch(url, init);
      const exchanged = { access_token: 'x', token_type: 'Bearer', id_token: idToken };
      return Response.json(String(url).endsWith('/token') ? exchanged : documents[String(url)]);
    });
  });
  after(() => mock.restoreAll());

  const verify = async (configured: string, written: string) => {
    const token = await new SignJWT({ iss: written, aud: 'client', sub: 'ada' })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .setExpirationTime('1h')
      .sign(privateKey);
    const { identity } = await providerVerifier({ issuer: configured, clientId: 'client', clock: Date.now })(
      token,
    );
    return identity;
  };
  const isInvalidToken = (error: unknown) => error instanceof AppError && error.code === 'INVALID_TOKEN';

  for (const written of [GOOGLE, 'accounts.google.com']) {
    it(`may be the issuer of a token as ${written}`, async () => {
      assert.equal((await verify(GOOGLE, written)).subject, 'ada');
    });
  }

  for (const written of [
    'http://accounts.google.com',
    `${GOOGLE}/`,
    'Accounts.Google.com',
    'https://accounts.google.com.evil.example',
    'https://accountsXgoogle.com',
    'https://evil.example/accounts.google.com',
  ]) {
    it(`is not the issuer of a token from ${written}`, async () => {
      await assert.rejects(verify(GOOGLE, written), isInvalidToken);
    });
  }

  /** Outcome of a sign-in whose ID token has the issuer `written`, and whose callback URL may have another. */
  const signIn = async (configured: string, written: string, inCallback?: string) => {
    const { begin, finish } = await providerSignIn({
      ...{ issuer: configured, clientId: 'client', clientSecret: 'secret', secret: 'of sessions' },
      ...{ clock: Date.now, random: systemRandom, name: undefined },
      verifyToken: providerVerifier({ issuer: configured, clientId: 'client', clock: Date.now }),
    });
    const redirectUri = 'https://events.example.com/admin/callback';
    const { url, sealed } = await begin({ redirectUri, returnPath: '/admin', chooseAccount: false });
    const { state = '', nonce } = Object.fromEntries(new URL(url).searchParams);
    idToken = await new SignJWT({ iss: written, aud: 'client', sub: 'ada', email: 'ada@example.com', nonce })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey);
    const query = new URLSearchParams({ code: 'x', state, ...(inCallback && { iss: inCallback }) });
    return (await finish(query.toString(), sealed, async () => true)).kind;
  };

  it('may be the issuer in a sign-in, in both spellings, with or without an issuer in the callback URL', async () => {
    for (const inCallback of [undefined, GOOGLE]) {
      assert.equal(await signIn(GOOGLE, GOOGLE, inCallback), 'signed-in');
      assert.equal(await signIn(GOOGLE, 'accounts.google.com', inCallback), 'signed-in');
    }
    assert.equal(await signIn(GOOGLE, 'https://evil.example'), 'failed');
    assert.equal(await signIn(GOOGLE, GOOGLE, 'https://evil.example'), 'failed');
    assert.equal(await signIn(GOOGLE, 'accounts.google.com', 'https://evil.example'), 'failed');
    assert.equal(await signIn(ELSEWHERE, 'elsewhere.example'), 'failed');
    assert.equal(await signIn(ELSEWHERE, 'accounts.google.com'), 'failed');
  });

  it('is the only provider with two spellings', async () => {
    assert.equal((await verify(ELSEWHERE, ELSEWHERE)).subject, 'ada');
    await assert.rejects(verify(ELSEWHERE, 'elsewhere.example'), isInvalidToken);
    await assert.rejects(verify(ELSEWHERE, 'accounts.google.com'), isInvalidToken);
  });

  describe('as the provider of administrators', () => {
    const SESSION_SECRET = 'of the sessions of this test 0123456789';
    const PEOPLE: [what: string, claims: Record<string, unknown>, status: number][] = [
      ['an account of the Workspace', { email: 'ada@corp.example', hd: 'corp.example' }, 200],
      ['an account of the Workspace, in capitals', { email: 'Ada@CORP.example', hd: 'Corp.Example' }, 200],
      ['a private account with an e-mail of the domain', { email: 'eve@corp.example' }, 403],
      ['an account of another Workspace', { email: 'eve@corp.example', hd: 'evil.example' }, 403],
      ['an account without a Workspace (empty hd)', { email: 'eve@corp.example', hd: '' }, 403],
      ['an hd that is not a string', { email: 'eve@corp.example', hd: ['corp.example'] }, 403],
      ['an hd without an e-mail of the domain', { email: 'eve@evil.example', hd: 'corp.example' }, 403],
      ['a private account whose e-mail is listed', { email: 'bob@corp.example' }, 200],
      ['a private account whose subject is listed', { sub: 'carl', email: 'carl@corp.example' }, 200],
    ];
    const claimsOf = (iss: string, claims: Record<string, unknown>) => ({
      ...{ iss, aud: 'client', azp: 'client', sub: 'someone', email_verified: true },
      ...claims,
    });
    const start = (issuer: string) =>
      startTestService({
        ...{ OIDC_ISSUER: issuer, OIDC_CLIENT_ID: 'client', SESSION_SECRET },
        ...{ ADMIN_DOMAINS: 'corp.example', ADMIN_EMAILS: 'bob@corp.example', ADMIN_SUBJECTS: 'carl' },
      });
    const statusWithToken = async (service: TestService, claims: JWTPayload) => {
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', kid: 'one', typ: 'JWT' })
        .setExpirationTime('1h')
        .sign(privateKey);
      return (await service.client.with({ authorization: `Bearer ${token}` }).get('/v1/admin/me')).status;
    };

    it('makes administrators of the accounts that the domain’s Workspace vouches for', async (test) => {
      const service = await start(GOOGLE);
      test.after(() => service.close());
      for (const [what, claims, status] of PEOPLE) {
        for (const iss of [GOOGLE, 'accounts.google.com']) {
          assert.equal(await statusWithToken(service, claimsOf(iss, claims)), status, `${what}, ${iss}`);
        }
      }
    });

    it('decides in the same way for sessions, also for those that began before', async (test) => {
      const service = await start(GOOGLE);
      test.after(() => service.close());
      const sessions = await sessionSeal({
        secret: SESSION_SECRET,
        binding: [GOOGLE, 'client'],
        clock: Date.now,
      });
      for (const [what, claims, status] of PEOPLE) {
        const identity = toIdentity(claimsOf(GOOGLE, claims));
        const sealed = await sessions.seal({ id: what, identity, expiresMs: Date.now() + 3_600_000 });
        const browser = new ConsoleBrowser(service.client, [['local_events_session', sealed!]]);
        assert.equal((await browser.get('/v1/admin/me')).status, status, what);
        assert.equal((await browser.session()).is_administrator, status === 200, what);
      }
    });

    it('is the only provider that must name the organisation', async (test) => {
      const service = await start(ELSEWHERE);
      test.after(() => service.close());
      const status = (claims: Record<string, unknown>) =>
        statusWithToken(service, claimsOf(ELSEWHERE, { email: 'ada@corp.example', ...claims }));
      assert.equal(await status({}), 200);
      assert.equal(await status({ hd: 'corp.example' }), 200);
      assert.equal(await status({ hd: 'evil.example' }), 403);
    });
  });
});
