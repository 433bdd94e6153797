// With a hundred thousand agents, and one that has fifty thousand events, the console asks for pages and shows pages. How long
// that takes is measured in bench/.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fillWithCrowd } from '../support/crowd.ts';
import { ENGINES } from '../support/engines.ts';
import { assertClean, openConsole } from './console.ts';

for (const engine of ['sqlite', 'postgres'] as const) {
  describe(`a crowd on ${engine}`, () => {
    it('comes in pages, whatever is asked for', async () => {
      const env = await ENGINES[engine]();
      const agentId = await fillWithCrowd(env, { agents: 100_000, events: 50_000 }, Date.now());
      const console = await openConsole(engine, env);
      try {
        const visit = await console.visit();
        const { page } = visit;
        const sizes: number[] = [];
        page.on('response', async (response) => {
          const { pathname } = new URL(response.url());
          if (pathname.startsWith('/v1/admin/')) sizes.push((await response.body()).length);
        });
        const rows = () => page.locator('tbody tr').count();
        await visit.signIn();
        await page.getByText('1–50 of 100,000').waitFor();
        assert.equal(await rows(), 50);
        for (const name of ['Name', 'E-mail', 'Tier', 'Active', 'Events', 'Last used', 'Created']) {
          await page.getByRole('columnheader', { name }).getByRole('button').click();
          await page.locator('[aria-busy=true]').waitFor({ state: 'detached' });
          await page.getByText('1–50 of 100,000').waitFor();
        }
        await page.getByRole('searchbox', { name: 'Search agents' }).fill('agent 9999');
        await page.getByText('1–11 of 11').waitFor();
        await page.goto(`${console.service.url}/admin/agents/${agentId}?when=all`);
        await page.getByText('1–50 of 50,000').waitFor();
        assert.equal(await rows(), 50);
        await page.getByRole('button', { name: 'Next' }).click();
        await page.getByText('51–100 of 50,000').waitFor();
        await page.getByRole('searchbox', { name: 'Search events' }).fill('event 4999');
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
