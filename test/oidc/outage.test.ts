// A provider that is down, slow or broken: administrators wait or retry later, agents are not affected, and the service
// needs no restart.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it, type TestContext } from 'node:test';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { assertError, type Client } from '../support/client.ts';
import { CLIENT_ID, startOidcProvider } from '../support/oidc-provider.ts';
import { freePort } from '../support/process.ts';
import { startTestService, type TestService } from '../support/service.ts';

const ADA = { sub: 'ada', email: 'ada@example.com', email_verified: true };
const DISCOVERY = '/.well-known/openid-configuration';

/** Starts a service that is closed when the test ends. */
async function startServiceFor(issuer: string, test: TestContext): Promise<TestService> {
  const service = await startTestService(
    {
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: CLIENT_ID,
      ADMIN_SUBJECTS: 'ada',
    },
    { until: test },
  );
  return service;
}

function me(service: TestService, token: string) {
  return service.client.with({ authorization: `Bearer ${token}` }).get('/v1/admin/me');
}

/** A fake provider that responds as the test says. */
class Impostor extends EventEmitter {
  readonly server = createServer((request, response) => {
    const handle = request.url === DISCOVERY ? this.discovery : this.jwks;
    handle(response);
    this.emit(request.url === DISCOVERY ? 'discovery' : 'jwks', response);
  });
  issuer = '';
  privateKey!: CryptoKey;
  jwk!: JWK;
  discovery = (response: ServerResponse) => this.send(response, this.document());
  jwks = (response: ServerResponse) => this.send(response, { keys: [this.jwk] });

