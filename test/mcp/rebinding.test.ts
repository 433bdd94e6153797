// DNS rebinding: a page whose host name was pointed at this machine does not reach /mcp, whatever it sends. Pages that the
// operator allows do, and so does every client that is not a page.
import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { after, before, describe, it } from 'node:test';
import { type Answer, assertError } from '../support/client.ts';
import { exchange, request } from '../support/raw-http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { ACCEPT, call } from './messages.ts';

const BODY = JSON.stringify(call('search_events', { lat: 0, lng: 0 }));

/** Sends a search with exactly these headers. */
function send(service: TestService, key: string, headers: Record<string, string>): Promise<Answer> {
  const { host, ...others } = headers;
  const all = { Host: host!, 'x-api-key': key, ...ACCEPT, 'content-type': 'application/json', ...others };
  return exchange(service.url, request('POST', '/mcp', all, BODY));
}

interface Case {
  readonly host: string;
  readonly origin?: string;
  /** Other headers that a page may try. */
  readonly more?: Record<string, string>;
}

function describeService(
  title: string,
  env: Record<string, string>,
  { allowed, refused }: { allowed: readonly Case[]; refused: readonly Case[] },
): void {
  describe(title, () => {
    let service: TestService;
    let key: string;
    let port: string;
    before(async () => {
      service = await startTestService(env);
      // If the service listens on every address, the address of the request decides.
      if (env.HOST === '0.0.0.0')
        service = { ...service, url: service.url.replace('0.0.0.0', outerAddress()) };
      ({ port } = new URL(service.url));
      key = (await service.client.register()).headers['x-api-key']!;
    });
    after(() => service.close());

    const sendCase = ({ host, origin, more }: Case) => {
      const fill = (text: string) => text.replace('PORT', port).replace('ADDRESS', outerAddress());
      const headers = { host: fill(host), ...(origin !== undefined && { origin: fill(origin) }), ...more };
      return send(service, key, headers);
    };
    for (const each of allowed) {
      it(`allows Host ${each.host}, Origin ${each.origin ?? '–'}`, async () => {
        const answer = await sendCase(each);
        assert.equal(answer.status, 200, answer.text);
      });
    }
    for (const each of refused) {
      it(`refuses Host ${each.host}, Origin ${each.origin ?? '–'}`, async () => {
        assertError(await sendCase(each), 403, 'ORIGIN_NOT_ALLOWED');
      });
    }
  });
}

/** An address of this machine that is not loopback. */
function outerAddress(): string {
  const addresses = Object.values(networkInterfaces()).flat();
  return addresses.find((each) => each?.family === 'IPv4' && !each.internal)!.address;
}

const EVIL = 'http://evil.example.com:PORT';
const APP = 'https://calendar.example';

describeService(
  'on this machine, with default settings',
  {},
  {
    allowed: [
      { host: '127.0.0.1:PORT' },
      { host: 'localhost:PORT' },
      { host: '[::1]:PORT' },
      { host: 'localhost' },
      { host: 'LOCALHOST.:PORT' },
      { host: 'events.localhost:PORT' },
      { host: '127.0.0.1:PORT', origin: 'http://127.0.0.1:PORT' },
      { host: 'localhost:PORT', origin: 'http://localhost:PORT' },
      { host: '127.0.0.1:PORT', origin: APP }, // not rebound: the page uses our IP address, and has a key
    ],
    refused: [
      { host: 'evil.example.com:PORT' },
      { host: 'evil.example.com:PORT', origin: EVIL },
      { host: 'evil.example.com', origin: 'null' },
      { host: 'evil.example.com:PORT', origin: 'http://localhost:PORT' },
      { host: 'localhost.evil.example.com:PORT', origin: EVIL },
      { host: '127.0.0.1.evil.example.com:PORT', origin: EVIL },
      { host: 'evillocalhost:PORT' },
      { host: 'localhost:PORT@evil.example.com' },
      { host: 'local host' },
      { host: '' },
      { host: 'evil.example.com:PORT', origin: EVIL, more: { 'x-forwarded-host': 'localhost' } },
    ],
  },
);

describeService(
  'on this machine, behind a trusted proxy',
  { TRUST_PROXY: 'loopback' },
  {
    allowed: [{ host: '127.0.0.1:PORT', more: { 'x-forwarded-host': 'events.example.org' } }],
    refused: [{ host: 'evil.example.com:PORT', origin: EVIL, more: { 'x-forwarded-host': 'localhost' } }],
  },
);

describeService(
  'on this machine, with a public URL',
  { PUBLIC_URL: 'https://events.example.org', CORS_ORIGINS: 'none' },
  {
    allowed: [
      { host: 'events.example.org' },
      { host: 'events.example.org:8443' },
      { host: 'events.example.org', origin: 'https://events.example.org' },
      { host: '127.0.0.1:PORT', origin: 'https://events.example.org' },
      { host: '127.0.0.1:PORT', origin: 'http://127.0.0.1:PORT' },
    ],
    refused: [
      { host: 'evil.example.com', origin: 'http://evil.example.com' },
      { host: 'sub.events.example.org' },
      { host: 'events.example.org', origin: APP },
      { host: 'events.example.org', origin: 'https://events.example.org.evil.example' },
      { host: 'events.example.org', origin: 'null' },
    ],
  },
);

describeService(
  'with a list of allowed origins',
  { CORS_ORIGINS: `${APP},https://other.example` },
  {
    allowed: [
      { host: '127.0.0.1:PORT', origin: APP },
      { host: '127.0.0.1:PORT' },
      { host: '127.0.0.1:PORT', origin: 'http://127.0.0.1:PORT' },
    ],
    refused: [
      { host: '127.0.0.1:PORT', origin: 'https://calendar.example:8443' },
      { host: '127.0.0.1:PORT', origin: 'http://calendar.example' },
      { host: 'evil.example.com:PORT', origin: EVIL },
      { host: 'evil.example.com:PORT', origin: APP },
    ],
  },
);

describeService(
  'in a network, without a public URL',
  { HOST: '0.0.0.0' },
  {
    allowed: [
      { host: 'node1:PORT' }, // not a browser: it may send any Host
      { host: 'events.example.org' },
      { host: 'ADDRESS:PORT', origin: APP },
      { host: 'ADDRESS:PORT', origin: 'http://ADDRESS:PORT' },
    ],
    refused: [
      { host: 'evil.example.com:PORT', origin: EVIL },
      { host: 'node1:PORT', origin: APP },
    ],
  },
);

describeService(
  'in a network, with a public URL',
  { HOST: '0.0.0.0', PUBLIC_URL: 'https://events.example.org' },
  {
    allowed: [
      { host: 'node1:PORT' },
      { host: 'events.example.org', origin: APP },
      { host: 'events.example.org', origin: 'https://events.example.org' },
    ],
    refused: [{ host: 'evil.example.com:PORT', origin: EVIL }],
  },
);

describe('a refused host', () => {
  it('is refused before the key is checked, and is not in the response', async () => {
    const service = await startTestService();
    const answer = await send(service, 'no key', {
      host: 'evil.example.com',
      origin: 'http://evil.example.com',
    });
    assertError(answer, 403, 'ORIGIN_NOT_ALLOWED');
    assert.match(answer.body.error.message, /PUBLIC_URL/);
    assert.doesNotMatch(answer.text, /evil/);
    await service.close();
  });

  it('is refused only at /mcp', async () => {
    const service = await startTestService();
    const answer = await exchange(service.url, request('GET', '/health', { Host: 'evil.example.com' }));
    assert.equal(answer.status, 200);
    await service.close();
  });
});
