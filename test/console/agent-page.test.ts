// The page of an agent and the filters of the audit log. Tasks of an administrator count their clicks from the overview: at most
// three to find something, and three more to act. Typing is free.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { assertError, type Client } from '../support/client.ts';
import type { Engine } from '../support/engines.ts';
import { size } from '../support/sizes.ts';
import { assertClean, type ConsoleUnderTest, openConsole, untilLoaded, type Visit } from './console.ts';

const MAX_CLICKS = 3;

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  describe(`the page of an agent on ${engine}`, () => {
    let console: ConsoleUnderTest;
    let visit: Visit;
    let page: Page;
    let agent: Client;
    let agentId: string;
    let clicks = 0;

    before(async () => {
      console = await openConsole(engine, { RATE_LIMIT_READWRITE: '50' });
      agent = await console.service.client.register('City guide');
      ({ agent_id: agentId } = await agent.create({ title: 'Night market' }));
      await agent.create({ title: 'Jazz in the park' });
      const other = await console.service.client.register('Other guide');
      const doomed = await other.create({ title: 'Jazz at the river' });
      await console.administrator.delete(`/v1/admin/events/${doomed.event_id}`);
      visit = await console.visit();
      page = visit.page;
      await visit.signIn();
    });
    after(() => console.close());

    const fromOverview = async () => {
      await page.goto(`${console.service.url}/admin`);
      await page.getByRole('link', { name: 'City guide' }).waitFor();
      clicks = 0;
    };
    const click = async (target: Locator) => {
      await target.click();
      clicks++;
    };
    /** Asserts that few clicks led here, and starts to count again. */
    const assertFewClicks = () => {
      assert.ok(clicks <= MAX_CLICKS, `${clicks} clicks`);
      clicks = 0;
    };
    const button = (name: string | RegExp) => page.getByRole('button', { name });
    const tab = (name: string) => page.getByRole('tab', { name });
    const dialog = () => page.getByRole('dialog').last();
    const outcome = (text: string) => page.getByRole('status').getByText(text).waitFor();

    it('finds in few clicks who deleted a named event', async () => {
      const { event_id } = await agent.create({ title: 'Lantern walk' });
      await console.administrator.delete(`/v1/admin/events/${event_id}`);
      await console.administrator.patch(`/v1/admin/agents/${agentId}`, { tier: 'readwrite' });
      await fromOverview();
      await click(page.getByRole('link', { name: 'Audit log' }));
      await page.getByRole('searchbox', { name: 'Search the audit log' }).fill('lantern');
      const weekAgo = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10);
      await page.getByLabel('From', { exact: true }).fill(weekAgo);
      await page.getByText('1 change', { exact: true }).waitFor();
      const row = page.locator('tbody tr');
      assert.equal(await row.count(), 1);
      assert.match(
        await row.innerText(),
        /ada@example\.com[\s\S]*deleted the event Lantern walk of City guide/,
      );
      assertFewClicks();
    });

    it('filters the audit log by kind, administrator, day and text, in the URL', async () => {
      await page.goto(`${console.service.url}/admin/audit`);
      const rows = page.locator('tbody tr');
      const total = (text: string) => page.locator('.list-total').getByText(text, { exact: true }).waitFor();
      await total('3 changes');
      await page.getByLabel('What').selectOption({ label: 'Deleted an event' });
      await total('2 changes');
      await page.getByLabel('Who').fill('ADA@example.com');
      await page.keyboard.press('Enter');
      await page.waitForURL(/actor=ADA/);
      await total('2 changes');
      await page.getByRole('searchbox').fill('river');
      await total('1 change');
      assert.match(await rows.innerText(), /Jazz at the river/);
      await page.reload();
      await total('1 change');
      assert.equal(await page.getByLabel('What').inputValue(), 'delete_event');
      await page.getByLabel('To', { exact: true }).fill('2020-01-01');
      await page.getByText('No change matches').waitFor();
      await page.getByRole('link', { name: 'Clear the filters' }).click();
      await total('3 changes');
      assert.equal(new URL(page.url()).search, '');
      assert.equal(await page.getByLabel('Who').inputValue(), '');
    });

    it('shows the use of its limits, with bars', async () => {
      const { body } = await console.administrator.get(`/v1/admin/agents/${agentId}`);
      await page.goto(`${console.service.url}/admin/agents/${agentId}`);
      const limits = page.getByRole('region', { name: 'Limits' });
      const { requests, events } = body.quota;
      await limits.getByText(`${requests.used} of 50`).waitFor();
      assert.match(await limits.innerText(), /resets in \d+ min/);
      await limits.getByText(`${events.used} of 100,000`).waitFor();
      await limits.getByText(/KB of 100 MB|B of 100 MB/).waitFor();
      const style = await limits.locator('.bar div').first().getAttribute('style');
      assert.equal(style, `width: ${(requests.used / 50) * 100}%;`);
    });

    it('has the counts on its tabs, which the keyboard moves between', async () => {
      await page.goto(`${console.service.url}/admin/agents/${agentId}`);
      await tab('Events 2').waitFor();
      await tab('Keys 1').waitFor();
      await tab('Grants 0').waitFor();
      await tab('History 2').waitFor();
      await tab('Events').focus();
      await page.keyboard.press('ArrowRight');
      await page.getByRole('table', { name: 'Keys' }).waitFor();
      assert.equal(new URL(page.url()).search, '?tab=keys');
      await page.keyboard.press('ArrowRight');
      await page.getByText('No grants', { exact: true }).waitFor();
      await page.keyboard.press('ArrowRight');
      await page.getByText('deleted the event Lantern walk').waitFor();
      await page.getByText('2 changes', { exact: true }).waitFor();
      assert.equal(await page.getByText('Jazz at the river').count(), 0, 'of another agent');
      await page.keyboard.press('ArrowRight');
      await button('Night market').waitFor();
      assert.equal(await page.locator(':focus').getAttribute('role'), 'tab');
    });

    it('lowers a tier in few clicks', async () => {
      await fromOverview();
      await page.getByRole('searchbox', { name: 'Search agents' }).fill('city');
      await click(page.getByRole('link', { name: 'City guide' }));
      await button('Change tier').waitFor();
      assertFewClicks();
      await click(button('Change tier'));
      await click(dialog().getByLabel('read', { exact: false }).first());
      await click(dialog().getByRole('button', { name: 'Change tier' }));
      await outcome('The tier of City guide is now read.');
      assertFewClicks();
      assertError(await agent.post('/v1/events', {}), 403, 'INSUFFICIENT_TIER');
    });

    it('revokes one key in few clicks, and keeps the other', async () => {
      const { body } = await agent.post('/v1/auth/rotate', {});
      const next = console.service.client.with({ 'x-api-key': body.api_key });
      const { keys } = (await console.administrator.get(`/v1/admin/agents/${agentId}`)).body;
      const [older, newer] = keys;
      assert.equal(newer.prefix, body.key_prefix);
      await fromOverview();
      await page.getByRole('searchbox', { name: 'Search agents' }).fill('city');
      await click(page.getByRole('link', { name: 'City guide' }));
      await click(tab('Keys 2'));
      const row = page.getByRole('row', { name: older.prefix });
      await row.waitFor();
      assertFewClicks();
      await click(row.getByRole('button', { name: `Revoke ${older.prefix}` }));
      await click(dialog().getByRole('button', { name: 'Revoke key' }));
      await outcome(`Revoked the key ${older.prefix}… of City guide.`);
      assertFewClicks();
      assertError(await agent.nearby(), 401, 'INVALID_API_KEY');
      assert.equal((await next.nearby()).status, 200);
      await tab('Keys 1').waitFor();
      await page.getByText('1 key', { exact: true }).waitFor();
      assert.equal(await page.locator(':focus').innerText(), '1 key');
      await tab('History').click();
      await page.getByText(`revoked the key ${older.prefix}… of City guide`, { exact: true }).waitFor();
      agent = next;
    });

    it('says that a key had already ended, and warns before the last one', async () => {
      const { keys } = (await console.administrator.get(`/v1/admin/agents/${agentId}`)).body;
      await page.goto(`${console.service.url}/admin/agents/${agentId}?tab=keys`);
      await button(/^Revoke/).click();
      await dialog().getByText('It is the only key').waitFor();
      assert.equal((await agent.post('/v1/auth/revoke')).status, 204);
      await dialog().getByRole('button', { name: 'Revoke key' }).click();
      await outcome(`The key ${keys[0].prefix}… had already ended.`);
      await page.getByText('No keys', { exact: true }).waitFor();
    });

    it('has its dangerous actions behind a menu, for the keyboard, too', async () => {
      await page.goto(`${console.service.url}/admin/agents/${agentId}`);
      const more = button('More actions');
      await more.waitFor();
      assert.equal(await button('Delete agent').isVisible(), false);
      await more.focus();
      await page.keyboard.press('Enter');
      await button('Delete agent').waitFor();
      await page.keyboard.press('Escape');
      await button('Delete agent').waitFor({ state: 'hidden' });
      assert.equal(await page.locator(':focus').getAttribute('aria-label'), 'More actions');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await dialog().getByText('will be deleted: the agent').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      assert.equal(await page.locator(':focus').getAttribute('aria-label'), 'More actions');
    });

    it('marks the chosen tab clearly in both colour schemes', async () => {
      await page.goto(`${console.service.url}/admin/agents/${agentId}`);
      await tab('Upcoming').waitFor();
      const styleOf = (selector: string, property: string) =>
        page.evaluate(
          `getComputedStyle(document.querySelector('${selector}')).${property}`,
        ) as Promise<string>;
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const list = brightness(await styleOf('#event-list-upcoming', 'backgroundColor'));
        const chosen = brightness(await styleOf('.section-head .tabs', 'backgroundColor'));
        assert.ok(Math.abs(chosen - list) >= 8, `${colorScheme}: ${chosen} on ${list}`);
        const [events, keys] = await Promise.all(
          ['events', 'keys'].map((name) => styleOf(`#agent-view-${name}`, 'borderBottomColor')),
        );
        assert.notEqual(events, keys);
      }
      await page.emulateMedia({ colorScheme: null });
    });

    it('signs out everywhere in few clicks', async () => {
      const elsewhere = await console.visit();
      await elsewhere.signIn();
      await elsewhere.page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
      await untilLoaded(elsewhere.page); // a request still in progress would end the session before the click
      await fromOverview();
      await click(button(/^Account of/));
      assertFewClicks();
      await click(button(/^Sign out everywhere/));
      await page.getByRole('link', { name: /^Sign in with/ }).waitFor();
      assertFewClicks();
      await elsewhere.page.getByRole('link', { name: 'Audit log' }).click();
      await elsewhere.page.getByRole('link', { name: /^Sign in with/ }).waitFor();
      await visit.signInAgain();
      await page.getByRole('link', { name: 'City guide' }).waitFor();
      assertClean(elsewhere);
    });

    it('causes no errors in the browser', () => assertClean(visit));
  });
}

/** From 0 to 255. */
function brightness(color: string): number {
  const [red = 0, green = 0, blue = 0] = color.match(/\d+/g)!.map(Number);
  return 0.3 * red + 0.6 * green + 0.1 * blue;
}
