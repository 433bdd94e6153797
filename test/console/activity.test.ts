// Abuse is found on the overview: who created most today in few clicks, and what was created per day as charts and numbers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import type { Engine } from '../support/engines.ts';
import { size } from '../support/sizes.ts';
import { assertClean, type ConsoleUnderTest, openConsole, untilLoaded } from './console.ts';

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const MOST_CLICKS = 3;

/** Signs in; `clicks` counts from then on. Choosing in a select is two clicks. */
async function openOverview(console: ConsoleUnderTest, width: number) {
  const visit = await console.visit('/admin', {
    viewport: { width, height: 900 },
    bypassCSP: true,
    reducedMotion: 'reduce',
  });
  await visit.signIn();
  let clicks = 0;
  await visit.page.exposeFunction('countClick', () => clicks++);
  await visit.page.evaluate(
    `addEventListener('click', () => countClick(), true); addEventListener('change', () => { countClick(); countClick(); }, true)`,
  );
  await untilLoaded(visit.page);
  return { visit, page: visit.page, clicks: () => clicks };
}

const firstAgent = (page: Page) => page.locator('tbody .row-link').first();

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  describe(`activity in the console on ${engine}`, () => {
    let console: ConsoleUnderTest;
    before(async () => {
      console = await openConsole(engine);
      const { client } = console.service;
      const spammer = await client.register('Watch shop');
      for (let number = 0; number < 12; number++) await spammer.create({ title: `CHEAP WATCHES ${number}` });
      for (const name of ['City guide', 'Club', 'Idle']) {
        const agent = await client.register(name);
        if (name !== 'Idle') await agent.create({ title: name });
      }
    });
    after(() => console.close());

    it('shows who created most today in at most three clicks', async () => {
      const { visit, page, clicks } = await openOverview(console, 1280);
      assert.notEqual(await firstAgent(page).innerText(), 'Watch shop');
      await page.getByRole('columnheader', { name: '24 h' }).getByRole('button').click();
      await page.locator('th[aria-sort=descending]').filter({ hasText: '24 h' }).waitFor();
      await untilLoaded(page);
      assert.equal(await firstAgent(page).innerText(), 'Watch shop');
      assert.equal(await page.locator('tbody .column-day').first().innerText(), '12');
      assert.ok(clicks() <= MOST_CLICKS, `${clicks()} clicks`);
      await page.getByRole('columnheader', { name: '7 days' }).getByRole('button').click();
      await page.waitForURL(/sort=-events_7d/);
      await untilLoaded(page);
      assert.equal(await firstAgent(page).innerText(), 'Watch shop');
      assertClean(visit);
    });

    it('shows it on a narrow screen, too', async () => {
      const { visit, page, clicks } = await openOverview(console, 320);
      await page.getByLabel('Sort by').selectOption('-events_24h');
      await page.waitForURL(/sort=-events_24h/);
      await untilLoaded(page);
      assert.equal(await firstAgent(page).innerText(), 'Watch shop');
      await page.getByText('new: 12 in 24 h, 12 in 7 days').waitFor();
      assert.ok(clicks() <= MOST_CLICKS, `${clicks()} clicks`);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320);
      assertClean(visit);
    });

    it('shows and sorts by requests of the last hour, and how many of them were refused', async () => {
      const { visit, page } = await openOverview(console, 1280);
      await page.getByRole('columnheader', { name: 'Refused' }).getByRole('button').click();
      await page.waitForURL(/sort=-refusals_1h/);
      await page.getByRole('columnheader', { name: 'Requests' }).getByRole('button').click();
      await page.waitForURL(/sort=-requests_1h/);
      await untilLoaded(page);
      assert.equal(await firstAgent(page).innerText(), 'Watch shop');
      const found = await page
        .locator('.agents tbody tr')
        .first()
        .locator('.column-requests')
        .allInnerTexts();
      assert.deepEqual(found, ['12', '0']);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 1280);
      assertClean(visit);
    });

    it('has charts with a name, and their numbers as a table, by keyboard', async () => {
      const { visit, page } = await openOverview(console, 1280);
      const region = page.getByRole('region', { name: 'Created per day' });
      for (const [name, today] of [
        ['New events per day', 14],
        ['New agents per day', 4],
      ] as const) {
        await region.getByRole('img', { name }).waitFor();
        // Midnight in UTC may pass while this test runs.
        await region.getByText(`· ${today} in 30 days`).waitFor();
      }
      await region.getByText('Show the numbers').focus();
      await page.keyboard.press('Enter');
      const rows = await region.getByRole('row').allInnerTexts();
      assert.equal(rows.length, 31);
      const sums = rows.slice(1).map((row) => row.split('\t').slice(1).map(Number));
      assert.deepEqual(
        [0, 1].map((at) => sums.reduce((sum, row) => sum + row[at]!, 0)),
        [14, 4],
      );
      await page.evaluate(`(() => { ${AXE} })()`);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const found = await page.evaluate(
          'axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => id + nodes[0].html))',
        );
        assert.deepEqual(found, [], colorScheme);
      }
      assertClean(visit);
    });

    it('says if the charts cannot be loaded, and tries again', async () => {
      const visit = await console.visit();
      const { page } = visit;
      await page.route('**/v1/admin/activity*', (route) => route.abort(), { times: 1 });
      await visit.signIn();
      const region = page.getByRole('region', { name: 'Created per day' });
      await region.getByText('The charts could not be loaded').waitFor();
      await region.getByRole('button', { name: 'Try again' }).click();
      await region.getByRole('img', { name: 'New events per day' }).waitFor();
    });
  });
}
