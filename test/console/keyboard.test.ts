// The tasks of an administrator with the keyboard alone. Everything pressed is counted, as clicks would be: at most three from
// the overview to what is looked for, and three more to act. Typing and moving the focus are free.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import type { Client } from '../support/client.ts';
import type { Engine } from '../support/engines.ts';
import { size } from '../support/sizes.ts';
import { assertClean, type ConsoleUnderTest, openConsole, untilLoaded, type Visit } from './console.ts';

const MAX_PRESSES = 3;
const SPAM = 120;
const MAX_TABS = 400;

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  describe(`the console with the keyboard alone on ${engine}`, () => {
    let console: ConsoleUnderTest;
    let visit: Visit;
    let page: Page;
    let spammer: Client;
    let spammerId: string;
    let presses = 0;

    before(async () => {
      console = await openConsole(engine);
      const guide = await console.service.client.register('City guide');
      const { event_id } = await guide.create({ title: 'Lantern walk' });
      await guide.create({ title: 'Watch fair' });
      await console.administrator.delete(`/v1/admin/events/${event_id}`);
      spammer = await console.service.client.register('Totally honest');
      for (let number = 0; number < SPAM; number++) {
        const { agent_id } = await spammer.create({ title: `CHEAP WATCHES ${number}` });
        spammerId = agent_id;
      }
      await console.service.client.register('Idle');
      visit = await console.visit();
      page = visit.page;
      await visit.signIn();
    });
    after(() => console.close());

    beforeEach(async () => {
      await page.goto(`${console.service.url}/admin`);
      await settled();
      presses = 0;
    });

    const settled = () => untilLoaded(page);
    const status = (text: string) => page.getByRole('status').getByText(text).waitFor();
    /** Moves the focus with Tab to the first element whose name is, or begins with, this one. */
    const tabTo = async (name: string) => {
      for (let tabs = 0; tabs < MAX_TABS; tabs++) {
        if ((await page.evaluate<string>(NAME_OF_FOCUSED)).startsWith(name)) return;
        await page.keyboard.press('Tab');
      }
      assert.fail(`the focus does not come to ${name}`);
    };
    const press = async (name: string, key = 'Enter') => {
      await tabTo(name);
      await page.keyboard.press(key);
      presses++;
    };
    const type = async (field: string, text: string) => {
      await tabTo(field);
      await page.keyboard.type(text);
    };
    const assertFewPresses = () => {
      assert.ok(presses <= MAX_PRESSES, `${presses} presses`);
      presses = 0;
    };
    const findAgent = async () => {
      await type('Search agents', 'honest');
      await page.getByText('1 agent', { exact: true }).waitFor();
      await settled();
      await press('Totally honest');
      await page.getByRole('heading', { name: 'Totally honest' }).waitFor();
      await settled();
    };

    it('finds who published CHEAP WATCHES', async () => {
      await press('Events');
      await type('Search events', 'CHEAP WATCHES');
      await page.locator('.totals').getByText(`${SPAM} events`, { exact: true }).waitFor();
      await settled();
      await press('Totally honest');
      await page.getByRole('heading', { name: 'Totally honest' }).waitFor();
      assertFewPresses();
    });

    it(`deletes ${SPAM} matching events, in two slices, and restores them`, async () => {
      const eventsOfSpammer = async () => {
        const { text } = await console.administrator.get(`/v1/admin/agents/${spammerId}/events`, {
          ...{ when: 'all', limit: 100 },
        });
        return text.split('"events":')[1];
      };
      const before = await eventsOfSpammer();
      await press('Events');
      await type('Search events', 'CHEAP WATCHES');
      await page.locator('.totals').getByText(`${SPAM} events`, { exact: true }).waitFor();
      await settled();
      assertFewPresses();
      await press(`Select all ${SPAM} that match`);
      await press(`Delete selected (${SPAM})`);
      await page.getByRole('dialog').waitFor();
      await press(`Delete ${SPAM} events`);
      await status(`Deleted ${SPAM} events.`);
      assertFewPresses();
      assert.equal((await spammer.get('/v1/agents/me')).body.agent.event_count, 0);
      await press('Undo');
      await status(`Restored ${SPAM} events.`);
      assertFewPresses();
      assert.equal((await spammer.get('/v1/agents/me')).body.agent.event_count, SPAM);
      assert.ok((await eventsOfSpammer()) === before, 'the same bytes');
    });

    it('finds who deleted a named event', async () => {
      await press('Audit log');
      await type('Search the audit log', 'lantern');
      await page.getByText('1 change', { exact: true }).waitFor();
      const row = await page.locator('tbody tr').innerText();
      assert.match(row, /ada@example\.com[\s\S]*deleted the event Lantern walk of City guide/);
      assertFewPresses();
    });

    it('sees who created most today', async () => {
      await press('24 h');
      await page.locator('th[aria-sort=descending]').filter({ hasText: '24 h' }).waitFor();
      await settled();
      assert.equal(await page.locator('tbody .row-link').first().innerText(), 'Totally honest');
      assert.equal(await page.locator('tbody .column-day').first().innerText(), String(SPAM));
      assertFewPresses();
    });

    it('lowers a tier', async () => {
      await findAgent();
      assertFewPresses();
      await press('Change tier');
      await page.getByRole('dialog').waitFor();
      await press('readwrite', 'ArrowUp'); // the chosen one of the radio buttons has the focus
      await press('Change tier');
      await status('The tier of Totally honest is now read.');
      assertFewPresses();
    });

    it('revokes one key', async () => {
      const { keys } = (await console.administrator.get(`/v1/admin/agents/${spammerId}`)).body;
      await findAgent();
      await press(`Events ${SPAM}`, 'ArrowRight'); // Tab reaches the selected tab only, arrows move between tabs
      await page.getByRole('row', { name: keys[0].prefix }).waitFor();
      assertFewPresses();
      await press(`Revoke ${keys[0].prefix}`);
      await page.getByRole('dialog').waitFor();
      await press('Revoke key');
      await status(`Revoked the key ${keys[0].prefix}… of Totally honest.`);
      assertFewPresses();
      assert.equal((await spammer.nearby()).status, 401);
    });

    it('signs out everywhere', async () => {
      const elsewhere = await console.visit();
      await elsewhere.signIn();
      await press('Account of');
      assertFewPresses();
      await press('Sign out everywhere');
      await page.getByRole('link', { name: /^Sign in with/ }).waitFor();
      assertFewPresses();
      await elsewhere.page.reload();
      await elsewhere.page.getByRole('link', { name: /^Sign in with/ }).waitFor();
      assertClean(visit);
    });
  });
}

/** Runs in the page. */
const NAME_OF_FOCUSED = `(({ ariaLabel, labels, innerText, placeholder }) =>
  (ariaLabel ?? (labels?.[0]?.innerText || innerText || placeholder || '')).replaceAll(/\\s+/g, ' ').trim())(document.activeElement)`;
