// With very many agents, and very many events of one, the console requests and shows only pages. How long that takes is
// measured in bench/.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fillWithCrowd } from '../support/crowd.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import { size } from '../support/sizes.ts';
import { assertClean, openConsole, untilLoaded } from './console.ts';

const CROWD = size({ agents: 10_000, events: 5_000 }, { agents: 100_000, events: 50_000 });
const [ALL_AGENTS, ALL_EVENTS] = Object.values(CROWD).map((count) => count.toLocaleString('en'));
/** The number of one agent or event; those of the last ten begin with it. */
const [LAST_TEN_AGENTS, LAST_TEN_EVENTS] = Object.values(CROWD).map((count) => count / 10 - 1);

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  describe(`a crowd on ${engine}`, () => {
    it('is shown in pages, in every order and search', async () => {
      const env = await ENGINES[engine]();
      const agentId = await fillWithCrowd(env, CROWD, Date.now());
      const console = await openConsole(engine, env);
      try {
        const visit = await console.visit();
        const { page } = visit;
        const sizes: number[] = [];
        page.on('response', async (response) => {
          const { pathname } = new URL(response.url());
          if (pathname.startsWith('/v1/admin/')) sizes.push((await response.body()).length);
        });
        const rows = () => page.locator('table.list tbody tr').count();
        await visit.signIn();
        await page.getByText(`1–50 of ${ALL_AGENTS}`).waitFor();
        assert.equal(await rows(), 50);
        for (const name of ['Name', 'E-mail', 'Tier', 'Active', 'Events', 'Last used', 'Created']) {
          await page.getByRole('columnheader', { name }).getByRole('button').click();
          await untilLoaded(page);
          await page.getByText(`1–50 of ${ALL_AGENTS}`).waitFor();
        }
        await page.getByRole('searchbox', { name: 'Search agents' }).fill(`agent ${LAST_TEN_AGENTS}`);
        await page.getByText('1–11 of 11').waitFor();
        await page.goto(`${console.service.url}/admin/agents/${agentId}?when=all`);
        await page.getByText(`1–50 of ${ALL_EVENTS}`).waitFor();
        assert.equal(await rows(), 50);
        await page.getByRole('button', { name: 'Next' }).click();
        await page.getByText(`51–100 of ${ALL_EVENTS}`).waitFor();
        await page.getByRole('searchbox', { name: 'Search events' }).fill(`event ${LAST_TEN_EVENTS}`);
        await page.getByText('1–11 of 11').waitFor();
        assert.ok(sizes.length > 10);
        assert.ok(Math.max(...sizes) < 100_000, `an answer of ${Math.max(...sizes)} bytes`);
        assertClean(visit);
      } finally {
        await console.close();
      }
    });
  });
}
