// Documents of OAuth clients, from a real server: what they must contain, how long they are remembered, and how often they are fetched.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import type { Store } from '../../src/domain/store.ts';
import { openStore } from '../../src/engines.ts';
import { ClientDocuments } from '../../src/oauth/client-documents.ts';
import { readAllowance } from '../../src/outbound/allowance.ts';
import { Outbound } from '../../src/outbound/outbound.ts';
import { newCertificate } from '../support/certificate.ts';
import { ENGINES } from '../support/engines.ts';

const START_MS = Date.parse('2026-11-20T10:00:00Z');
const MINUTE_MS = 60_000;
const REDIRECT = 'https://app.example/callback';

describe("an OAuth client's document", () => {
  let server: Server;
  let store: Store;
  let base: string;
  let answer: RequestListener;
  let asked: string[];
  let nowMs = START_MS;
  let network = 0;
  let documents: ClientDocuments;

  before(async () => {
    server = createServer(newCertificate('DNS:localhost'), (request, response) => {
      asked.push(request.url!);
      answer(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    base = `https://localhost:${(server.address() as AddressInfo).port}`;
    store = await openStore(readConfig(await ENGINES.sqlite()), START_MS);
  });
  after(async () => {
    server.close();
    server.closeAllConnections();
    await store.close();
  });
  beforeEach(() => {
    asked = [];
    network++;
    answer = (request, response) => send(response, document(request.url!));
    documents = newDocuments();
  });

  const newDocuments = (allow = `client:${new URL(base).host}`) => {
    const outbound = new Outbound({ issuer: undefined, allow: [readAllowance(allow)!] });
    return new ClientDocuments({ outbound, store, clock: () => nowMs });
  };
  const document = (path: string, other: object = {}) => ({
    client_id: `${base}${path}`,
    client_name: 'App',
    redirect_uris: [REDIRECT],
    ...other,
  });
  const send = (response: ServerResponse, body: unknown, headers: Record<string, string> = {}) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const find = (path = '/client.json', from = `192.0.2.${network}`) => documents.find(`${base}${path}`, from);
  const refused = (found: Promise<unknown>, message: RegExp, code = 'VALIDATION_ERROR') =>
    assert.rejects(found, { name: 'AppError', code, message });

  it('has the name and the redirect URIs of the client', async () => {
    assert.deepEqual(await find('/client.json?v=1'), {
      clientId: `${base}/client.json?v=1`,
      name: 'App',
      redirectUris: [REDIRECT],
    });
    assert.deepEqual(asked, ['/client.json?v=1']);
  });

  describe('is found by a client ID that', () => {
    const refusedIds = [
      ...['', 'client', 'http://localhost/client.json', 'https://localhost', 'https://localhost/'],
      ...[
        'https://localhost/a?',
        'https://localhost/#',
        'https://localhost/a#b',
        'https://user@localhost/a',
        'https://u:p@localhost/a',
      ],
      ...[
        'https://@localhost/a',
        'https://localhost/a/../b',
        'https://localhost/./b',
        'https://localhost/%2e%2E/b',
      ],
      ...['https://localhost:443/a', 'https://LOCALHOST/a', 'HTTPS://localhost/a', 'https:/localhost/a'],
      ...['https://localhost\\a', ' https://localhost/a', 'https://localhost/a b', 'https://0x7f.1/a'],
      ...['https://bücher.example/a', 'ftp://localhost/a', `https://localhost/${'a'.repeat(1_000)}`],
    ];
    it('is an https URL with a path, written plainly', async () => {
      for (const clientId of refusedIds) {
        await refused(documents.find(clientId, 'n'), /^The client's ID is not the URL of a document\. /);
      }
      await refused(documents.find('https://localhost/a?b', 'n'), /has no public IP address|not respond/);
      assert.deepEqual(asked, []);
    });

    it('leads to the public internet, unless OUTBOUND_ALLOW says otherwise', async () => {
      documents = newDocuments('webhook:localhost');
      await refused(
        find(),
        /^The client's document could not be fetched: its URL must use https on port 443, without a user name or password\.$/,
      );
      await refused(
        documents.find('https://127.0.0.1/client.json', 'n'),
        /^The client's document could not be fetched: its host has no public IP address\.$/,
      );
      assert.deepEqual(asked, []);
    });
  });

  describe('is valid if', () => {
    const valid: [what: string, other: object, name: string | undefined][] = [
      ['it has no name', { client_name: undefined }, undefined],
      ['its name is empty', { client_name: '' }, undefined],
      ['its name has 200 characters', { client_name: 'n'.repeat(200) }, 'n'.repeat(200)],
      ['it needs no secret', { token_endpoint_auth_method: 'none' }, 'App'],
      [
        'it could do without the key that it prefers, as that of ChatGPT',
        {
          token_endpoint_auth_method: 'private_key_jwt',
          token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
          jwks_uri: 'https://chatgpt.com/oauth/jwks.json',
        },
        'App',
      ],
      [
        'it has what nobody knows',
        { logo_uri: 'https://x.example/a', grant_types: [1], x: { y: [] } },
        'App',
      ],
    ];
    for (const [what, other, name] of valid) {
      it(what, async () => {
        answer = (request, response) => send(response, document(request.url!, other));
        assert.equal((await find()).name, name);
      });
    }

    it('it has up to 50 redirect URIs', async () => {
      const redirect_uris = Array.from({ length: 50 }, (_, at) => `https://a.example/${at}`);
      answer = (request, response) => send(response, document(request.url!, { redirect_uris }));
      assert.deepEqual((await find()).redirectUris, redirect_uris);
    });

    it('its type is JSON', async () => {
      for (const [at, type] of [
        'application/json; charset=utf-8',
        'Application/JSON',
        'application/oauth-client+json',
      ].entries()) {
        answer = (request, response) => send(response, document(request.url!), { 'content-type': type });
        assert.ok(await find(`/${at}`), type);
      }
    });
  });

  describe('is refused if', () => {
    const invalid: [what: string, other: object, message: RegExp][] = [
      ['it is of another client', { client_id: 'https://a.example/b' }, /client_id is not its own URL/],
      ['it names no client', { client_id: undefined }, /client_id is not its own URL/],
      [
        'it has no redirect URIs',
        { redirect_uris: undefined },
        /redirect_uris must be a list of 1 to 50 URLs/,
      ],
      ['its redirect URIs are none', { redirect_uris: [] }, /redirect_uris/],
      ['its redirect URIs are no list', { redirect_uris: REDIRECT }, /redirect_uris/],
      ['its redirect URIs are no texts', { redirect_uris: [REDIRECT, 1] }, /redirect_uris/],
      ['its redirect URIs are too many', { redirect_uris: Array(51).fill('a:b') }, /redirect_uris/],
      ['its name is too long', { client_name: 'n'.repeat(201) }, /client_name must be a text of at most 200/],
      ['its name has NUL', { client_name: 'a\0b' }, /client_name must be .* without NUL/],
      ['its name is no text', { client_name: { en: 'App' } }, /client_name/],
      [
        'it has a secret',
        { token_endpoint_auth_method: 'client_secret_basic' },
        /auth_method must be "none"/,
      ],
      ['it needs a key', { token_endpoint_auth_method: 'private_key_jwt' }, /auth_method must be "none"/],
      [
        'it lists no method without a secret',
        { token_endpoint_auth_method: 'private_key_jwt', token_endpoint_auth_methods_supported: 'none' },
        /auth_methods_supported must list that/,
      ],
    ];
    for (const [what, other, message] of invalid) {
      it(what, async () => {
        answer = (request, response) => send(response, document(request.url!, other));
        await refused(find(), message);
        await refused(find(), /^The client's document is not valid: its /);
      });
    }

    it('it is not JSON, or no object', async () => {
      for (const body of ['', '{', '<html>', 'null', '1', '[]', '"text"']) {
        answer = (_request, response) => send(response, body);
        await refused(find(), /^The client's document is not valid: /);
      }
      answer = (_request, response) =>
        response.setHeader('content-type', 'application/json').end('{"a":"\xff"}', 'latin1');
      nowMs += 2 * MINUTE_MS;
      await refused(find(), /it is not JSON/);
    });

    it('its type is not JSON', async () => {
      for (const [at, type] of ['text/plain', 'text/json', 'application/jsonp', 'image/png', ''].entries()) {
        answer = (request, response) => send(response, document(request.url!), { 'content-type': type });
        await refused(find(`/${at}`), /Content-Type is not application\/json/);
      }
    });

    it('its host sends another status, or redirects', async () => {
      for (const status of [201, 204, 404, 500]) {
        answer = (request, response) =>
          void response
            .writeHead(status, { 'content-type': 'application/json' })
            .end(JSON.stringify(document(request.url!)));
        await refused(find(`/${status}`), new RegExp(`its host returned status ${status}`));
      }
      answer = (_request, response) => void response.writeHead(302, { location: '/client.json' }).end();
      await refused(find('/moved'), /its URL redirects to another one/);
      assert.equal(asked.at(-1), '/moved');
    });

    it('it has more than 5 KiB', async () => {
      const bodyOf = (path: string, length: number) => JSON.stringify(document(path)).padEnd(length, ' ');
      answer = (request, response) => send(response, bodyOf(request.url!, 5_120));
      assert.ok(await find('/large'));
      answer = (request, response) => send(response, bodyOf(request.url!, 5_121));
      await refused(find('/too-large'), /could not be fetched: it is too large\.$/);
    });

    it('it takes too long', async () => {
      answer = (_request, response) => void response.writeHead(200).write(' ');
      await refused(find(), /its host takes too long/);
    });
  });

  describe('is remembered', () => {
    const ages: [cacheControl: string | undefined, minutes: number][] = [
      [undefined, 5],
      ['no-store', 5],
      ['no-store, max-age=86400', 5],
      ['no-cache, max-age=86400', 5],
      ['max-age=0', 5],
      ['public, max-age=3600', 60],
      ['Max-Age="3600"', 60],
      ['s-maxage=86400', 5],
      ['max-age=999999999999', 24 * 60],
      ['max-age=-1', 5],
      ['nonsense', 5],
    ];
    for (const [cacheControl, minutes] of ages) {
      it(`for ${minutes} minutes with Cache-Control: ${cacheControl}`, async () => {
        answer = (request, response) =>
          send(
            response,
            document(request.url!),
            cacheControl === undefined ? {} : { 'cache-control': cacheControl },
          );
        await find();
        nowMs += minutes * MINUTE_MS - 1;
        await find();
        assert.equal(asked.length, 1);
        nowMs += 1;
        await find();
        assert.equal(asked.length, 2);
      });
    }

    it('for a minute if it is not valid', async () => {
      answer = (_request, response) => void response.writeHead(500).end();
      await refused(find(), /status 500/);
      answer = (request, response) => send(response, document(request.url!));
      nowMs += MINUTE_MS - 1;
      await refused(find(), /status 500/);
      nowMs += 1;
      assert.ok(await find());
      assert.equal(asked.length, 2);
    });

    it('for all networks, and by its whole URL', async () => {
      await find('/client.json', 'one');
      await find('/client.json', 'two');
      assert.deepEqual(asked, ['/client.json']);
      await find('/client.json?v=1', 'two');
      assert.equal(asked.length, 2);
    });

    it('until 1,000 others were used after it', async () => {
      const get = async (_purpose: unknown, url: string) => {
        const path = new URL(url).pathname;
        asked.push(path);
        const headers = { 'content-type': 'application/json' };
        return {
          kind: 'response' as const,
          status: 200,
          headers,
          bytes: Buffer.from(JSON.stringify(document(path))),
        };
      };
      documents = new ClientDocuments({ outbound: { get }, store, clock: () => nowMs });
      await find('/kept');
      await find('/dropped');
      for (let at = 0; at < 999; at++) {
        await find(`/${at}`, `network ${at >> 4}`);
        if (at === 500) await find('/kept');
      }
      asked = [];
      await find('/kept');
      assert.deepEqual(asked, []);
      await find('/dropped');
      assert.deepEqual(asked, ['/dropped']);
    });
  });

  describe('is fetched', () => {
    /** Holds back all responses until `release` is called. */
    const hold = () => {
      const held: (() => void)[] = [];
      answer = (request, response) => void held.push(() => send(response, document(request.url!)));
      return () => {
        for (const release of held.splice(0)) release();
      };
    };
    const untilAsked = async (count: number) => {
      while (asked.length < count) await once(server, 'request');
    };

    it('at most 30 times an hour for one network; what is remembered does not count', async () => {
      for (let at = 0; at < 30; at++) {
        await find(`/${at}`);
        await find(`/${at}`);
      }
      await refused(
        find('/more'),
        /30 fetches of clients' documents within an hour.* Retry in 3600 s\.$/,
        'RATE_LIMITED',
      );
      assert.equal(asked.length, 30);
      assert.ok(await find('/29'), 'what is remembered is found');
      assert.ok(await find('/more', 'another network'));
      assert.ok(await find('/more'), 'and the refusal is not remembered');
      nowMs += 60 * MINUTE_MS;
      assert.ok(await find('/later'));
    });

    it('counts failures, too', async () => {
      answer = (_request, response) => void response.writeHead(404).end();
      for (let at = 0; at < 30; at++) await refused(find(`/${at}`), /status 404/);
      await refused(find('/more'), /Retry in/, 'RATE_LIMITED');
    });

    it('once for all who ask at the same time', async () => {
      const release = hold();
      const finding = ['one', 'two', 'one', 'three', 'one', 'one'].map((name) => find('/client.json', name));
      await untilAsked(1);
      release();
      assert.equal(new Set((await Promise.all(finding)).map(({ name }) => name)).size, 1);
      assert.equal(asked.length, 1);
    });

    it('for others if the network that asked first may not', async () => {
      for (let at = 0; at < 30; at++) await find(`/${at}`, `spent ${network}`);
      const [first, second] = await Promise.allSettled([
        find('/same', `spent ${network}`),
        find('/same', `fresh ${network}`),
      ]);
      assert.deepEqual([first!.status, second!.status], ['rejected', 'fulfilled']);
    });

    it('at most 10 at the same time, 3 of them for one network', async () => {
      const release = hold();
      const finding = Array.from({ length: 9 }, (_, at) => find(`/${at}`, `network ${at % 3} ${network}`));
      await untilAsked(9);
      const code = 'OVERLOADED';
      await refused(find('/a', `network 0 ${network}`), /Retry in 3 s/, code);
      finding.push(find('/b', `network 4 ${network}`));
      await untilAsked(10);
      await refused(find('/c', `network 5 ${network}`), /Retry in 3 s/, code);
      finding.push(find('/0', `network 6 ${network}`));
      release();
      await Promise.all(finding);
      answer = (request, response) => send(response, document(request.url!));
      assert.ok(await find('/c', `network 0 ${network}`));
    });

    it('again after a store that failed', async () => {
      const outbound = new Outbound({
        issuer: undefined,
        allow: [readAllowance(`client:${new URL(base).host}`)!],
      });
      let fails = true;
      const spend: Store['spend'] = async (...args) => {
        if (fails) throw new Error('down');
        return store.spend(...args);
      };
      documents = new ClientDocuments({ outbound, store: { spend }, clock: () => nowMs });
      await assert.rejects(find(), { message: 'down' });
      fails = false;
      assert.ok(await find());
    });
  });
});
