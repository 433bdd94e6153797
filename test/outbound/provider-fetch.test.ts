// Requests to the identity provider: trusted as configured, but with a limit of size.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { providerFetch } from '../../src/outbound/provider-fetch.ts';

const MIB = 1_048_576;

describe('a request to the identity provider', () => {
  let answer: RequestListener;
  let url: string;
  const server = createServer((request, response) => answer(request, response));
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  it('may use http, any port and this machine, and keeps method, headers and body', async () => {
    answer = async (request, response) => {
      const { method, headers } = request;
      const seen = [method, headers['x-here'], await text(request)];
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(seen));
    };
    const response = await providerFetch(url, { method: 'POST', headers: { 'x-here': 'yes' }, body: 'a=1' });
    assert.deepEqual([response.status, response.headers.get('content-type')], [201, 'application/json']);
    assert.deepEqual(await response.json(), ['POST', 'yes', 'a=1']);
  });

  it('returns responses without a body', async () => {
    answer = (_request, response) => void response.writeHead(204).end();
    assert.equal((await providerFetch(url, {})).status, 204);
  });

  it('is redirected only if the caller says so', async () => {
    answer = (request, response) => {
      if (request.url === '/elsewhere') response.end('there');
      else response.writeHead(307, { location: '/elsewhere' }).end();
    };
    assert.equal((await providerFetch(url, { redirect: 'manual' })).status, 307);
    assert.equal(await (await providerFetch(url, { redirect: 'follow' })).text(), 'there');
  });

  it('reads at most 1 MiB, also if that is compressed', async () => {
    answer = (_request, response) => void response.end(Buffer.alloc(MIB, 'x'));
    assert.equal((await (await providerFetch(url, {})).text()).length, MIB);
    for (const encoding of ['identity', 'gzip']) {
      const body = Buffer.alloc(MIB + 1, 'x');
      answer = (_request, response) =>
        void response
          .writeHead(200, { 'content-encoding': encoding })
          .end(encoding === 'gzip' ? gzipSync(body) : body);
      await assert.rejects(providerFetch(url, {}), /sent more than 1048576 bytes/);
    }
  });

  it('ends when its signal says so, even within the body', async () => {
    answer = (_request, response) => void response.writeHead(200).write('x');
    await assert.rejects(providerFetch(url, { signal: AbortSignal.timeout(200) }), { name: 'TimeoutError' });
  });

  it('uses no other protocols', async () => {
    for (const other of ['data:application/json,{}', 'ftp://127.0.0.1/', `file://${import.meta.filename}`]) {
      await assert.rejects(providerFetch(other, {}), /identity provider names a URL with/);
    }
  });
});
