// Ctrl+K and the list of shortcuts: from any view to any view, agent or event with the keyboard alone.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { findOverflow, findViolations } from '../support/page-checks.ts';
import { assertClean, type ConsoleUnderTest, openConsole, type Visit } from './console.ts';

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
