// Tokens that a provider never issued: each is one step away from a genuine one, and must be refused.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import {
  CompactEncrypt,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose';
import { verify } from '../../src/oidc/provider.ts';
import { assertError } from '../support/client.ts';
import { startOidcProvider, type TestProvider } from '../support/oidc-provider.ts';
import { startTestService, type TestService } from '../support/service.ts';

const ADA = { sub: 'ada', email: 'ada@example.com', email_verified: true };
const STRANGER = { sub: 'stranger', email: 'stranger@example.com', email_verified: true };

type Key = Parameters<SignJWT['sign']>[0];

describe('a forged token', () => {
  let provider: TestProvider;
  let service: TestService;
  let kid: string;
  let own: { privateKey: CryptoKey; jwk: JWK };
  before(async () => {
    provider = await startOidcProvider({ accounts: [ADA, STRANGER] });
    service = await startTestService({ ...provider.env, ADMIN_EMAILS: ADA.email });
    kid = provider.publicKey.kid!;
    const pair = await generateKeyPair('RS256', { extractable: true });
    own = { privateKey: pair.privateKey, jwk: await exportJWK(pair.publicKey) };
  });
  after(async () => {
    await service.close();
    await provider.close();
  });

  const nowSeconds = () => Math.floor(service.clock.nowMs() / 1000);
  /** Claims of a genuine token, with changes; undefined removes a claim. */
  const claims = (changes: Record<string, unknown> = {}): JWTPayload => ({
    iss: provider.issuer,
    aud: provider.clientId,
    iat: nowSeconds(),
    exp: nowSeconds() + 600,
    ...ADA,
    ...changes,
  });
  const sign = (header: JWTHeaderParameters, key: Key, changes = {}) =>
    new SignJWT(claims(changes)).setProtectedHeader(header).sign(key);
  const publicPem = async () =>
    exportSPKI((await importJWK(provider.publicKey, 'RS256', { extractable: true })) as CryptoKey);
  const send = (token: string) =>
    service.client.with({ authorization: `Bearer ${token}` }).get('/v1/admin/me');

  it('differs from a valid one only in what its test names', async () => {
    assert.equal((await send(await provider.sign(claims()))).status, 200);
    assert.equal((await send(await provider.idToken('ada'))).status, 200);
  });

  it('differs from a valid one, which may say that it is an ID token and for whom', async () => {
    for (const typ of ['JWT', 'jwt', 'application/jwt', 'Application/JWT', 'id_token+jwt']) {
      assert.equal((await send(await provider.sign(claims(), { typ }))).status, 200, typ);
    }
    assert.equal((await send(await provider.sign(claims({ azp: provider.clientId })))).status, 200);
  });

  const scenarios: Record<string, () => Promise<string>> = {
    'no signature (alg none)': async () => unsigned({ alg: 'none' }, claims()),
    'no signature (alg nOnE)': async () => unsigned({ alg: 'nOnE', kid }, claims()),
    'the right algorithm and an empty signature': async () => unsigned({ alg: 'RS256', kid }, claims()),
    'the header of an unsigned token and a genuine signature': async () => {
      const [, payload, signature] = (await provider.idToken('ada')).split('.');
      return `${encode({ alg: 'none', kid })}.${payload}.${signature}`;
    },
    'the signature of a key that the provider does not publish': async () =>
      sign({ alg: 'RS256', kid: 'mine' }, own.privateKey),
    "the provider's kid and the signature of another key": async () =>
      sign({ alg: 'RS256', kid }, own.privateKey),
    'no kid and the signature of another key': async () => sign({ alg: 'RS256' }, own.privateKey),
    'its own key in the header': async () =>
      sign({ alg: 'RS256', jwk: own.jwk } as JWTHeaderParameters, own.privateKey),
    'a symmetric signature with the public key (PEM)': async () =>
      sign({ alg: 'HS256', kid }, Buffer.from(await publicPem())),
    'a symmetric signature with the public key (PEM, trimmed)': async () =>
      sign({ alg: 'HS256', kid }, Buffer.from((await publicPem()).trim())),
    'a symmetric signature with the public key (modulus)': async () =>
      sign({ alg: 'HS256', kid }, Buffer.from(provider.publicKey.n!, 'base64url')),
    'a symmetric signature with the client secret': async () =>
      sign({ alg: 'HS256', kid }, Buffer.from(provider.clientSecret)),
    "a stranger's genuine token with another payload": async () => {
      const [header, payload, signature] = (await provider.idToken('stranger')).split('.');
      const said = JSON.parse(Buffer.from(payload!, 'base64url').toString()) as JWTPayload;
      assert.equal(said.email, STRANGER.email);
      return `${header}.${encode({ ...said, ...ADA })}.${signature}`;
    },
    'a genuine token with another header': async () => {
      const [, payload, signature] = (await provider.idToken('ada')).split('.');
      return `${encode({ alg: 'RS512', kid })}.${payload}.${signature}`;
    },
    'a genuine token with a changed signature': async () => {
      const [header, payload, signature] = (await provider.idToken('ada')).split('.');
      return `${header}.${payload}.${signature!.startsWith('A') ? 'B' : 'A'}${signature!.slice(1)}`;
    },
    'a genuine token with something after it': async () => `${await provider.idToken('ada')}.x`,
    'an extension that must be understood': () =>
      provider.sign(claims(), { crit: ['extension'], extension: 1 }),
    'an encrypted token': async () =>
      new CompactEncrypt(Buffer.from(JSON.stringify(claims())))
        .setProtectedHeader({ alg: 'RSA-OAEP', enc: 'A256GCM', kid })
        .encrypt(await importJWK({ ...provider.publicKey, alg: 'RSA-OAEP', use: 'enc' }, 'RSA-OAEP')),
    'another audience': () => provider.sign(claims({ aud: 'someone-else' })),
    'no audience': () => provider.sign(claims({ aud: undefined })),
    'an audience that begins like ours': () => provider.sign(claims({ aud: `${provider.clientId}-2` })),
    'another issuer': () => provider.sign(claims({ iss: 'https://elsewhere.example' })),
    'no issuer': () => provider.sign(claims({ iss: undefined })),
    'the issuer with an added slash': () => provider.sign(claims({ iss: `${provider.issuer}/` })),
    'the name of our own issuer': () => provider.sign(claims({ iss: 'local-events', aud: 'local-events' })),
    'no subject': () => provider.sign(claims({ sub: undefined })),
    'an empty subject': () => provider.sign(claims({ sub: '' })),
    'a subject that is not a string': () => provider.sign(claims({ sub: 7 })),
    'no expiry': () => provider.sign(claims({ exp: undefined })),
    'an expiry in words': () => provider.sign(claims({ exp: 'tomorrow' })),
    'an expiry in the past': () => provider.sign(claims({ exp: nowSeconds() - 60 })),
    'the type of a logout token': () => provider.sign(claims(), { typ: 'logout+jwt' }),
    'the type of a logout token in full': () => provider.sign(claims(), { typ: 'application/logout+jwt' }),
    'the type of a logout token in capitals': () => provider.sign(claims(), { typ: 'LOGOUT+JWT' }),
    'the event of a logout, without a type': () =>
      provider.sign(claims({ events: { 'http://schemas.openid.net/event/backchannel-logout': {} } })),
    'the type of an access token': () => provider.sign(claims(), { typ: 'at+jwt' }),
    'the type of a request object': () => provider.sign(claims(), { typ: 'oauth-authz-req+jwt' }),
    'a type that contains JWT': () => provider.sign(claims(), { typ: 'text/jwt' }),
    'an empty type': () => provider.sign(claims(), { typ: '' }),
    'a type that is not a string': () => provider.sign(claims(), { typ: ['JWT'] }),
    'another authorized party (azp)': () => provider.sign(claims({ azp: 'someone-else' })),
    'another authorized party, and our audience among others': () =>
      provider.sign(claims({ aud: [provider.clientId, 'someone-else'], azp: 'someone-else' })),
    'an empty authorized party': () => provider.sign(claims({ azp: '' })),
    'a list of authorized parties': () => provider.sign(claims({ azp: [provider.clientId] })),
    'a beginning in the future (nbf)': () => provider.sign(claims({ nbf: nowSeconds() + 60 })),
  };
  for (const [what, make] of Object.entries(scenarios)) {
    it(`is refused with ${what}`, async () => {
      assertError(await send(await make()), 401, 'INVALID_TOKEN');
    });
  }

  it('is refused with the URL of a key (jku), which is never requested', async () => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked++;
      response.end(JSON.stringify({ keys: [{ ...own.jwk, kid: 'mine', alg: 'RS256' }] }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const jku = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const token = await sign(
      { alg: 'RS256', kid: 'mine', jku, x5u: jku } as JWTHeaderParameters,
      own.privateKey,
    );
    assertError(await send(token), 401, 'INVALID_TOKEN');
    assert.equal(asked, 0);
    server.close();
  });

  it('is refused with a symmetric signature even if the key would match', async () => {
    const secret = Buffer.alloc(32, 7);
    const expected = { issuer: [provider.issuer], audience: provider.clientId, clock: Date.now };
    const token = await sign({ alg: 'HS256' }, secret);
    await assert.rejects(verify(token, { ...expected, key: async () => secret }), { code: 'INVALID_TOKEN' });
  });

  it('is refused if it was genuine but has expired', async () => {
    const token = await provider.idToken('ada');
    assert.equal((await send(token)).status, 200);
    service.clock.advance(3_600_000 + 10_000);
    const answer = await send(token);
    service.clock.advance(-3_600_000 - 10_000);
    assertError(answer, 401, 'INVALID_TOKEN');
    assert.match(answer.body.error.message, /expired/);
  });

  for (const garbage of [
    'x',
    '.',
    '..',
    'a.b.c',
    '{}',
    'null',
    'e30.e30.e30',
    '%00',
    '"',
    `${'a'.repeat(15_000)}`,
  ]) {
    it(`is refused as garbage: ${garbage.slice(0, 20)}`, async () => {
      assertError(await send(garbage), 401, 'INVALID_TOKEN');
    });
  }

  it('is refused if it is longer than headers may be', async () => {
    assertError(await send('a'.repeat(40_000)), 431, 'HEADERS_TOO_LARGE');
  });

  it('is refused with a 401 whatever its parts say, never with a 5xx', async () => {
    const algorithm = fc.constantFrom(
      'RS256',
      'PS256',
      'ES256',
      'EdDSA',
      'Ed25519',
      'HS256',
      'none',
      '',
      7,
      null,
    );
    const header = fc.record(
      {
        alg: algorithm,
        kid: fc.oneof(fc.constant(kid), fc.jsonValue()),
        typ: fc.jsonValue(),
        crit: fc.jsonValue(),
        b64: fc.jsonValue(),
        jwk: fc.jsonValue(),
        zip: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const payload = fc.oneof(fc.constant(claims()), fc.jsonValue());
    const signature = fc.oneof(fc.base64String(), fc.constant(''), fc.constant('A'.repeat(342)));
    await fc.assert(
      fc.asyncProperty(header, payload, signature, async (head, body, end) => {
        const tail = Buffer.from(end, 'base64').toString('base64url');
        assertError(await send(`${encode(head)}.${encode(body)}.${tail}`), 401, 'INVALID_TOKEN');
      }),
      { seed: 22, numRuns: 300 },
    );
  });

  it('leaves no part of itself in the log', async () => {
    const tokens = [await provider.idToken('ada'), await sign({ alg: 'RS256', kid }, own.privateKey)];
    for (const token of tokens) await send(token);
    const log = JSON.stringify(service.log);
    assert.match(log, /v1\/admin\/me/);
    for (const part of tokens.flatMap((token) => token.split('.').slice(1))) {
      assert.ok(!log.includes(part), 'the log holds a part of a token');
    }
  });
});

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value) ?? '').toString('base64url');
}

function unsigned(header: object, payload: JWTPayload): string {
  return `${encode(header)}.${encode(payload)}.`;
}
