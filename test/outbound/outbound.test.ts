// Requests to URLs that strangers chose, to real servers: which URLs and addresses are used, and what a server cannot do.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { readAllowance } from '../../src/outbound/allowance.ts';
import {
  dnsQueries,
  type FailureReason,
  type Fetched,
  Outbound,
  type OutboundOptions,
} from '../../src/outbound/outbound.ts';
import { newCertificate } from '../support/certificate.ts';
import { type DnsServer, startDnsServer } from './dns-server.ts';

const LIMITS = { timeoutMs: 10_000, maxBytes: 1_000, accept: 'application/json' };
const NAMES = 'DNS:localhost,DNS:apps.example,DNS:other.example,IP:127.0.0.1,IP:127.0.0.2,IP:::1';

/** An outbound room for OAuth clients' documents, with these items of OUTBOUND_ALLOW. */
function outbound(allow: readonly string[] = [], options: Partial<OutboundOptions> = {}): Outbound {
  return new Outbound({
    issuer: undefined,
    allow: allow.map((item) => readAllowance(item)!),
    ...options,
  });
}

function assertFailed(fetched: Fetched, reason: FailureReason, message: string = reason): void {
  assert.deepEqual(fetched, { kind: 'failed', reason }, message);
}

describe('an outgoing request', () => {
  let server: Server;
  let port: number;
  let answer: RequestListener;
  const asked: (IncomingMessage & { address: string | undefined })[] = [];
  const listen = async (listening: Server, on: number, host = '127.0.0.1') => {
    listening.listen(on, host);
    await once(listening, 'listening');
    return (listening.address() as AddressInfo).port;
  };
  const newServer = (certificate = newCertificate(NAMES)) =>
    createServer(certificate, (request, response) => {
      asked.push(Object.assign(request, { address: request.socket.localAddress }));
      answer(request, response);
    });
  before(async () => {
    server = newServer();
    port = await listen(server, 0);
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  beforeEach(() => {
    asked.length = 0;
    answer = (_request, response) => void response.writeHead(200, { 'content-type': 'a/b' }).end('{"a":1}');
  });
  /** To the server by a name that is allowed. */
  const getHere = (path = '/', limits = {}) =>
    outbound([`client:localhost:${port}`]).get('client', `https://localhost:${port}${path}`, {
      ...LIMITS,
      ...limits,
    });

  it('returns status, headers and bytes, of any status', async () => {
    for (const status of [200, 404, 500]) {
      answer = (_request, response) => void response.writeHead(status, { 'x-here': 'yes' }).end('hello');
      const fetched = await getHere();
      assert.ok(fetched.kind === 'response');
      assert.deepEqual(
        [fetched.status, fetched.headers['x-here'], `${fetched.bytes}`],
        [status, 'yes', 'hello'],
      );
    }
  });

  it('sends only what it must', async () => {
    await getHere('/path?query=1');
    const { method, url, headers } = asked[0]!;
    assert.deepEqual([method, url], ['GET', '/path?query=1']);
    assert.deepEqual(headers, {
      host: `localhost:${port}`,
      accept: 'application/json',
      'accept-encoding': 'identity',
      connection: 'close',
    });
  });

  describe('to a URL', () => {
    it('needs https', async () => {
      const here = outbound([`client:localhost:${port}`, 'client:localhost:80']);
      for (const url of [
        ...[`http://localhost:${port}/`, 'http://localhost/', 'http://localhost:443/', 'ftp://localhost/'],
        ...['ws://localhost/', `file://${import.meta.filename}`, 'data:application/json,1', 'javascript:1'],
        ...['//localhost/', '/path', 'localhost', ''],
      ]) {
        assertFailed(await here.get('client', url, LIMITS), 'url', url);
        assert.ok(!here.mayGet('client', url), url);
      }
      assert.equal(asked.length, 0);
    });

    it('needs port 443, or the port that is allowed', async () => {
      const none = outbound();
      for (const other of [80, 8443, 22, 444, port]) {
        assertFailed(await none.get('client', `https://apps.example:${other}/`, LIMITS), 'url', `${other}`);
      }
      assert.ok(none.mayGet('client', 'https://apps.example/'));
      assert.ok(none.mayGet('client', 'https://apps.example:443/'));
      const some = outbound([`client:127.0.0.0/8:${port}`]);
      assertFailed(await some.get('client', `https://localhost:${port + 1}/`, LIMITS), 'url');
    });

    it('has neither user nor password', async () => {
      for (const user of ['user@', 'user:password@', ':password@']) {
        const url = `https://${user}localhost:${port}/`;
        const fetched = await outbound([`client:localhost:${port}`]).get('client', url, LIMITS);
        assertFailed(fetched, 'url', user);
      }
      assert.equal(asked.length, 0);
    });
  });

  describe('to an address', () => {
    it('is not sent if that is not public, in any spelling', async () => {
      const here = outbound([], { resolve: async () => ['127.0.0.1', '::1', 'fd00::1'] });
      for (const host of [
        ...['localhost', 'localhost.', 'LOCALHOST', 'a.localhost', 'apps.example', 'apps.example.'],
        ...[
          '127.0.0.1',
          '127.0.0.1.',
          '127.1',
          '2130706433',
          '0x7f000001',
          '0177.0.0.1',
          '0x7f.1',
          '017700000001',
        ],
        ...['１２７.0.0.1', '127。0。0。1', '%31%32%37.0.0.1', '0', '0.0.0.0', '10.0.0.1', '100.64.0.1'],
        ...['169.254.169.254', '2852039166', '192.0.2.1', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
        ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]'],
        ...['[fe80::1]', '[fd00::1]', '[fec0::1]', '[ff02::1]', '[2002:7f00:1::]', '[64:ff9b::127.0.0.1]'],
        ...['[64:ff9b:1::1]', '[2001::1]', '[2001:db8::1]', '[3fff::1]', '[100::1]', '[5f00::1]'],
      ]) {
        assertFailed(await here.get('client', `https://${host}/`, LIMITS), 'host', host);
      }
    });

    it('is not sent if the port is allowed, but not for this host or address', async () => {
      const url = `https://localhost:${port}/`;
      const open = { resolve: async () => ['127.0.0.1', '1.1.1.1'] };
      for (const allow of [
        `client:10.0.0.0/8:${port}`,
        `client:apps.example:${port}`,
        `client:[::1]:${port}`,
      ]) {
        assertFailed(await outbound([allow], open).get('client', url, LIMITS), 'host', allow);
      }
      assert.equal(asked.length, 0);
    });

    it('is sent if that is allowed by name, as a network, or as an address', async () => {
      const open = { resolve: async () => ['127.0.0.1'] };
      for (const [allow, host] of [
        [`client:localhost:${port}`, 'localhost'],
        [`client:127.0.0.0/8:${port}`, 'apps.example'],
        [`client:127.0.0.1:${port}`, 'apps.example'],
        [`client:127.0.0.1:${port}`, '127.1'],
        [`client:0.0.0.0/0:${port}`, '2130706433'],
      ] as const) {
        const fetched = await outbound([allow], open).get('client', `https://${host}:${port}/`, LIMITS);
        assert.equal(fetched.kind, 'response', `${allow} ${host}`);
      }
    });

    it('is not sent because another purpose may', async () => {
      const url = `https://localhost:${port}/`;
      const here = outbound([`webhook:localhost:${port}`, `webhook:127.0.0.0/8:${port}`]);
      assertFailed(await here.get('client', url, LIMITS), 'url');
      assert.equal((await here.get('webhook', url, LIMITS)).kind, 'response');
      const both = outbound([`webhook:localhost:${port}`, `client:apps.example:${port}`], {
        resolve: async () => ['127.0.0.1'],
      });
      assertFailed(await both.get('client', url, LIMITS), 'host');
    });

    it('is not sent to the provider’s origin, which only pictures may use', async () => {
      const here = outbound([], { issuer: `https://localhost:${port}` });
      assertFailed(await here.get('client', `https://localhost:${port}/`, LIMITS), 'url');
      assertFailed(await here.get('client', 'https://127.0.0.1/', LIMITS), 'host');
    });

    it('is sent to port 443 of a public one', async () => {
      // Nobody listens there: the connection is refused, not the address.
      const here = outbound([], { isPublic: (address) => address === '127.9.9.9' });
      assertFailed(await here.get('client', 'https://127.9.9.9/', LIMITS), 'connection');
      assertFailed(await here.get('client', 'https://127.9.9.8/', LIMITS), 'host');
    });
  });

  describe('by a name', () => {
    let second: Server;
    before(async () => {
      second = newServer();
      await listen(second, port, '127.0.0.2');
    });
    after(() => {
      second.close();
      second.closeAllConnections();
    });

    it('goes to the address that was checked, though DNS changes', async () => {
      const responses = [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.2', '127.0.0.1'], []];
      let lookups = 0;
      const here = outbound([`client:127.0.0.1:${port}`], { resolve: async () => responses[lookups++]! });
      const get = () => here.get('client', `https://apps.example:${port}/`, LIMITS);
      assert.equal((await get()).kind, 'response');
      assertFailed(await get(), 'host');
      assert.equal((await get()).kind, 'response');
      assertFailed(await get(), 'host');
      assert.equal(lookups, 4, 'one for each request');
      assert.deepEqual(
        asked.map(({ address }) => address),
        ['127.0.0.1', '127.0.0.1'],
      );
    });

    it('keeps the name for the certificate and the Host header', async () => {
      const here = outbound([`client:127.0.0.1:${port}`], { resolve: async () => ['127.0.0.1'] });
      assert.equal((await here.get('client', `https://apps.example:${port}/`, LIMITS)).kind, 'response');
      assert.equal(asked[0]!.headers.host, `apps.example:${port}`);
    });

    it('fails if the name has no address', async () => {
      const fail = async () => {
        throw new Error('ENOTFOUND');
      };
      assertFailed(
        await outbound([], { resolve: fail }).get('client', 'https://apps.example/', LIMITS),
        'host',
      );
    });

    describe('asks DNS', () => {
      let dns: DnsServer;
      before(async () => {
        dns = await startDnsServer();
      });
      after(() => dns.close());
      const resolve = (name: string) => dnsQueries([dns.address])(name, AbortSignal.timeout(10_000));

      it('for addresses of both families', async () => {
        Object.assign(dns.records, { 'both.example': ['192.0.2.1', '2001:db8::1'], 'six.example': ['::1'] });
        assert.deepEqual(await resolve('both.example'), ['192.0.2.1', '2001:db8::1']);
        assert.deepEqual(await resolve('six.example'), ['::1']);
        Object.assign(dns.records, { 'none.example': [] });
        assert.deepEqual(await resolve('none.example'), []);
      });

      it('and does not wait longer than the caller', async () => {
        const here = outbound([], { resolve: dnsQueries([dns.address]) });
        const waiting = here.get('client', 'https://silent.example/', { ...LIMITS, timeoutMs: 200 });
        assertFailed(await waiting, 'timeout');
      });

      it('and connects to the address in the response', async () => {
        Object.assign(dns.records, { 'apps.example': ['127.0.0.2', '127.0.0.1', '::1'] });
        const here = outbound([`client:127.0.0.2:${port}`], { resolve: dnsQueries([dns.address]) });
        assert.equal((await here.get('client', `https://apps.example:${port}/`, LIMITS)).kind, 'response');
        assert.equal(asked[0]!.address, '127.0.0.2');
      });
    });
  });

  describe('to a server with a bad certificate', () => {
    const cases: [what: string, certificate: () => ReturnType<typeof newCertificate>][] = [
      ['that nobody trusts', () => newCertificate(NAMES, { trusted: false })],
      ['for another name', () => newCertificate('DNS:elsewhere.example')],
    ];
    for (const [what, certificate] of cases) {
      it(`fails: ${what}`, async () => {
        const bad = newServer(certificate());
        const there = await listen(bad, 0);
        const url = `https://localhost:${there}/`;
        assertFailed(await outbound([`client:localhost:${there}`]).get('client', url, LIMITS), 'certificate');
        assert.equal(asked.length, 0);
        bad.close();
      });
    }
  });

  describe('that is redirected', () => {
    const redirectTo = (location: string) => {
      answer = (request, response) => {
        if (request.url === '/there') response.end('there');
        else response.writeHead(302, { location }).end();
      };
    };

    it('fails, unless the caller allows redirects', async () => {
      redirectTo('/there');
      assertFailed(await getHere('/here'), 'redirect');
      assert.equal((await getHere('/here', { redirects: 1 })).kind, 'response');
      assert.deepEqual(
        asked.map(({ url }) => url),
        ['/here', '/here', '/there'],
      );
    });

    it('follows at most as many as the caller says', async () => {
      redirectTo('/again');
      assertFailed(await getHere('/here', { redirects: 2 }), 'redirect');
      assert.equal(asked.length, 3);
    });

    it('checks each URL like the first', async () => {
      for (const [location, reason] of [
        [`http://localhost:${port}/there`, 'url'],
        [`https://user@localhost:${port}/there`, 'url'],
        [`https://localhost:${port + 1}/there`, 'url'],
        [`https://127.0.0.1:${port}/there`, 'host'],
        ['https://169.254.169.254/latest/meta-data', 'host'],
        ['https://[::ffff:10.0.0.1]/', 'host'],
        [`file://${import.meta.filename}`, 'url'],
        ['https://', 'url'],
      ] as const) {
        redirectTo(location);
        assertFailed(await getHere('/here', { redirects: 3 }), reason, location);
      }
      assert.ok(asked.every(({ url }) => url === '/here'));
    });

    it('returns a redirect without a location like any response', async () => {
      answer = (_request, response) => void response.writeHead(304).end();
      const fetched = await getHere();
      assert.ok(fetched.kind === 'response' && fetched.status === 304);
    });
  });

  describe('has limits', () => {
    it('of size, whatever Content-Length says', async () => {
      for (const headers of [{}, { 'content-length': 1_000 }]) {
        answer = (_request, response) => void response.writeHead(200, headers).end(Buffer.alloc(1_000));
        assert.equal((await getHere()).kind, 'response');
        answer = (_request, response) => void response.writeHead(200).end(Buffer.alloc(1_001));
        assertFailed(await getHere(), 'size');
      }
    });

    it('of size, for a body that never ends, and hangs up', async () => {
      const hungUp = Promise.withResolvers<void>();
      answer = (_request, response) => {
        const pour = () => {
          while (response.write(Buffer.alloc(65_536)));
          response.once('drain', pour);
        };
        pour();
        response.once('close', () => hungUp.resolve());
      };
      assertFailed(await getHere(), 'size');
      await hungUp.promise;
    });

    it('of size, for what a compressed body would become: it is not read at all', async () => {
      const bomb = gzipSync(Buffer.alloc(10_000_000)).subarray(0, 900);
      for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'GZIP', 'identity, gzip']) {
        answer = (_request, response) =>
          void response.writeHead(200, { 'content-encoding': encoding }).end(bomb);
        assertFailed(await getHere(), 'encoding', encoding);
      }
    });

    it('of time: for the headers, for a body in drops, and for both after redirects', async () => {
      const drip: RequestListener = (request, response) => {
        if (request.url === '/silent') return;
        if (request.url === '/moved') return void response.writeHead(302, { location: '/silent' }).end();
        response.writeHead(200);
        const timer = setInterval(() => response.write('x'), 20);
        response.once('close', () => clearInterval(timer));
      };
      answer = drip;
      for (const path of ['/silent', '/drops', '/moved']) {
        assertFailed(await getHere(path, { timeoutMs: 300, redirects: 1 }), 'timeout', path);
      }
    });

    it('of the size of headers', async () => {
      answer = (_request, response) =>
        void response.writeHead(200, { 'x-long': 'x'.repeat(100_000) }).end('{}');
      assertFailed(await getHere(), 'connection');
    });
  });

  it('fails if the server hangs up, speaks something else, or is not there', async () => {
    answer = (request) => void request.socket.destroy();
    assertFailed(await getHere(), 'connection');
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('x', () => response.destroy());
    };
    assertFailed(await getHere(), 'connection');
    answer = (request) => void request.socket.end('SSH-2.0-OpenSSH_9.2\r\n');
    assertFailed(await getHere(), 'connection');
    const gone = outbound(['client:127.0.0.1:1']);
    assertFailed(await gone.get('client', 'https://127.0.0.1:1/', LIMITS), 'connection');
  });
});
