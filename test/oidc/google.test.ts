// Google spells its issuer in two ways, in bearer tokens and in sign-ins. A test cannot call Google, so its responses are
// served here.
import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { AppError } from '../../src/domain/errors.ts';
import { providerVerifier } from '../../src/oidc/provider.ts';
import { providerSignIn } from '../../src/oidc/sign-in.ts';
import { systemRandom } from '../../src/service.ts';

const GOOGLE = 'https://accounts.google.com';
const ELSEWHERE = 'https://elsewhere.example';

describe('the issuer in a token', () => {
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
    mock.method(globalThis, 'fetch', async (url: string | URL) => {
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
    it(`may be ${written} if Google is configured`, async () => {
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
    it(`may not be ${written} if Google is configured`, async () => {
      await assert.rejects(verify(GOOGLE, written), isInvalidToken);
    });
  }

  /** Outcome of a sign-in whose ID token has the issuer `written`, and whose callback URL may have another. */
  const signIn = async (configured: string, written: string, inCallback?: string) => {
    const { begin, finish } = await providerSignIn({
      ...{ issuer: configured, clientId: 'client', clientSecret: 'secret', secret: 'of sessions' },
      ...{ clock: Date.now, random: systemRandom },
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

  it('may be either in a sign-in too, with or without an issuer in the callback URL', async () => {
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

  it('has only one spelling if another provider is configured', async () => {
    assert.equal((await verify(ELSEWHERE, ELSEWHERE)).subject, 'ada');
    await assert.rejects(verify(ELSEWHERE, 'elsewhere.example'), isInvalidToken);
    await assert.rejects(verify(ELSEWHERE, 'accounts.google.com'), isInvalidToken);
  });
});
