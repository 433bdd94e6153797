// A clock that jumps ahead and back, as that of a machine does before it has found the right time.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConsoleBrowser } from '../support/console-browser.ts';
import { ENGINES } from '../support/engines.ts';
import { startTestService, type TestService } from '../support/service.ts';

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

for (const [engine, newData] of Object.entries(ENGINES)) {
  describe(`a clock that jumps a year ahead and back, on ${engine}`, () => {
    const withService = async (env: Record<string, string>, use: (service: TestService) => Promise<void>) => {
      const service = await startTestService({ ...(await newData()), ...env });
      try {
        await use(service);
      } finally {
        await service.close();
      }
    };
    const jump = async ({ clock }: TestService, meanwhile: () => Promise<void>) => {
      clock.advance(YEAR_MS);
      await meanwhile();
      clock.advance(-YEAR_MS);
    };
    const signIn = async (service: TestService) => {
      const browser = new ConsoleBrowser(service.client);
      const token = await service.newToken();
      assert.equal((await browser.send('POST', '/admin/token', { body: { token } })).status, 204);
      return browser;
    };
    const signOut = async (browser: ConsoleBrowser) => {
      assert.ok((await browser.send('POST', '/admin/logout')).status < 400);
    };

    it('leaves no agent without its quota', () =>
      withService({ RATE_LIMIT_READWRITE: '2' }, async (service) => {
        const agent = await service.newAgent();
        await jump(service, async () => {
          for (let times = 0; times < 3; times++) await agent.nearby();
          assert.equal((await agent.get('/v1/events/nearby?lat=1&lng=1')).status, 429);
        });
        assert.equal((await agent.get('/v1/events/nearby?lat=1&lng=1')).status, 200);
        await agent.get('/v1/events/nearby?lat=1&lng=1');
        const refused = await agent.get('/v1/events/nearby?lat=1&lng=1');
        assert.equal(refused.status, 429);
        assert.ok(Number(refused.headers.get('retry-after')) <= 3_660);
      }));

    it('hides no event from a search for a prefix', () =>
      withService({}, async (service) => {
        const agent = await service.newAgent();
        const start_at = new Date(Date.now() + 24 * HOUR_MS).toISOString();
        await agent.create({ title: 'Jazz', start_at });
        const found = async () => (await agent.nearby({ q: 'jaz*' })).body.total;
        assert.equal(await found(), 1);
        await jump(service, async () => assert.equal(await found(), 0));
        assert.equal(await found(), 1);
      }));

    it('revives no session that ended before it', () =>
      withService({}, async (service) => {
        const first = await signIn(service);
        const stolen = first.copy();
        await signOut(first);
        // The store forgets old sessions when one ends.
        await jump(service, async () => signOut(await signIn(service)));
        assert.equal((await stolen.get('/v1/admin/me')).status, 401);
      }));

    it('revives no session that ended meanwhile', () =>
      withService({}, async (service) => {
        const browser = await signIn(service);
        const stolen = browser.copy();
        await jump(service, () => signOut(browser));
        assert.equal((await stolen.get('/v1/admin/me')).status, 401);
      }));

    const signOutEverywhere = async (browser: ConsoleBrowser) =>
      assert.equal((await browser.send('POST', '/admin/logout-everywhere')).status, 204);

    it('revives no session of a person who signed out everywhere before it or meanwhile', () =>
      withService({}, async (service) => {
        const [first, second] = [await signIn(service), await signIn(service)];
        await signOutEverywhere(first);
        await jump(service, async () => signOutEverywhere(await signIn(service)));
        assert.equal((await second.get('/v1/admin/me')).status, 401);
        assert.equal((await (await signIn(service)).get('/v1/admin/me')).status, 200);
      }));

    it('lets no session from the future survive signing out everywhere', () =>
      withService({}, async (service) => {
        const { clock } = service;
        clock.advance(HOUR_MS / 2);
        const early = await signIn(service);
        clock.advance(-HOUR_MS / 2);
        assert.equal((await early.get('/v1/admin/me')).status, 200);
        await signOutEverywhere(await signIn(service));
        assert.equal((await early.get('/v1/admin/me')).status, 401);
        clock.advance(HOUR_MS / 2);
        assert.equal((await early.get('/v1/admin/me')).status, 401);
      }));
  });
}
