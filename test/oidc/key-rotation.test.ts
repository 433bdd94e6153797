// A provider that changes its keys: new keys are fetched without a restart, removed keys are forgotten.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { generateKeyPair, SignJWT } from 'jose';
import { assertError } from '../support/client.ts';
import { startOidcProvider, type TestProvider } from '../support/oidc-provider.ts';
import { startTestService, type TestService } from '../support/service.ts';

const ADA = { sub: 'ada', email: 'ada@example.com', email_verified: true };
/** How often an unknown key may cause a request, and how long known keys are cached. */
const COOLDOWN_MS = 1_000;
const MAX_AGE_MS = 600_000;

describe('keys of an identity provider', () => {
  let provider: TestProvider;
  let service: TestService;
  beforeEach(async () => {
    provider = await startOidcProvider({ accounts: [ADA] });
    service = await startTestService({
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: provider.clientId,
      ADMIN_SUBJECTS: 'ada',
    });
    // The clock is stopped, so that "at most once a second" is exact.
    mock.timers.enable({ apis: ['Date'], now: Date.now() });
  });
  afterEach(async () => {
    mock.timers.reset();
    await service.close();
    await provider.close();
  });

  const send = (token: string) =>
    service.client.with({ authorization: `Bearer ${token}` }).get('/v1/admin/me');
  const statusOf = async (token: string) => (await send(token)).status;
  const timesAsked = () => provider.requests.filter((path) => path === '/jwks').length;

  it('are fetched once for many tokens', async () => {
    for (let count = 0; count < 5; count++) assert.equal(await statusOf(await provider.idToken('ada')), 200);
    assert.equal(timesAsked(), 1);
    assert.equal(provider.requests.filter((path) => path.startsWith('/.well-known/')).length, 1);
  });

  it('are fetched once for many tokens that arrive together', async () => {
    const token = await provider.idToken('ada');
    const statuses = await Promise.all(Array.from({ length: 10 }, () => statusOf(token)));
    assert.deepEqual(new Set(statuses), new Set([200]));
    assert.equal(timesAsked(), 1);
  });

  it('are fetched without a restart when a token names a new one', async () => {
    assert.equal(await statusOf(await provider.idToken('ada')), 200);
    await provider.rotateKeys();
    mock.timers.tick(COOLDOWN_MS);
    assert.equal(await statusOf(await provider.idToken('ada')), 200);
  });

  it('that are no longer published are refused once the keys are fetched again', async () => {
    const old = await provider.idToken('ada');
    assert.equal(await statusOf(old), 200);
    await provider.rotateKeys();
    mock.timers.tick(COOLDOWN_MS);
    assert.equal(await statusOf(await provider.idToken('ada')), 200);
    assertError(await send(old), 401, 'INVALID_TOKEN');
  });

  it('that are no longer published are refused after ten minutes even if no new key appears', async () => {
    const old = await provider.idToken('ada');
    assert.equal(await statusOf(old), 200);
    await provider.rotateKeys();
    mock.timers.tick(MAX_AGE_MS);
    assertError(await send(old), 401, 'INVALID_TOKEN');
    assert.equal(timesAsked(), 2);
  });

  it('that were never published cause at most one request a second', async () => {
    assert.equal(await statusOf(await provider.idToken('ada')), 200);
    const { privateKey } = await generateKeyPair('ES256');
    const forge = (kid: string) =>
      new SignJWT({ ...ADA, iss: provider.issuer, aud: provider.clientId })
        .setProtectedHeader({ alg: 'ES256', kid })
        .setExpirationTime('1h')
        .sign(privateKey);
    for (const second of [1, 2, 3]) {
      mock.timers.tick(COOLDOWN_MS);
      for (let count = 0; count < 5; count++) {
        assertError(await send(await forge(`${second}-${count}`)), 401, 'INVALID_TOKEN');
      }
      assert.equal(timesAsked(), 1 + second);
    }
  });
});
