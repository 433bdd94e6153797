// Profile pictures: only images, only small ones, within a time limit, and never from private networks.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { profilePictures } from '../../src/oidc/picture.ts';
import { Outbound } from '../../src/outbound/outbound.ts';
import { newCertificate } from '../support/certificate.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const LIMIT = 524_288;

describe('a picture', () => {
  let answer: RequestListener;
  const asked: IncomingMessage[] = [];
  const listener: RequestListener = (request, response) => {
    asked.push(request);
    answer(request, response);
  };
  const plain = createServer(listener);
  let secure: Server;
  let home: string;
  let elsewhere: string;
  before(async () => {
    secure = createTlsServer(newCertificate('DNS:localhost,IP:127.0.0.1'), listener);
    for (const server of [plain, secure]) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    }
    const portOf = (server: Server) => (server.address() as AddressInfo).port;
    home = `http://127.0.0.1:${portOf(plain)}`;
    elsewhere = `https://localhost:${portOf(secure)}`;
  });
  after(() => {
    for (const server of [plain, secure]) {
      server.close();
      server.closeAllConnections();
    }
  });
  beforeEach(() => {
    asked.length = 0;
    answer = (_request, response) => void response.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
  });

  /** Fetches with the plain server as the provider. */
  const pictures = (issuer: string | undefined, isPublic?: () => boolean) =>
    profilePictures(new Outbound({ issuer, allow: [], ...(isPublic && { isPublic }) }));
  const fetchPicture = (url: string) => pictures(home).load(url);
  /** Fetches as if every address were public. */
  const fetchAsPublic = (url: string) => pictures(home, () => true).load(url);
  const redirectTo = (location: string, status = 302) => {
    answer = (request, response) => {
      if (request.url === '/there') response.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
      else response.writeHead(status, { location }).end();
    };
  };

  it('comes from the provider, even if that is this machine without TLS', async () => {
    assert.deepEqual(await fetchPicture(`${home}/ada.png?s=96`), { type: 'image/png', bytes: PNG });
    assert.equal(asked[0]?.url, '/ada.png?s=96');
  });

  it('comes from another host with TLS', async () => {
    assert.deepEqual(await fetchAsPublic(`${elsewhere}/ada`), { type: 'image/png', bytes: PNG });
  });

  it('is undefined if the server switches protocols', async () => {
    answer = (request) => {
      request.socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n');
    };
    assert.equal(await fetchPicture(`${home}/x`), undefined);
  });

  it('is requested without headers that identify the viewer', async () => {
    await fetchPicture(`${home}/ada.png`);
    const names = ['accept', 'accept-encoding', 'connection', 'host'];
    assert.deepEqual(Object.keys(asked[0]!.headers).sort(), names);
  });

  it('may be PNG, JPEG, WebP or GIF, and has that type without parameters', async () => {
    for (const [sent, type] of [
      ['image/png', 'image/png'],
      ['image/jpeg', 'image/jpeg'],
      ['image/webp', 'image/webp'],
      ['image/gif', 'image/gif'],
      ['IMAGE/PNG; charset=binary', 'image/png'],
    ]) {
      answer = (_request, response) => void response.writeHead(200, { 'content-type': sent! }).end(PNG);
      assert.equal((await fetchPicture(`${home}/x`))?.type, type);
    }
  });

  for (const type of ['image/svg+xml', 'text/html', 'image/png2', 'image/*', 'x/image/png', '', undefined]) {
    it(`is undefined if its type is ${JSON.stringify(type)}`, async () => {
      const headers = type === undefined ? {} : { 'content-type': type };
      answer = (_request, response) => void response.writeHead(200, headers).end('<svg onload="x()"/>');
      assert.equal(await fetchPicture(`${home}/x`), undefined);
    });
  }

  it('is undefined if it is compressed, or has another status', async () => {
    const type = { 'content-type': 'image/png' };
    answer = (_request, response) =>
      void response.writeHead(200, { ...type, 'content-encoding': 'gzip' }).end(PNG);
    assert.equal(await fetchPicture(`${home}/x`), undefined);
    for (const status of [204, 206, 401, 404, 500]) {
      answer = (_request, response) => void response.writeHead(status, type).end(PNG);
      assert.equal(await fetchPicture(`${home}/x`), undefined, `${status}`);
    }
  });

  it('has at most 512 KiB, whatever its Content-Length says', async () => {
    for (const headers of [{}, { 'content-length': LIMIT }]) {
      answer = (_request, response) =>
        void response.writeHead(200, { 'content-type': 'image/png', ...headers }).end(Buffer.alloc(LIMIT));
      assert.equal((await fetchPicture(`${home}/x`))?.bytes.length, LIMIT);
    }
    const hungUp = Promise.withResolvers<void>();
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'image/png' });
      const pour = () => {
        while (response.write(Buffer.alloc(65_536)));
        response.once('drain', pour);
      };
      pour();
      response.once('close', () => hungUp.resolve());
    };
    assert.equal(await fetchPicture(`${home}/x`), undefined);
    await hungUp.promise;
  });

  it('is undefined if it takes too long to start or to end', { timeout: 20_000 }, async () => {
    answer = () => {};
    const silent = fetchPicture(`${home}/x`);
    await once(plain, 'request');
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'image/png' });
      const drip = setInterval(() => response.write('x'), 100);
      response.once('close', () => clearInterval(drip));
    };
    const dripping = fetchPicture(`${home}/y`);
    assert.deepEqual(await Promise.all([silent, dripping]), [undefined, undefined]);
  });

  it('is undefined if the server hangs up', async () => {
    answer = (_request, response) => void response.destroy();
    assert.equal(await fetchPicture(`${home}/x`), undefined);
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': 100 });
      response.write('x', () => response.destroy());
    };
    assert.equal(await fetchPicture(`${home}/x`), undefined);
  });

  describe('on another host', () => {
    it('is not requested without TLS', async () => {
      for (const url of [
        `http://localhost:${new URL(home).port}/x`,
        home.replace('http:', 'ftp:'),
        `file://${import.meta.filename}`,
        'data:image/png;base64,iVBORw0KGgo=',
        'javascript:x',
        '/ada.png',
        '',
      ]) {
        assert.ok(!pictures(home).mayLoad(url), url);
        assert.equal(await fetchAsPublic(url), undefined);
      }
      assert.ok(!pictures(undefined).mayLoad(`${home}/x`));
      assert.equal(asked.length, 0);
    });

    it('is never requested from this machine or a private network, by any name', async () => {
      const { port } = new URL(elsewhere);
      for (const host of [
        ...['localhost', '127.0.0.1', '127.1', '0x7f.1', '2130706433', '0.0.0.0', '[::1]', '[::]'],
        ...['[::ffff:127.0.0.1]', '169.254.169.254', '10.0.0.1', 'no.such.host.invalid'],
      ]) {
        assert.equal(await fetchPicture(`https://${host}:${port}/x`), undefined, host);
      }
      assert.equal(asked.length, 0);
    });

    it('needs a valid certificate', async () => {
      const { port } = new URL(elsewhere);
      assert.equal(await fetchAsPublic(`https://127.0.0.2:${port}/x`), undefined);
      assert.equal(asked.length, 0);
    });
  });

  describe('behind a redirect', () => {
    it('is fetched from a URL with TLS, or from the provider', async () => {
      for (const status of [301, 302, 303, 307, 308]) {
        redirectTo(`${elsewhere}/there`, status);
        assert.ok(await fetchAsPublic(`${home}/here`), `${status}`);
      }
      redirectTo('/there');
      assert.ok(await fetchAsPublic(`${elsewhere}/here`));
      redirectTo(`${home}/there`);
      assert.ok(await fetchAsPublic(`${elsewhere}/here`), 'and to the provider');
    });

    it('is fetched from no other URL', async () => {
      for (const location of [
        `http://localhost:${new URL(home).port}/there`,
        `file://${import.meta.filename}`,
        'https://',
        '',
      ]) {
        asked.length = 0;
        redirectTo(location);
        assert.equal(await fetchAsPublic(`${elsewhere}/here`), undefined, location);
        assert.ok(asked.every(({ url }) => url === '/here'));
      }
      redirectTo(`${elsewhere}/there`);
      asked.length = 0;
      assert.equal(await fetchPicture(`${home}/here`), undefined, 'to this machine');
      assert.deepEqual(
        asked.map(({ url }) => url),
        ['/here'],
      );
    });

    it('is fetched after at most three redirects', async () => {
      const moveTimes = (times: number) => {
        answer = ({ url }, response) => {
          const at = Number(url!.slice(1));
          if (at === times) response.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
          else response.writeHead(302, { location: `/${at + 1}` }).end();
        };
      };
      moveTimes(3);
      assert.ok(await fetchPicture(`${home}/0`));
      moveTimes(4);
      assert.equal(await fetchPicture(`${home}/0`), undefined);
    });
  });
});
