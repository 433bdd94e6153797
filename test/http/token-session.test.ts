// The console without an identity provider: a token from `admin-token` opens a session.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { getSigningKey } from '../../src/engines.ts';
import { mintToken } from '../../src/oidc/local-issuer.ts';
import { assertError, assertInvalid } from '../support/client.ts';
import { ConsoleBrowser } from '../support/console-browser.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';
import { CLIENT_ID, startTinyIssuer } from '../support/tiny-issuer.ts';

const HOUR_MS = 3_600_000;

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  const newData = ENGINES[engine];
  describe(`POST /admin/token, on ${engine}`, () => {
    let data: Record<string, string>;
    let service: TestService;
    before(async () => {
      data = await newData();
      service = await startTestService(data);
    });
    after(() => service.close());

    const mint = async (hours = 1, nowMs = service.clock.nowMs(), name: string | undefined = 'Ada') =>
      mintToken(await getSigningKey(readConfig(data)), { email: 'ada@example.com', name, hours }, nowMs);
    const newBrowser = () => new ConsoleBrowser(service.client);
    const open = async (token: unknown, browser = newBrowser()) => ({
      browser,
      answer: await browser.send('POST', '/admin/token', { body: { token } }),
    });

    it('opens a session that lasts as long as the token, at most 8 hours', async () => {
      for (const [hours, sessionHours] of [
        [1, 1],
        [0.5, 0.5],
        [24, 8],
      ] as const) {
        const { browser, answer } = await open(await mint(hours));
        assert.equal(answer.status, 204, answer.text);
        assert.equal(answer.text, '');
        const { expires_at, ...session } = await browser.session();
        assert.deepEqual(session, {
          provider: null,
          user: {
            email: 'ada@example.com',
            name: 'Ada',
            picture: '',
            subject: 'local:ada@example.com',
          },
          is_administrator: true,
        });
        const leftMs = Date.parse(expires_at) - service.clock.nowMs();
        assert.ok(Math.abs(leftMs - sessionHours * HOUR_MS) < 60_000, `${hours}: ${leftMs}`);
        assert.equal((await browser.get('/v1/admin/me')).status, 200);
      }
    });

    it('takes spaces around the token, as copying adds them', async () => {
      assert.equal((await open(` ${await mint()}\n`)).answer.status, 204);
    });

    it('responds 401 to an invalid or expired token', async () => {
      const token = await mint();
      for (const bad of ['x', 'a.b.c', `${token}x`, await mint(1, Date.now() - 2 * HOUR_MS)]) {
        const { browser, answer } = await open(bad);
        assertError(answer, 401, 'INVALID_TOKEN');
        assert.deepEqual([...browser.cookies], []);
      }
    });

    it('responds 401 to a token in its last seconds of grace', async () => {
      const { answer } = await open(await mint(1, service.clock.nowMs() - HOUR_MS - 2_000));
      assertError(answer, 401, 'INVALID_TOKEN');
    });

    it('responds 422 to a value that is not a token, and 413 to a body that is too long', async () => {
      assert.deepEqual(assertInvalid((await open(7)).answer), ['body.token: string_type']);
      assert.deepEqual(assertInvalid((await open('')).answer), ['body.token: string_too_short']);
      assert.deepEqual(assertInvalid((await open(undefined)).answer), ['body.token: missing']);
      assertError((await open('x'.repeat(20_000))).answer, 413, 'PAYLOAD_TOO_LARGE');
    });

    it('shortens a long name to fit in a cookie', async () => {
      const { browser, answer } = await open(await mint(1, service.clock.nowMs(), 'A'.repeat(3_000)));
      assert.equal(answer.status, 204, answer.text);
      assert.equal((await browser.session()).user.name, 'A'.repeat(200));
    });

    it('does not end earlier sessions, which expire or are signed out', async () => {
      const { browser } = await open(await mint());
      const earlier = browser.copy();
      await open(await mint(), browser);
      assert.equal((await earlier.get('/v1/admin/me')).status, 200);
      await earlier.send('POST', '/admin/logout');
      assert.equal((await browser.get('/v1/admin/me')).status, 200);
    });

    it('opens a session that ends when the token expires', async (test) => {
      const timed = await startTestService({}, { until: test });
      const browser = new ConsoleBrowser(timed.client);
      const token = (await timed.newAdministrator()).headers.authorization!.slice('Bearer '.length);
      await browser.send('POST', '/admin/token', { body: { token } });
      timed.clock.advance(HOUR_MS - 60_000);
      assert.equal((await browser.get('/v1/admin/me')).status, 200);
      timed.clock.advance(60_000);
      assertError(await browser.get('/v1/admin/me'), 401, 'INVALID_TOKEN');
    });

    it('opens a session that survives a restart, because the secret is in the store', async () => {
      const { browser } = await open(await mint());
      await service.close();
      service = await startTestService(data);
      assert.equal((await browser.copy(service.client).get('/v1/admin/me')).status, 200);
    });

    it('opens a session that ends when a provider or another secret is configured', async () => {
      const { browser } = await open(await mint());
      const issuer = await startTinyIssuer();
      await service.close();
      for (const env of [
        { OIDC_ISSUER: issuer.url, OIDC_CLIENT_ID: CLIENT_ID },
        { SESSION_SECRET: 'a secret that was not there before, of some length' },
      ]) {
        const other = await startTestService({ ...data, ...env });
        const there = browser.copy(other.client);
        assertError(await there.get('/v1/admin/me'), 401, 'INVALID_TOKEN');
        assert.equal((await there.session()).user, null);
        await other.close();
      }
      await issuer.close();
      service = await startTestService(data);
    });
  });
}
