// What an administrator does about a spammer, and about an agent that lost its key: in one step, with what can be undone undone.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { assertError } from '../support/client.ts';
import type { Engine } from '../support/engines.ts';
import { findOverflow, findViolations } from '../support/page-checks.ts';
import { size } from '../support/sizes.ts';
import { assertClean, type ConsoleUnderTest, openConsole, untilLoaded, type Visit } from './console.ts';

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  describe(`moderation in the console on ${engine}`, () => {
    let console: ConsoleUnderTest;
    let visit: Visit;
    let page: Page;
    before(async () => {
      console = await openConsole(engine);
      visit = await console.visit();
      page = visit.page;
      await visit.signIn();
    });
    after(() => console.close());

    const open = (path: string) => page.goto(`${console.service.url}/admin${path}`);
    const dialog = () => page.getByRole('dialog').last();
    const asked = async () => (await dialog().innerText()).replaceAll(/\s+/g, ' ');
    const outcome = (text: string) => page.getByRole('status').getByText(text).waitFor();
    const button = (name: string | RegExp) => page.getByRole('button', { name });
    const newAgent = async (name: string, titles: readonly string[]) => {
      const agent = await console.service.client.register(name);
      const events = [];
      for (const title of titles) events.push(await agent.create({ title, location_name: name }));
      return { agent, events, agentId: events[0].agent_id as string };
    };
    const isActive = async (agentId: string) =>
      (await console.administrator.get(`/v1/admin/agents/${agentId}`)).body.is_active as boolean;
    const titlesOf = async (agentId: string) =>
      (await console.administrator.get(`/v1/admin/agents/${agentId}/events`)).body.events.map(
        ({ title }: { title: string }) => title,
      );

    it('deletes all events of an agent and deactivates it in one step, and undoes both', async () => {
      const { agent, agentId } = await newAgent('Watch shop', ['Watches 1', 'Watches 2']);
      await open(`/agents/${agentId}`);
      await button('More actions').click();
      await button('Delete all events').click();
      await dialog().getByLabel('Also deactivate the agent').check();
      await dialog().getByRole('button', { name: 'Delete 2 events and deactivate' }).click();
      await outcome('Deleted all events of Watch shop, and deactivated it.');
      await page.getByText('This agent has no events.').waitFor();
      await button('Reactivate').waitFor();
      assertError(await agent.nearby(), 401, 'INVALID_API_KEY');
      assert.deepEqual([await isActive(agentId), await titlesOf(agentId)], [false, []]);
      await button('Undo').click();
      await outcome('Restored 2 events.');
      await button('Deactivate').waitFor();
      assert.equal(await isActive(agentId), true);
      assert.equal((await titlesOf(agentId)).length, 2);
    });

    it('deletes what matches and deactivates its agent, and shows what is left', async () => {
      const { agentId } = await newAgent('Watch stall', ['Cheap clocks 1', 'Cheap clocks 2', 'Flea market']);
      await open('/events?q=clocks');
      await button('Select all 2 that match').click();
      await button('Delete selected (2)').click();
      await dialog().getByLabel('Also deactivate the agent').check();
      assert.match(await asked(), /2 events of Watch stall will be deleted\./);
      await dialog().getByRole('button', { name: 'Delete 2 events and deactivate' }).click();
      await outcome('Deleted 2 events. Deactivated Watch stall.');
      await page.getByText('No event matches').waitFor();
      assert.deepEqual([await isActive(agentId), await titlesOf(agentId)], [false, ['Flea market']]);
    });

    it('says of how many agents the events are that it deletes', async () => {
      await newAgent('North', ['Solstice fire', 'Solstice dance']);
      await newAgent('South', ['Solstice swim']);
      await open('/events?q=solstice');
      await button('Select all 3 that match').click();
      await button('Delete selected (3)').click();
      await dialog().getByText('2 agents').waitFor();
      assert.match(await asked(), /the filters: 3 events of 2 agents will be deleted\./);
      assert.equal(await dialog().getByLabel('Also deactivate the agent').count(), 0);
      await dialog().getByRole('button', { name: 'Cancel' }).click();
      await button('Clear the selection').click();
      await page.getByLabel('Select Solstice fire').check();
      await page.getByLabel('Select Solstice swim').check();
      await button('Delete selected (2)').click();
      assert.match(await asked(), /2 events of 2 agents will be deleted:/);
      await dialog().getByRole('button', { name: 'Cancel' }).click();
    });

    it('deletes an agent that can be restored without typing its name, and offers to restore it on its page', async () => {
      const { agent, agentId } = await newAgent('Mistaken', ['Choir', 'Chess']);
      await open(`/agents/${agentId}`);
      await button('More actions').click();
      await button('Delete agent').click();
      await dialog().getByLabel('Delete for good').waitFor();
      assert.equal(await dialog().getByRole('textbox').count(), 0);
      await dialog().getByLabel('Delete for good').check();
      await dialog().getByRole('textbox').waitFor();
      assert.ok(await dialog().getByRole('button', { name: 'Delete agent' }).isDisabled());
      await dialog().getByLabel('Delete for good').uncheck();
      await dialog().getByRole('button', { name: 'Delete agent' }).click();
      await outcome('Deleted Mistaken, its keys and all its events.');
      await open(`/agents/${agentId}`);
      await page.getByRole('heading', { name: 'Mistaken' }).waitFor();
      const said = await page.locator('main').innerText();
      assert.match(
        said,
        /deleted by ada@example\.com .*, with its keys and 2 events\. It can be restored until/,
      );
      await assertAccessible(page);
      await button('Restore agent').click();
      await dialog().getByRole('button', { name: 'Restore', exact: true }).click();
      await outcome('Restored 2 events.');
      await page.getByRole('tab', { name: 'Events 2' }).waitFor();
      assert.equal((await agent.nearby()).status, 200);
    });

    it('offers nothing for an agent that was deleted for good, or never existed', async () => {
      const { agentId } = await newAgent('For good', ['Gone']);
      await console.administrator.delete(`/v1/admin/agents/${agentId}?for_good=true`);
      await open(`/agents/${agentId}`);
      await page.getByText('It can no longer be restored.').waitFor();
      assert.equal(await button('Restore agent').count(), 0);
      await open('/agents/0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90');
      await page.getByText('There is no such agent.').waitFor();
    });

    it('gives an agent a new key, shows it once, and ends the others', async () => {
      const { agent, agentId } = await newAgent('Forgetful', ['Lecture']);
      await open(`/agents/${agentId}?tab=keys`);
      await button('New key').click();
      assert.match(await asked(), /Its other key stops working at once, and its grants end\./);
      await assertAccessible(page);
      await dialog().getByRole('button', { name: 'Create new key' }).click();
      await dialog().getByText('It is shown only once.').waitFor();
      await assertAccessible(page);
      const key = await dialog().locator('code').innerText();
      await page.keyboard.press('Escape');
      await page.mouse.click(5, 5);
      assert.equal(await dialog().locator('code').innerText(), key, 'only its button closes it');
      await dialog().getByRole('button', { name: 'Done' }).click();
      await page.getByRole('row', { name: key.slice(0, 8) }).waitFor();
      assert.equal(await page.locator('tbody tr').count(), 1);
      assert.ok(!(await page.content()).includes(key));
      assertError(await agent.nearby(), 401, 'INVALID_API_KEY');
      const renewed = console.service.client.with({ 'x-api-key': key });
      assert.equal((await renewed.get('/v1/agents/me')).body.agent.agent_name, 'Forgetful');
      await open('/audit');
      await page
        .locator('tbody tr')
        .first()
        .getByText(/Forgetful/)
        .waitFor();
      const { entries } = (await console.administrator.get('/v1/admin/audit', { limit: 1 })).body;
      assert.deepEqual([entries[0].action, entries[0].detail.key_prefix], ['new_key', key.slice(0, 8)]);
    });

    it('filters events by status, place and the last change, in the URL', async () => {
      const guide = await console.service.client.register('City guide');
      const at = async (title: string, lat: number, lng: number) =>
        (await guide.create({ title, lat, lng })).event_id as string;
      const tokyo = await at('Filtered in Tokyo', 35.69, 139.7);
      await at('Filtered in Oslo', 59.91, 10.75);
      await guide.patch(`/v1/events/${tokyo}`, { status: 'cancelled' });
      const shown = async (...titles: string[]) => {
        await page.locator('.totals').getByText(`${titles.length} event`).waitFor();
        await untilLoaded(page);
        assert.deepEqual((await page.locator('tbody .row-link').allInnerTexts()).toSorted(), titles);
      };
      const choice = (name: string) => page.getByRole('combobox', { name, exact: true });
      await open('/events?q=filtered');
      await shown('Filtered in Oslo', 'Filtered in Tokyo');
      await choice('Status').selectOption('cancelled');
      await shown('Filtered in Tokyo');
      await choice('Status').selectOption('scheduled');
      await shown('Filtered in Oslo');
      await choice('Status').selectOption('');
      await choice('Place').selectOption('Tokyo');
      await shown('Filtered in Tokyo');
      await choice('Within').selectOption('1');
      await page.getByText('No event matches').waitFor();
      await choice('Place').selectOption('Coordinates…');
      const coordinates = page.getByRole('textbox', { name: 'Coordinates' });
      await coordinates.fill('somewhere');
      await page.keyboard.press('Enter');
      await page.getByText('Type latitude and longitude').waitFor();
      await assertAccessible(page);
      await coordinates.fill('59.91, 10.75');
      await page.keyboard.press('Enter');
      await shown('Filtered in Oslo');
      await page.reload();
      await shown('Filtered in Oslo');
      assert.equal(await coordinates.inputValue(), '59.91, 10.75');
      await choice('Updated').selectOption('Today');
      await shown('Filtered in Oslo');
      const sent = page.waitForRequest((request) => request.url().includes('updated_after='));
      await page.reload();
      const from = new URL((await sent).url()).searchParams.get('updated_after')!;
      const midnight = new Date(await page.evaluate<number>('new Date().setHours(0, 0, 0, 0)'));
      assert.equal(from, midnight.toISOString());
      await choice('Place').selectOption('');
      await shown('Filtered in Oslo', 'Filtered in Tokyo');
      await page.getByRole('button', { name: 'Filtered in Tokyo' }).click();
      await dialog().getByRole('button', { name: 'Only events near here' }).click();
      await shown('Filtered in Tokyo');
    });

    it('moves through events with the arrow keys, in the list and in the panel', async () => {
      await newAgent('Arrows', ['Arrow one', 'Arrow two', 'Arrow three']);
      const focused = () => page.evaluate<string>('document.activeElement.innerText');
      const shown = (title: string) => dialog().getByRole('heading', { name: title }).waitFor();
      await open('/events?q=arrow');
      await button('Arrow three').waitFor();
      await page.getByRole('searchbox').press('ArrowDown');
      assert.equal(await focused(), 'Arrow three');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      assert.equal(await focused(), 'Arrow one');
      await page.keyboard.press('ArrowUp');
      assert.equal(await focused(), 'Arrow two');
      await page.keyboard.press('Enter');
      await shown('Arrow two');
      await page.keyboard.press('ArrowRight');
      await shown('Arrow one');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowUp');
      await shown('Arrow two');
      await page.keyboard.press('ArrowLeft');
      await shown('Arrow three');
      await dialog().getByRole('button', { name: 'Delete event' }).click();
      await dialog().getByLabel('Delete for good').waitFor();
      await page.keyboard.press('ArrowRight');
      await dialog().getByRole('button', { name: 'Cancel' }).click();
      await shown('Arrow three');
      await page.keyboard.press('ArrowRight');
      await shown('Arrow two');
      await page.keyboard.press('Escape');
      await dialog().waitFor({ state: 'detached' });
      assert.equal(await focused(), 'Arrow two', 'the event that was shown last');
    });

    for (const locale of ['en-GB', 'en-US', 'de-DE'])
      it(`shows each time in one line at 1280 pixels, in ${locale}`, async () => {
        const { agent, agentId } = await newAgent(`Times ${locale}`, ['Times here']);
        const start_at = '2031-09-24T12:00:00Z';
        for (const timezone of ['Asia/Kolkata', 'Australia/Lord_Howe', 'America/Argentina/Buenos_Aires'])
          await agent.create({ title: `Times ${timezone}`, timezone, start_at });
        await console.administrator.patch(`/v1/admin/agents/${agentId}`, { tier: 'readwrite' });
        const other = await console.visit('/admin', { locale });
        await other.signIn();
        for (const path of [
          '/events?q=times',
          `/agents/${agentId}`,
          `/agents/${agentId}?tab=keys`,
          '/audit',
        ]) {
          await other.page.goto(`${console.service.url}/admin${path}`);
          await untilLoaded(other.page);
          const broken = await other.page.evaluate(BROKEN_TIMES);
          assert.deepEqual(broken, [], path);
          assert.equal(await findOverflow(other.page), 0, path);
        }
        await other.context.close();
      });

    it('causes no errors in the browser', () => assertClean(visit));
  });
}

/** Runs in the page: the times in cells that take more than a line, or more than their cell. */
const BROKEN_TIMES = `[...document.querySelectorAll('td time, td .second')]
  .filter((time) => time.closest('td').clientWidth > 0 && time.getClientRects().length > 0 && !time.closest('.column-title, .column-what'))
  .filter((time) => time.getBoundingClientRect().height > 30 ||
    time.getBoundingClientRect().right > time.closest('td').getBoundingClientRect().right)
  .map((time) => time.innerText)`;

async function assertAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await findViolations(page), [], colorScheme);
  }
}
