// The events of all agents in the console: finding who published something, filters, the panel, and deleting what matches.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import type { Client } from '../support/client.ts';
import type { Engine } from '../support/engines.ts';
import { size } from '../support/sizes.ts';
import { assertClean, type ConsoleUnderTest, openConsole, untilLoaded, type Visit } from './console.ts';

const SPAM = 230;

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  describe(`events of all agents in the console on ${engine}`, () => {
    let console: ConsoleUnderTest;
    let visit: Visit;
    let page: Page;
    let guide: Client;
    let spammer: Client;

    before(async () => {
      console = await openConsole(engine);
      guide = await console.service.client.register('City guide');
      spammer = await console.service.client.register('Totally honest');
      for (const [day, title] of ['Jazz night', 'Watch fair', 'Cheap seats', 'Open air'].entries())
        await guide.create({ title, start_at: `2031-05-0${day + 1}T18:00:00Z`, location_name: 'Stadthalle' });
      await guide.create({ title: 'Long ago', start_at: '2020-01-01T10:00:00Z', event_type: 'talk' });
      for (let number = 0; number < SPAM; number++) {
        const title = `CHEAP WATCHES ${number}`;
        await spammer.create({ title, start_at: '2031-06-01T18:00:00Z', lat: number / 10 });
      }
      visit = await console.visit();
      page = visit.page;
      await visit.signIn();
    });
    after(() => console.close());

    let clicks = 0;
    const click = async (role: 'link' | 'button', name: string) => {
      clicks++;
      await page.getByRole(role, { name, exact: true }).first().click();
    };
    const titles = async (): Promise<string[]> => {
      await untilLoaded(page);
      return page.locator('tbody .column-title .row-link').allInnerTexts();
    };
    const open = async (query = '') => {
      await page.goto(`${console.service.url}/admin/events${query}`);
      await page.getByRole('heading', { name: 'Events' }).waitFor();
    };
    const search = () => page.getByRole('searchbox', { name: 'Search events' });
    const choice = (name: string) => page.getByRole('combobox', { name, exact: true });
    const total = (text: string) => page.locator('.totals').getByText(text, { exact: true }).waitFor();

    it('find who published CHEAP WATCHES in at most 3 clicks from the overview', async () => {
      await page.goto(`${console.service.url}/admin`);
      clicks = 0;
      await click('link', 'Events');
      await search().waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('CHEAP WATCHES');
      await total(`${SPAM} events`);
      await page.getByRole('link', { name: 'Totally honest' }).first().waitFor();
      await click('link', 'Totally honest');
      await page.getByRole('heading', { name: 'Totally honest' }).waitFor();
      assert.ok(clicks <= 3, `${clicks} clicks`);
    });

    it('show the newest first, with agent, start and the exact time of creation', async () => {
      await open();
      await total(`${SPAM + 5} events`);
      const row = page.locator('tbody tr').first();
      assert.match(await row.innerText(), /CHEAP WATCHES \d+/);
      assert.match(await row.locator('.column-agent').innerText(), /Totally honest/);
      assert.match(await row.locator('.column-start').innerText(), /1 Jun 2031/);
      assert.match(await row.locator('.column-created').innerText(), /\d{2}:\d{2}:\d{2}/);
      await page.getByRole('columnheader', { name: 'Created' }).getByRole('button').click();
      assert.equal((await titles())[0], 'Jazz night');
      await page.getByRole('columnheader', { name: 'Start' }).getByRole('button').click();
      assert.equal((await titles())[0], 'Long ago');
    });

    it('find by an unfinished word, by place and by ID', async () => {
      await open();
      const found = async (text: string, ...expected: string[]) => {
        await search().fill(text);
        await page.waitForURL((url) => url.searchParams.get('q') === text);
        await total(expected.length === 1 ? '1 event' : `${expected.length} events`);
        assert.deepEqual((await titles()).toSorted(), expected.toSorted());
      };
      await found('jaz', 'Jazz night');
      await found('stadthalle', 'Jazz night', 'Watch fair', 'Cheap seats', 'Open air');
      await found('stadthalle -cheap op', 'Open air');
      const { events } = (await console.administrator.get('/v1/admin/events', { q: 'fair' })).body;
      await found(events[0].event_id, 'Watch fair');
      await search().fill('nothing like it');
      await page.getByText('No event matches').waitFor();
      await search().fill('-cheap');
      await page.getByText('must have a word to search for').waitFor();
      await page.getByRole('button', { name: 'Clear the search' }).click();
      await total(`${SPAM + 5} events`);
    });

    it('filter by time, type, creation and agent, and keep that over a reload', async () => {
      await open();
      await page.getByRole('tab', { name: 'Ended' }).click();
      await total('1 event');
      assert.deepEqual(await titles(), ['Long ago']);
      await choice('Type').selectOption('game');
      await page.getByText('No event matches').waitFor();
      await choice('Type').selectOption('talk');
      await choice('Created').selectOption('24h');
      await page.reload();
      await total('1 event');
      assert.equal(await choice('Type').inputValue(), 'talk');
      await page.getByRole('button', { name: 'Only events of City guide' }).click();
      await page.getByText('Agent: City guide').waitFor();
      await page.getByRole('tab', { name: 'All' }).click();
      await choice('Type').selectOption('');
      await total('5 events');
      await page.getByRole('button', { name: 'Show events of all agents' }).click();
      await total(`${SPAM + 5} events`);
    });

    it('show an event with its agent, and step to the previous and next', async () => {
      await open('?q=stadthalle&sort=start_at');
      await page.getByRole('button', { name: 'Watch fair' }).click();
      const panel = page.getByRole('dialog');
      const heading = (name: string) => panel.getByRole('heading', { name }).waitFor();
      await heading('Watch fair');
      await panel.getByRole('link', { name: 'City guide' }).waitFor();
      await panel.getByRole('button', { name: 'Next event' }).click();
      await heading('Cheap seats');
      await panel.getByRole('button', { name: 'Previous event' }).press('Enter');
      await heading('Watch fair');
      await panel.getByRole('button', { name: 'Previous event' }).press('Enter');
      await heading('Jazz night');
      assert.equal(
        await panel.getByRole('button', { name: 'Previous event' }).getAttribute('aria-disabled'),
        'true',
      );
      await page.keyboard.press('Escape');
      await panel.waitFor({ state: 'detached' });
      assert.match(page.url(), /q=stadthalle/);
      assert.doesNotMatch(page.url(), /event=/);
    });

    it('open an event that a link leads to, also if it is not on the page', async () => {
      const { events } = (await console.administrator.get('/v1/admin/events', { q: 'long ago' })).body;
      await open(`?event=${events[0].event_id}`);
      await page.getByRole('dialog').getByRole('heading', { name: 'Long ago' }).waitFor();
    });

    it('delete selected events of several agents', async () => {
      await open('?q=cheap+seats');
      await search().fill('cheap');
      await total(`${SPAM + 1} events`);
      await page.getByRole('columnheader', { name: 'Created' }).getByRole('button').click();
      await page.getByLabel('Select Cheap seats').check();
      await page
        .getByLabel(/^Select CHEAP WATCHES/)
        .first()
        .check();
      await page.getByRole('button', { name: 'Delete selected (2)' }).click();
      const dialog = page.getByRole('dialog');
      assert.match(
        await dialog.innerText(),
        /2 events of 2 agents will be deleted:\s+Cheap seats\s+City guide/,
      );
      await dialog.getByRole('button', { name: 'Delete 2 events' }).click();
      await page.getByRole('status').getByText('Deleted 2 events.').waitFor();
      await total(`${SPAM - 1} events`);
    });

    it('stop deleting what matches, and delete the rest in three clicks', async () => {
      await open('?q=cheap');
      await total(`${SPAM - 1} events`);
      // The second slice does not begin before the button was pressed.
      const held = Promise.withResolvers<void>();
      let slices = 0;
      await page.route('**/v1/admin/events/delete', async (route) => {
        if (++slices === 2) await held.promise;
        await route.continue();
      });
      await page.getByRole('button', { name: `Select all ${SPAM - 1} that match` }).click();
      await page.getByRole('button', { name: `Delete selected (${SPAM - 1})` }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: `Delete ${SPAM - 1} events` }).click();
      await dialog.getByText(`100 of ${SPAM - 1} events deleted`).waitFor();
      await dialog.getByRole('button', { name: 'Stop' }).click();
      await dialog.getByText('Stopping…').waitFor();
      held.resolve();
      await page.getByRole('status').getByText('Stopped. Deleted 200 events.').waitFor();
      await total(`${SPAM - 201} events`);
      clicks = 0;
      await click('button', `Select all ${SPAM - 201} that match`);
      await click('button', `Delete selected (${SPAM - 201})`);
      clicks++;
      await dialog.getByRole('button', { name: `Delete ${SPAM - 201} events` }).click();
      await page
        .getByRole('status')
        .getByText(`Deleted ${SPAM - 201} events.`)
        .last()
        .waitFor();
      assert.ok(clicks <= 3);
      await page.getByText('No event matches').waitFor();
      const left = (await console.administrator.get('/v1/admin/events', {})).body;
      assert.deepEqual(
        left.events.map(({ title }: { title: string }) => title),
        ['Long ago', 'Open air', 'Watch fair', 'Jazz night'],
      );
      assertClean(visit);
    });

    it('give up a search when the user types on', async () => {
      await open();
      const given: string[] = [];
      page.on('requestfailed', (request) => given.push(decodeURIComponent(request.url())));
      await page.route('**/v1/admin/events?*q=ope*', () => {}); // never answered
      await search().fill('ope');
      await page.waitForRequest(/q=ope/);
      await search().fill('jazz');
      await total('1 event');
      assert.ok(given.some((url) => /q=ope/.test(url)));
    });
  });
}
