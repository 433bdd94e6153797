// The lists of the console in a browser: search, sort and pages; a reload shows the same again.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import type { Client } from '../support/client.ts';
import type { Engine } from '../support/engines.ts';
import { size } from '../support/sizes.ts';
import { assertClean, type ConsoleUnderTest, openConsole, untilLoaded, type Visit } from './console.ts';

const AGENTS = 120;
const EVENTS = 60;

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  describe(`the lists of the console on ${engine}`, () => {
    let console: ConsoleUnderTest;
    let visit: Visit;
    let page: Page;
    let busiest: Client;

    before(async () => {
      console = await openConsole(engine);
      const { client } = console.service;
      const clients = await Promise.all(
        Array.from({ length: AGENTS }, (_, number) => client.register(`Agent ${AGENTS - number}`)),
      );
      busiest = clients[0]!;
      const days = Array.from({ length: EVENTS }, (_, number) => number);
      await Promise.all(
        days.map((day) =>
          busiest.create({
            title: `Concert ${String(EVENTS - day).padStart(2, '0')}`,
            start_at: new Date(Date.now() + (day + 1) * 86_400_000).toISOString(),
            event_type: day % 2 ? 'talk' : 'game',
            location_name: day === 3 ? 'Ärztehaus' : 'Town hall',
          }),
        ),
      );
      await busiest.create({ title: 'Long ago', start_at: '2020-01-01T10:00:00Z' });
      visit = await console.visit();
      page = visit.page;
      await visit.signIn();
    });
    after(() => console.close());

    /** The texts of a column, once the list has loaded. */
    const column = async (name: string): Promise<string[]> => {
      await untilLoaded(page);
      return page.locator(`tbody .column-${name}`).allInnerTexts();
    };
    const busiestId = async (): Promise<string> => {
      const { agents } = (await console.administrator.get('/v1/admin/agents', { sort: '-event_count' })).body;
      return agents[0].id;
    };
    const sortBy = (name: string) => page.getByRole('columnheader', { name }).getByRole('button').click();

    it('show the counts', async () => {
      const counts = page.getByRole('region', { name: 'Counts' });
      await counts.getByText(String(AGENTS), { exact: true }).waitFor();
      const said = (await counts.innerText()).replaceAll(/\s+/g, ' ');
      assert.match(said, /Agents 120 .*Active today 1 .*Events 61 .*Upcoming 60 /);
    });

    it('show the newest agents first, in pages with Next and Previous', async () => {
      const first = await column('name');
      assert.equal(first.length, 50);
      await page.getByText('1–50 of 120').waitFor();
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByText('51–100 of 120').waitFor();
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByText('101–120 of 120').waitFor();
      assert.equal((await column('name')).length, 20);
      await page.getByRole('button', { name: 'Previous' }).click();
      await page.getByText('51–100 of 120').waitFor();
      const second = await column('name');
      assert.deepEqual(
        second.filter((name) => first.includes(name)),
        [],
      );
      await page.reload();
      await page.getByText('51–100 of 120').waitFor();
      assert.deepEqual(await column('name'), second);
      await page.getByRole('button', { name: 'Previous' }).click();
      await page.getByText('1–50 of 120').waitFor();
      assert.deepEqual(await column('name'), first);
    });

    it('sort by every column, both ways', async () => {
      const keys = ['Name', 'E-mail', 'Tier', 'Active', 'Events', 'Last used', 'Created'];
      for (const name of keys) {
        await sortBy(name);
        const sorted = page.locator('th[aria-sort]').filter({ hasText: name });
        const first = await sorted.getAttribute('aria-sort');
        await column('name');
        await sortBy(name);
        const other = first === 'ascending' ? 'descending' : 'ascending';
        await page.locator(`th[aria-sort=${other}]`).filter({ hasText: name }).waitFor();
      }
      await sortBy('Events');
      assert.equal((await column('events'))[0], '61');
      await sortBy('Name');
      assert.deepEqual((await column('name')).slice(0, 3).map(firstLine), [
        'Agent 1',
        'Agent 10',
        'Agent 100',
      ]);
    });

    it('find agents in any case, and say if nothing matches', async () => {
      const search = page.getByRole('searchbox', { name: 'Search agents' });
      await page.keyboard.press('/');
      await page.keyboard.type('aGENT 11');
      await page.getByText('1–11 of 11').waitFor();
      await search.fill('no such agent');
      await page.getByText('No agent matches').waitFor();
      await page.getByRole('button', { name: 'Clear the search' }).click();
      await page.getByText('1–50 of 120').waitFor();
      await search.fill('agent 117');
      await page.getByText('1–1 of 1').waitFor();
      await page.getByRole('link', { name: 'Agent 117' }).click();
      await page.getByText('This agent has no events.').waitFor();
      await page.goBack();
      await page.getByText('1–1 of 1').waitFor();
      assert.equal(await search.inputValue(), 'agent 117');
    });

    it('show one agent and its events: upcoming, past, all, found and sorted', async () => {
      await page.goto(`${console.service.url}/admin?sort=-event_count`);
      await page.getByRole('link', { name: 'Agent 120', exact: true }).click();
      await page.getByRole('heading', { name: 'Agent 120', level: 1 }).waitFor();
      await page.getByText('1–50 of 60').waitFor();
      assert.equal(firstLine((await column('title'))[0]!), 'Concert 60');
      await page.getByRole('tab', { name: 'Ended' }).click();
      await page.getByText('1–1 of 1').waitFor();
      assert.equal(firstLine((await column('title'))[0]!), 'Long ago');
      await page.getByRole('tab', { name: 'All' }).click();
      await page.getByText('1–50 of 61').waitFor();
      await sortBy('Title');
      await page.waitForURL(/sort=title/);
      assert.equal(firstLine((await column('title'))[0]!), 'Concert 01');
      await page.getByRole('tab', { name: 'Upcoming' }).click();
      await page.getByText('1–50 of 60').waitFor();
      assert.match(page.url(), /sort=title/);
      await page.getByRole('tab', { name: 'All' }).click();
      await page.getByText('1–50 of 61').waitFor();
      await page.getByRole('searchbox', { name: 'Search events' }).fill('ÄRZTEHAUS');
      await page.getByText('1–1 of 1').waitFor();
      const facts = (await page.locator('dl[aria-label=Details]').innerText()).replaceAll(/\s+/g, ' ');
      assert.match(facts, /E-mail agent@example\.com Tier readwrite Events 61 /);
    });

    it('show an event in full, at its own URL', async () => {
      await page.getByRole('button', { name: /^Concert/ }).click();
      const dialog = page.getByRole('dialog');
      await dialog.waitFor();
      const said = (await dialog.innerText()).replaceAll(/\s+/g, ' ');
      assert.match(said, /Timezone Europe\/Berlin Place Ärztehaus/);
      assert.match(said, /Address not given Coordinates 52\.52, 13\.405 Audience all/);
      await page.reload();
      await dialog.waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      assert.doesNotMatch(page.url(), /event=/);
    });

    it('say if an agent does not exist', async () => {
      await page.goto(`${console.service.url}/admin/agents/0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90`);
      await page.getByText('There is no such agent. It may have been deleted.').waitFor();
      await page.goto(`${console.service.url}/admin/agents/nonsense`);
      await page.getByText('the ID in the URL is not valid').waitFor();
    });

    it('use the default for an invalid sort or filter in the URL', async () => {
      await page.goto(`${console.service.url}/admin?sort=bogus`);
      await page.getByText('1–50 of 120').waitFor();
      await page.locator('th[aria-sort=descending]').filter({ hasText: 'Created' }).waitFor();
      await page.goto(`${console.service.url}/admin/agents/${await busiestId()}?sort=-bogus&when=never`);
      await page.getByText('1–50 of 60').waitFor();
      await page.locator('th[aria-sort=ascending]').filter({ hasText: 'Start' }).waitFor();
      await page.getByRole('tab', { name: 'Upcoming', selected: true }).waitFor();
    });

    it('say why a search is refused, instead of the list', async () => {
      const tooLong = 'x'.repeat(201);
      for (const path of ['/admin', `/admin/agents/${await busiestId()}`]) {
        await page.goto(`${console.service.url}${path}?q=${tooLong}`);
        assert.match(await page.getByRole('alert').innerText(), /200/);
        await page.getByRole('button', { name: 'Clear the search' }).click();
        await page.getByText(/^1–50 of/).waitFor();
        await page.getByRole('heading', { name: /^Agent/, level: 1 }).waitFor();
      }
    });

    it('keep the agent, the search and the focus if a search fails', async () => {
      const search = page.getByRole('searchbox', { name: 'Search events' });
      const body = { error: { code: 'UNAVAILABLE', message: 'Not now.' } };
      await page.route('**/events?*q=concert*', (route) => route.fulfill({ status: 503, json: body }));
      await search.fill('concert');
      await page.getByRole('tabpanel').getByRole('alert').getByText('Not now.').waitFor();
      await page.getByRole('heading', { name: 'Agent 120', level: 1 }).waitFor();
      assert.ok(await page.getByRole('button', { name: 'Change tier' }).isVisible());
      assert.ok(await search.evaluate((field) => field === field.ownerDocument.activeElement));
      await page.unrouteAll();
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('1–50 of 60').waitFor();
      assert.equal(await search.inputValue(), 'concert');
    });

    it('use the ID as the title of the tab if the name is invisible', async () => {
      const unseen = await console.service.client.register('\u200b\u202e');
      const { agent_id } = await unseen.create();
      await page.goto(`${console.service.url}/admin/agents/${agent_id}`);
      await page.locator('dl[aria-label=Details] code').waitFor();
      assert.equal(await page.title(), `${agent_id} · local-events`);
      await console.administrator.delete(`/v1/admin/agents/${agent_id}`);
    });

    it('show the previous page if all rows of a page are gone', async () => {
      await page.goto(`${console.service.url}/admin`);
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByText('51–100 of 120').waitFor();
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByText('101–120 of 120').waitFor();
      const links = await page.locator('tbody .column-name a').all();
      const ids = await Promise.all(
        links.map(async (link) => (await link.getAttribute('href'))!.split('/').at(-1)!),
      );
      const [last, ...others] = ids;
      for (const id of others) await console.administrator.delete(`/v1/admin/agents/${id}`);
      await page.locator(`a[href$="${last}"]`).click();
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('button', { name: 'Delete agent' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Delete agent' }).click();
      await page.getByText('51–100 of 100').waitFor();
      assert.ok(await page.getByRole('button', { name: 'Previous' }).isVisible());
    });

    it('cause no errors in the browser', () => assertClean(visit));
  });
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!;
}