  async start(): Promise<this> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    this.issuer = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    this.privateKey = privateKey;
    this.jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' };
    return this;
  }

  document(): { issuer: string; jwks_uri?: string } {
    return { issuer: this.issuer, jwks_uri: `${this.issuer}/keys` };
  }

  send(response: ServerResponse, body: unknown, status = 200): void {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  token(): Promise<string> {
    return this.sign(this.privateKey, 'ES256');
  }

  sign(key: CryptoKey | Uint8Array, alg: string): Promise<string> {
    return new SignJWT({ ...ADA, iss: this.issuer, aud: CLIENT_ID })
      .setProtectedHeader({ alg, kid: 'one' })
      .setExpirationTime('1h')
      .sign(key);
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

describe('an identity provider', { concurrency: true }, () => {
  describe('that is down', { concurrency: false }, () => {
    it('causes a 503, and works without a restart once it is back', async (test) => {
      const port = await freePort();
      const service = await startServiceFor(`http://127.0.0.1:${port}`, test);
      const earlier = await startOidcProvider({ accounts: [ADA], port });
      const token = await earlier.idToken('ada');
      await earlier.close();

      const answer = await me(service, token);
      assertError(answer, 503, 'UNAVAILABLE');
      assert.match(answer.headers.get('retry-after')!, /^\d+$/);
      assert.ok(!answer.text.includes(String(port)), 'the address of the provider is nobody else’s business');
      assert.ok(
        service.log.some((line) => line.level === 50 && JSON.stringify(line).includes('ECONNREFUSED')),
      );

      const back = await startOidcProvider({ accounts: [ADA], port });
      assert.equal((await me(service, await back.idToken('ada'))).status, 200);
      await back.close();
    });

    it('does not stop the service from starting or agents from working', async (test) => {
      const service = await startServiceFor(`http://127.0.0.1:${await freePort()}`, test);
      const agent: Client = await service.newAgent();
      await agent.create();
      assert.equal((await service.client.get('/health')).status, 200);
    });

    it('does not turn the 401 for an invalid token into a 503', async (test) => {
      const service = await startServiceFor(`http://127.0.0.1:${await freePort()}`, test);
      assertError(await me(service, 'garbage'), 401, 'INVALID_TOKEN');
    });
  });

  describe('that is slow', { concurrency: true }, () => {
    it('makes only administrators wait, with one request for all', async (test) => {
      const provider = await new Impostor().start();
      test.after(() => provider.close());
      const { discovery } = provider;
      provider.discovery = () => {};
      let asked = 0;
      provider.on('discovery', () => asked++);
      const service = await startServiceFor(provider.issuer, test);
      const token = await provider.token();
      const agent = await service.newAgent();
      const firstAsked = once(provider, 'discovery');
      const waiting = [me(service, token), me(service, token), me(service, token)];
      const [response] = (await firstAsked) as [ServerResponse];
      await agent.create();
      assert.equal((await service.client.get('/health')).status, 200);
      discovery(response);
      assert.deepEqual(
        (await Promise.all(waiting)).map((answer) => answer.status),
        [200, 200, 200],
      );
      assert.equal(asked, 1);
    });

    for (const silent of ['discovery', 'jwks'] as const) {
      it(`causes a 503 after a timeout if its ${silent} never comes, and is asked again`, {
        timeout: 30_000,
      }, async (test) => {
        const provider = await new Impostor().start();
        test.after(() => provider.close());
        const respond = provider[silent];
        provider[silent] = () => {};
        const service = await startServiceFor(provider.issuer, test);
        assertError(await me(service, await provider.token()), 503, 'UNAVAILABLE');
        provider[silent] = respond;
        assert.equal((await me(service, await provider.token())).status, 200);
      });
    }
  });

  describe('that is broken', { concurrency: false }, () => {
    let provider: Impostor;
    before(async () => {
      provider = await new Impostor().start();
    });
    after(() => provider.close());

    const scenarios: Record<string, Partial<Pick<Impostor, 'discovery' | 'jwks'>>> = {
      'describes another issuer': {
        discovery: (response) =>
          provider.send(response, { ...provider.document(), issuer: 'https://elsewhere.example' }),
      },
      'describes its issuer with an added slash': {
        discovery: (response) =>
          provider.send(response, { ...provider.document(), issuer: `${provider.issuer}/` }),
      },
      'names no issuer': {
        discovery: (response) => provider.send(response, { jwks_uri: `${provider.issuer}/keys` }),
      },
      'names no keys': {
        discovery: (response) => provider.send(response, { issuer: provider.issuer }),
      },
      'responds with null': { discovery: (response) => provider.send(response, null) },
      'responds with an error status': {
        discovery: (response) => provider.send(response, provider.document(), 500),
      },
      'responds with a page': { discovery: (response) => void response.end('<!doctype html>') },
      'hangs up': { discovery: (response) => void response.destroy() },
      'refuses its keys': { jwks: (response) => provider.send(response, {}, 500) },
      'sends invalid keys': { jwks: (response) => provider.send(response, { keys: 'none' }) },
      'sends a page for keys': { jwks: (response) => void response.end('<!doctype html>') },
      'hangs up on its keys': { jwks: (response) => void response.destroy() },
    };
    for (const [what, answers] of Object.entries(scenarios)) {
      it(`causes a 503 if it ${what}, until it is fixed`, async (test) => {
        const { discovery, jwks } = provider;
        const service = await startServiceFor(provider.issuer, test);
        Object.assign(provider, answers);
        const answer = await me(service, await provider.token());
        Object.assign(provider, { discovery, jwks });
        assertError(answer, 503, 'UNAVAILABLE');
        assert.equal((await me(service, await provider.token())).status, 200);
      });
    }

    it('may publish unusable keys besides one with only the required members', async (test) => {
      const { jwks } = provider;
      const { alg: _alg, ...key } = provider.jwk;
      const useless = [{ kty: 'unknown' }, { ...key, kid: 'two', use: 'enc' }, { kty: 'RSA', kid: 'three' }];
      provider.jwks = (response) => provider.send(response, { keys: [...useless, key] });
      const service = await startServiceFor(provider.issuer, test);
      const answer = await me(service, await provider.token());
      provider.jwks = jwks;
      assert.equal(answer.status, 200, answer.text);
    });

    it('causes a 401 for a token if it publishes no key', async (test) => {
      const { jwks } = provider;
      provider.jwks = (response) => provider.send(response, { keys: [] });
      const service = await startServiceFor(provider.issuer, test);
      assertError(await me(service, await provider.token()), 401, 'INVALID_TOKEN');
      provider.jwks = jwks;
    });
  });
});
