// Undo in the console: from the notification after a delete, and from the audit log; and deletes for good. Clicks are counted.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import type { Client } from '../support/client.ts';
import type { Engine } from '../support/engines.ts';
import { size } from '../support/sizes.ts';
import { assertClean, type ConsoleUnderTest, openConsole, type Visit } from './console.ts';

/** Events of an agent, more than a page shows. */
const MANY = 120;

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  describe(`undo in the console on ${engine}`, () => {
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

    const dialog = () => page.getByRole('dialog').last();
    const status = (text: string) => page.getByRole('status').getByText(text).waitFor();
    const newAgent = async (name: string, count: number) => {
      const agent = await console.service.client.register(name);
      const made = await Promise.all(
        Array.from({ length: count }, (_, at) => agent.create({ title: `CHEAP WATCHES ${at + 1}` })),
      );
      return { agent, agentId: made[0].agent_id as string };
    };
    const eventsOf = async (agentId: string) =>
      (await console.administrator.get(`/v1/admin/agents/${agentId}/events`)).text.split('"events":')[1];
    /** From the overview on, the number of clicks. */
    const countClicks = async () => {
      await page.goto(`${console.service.url}/admin`);
      await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
      await page.evaluate(`window.clicks = 0; addEventListener('click', () => window.clicks++, true)`);
      return () => page.evaluate('window.clicks') as Promise<number>;
    };
    const heldBy = async (agent: Client) => (await agent.get('/v1/agents/me')).body.agent.event_count;

    it(`deletes ${MANY} events and restores them from the notification: 1 click to find, 3 to delete, 1 to restore`, async () => {
      const { agent, agentId } = await newAgent('Watch shop', MANY);
      const original = await eventsOf(agentId);
      const clicks = await countClicks();
      await page.getByRole('link', { name: 'Watch shop' }).click();
      await page.getByText(`1–50 of ${MANY}`).waitFor();
      assert.equal(await clicks(), 1);
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('button', { name: 'Delete all events' }).click();
      await dialog().getByText('Otherwise it can be restored for 7 days.').waitFor();
      await dialog()
        .getByRole('button', { name: `Delete ${MANY} events` })
        .click();
      await page.getByText('This agent has no events.').waitFor();
      assert.equal(await heldBy(agent), 0);
      await page.getByRole('status').getByRole('button', { name: 'Undo' }).click();
      await status(`Restored ${MANY} events.`);
      assert.equal(await clicks(), 5);
      // The list shows them again by itself.
      await page.getByText(`1–50 of ${MANY}`).waitFor();
      assert.ok((await eventsOf(agentId)) === original, 'the same bytes');
    });

    it('restores an agent from the audit log: 1 click to find, 2 to act', async () => {
      const { agent, agentId } = await newAgent('Deleted by mistake', 3);
      const original = await eventsOf(agentId);
      await console.administrator.delete(`/v1/admin/agents/${agentId}`);
      const clicks = await countClicks();
      await page.getByRole('link', { name: 'Audit log' }).click();
      const row = page.locator('tbody tr').first();
      await row.getByText('deleted the agent Deleted by mistake with its keys and 3 events').waitFor();
      await row.getByRole('button', { name: 'Restore' }).click();
      await dialog().getByText('All of it will come back as it was.').waitFor();
      await dialog().getByRole('button', { name: 'Restore' }).click();
      await status('Restored 3 events.');
      assert.equal(await clicks(), 3);
      await row.getByText('restored the agent Deleted by mistake with its keys and 3 events').waitFor();
      const undone = page.locator('tbody tr').nth(1);
      assert.match(await undone.innerText(), /restored (now|just now|.* ago)/);
      assert.equal(await undone.getByRole('button', { name: 'Restore' }).count(), 0);
      assert.ok((await eventsOf(agentId)) === original, 'the same bytes');
      assert.equal(await heldBy(agent), 3);
      await undone.getByText('Events', { exact: true }).click();
      const titles = await undone.locator('li').allInnerTexts();
      assert.deepEqual(titles.sort(), ['CHEAP WATCHES 1', 'CHEAP WATCHES 2', 'CHEAP WATCHES 3']);
    });

    it('says which events it skipped', async () => {
      const { agent, agentId } = await newAgent('Quick', 2);
      await console.administrator.delete(`/v1/admin/agents/${agentId}/events`);
      await agent.create({ title: 'CHEAP WATCHES 2' });
      await page.goto(`${console.service.url}/admin/audit`);
      await page.getByRole('button', { name: 'Restore' }).first().click();
      await dialog().getByRole('button', { name: 'Restore' }).click();
      await status('Restored 1 event. Skipped 1 event: “CHEAP WATCHES 2” (created again by its agent).');
      await page.locator('tbody tr').nth(1).getByText('partly restored').waitFor();
    });

    it('offers no undo for what is deleted for good', async () => {
      const { agentId } = await newAgent('For good', 2);
      await page.goto(`${console.service.url}/admin/agents/${agentId}`);
      await page.getByRole('button', { name: 'CHEAP WATCHES 1' }).click();
      await dialog().getByRole('button', { name: 'Delete event' }).click();
      await dialog().getByLabel('Delete for good').check();
      await dialog().getByText('Nothing is kept. This cannot be undone.').waitFor();
      await dialog().getByRole('button', { name: 'Delete event' }).click();
      await status('Deleted “CHEAP WATCHES 1”.');
      assert.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0);
      const { entries } = (
        await console.administrator.get('/v1/admin/audit', { limit: 1, include: 'details' })
      ).body;
      assert.deepEqual([entries[0].restorable_until, entries[0].target_name], [null, '']);
    });

    it('works with the keyboard alone', async () => {
      const { agent, agentId } = await newAgent('Keys', 2);
      await page.goto(`${console.service.url}/admin/agents/${agentId}`);
      await page.getByRole('button', { name: 'CHEAP WATCHES 1' }).focus();
      await page.keyboard.press('Enter');
      await dialog().waitFor();
      await tabTo(page, 'Delete event');
      await page.keyboard.press('Enter');
      await dialog().getByText('Otherwise it can be restored for 7 days.').waitFor();
      await tabTo(page, 'Delete event');
      await page.keyboard.press('Enter');
      await status('Deleted “CHEAP WATCHES 1”.');
      await tabTo(page, 'Undo');
      await page.keyboard.press('Enter');
      await status('Restored 1 event.');
      assert.equal(await heldBy(agent), 2);
    });

    it('causes no errors in the browser', () => assertClean(visit));
  });
}

describe('the console without undo', () => {
  it('says that a delete cannot be undone', async (t) => {
    const console = await openConsole('sqlite', { KEEP_DELETED_DAYS: '0' });
    t.after(() => console.close());
    const { agent_id } = await (await console.service.client.register('Gone')).create();
    const { page, signIn } = await console.visit(`/admin/agents/${agent_id}`);
    await signIn();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Delete all events' }).click();
    await page.getByRole('dialog').getByText('This cannot be undone.').waitFor();
    assert.equal(await page.getByRole('dialog').getByLabel('Delete for good').count(), 0);
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 1 event' }).click();
    await page.getByRole('status').getByText('Deleted all events of Gone.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0);
  });
});

/** Presses Tab until the element with this text has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 200; presses++) {
    await page.keyboard.press('Tab');
    // After the last element, none has the focus.
    if ((await page.evaluate('document.activeElement.innerText')) === name) return;
  }
  assert.fail(`the focus does not come to ${name}`);
}
