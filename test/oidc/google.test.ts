// Google spells its issuer in two ways. Google itself cannot be asked from a test, so its two documents are served here.
import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { AppError } from '../../src/domain/errors.ts';
import { providerVerifier } from '../../src/oidc/provider.ts';

const GOOGLE = 'https://accounts.google.com';
const ELSEWHERE = 'https://elsewhere.example';

describe('the issuer in a token', () => {
  let privateKey: CryptoKey;
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
        jwks_uri: 'https://www.googleapis.com/oauth2/v3/certs',
      };
    }
    mock.method(globalThis, 'fetch', async (address: string | URL) =>
      Response.json(documents[String(address)]),
    );
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
    it(`may be ${written} where Google is configured`, async () => {
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
    it(`may not be ${written} where Google is configured`, async () => {
      await assert.rejects(verify(GOOGLE, written), isInvalidToken);
    });
  }

  it('has one spelling only where another provider is configured', async () => {
    assert.equal((await verify(ELSEWHERE, ELSEWHERE)).subject, 'ada');
    await assert.rejects(verify(ELSEWHERE, 'elsewhere.example'), isInvalidToken);
    await assert.rejects(verify(ELSEWHERE, 'accounts.google.com'), isInvalidToken);
  });
});
