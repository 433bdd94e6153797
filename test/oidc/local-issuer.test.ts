// The service as its own issuer, without an identity provider.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import { readConfig } from '../../src/config.ts';
import { getSigningKey } from '../../src/engines.ts';
import { type LocalClaims, mintToken } from '../../src/oidc/local-issuer.ts';
import { assertError } from '../support/client.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';

const HOUR_MS = 3_600_000;

type Key = Parameters<SignJWT['sign']>[0];

describe("the service's own issuer", () => {
  let service: TestService;
  let signingKey: string;
  before(async () => {
    // The list names another person: it does not apply to tokens that an operator minted.
    service = await startTestService({ ADMIN_EMAILS: 'someone-else@example.com' });
    signingKey = await getSigningKey(readConfig({ DATA_DIR: service.folder }));
  });
  after(() => service.close());

  const mint = (claims: Partial<LocalClaims> = {}) =>
    mintToken(
      signingKey,
      { email: 'ada@example.com', name: 'Ada', hours: 1, ...claims },
      service.clock.nowMs(),
    );
  const me = (token: string) => service.client.with({ authorization: `Bearer ${token}` }).get('/v1/admin/me');

  it('accepts a minted token even if its e-mail is not listed', async () => {
    const answer = await me(await mint());
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body, { email: 'ada@example.com', name: 'Ada', picture: '' });
  });

  it('refuses a token after its hours', async () => {
    const [one, two] = [await mint({ hours: 1 }), await mint({ hours: 2 })];
    service.clock.advance(HOUR_MS - 10_000);
    assert.equal((await me(one)).status, 200);
    service.clock.advance(20_000);
    assertError(await me(one), 401, 'INVALID_TOKEN');
    assert.equal((await me(two)).status, 200);
  });

  it('refuses a token of another installation', async () => {
    const key = await getSigningKey(readConfig({ DATA_DIR: temporaryFolder() }));
    assert.notEqual(key, signingKey);
    const token = await mintToken(
      key,
      { email: 'ada@example.com', name: 'Ada', hours: 1 },
      service.clock.nowMs(),
    );
    assertError(await me(token), 401, 'INVALID_TOKEN');
  });

  describe('refuses', () => {
    const ownKey = () => importJWK(JSON.parse(signingKey) as JWK, 'ES256');
    const sign = async (key: Key, changes: Record<string, unknown> = {}, header = {}) =>
      new SignJWT({
        iss: 'local-events',
        aud: 'local-events',
        sub: 'local:ada@example.com',
        exp: Math.floor(service.clock.nowMs() / 1000) + 600,
        email: 'ada@example.com',
        ...changes,
      })
        .setProtectedHeader({ alg: 'ES256', ...header })
        .sign(key);

    it('only what its test names: the unchanged token is accepted', async () => {
      assert.equal((await me(await sign(await ownKey()))).status, 200);
    });

    const scenarios: Record<string, () => Promise<string>> = {
      'a token without a signature': async () => {
        const [, payload] = (await mint()).split('.');
        return `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
      },
      'the payload of another token': async () => {
        const [header, , signature] = (await mint()).split('.');
        const [, payload] = (await mint({ email: 'other@example.com' })).split('.');
        return `${header}.${payload}.${signature}`;
      },
      'a token for another audience': async () => sign(await ownKey(), { aud: 'elsewhere' }),
      'a token of another issuer': async () => sign(await ownKey(), { iss: 'elsewhere' }),
      'a token that never expires': async () => sign(await ownKey(), { exp: undefined }),
      'a token of another type': async () => sign(await ownKey(), {}, { typ: 'logout+jwt' }),
      'a token for another authorized party': async () => sign(await ownKey(), { azp: 'elsewhere' }),
      'a token without a subject': async () => sign(await ownKey(), { sub: undefined }),
      'a token that is signed with the public key as a secret': async () => {
        const { x } = JSON.parse(signingKey) as JWK;
        return sign(Buffer.from(x!, 'base64url'), {}, { alg: 'HS256' });
      },
      'a token with its own key in the header': async () => {
        const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
        return sign(privateKey, {}, { jwk: await exportJWK(publicKey) });
      },
    };
    for (const [what, make] of Object.entries(scenarios)) {
      it(what, async () => {
        assertError(await me(await make()), 401, 'INVALID_TOKEN');
      });
    }
  });

  it('has no endpoint that returns tokens or its key', async () => {
    const { d, x } = JSON.parse(signingKey) as JWK;
    for (const path of ['/.well-known/openid-configuration', '/jwks', '/token', '/v1/admin/token']) {
      assertError(await service.client.get(path), 404, 'NOT_FOUND');
      assertError(await service.client.post(path, {}), 404, 'NOT_FOUND');
    }
    assert.ok(!JSON.stringify(service.log).includes(d!) && !JSON.stringify(service.log).includes(x!));
  });
});
