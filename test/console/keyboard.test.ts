// The tasks of an administrator with the keyboard alone. Everything pressed is counted, as clicks would be: at most three from
// the overview to what is looked for, and three more to act. Typing and moving the focus are free.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import type { Client } from '../support/client.ts';
import type { Engine } from '../support/engines.ts';
import { findOverflow, findViolations } from '../support/page-checks.ts';
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

/** Ctrl+K and the list of shortcuts: from any view to any view, agent or event. */
describe('shortcuts of the console', () => {
  let console: ConsoleUnderTest;
  let visit: Visit;
  let page: Page;
  before(async () => {
    console = await openConsole('sqlite');
    const guide = await console.service.client.register('Harbour guide');
    await guide.create({ title: 'Lantern walk at the harbour' });
    await guide.create({ title: 'Lantern workshop' });
    visit = await console.visit();
    page = visit.page;
    await visit.signIn();
  });
  after(() => console.close());

  const field = () => page.getByRole('combobox', { name: 'Find a view, an agent or an event' });
  const option = (name: string | RegExp) => page.getByRole('option', { name });
  const closed = () => page.getByRole('dialog').waitFor({ state: 'detached' });
  const openPalette = async () => {
    await page.keyboard.press('Control+k');
    await field().waitFor();
  };
  const find = async (text: string, name: RegExp) => {
    await openPalette();
    await page.keyboard.type(text);
    await option(name).waitFor();
    const all = await page.getByRole('option').allInnerTexts();
    const at = all.findIndex((label) => name.test(label.replaceAll(/\s+/g, ' ')));
    for (let presses = 0; presses < at; presses++) await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { name, selected: true }).waitFor();
    await page.keyboard.press('Enter');
  };

  it('open a view', async () => {
    await find('aud', /Audit log/);
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
    await closed();
    await openPalette();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
  });

  it('find an agent and an event by a part of their names', async () => {
    await find('harb', /Harbour guide Agent/);
    await page.getByRole('heading', { name: 'Harbour guide' }).waitFor();
    await find('lantern wal', /Lantern walk/);
    await page.getByRole('dialog').getByRole('heading', { name: 'Lantern walk at the harbour' }).waitFor();
    await page.keyboard.press('Escape');
    await closed();
    await find('lantern', /All events with “lantern”/);
    await page.locator('.totals').getByText('2 events').waitFor();
  });

  it('say that nothing was found, and take back nothing on Escape', async () => {
    const before = page.url();
    await openPalette();
    await page.keyboard.type('zzz');
    await page.getByText('Nothing found.').waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await closed();
    assert.equal(page.url(), before);
  });

  it('do not open above another dialog, and open by a button, too', async () => {
    await page.goto(`${console.service.url}/admin/events`);
    await page.getByRole('button', { name: 'Lantern workshop' }).click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.press('?');
    assert.equal(await page.getByRole('dialog').count(), 1);
    await page.keyboard.press('Escape');
    await closed();
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    await field().waitFor();
    await page.keyboard.press('Escape');
    await closed();
  });

  it('are listed by ?, but not while somebody types', async () => {
    const search = page.getByRole('searchbox', { name: 'Search events' });
    await search.focus();
    await page.keyboard.type('?');
    assert.equal(await search.inputValue(), '?');
    await search.fill('');
    await search.blur();
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    const shown = await page.getByRole('dialog').innerText();
    for (const key of ['Ctrl', '/', 'Shift', 'Esc', '?']) assert.ok(shown.includes(key), key);
    await page.keyboard.press('Escape');
    await closed();
  });

  it('have no violation of axe-core, and fit on 320 pixels and at 200 % zoom', async () => {
    for (const viewport of [
      { width: 1280, height: 900 },
      { width: 320, height: 640 },
      { width: 640, height: 450 },
    ])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        const check = async (what: string) => {
          assert.deepEqual(await findViolations(page), [], `${what}, ${viewport.width}, ${colorScheme}`);
          assert.equal(await findOverflow(page), 0, `${what}, ${viewport.width}`);
        };
        await openPalette();
        await page.keyboard.type('lantern');
        await option(/Lantern walk/).waitFor();
        await check('palette');
        await page.keyboard.press('Escape');
        await closed();
        await page.keyboard.press('?');
        await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
        await check('shortcuts');
        await page.keyboard.press('Escape');
        await closed();
      }
    assertClean(visit);
  });
});

/** Runs in the page. */
const NAME_OF_FOCUSED = `(({ ariaLabel, labels, innerText, placeholder }) =>
  (ariaLabel ?? (labels?.[0]?.innerText || innerText || placeholder || '')).replaceAll(/\\s+/g, ' ').trim())(document.activeElement)`;
