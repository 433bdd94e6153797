// Everything that an administrator can do in the console: the question before, the message after, and the result in the API
// and in the audit log.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { assertError, type Client } from '../support/client.ts';
import type { Engine } from '../support/engines.ts';
import { size } from '../support/sizes.ts';
import { assertClean, type ConsoleUnderTest, openConsole, type Visit } from './console.ts';

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  describe(`actions in the console on ${engine}`, () => {
    let console: ConsoleUnderTest;
    let visit: Visit;
    let page: Page;
    let agent: Client;
    let agentId: string;
    let made = 0;
    let name: string;

    before(async () => {
      console = await openConsole(engine);
      visit = await console.visit();
      page = visit.page;
      await visit.signIn();
    });
    after(() => console.close());

    /** Each test starts on the page of an agent with five events. */
    beforeEach(async () => {
      name = `City guide ${++made}`;
      agent = await console.service.client.register(name);
      for (let number = 1; number <= 5; number++) {
        ({ agent_id: agentId } = await agent.create({
          title: `Event ${number}`,
          start_at: `2031-05-0${number}T18:00:00Z`,
        }));
      }
      await page.goto(`${console.service.url}/admin/agents/${agentId}`);
      await page.getByRole('button', { name: 'Event 1' }).waitFor();
    });

    const dialog = () => page.getByRole('dialog').last();
    /** Opens the menu of dangerous actions, and chooses one. */
    const choose = async (name: string) => {
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('button', { name }).click();
    };
    const confirm = (button: string) => dialog().getByRole('button', { name: button, exact: true }).click();
    const outcome = (text: string) => page.getByRole('status').getByText(text).waitFor();
    const asked = async () => (await dialog().innerText()).replaceAll(/\s+/g, ' ');
    const held = async (): Promise<string[]> => {
      const { body } = await console.administrator.get(`/v1/admin/agents/${agentId}/events`);
      return body.events.map(({ title }: { title: string }) => title);
    };
    const summary = async () =>
      (await console.administrator.get(`/v1/admin/agents/${agentId}/events`)).body.agent;
    /** The newest audit entry from the API; asserts that the page shows it as this sentence. */
    const lastEntry = async (sentence: string) => {
      const { entries } = (await console.administrator.get('/v1/admin/audit', { limit: 1 })).body;
      await page.getByRole('link', { name: 'Audit log' }).click();
      const deed = page.locator('tbody tr').first();
      await deed.getByText(sentence).waitFor();
      assert.match(await deed.innerText(), /ada@example\.com/);
      const { actor_email, actor_subject, action, target, target_name, count, at } = entries[0];
      assert.deepEqual([actor_email, actor_subject], ['ada@example.com', 'ada']);
      assert.ok(Math.abs(Date.parse(at) - Date.now()) < 120_000);
      return { action, target, target_name, count };
    };

    it('deletes an event', async () => {
      await page.getByRole('button', { name: 'Event 2' }).click();
      const [, second] = (await console.administrator.get(`/v1/admin/agents/${agentId}/events`)).body.events;
      await dialog().getByRole('button', { name: 'Delete event' }).click();
      await dialog().getByLabel('Delete for good').waitFor();
      assert.match(
        await asked(),
        /Event 2 .*2031.* This event will be deleted\. .*can be restored for 7 days\./,
      );
      await confirm('Delete event');
      await outcome('Deleted “Event 2”.');
      await page.getByText('1–4 of 4').waitFor();
      assert.deepEqual(await held(), ['Event 1', 'Event 3', 'Event 4', 'Event 5']);
      assertError(await agent.get(`/v1/events/${second.event_id}`), 404, 'NOT_FOUND');
      assert.deepEqual(await lastEntry(`deleted the event Event 2 of ${name}`), {
        action: 'delete_event',
        target: second.event_id,
        target_name: 'Event 2',
        count: 1,
      });
    });

    it('deletes selected events', async () => {
      await page.getByLabel('Select Event 2').check();
      await page.getByLabel('Select Event 4').click({ modifiers: ['Shift'] });
      await page.getByLabel('Select Event 3').uncheck();
      await page.getByRole('button', { name: 'Delete selected (2)' }).click();
      assert.match(await asked(), new RegExp(`2 events of ${name} will be deleted: Event 2 .* Event 4`));
      await confirm('Delete 2 events');
      await outcome(`Deleted 2 events of ${name}.`);
      assert.deepEqual(await held(), ['Event 1', 'Event 3', 'Event 5']);
      assert.deepEqual(await lastEntry(`deleted 2 selected events of ${name}`), {
        action: 'delete_selected_events',
        target: agentId,
        target_name: name,
        count: 2,
      });
      await page.locator('summary').first().click();
      const shown = await page.locator('tbody tr').first().locator('li').allInnerTexts();
      const { entries } = (await console.administrator.get('/v1/admin/audit', { limit: 1 })).body;
      assert.equal(shown.length, 2);
      assert.deepEqual(
        shown.map((text) => text.split('\n')),
        [
          ['Event 2', entries[0].detail.event_ids[0]],
          ['Event 4', entries[0].detail.event_ids[1]],
        ],
      );
    });

    it('deletes all events of an agent', async () => {
      await choose('Delete all events');
      await dialog().getByRole('button', { name: 'Delete 5 events' }).waitFor();
      assert.match(await asked(), new RegExp(`All 5 events of ${name} will be deleted`));
      await confirm('Delete 5 events');
      await outcome(`Deleted all events of ${name}.`);
      await page.getByText('This agent has no events.').waitFor();
      assert.deepEqual(await held(), []);
      assert.equal((await agent.nearby()).status, 200);
      assert.deepEqual(await lastEntry(`deleted all 5 events of ${name}`), {
        action: 'delete_agent_events',
        target: agentId,
        target_name: name,
        count: 5,
      });
    });

    it('asks with the current number of events, not with that of the loaded page', async () => {
      await agent.create({ title: 'Event 6', start_at: '2031-05-06T18:00:00Z' });
      await choose('Delete agent');
      await dialog().getByText('6 events').waitFor();
      await dialog().getByRole('button', { name: 'Cancel' }).click();
      await choose('Delete all events');
      await dialog().getByRole('button', { name: 'Delete 6 events' }).waitFor();
      assert.match(await asked(), new RegExp(`All 6 events of ${name} will be deleted`));
      await dialog().getByRole('button', { name: 'Cancel' }).click();
    });

    it('does not allow a delete while the events cannot be counted', async () => {
      await page.route('**/events?limit=1', (route) => route.abort());
      await choose('Delete agent');
      await dialog().getByRole('alert').getByText('Its events could not be counted.').waitFor();
      assert.ok(await dialog().getByRole('button', { name: 'Delete agent' }).isDisabled());
      await page.unrouteAll();
      await dialog().getByRole('button', { name: 'Try again' }).click();
      await dialog().getByText('5 events').waitFor();
      assert.ok(await dialog().getByRole('button', { name: 'Delete agent' }).isEnabled());
      await dialog().getByRole('button', { name: 'Cancel' }).click();
    });

    it('deletes an agent for good only after its name is typed', async () => {
      await choose('Delete agent');
      await dialog().getByText('5 events').waitFor();
      assert.match(
        await asked(),
        new RegExp(`${name} will be deleted: the agent, its keys and its 5 events`),
      );
      const button = dialog().getByRole('button', { name: 'Delete agent' });
      await dialog().getByLabel('Delete for good').check();
      assert.ok(await button.isDisabled());
      await dialog()
        .getByRole('textbox')
        .fill(`${name.slice(0, -1)}x`);
      assert.ok(await button.isDisabled());
      await dialog().getByRole('textbox').fill(name);
      await button.click();
      await outcome(`Deleted ${name}, its keys and all its events.`);
      await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
      assertError(await console.administrator.get(`/v1/admin/agents/${agentId}/events`), 404, 'NOT_FOUND');
      assertError(await agent.nearby(), 401, 'INVALID_API_KEY');
      assert.deepEqual(await lastEntry(`deleted the agent ${name}`), {
        action: 'delete_agent',
        target: agentId,
        target_name: name,
        count: 5,
      });
    });

    it('deactivates and reactivates an agent', async () => {
      await page.getByRole('button', { name: 'Deactivate' }).click();
      assert.match(await asked(), /will stop working at once\. Its events will stay/);
      await confirm('Deactivate');
      await outcome(`${name} is deactivated.`);
      await page.getByRole('button', { name: 'Reactivate' }).waitFor();
      assertError(await agent.nearby(), 401, 'INVALID_API_KEY');
      assert.equal((await summary()).is_active, false);
      await page.getByRole('button', { name: 'Reactivate' }).click();
      await confirm('Reactivate');
      await outcome(`${name} is active again.`);
      assert.equal((await agent.nearby()).status, 200);
      assert.deepEqual(await lastEntry(`reactivated ${name}`), {
        action: 'update_agent',
        target: agentId,
        target_name: name,
        count: 1,
      });
    });

    it('changes the tier of an agent', async () => {
      await page.getByRole('button', { name: 'Change tier' }).click();
      assert.ok(await dialog().getByRole('button', { name: 'Change tier' }).isDisabled());
      await dialog().getByLabel('read', { exact: false }).first().check();
      await confirm('Change tier');
      await outcome(`The tier of ${name} is now read.`);
      assert.equal((await summary()).tier, 'read');
      assertError(await agent.post('/v1/events', {}), 403, 'INSUFFICIENT_TIER');
      assert.equal((await lastEntry(`set the tier of ${name} to read`)).action, 'update_agent');
    });

    it('changes nothing on Cancel and Escape', async () => {
      await choose('Delete all events');
      await dialog().getByRole('button', { name: 'Cancel' }).click();
      await choose('Delete agent');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      assert.equal((await held()).length, 5);
    });

    it('acts once, however often the button is pressed', async () => {
      const { total } = (await console.administrator.get('/v1/admin/audit', { limit: 1 })).body;
      await choose('Delete all events');
      await dialog().getByRole('button', { name: 'Delete 5 events' }).dblclick();
      await outcome(`Deleted all events of ${name}.`);
      assert.equal((await console.administrator.get('/v1/admin/audit', { limit: 1 })).body.total, total + 1);
    });

    it('says if another administrator was faster', async () => {
      const { events } = (await console.administrator.get(`/v1/admin/agents/${agentId}/events`)).body;
      await page.getByRole('button', { name: 'Event 1' }).click();
      await dialog().getByRole('button', { name: 'Delete event' }).click();
      await console.administrator.delete(`/v1/admin/events/${events[0].event_id}`);
      await confirm('Delete event');
      await outcome('“Event 1” was already deleted by someone else.');
      await page.getByText('1–4 of 4').waitFor();
    });

    it('says what went wrong, and keeps the dialog open', async () => {
      await choose('Delete all events');
      await dialog().getByRole('button', { name: 'Delete 5 events' }).waitFor();
      await page.route('**/v1/admin/**', (route) => route.abort());
      await confirm('Delete 5 events');
      await dialog().getByRole('alert').getByText('The service does not respond.').waitFor();
      await page.unroute('**/v1/admin/**');
      assert.equal((await held()).length, 5);
      await confirm('Delete 5 events');
      await outcome(`Deleted all events of ${name}.`);
    });

    it('keeps the dialog open until the response arrives, however often Escape is pressed', async () => {
      await choose('Delete all events');
      const button = dialog().getByRole('button', { name: 'Delete 5 events' });
      const { promise: answer, resolve: fail } = Promise.withResolvers<void>();
      await page.route('**/v1/admin/agents/*/events', async (route) => {
        await answer;
        await route.abort();
      });
      await button.click();
      await dialog().getByRole('button', { name: 'Deleting…' }).waitFor();
      for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Escape');
      fail();
      await dialog().getByRole('alert').getByText('The service does not respond.').waitFor();
      await page.unrouteAll();
      await button.click();
      await outcome(`Deleted all events of ${name}.`);
      assert.deepEqual(await held(), []);
    });

    it('works with the keyboard alone', async () => {
      await page.getByRole('button', { name: 'Event 5' }).focus();
      await page.keyboard.press('Enter');
      await dialog().waitFor();
      await tabTo(page, 'Delete event');
      await page.keyboard.press('Enter');
      await page.getByText('This event will be deleted.').waitFor();
      await tabTo(page, 'Delete event');
      await page.keyboard.press('Enter');
      await outcome('Deleted “Event 5”.');
      assert.equal((await held()).length, 4);
    });

    it('causes no errors in the browser', () => {
      const own = visit.problems.filter((problem) => !/ERR_FAILED/.test(problem));
      assertClean({ ...visit, problems: own });
    });
  });
}

/** Presses Tab until the element with this text has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 30; presses++) {
    await page.keyboard.press('Tab');
    if ((await page.locator(':focus').innerText()) === name) return;
  }
  assert.fail(`the focus does not come to ${name}`);
}
