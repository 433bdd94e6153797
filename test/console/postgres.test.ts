// The console on PostgreSQL, where the engine decides what it shows: counts, pages, sorting, search, deletes and their audit
// entries. `npm run test:long` runs all other tests of the console on both engines.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { assertClean, type ConsoleUnderTest, openConsole, type Visit } from './console.ts';

const AGENTS = 60;

describe('the console on postgres', () => {
  let console: ConsoleUnderTest;
  let visit: Visit;
  let page: Page;

  before(async () => {
    console = await openConsole('postgres');
    const { client } = console.service;
    const names = Array.from({ length: AGENTS }, (_, number) => `Agent ${AGENTS - number}`);
    const [busiest] = await Promise.all(names.map((name) => client.register(name)));
    for (const day of [1, 2, 3]) {
      await busiest!.create({
        title: `Concert ${4 - day}`,
        start_at: `2031-05-0${day}T18:00:00Z`,
        location_name: day === 3 ? 'Ärztehaus' : 'Town hall',
      });
    }
    await busiest!.create({ title: 'Long ago', start_at: '2020-01-01T10:00:00Z' });
    visit = await console.visit();
    page = visit.page;
    await visit.signIn();
  });
  after(() => console.close());

  const column = async (name: string): Promise<string[]> => {
    await page.locator('[aria-busy=true]').waitFor({ state: 'detached' });
    const texts = await page.locator(`tbody .column-${name}`).allInnerTexts();
    return texts.map((text) => text.split('\n', 1)[0]!);
  };
  const sortBy = (name: string) => page.getByRole('columnheader', { name }).getByRole('button').click();
  const firstOf = async (name: string, count: number) => (await column(name)).slice(0, count);

  it('shows the counts, and agents in pages', async () => {
    const counts = page.getByRole('region', { name: 'Counts' });
    await counts.getByText(String(AGENTS), { exact: true }).waitFor();
    const said = (await counts.innerText()).replaceAll(/\s+/g, ' ');
    assert.match(said, /Agents 60 .*Active today 1 .*Events 4 .*Upcoming 3 /);
    const first = await column('name');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('51–60 of 60').waitFor();
    const second = await column('name');
    assert.deepEqual([first.length, second.length, new Set([...first, ...second]).size], [50, 10, 60]);
    await page.getByRole('button', { name: 'Previous' }).click();
    await page.getByText('1–50 of 60').waitFor();
    assert.deepEqual(await column('name'), first);
  });

  it('sorts by every column, and finds agents in any case', async () => {
    for (const name of ['Name', 'E-mail', 'Tier', 'Active', 'Last used', 'Created', 'Events']) {
      await sortBy(name);
      await page.locator('th[aria-sort]').filter({ hasText: name }).waitFor();
      assert.equal((await column('name')).length, 50, name);
    }
    assert.deepEqual(await firstOf('events', 2), ['4', '0']);
    await sortBy('Name');
    await page.waitForURL(/sort=agent_name|sort=name/);
    assert.deepEqual(await firstOf('name', 3), ['Agent 1', 'Agent 10', 'Agent 11']);
    await page.getByRole('searchbox', { name: 'Search agents' }).fill('aGENT 5');
    await page.getByText('1–11 of 11').waitFor();
  });

  it('shows the events of an agent: upcoming, past, all, found and sorted', async () => {
    await page.goto(`${console.service.url}/admin?sort=-event_count`);
    await page.getByRole('link', { name: 'Agent 60', exact: true }).click();
    await page.getByText('1–3 of 3').waitFor();
    assert.deepEqual(await column('title'), ['Concert 3', 'Concert 2', 'Concert 1']);
    await page.getByRole('tab', { name: 'Past' }).click();
    await page.getByText('1–1 of 1').waitFor();
    assert.deepEqual(await column('title'), ['Long ago']);
    await page.getByRole('tab', { name: 'All' }).click();
    await page.getByText('1–4 of 4').waitFor();
    await sortBy('Title');
    await page.waitForURL(/sort=title/);
    assert.deepEqual(await column('title'), ['Concert 1', 'Concert 2', 'Concert 3', 'Long ago']);
    await page.getByRole('searchbox', { name: 'Search events' }).fill('ÄRZTEHAUS');
    await page.getByText('1–1 of 1').waitFor();
    assert.deepEqual(await column('title'), ['Concert 1']);
  });

  it('deletes an event, then its agent, and shows both in the audit log', async () => {
    await page.getByRole('button', { name: 'Concert 1' }).click();
    const dialog = () => page.getByRole('dialog').last();
    await dialog().getByRole('button', { name: 'Delete event' }).click();
    await page.getByText('This event will be deleted.').waitFor();
    await dialog().getByRole('button', { name: 'Delete event', exact: true }).click();
    await page.getByRole('status').getByText('Deleted “Concert 1”.').waitFor();
    await page.getByRole('button', { name: 'Delete agent' }).click();
    await dialog().getByText('3 events').waitFor();
    await dialog().getByRole('textbox').fill('Agent 60');
    await dialog().getByRole('button', { name: 'Delete agent' }).click();
    await page.getByRole('status').getByText('Deleted Agent 60, its keys and all its events.').waitFor();
    assert.equal((await console.administrator.get('/v1/admin/agents')).body.total, AGENTS - 1);
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByText('deleted the agent Agent 60').waitFor();
    await page.getByText('deleted the event Concert 1 of').waitFor();
    assert.match(await page.locator('tbody tr').first().innerText(), /ada@example\.com/);
  });

  it('ends a session with a sign-out', async () => {
    await page.getByRole('button', { name: 'Account of Ada Lovelace' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    assertClean(visit);
  });
});
