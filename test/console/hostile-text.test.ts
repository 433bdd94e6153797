// What agents write is only shown as text: markup, javascript: URLs and marks that change the reading direction do
// nothing.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Client } from '../support/client.ts';
import { assertClean, type ConsoleUnderTest, openConsole, type Visit } from './console.ts';

const SCRIPT = 'window.pwned=1;alert(1)';
const MARKS = '\u202egnp.exe\u202c\u200f\u2067x\u2069';

/** Text with ways to run a script, and with marks that reorder the text around them. */
function hostile(field: string): string {
  return `${field} <img src=x onerror="${SCRIPT}"><script>${SCRIPT}</script>"onmouseover='${SCRIPT}' ${MARKS}`;
}

const EVENT = {
  title: hostile('title'),
  description: `${hostile('description')}\n<iframe srcdoc="<script>parent.${SCRIPT}</script>"></iframe>`,
  location_name: hostile('place'),
  address: hostile('address'),
  cost: hostile('cost'),
  url: `javascript:${SCRIPT}`,
};

describe('text of agents in the console', () => {
  let console: ConsoleUnderTest;
  let visit: Visit;
  let agent: Client;
  let agentId: string;
  const name = hostile('name');

  before(async () => {
    console = await openConsole('sqlite');
    agent = await console.service.client.register(name);
    ({ agent_id: agentId } = await agent.create(EVENT));
    await agent.create({ ...EVENT, start_at: '2031-06-01T18:00:00Z' });
    visit = await console.visit('/admin', { permissions: [] });
    await visit.context.addInitScript({ content: 'window.pwned = 0' });
    await visit.signIn();
  });
  after(() => console.close());

  /** Waits until a view shows the texts, hovers over all of them, and asserts that no script ran and no element was made. */
  const assertHarmless = async (shown: readonly string[]) => {
    const { page } = visit;
    for (const text of shown) await page.getByText(text, { exact: false }).first().waitFor();
    for (const element of await page.locator('bdi:visible').elementHandles()) {
      await element.hover({ force: true }).catch(async (error: unknown) => {
        if (await element.evaluate((node) => node.isConnected)) throw error; // otherwise a message has gone
      });
    }
    assert.equal(await page.evaluate('window.pwned'), 0, 'a script of an agent ran');
    const strangers =
      'main img, main iframe, main script, [onerror], [onmouseover], a[href^="javascript:"], dialog a';
    assert.equal(await page.locator(strangers).count(), 0, 'text became an element');
    assertClean(visit);
  };

  it('is harmless in the list of agents', async () => {
    await visit.page.goto(`${console.service.url}/admin`);
    await assertHarmless([`name <img src=x onerror="${SCRIPT}">`]);
  });

  it('is harmless in the list of events, and in an event', async () => {
    const { page } = visit;
    await page.goto(`${console.service.url}/admin/agents/${agentId}`);
    await assertHarmless(['title <img src=x', 'place <img src=x']);
    await page.locator('tbody button').first().click();
    await assertHarmless(['description <img src=x', 'cost <img', 'address <img', `javascript:${SCRIPT}`]);
    const said = await page.getByRole('dialog').innerText();
    for (const text of Object.values(EVENT)) {
      // The marks are shown by their code points.
      for (const line of text.replaceAll(/[\u200f\u202c\u202e\u2067\u2069]/g, '').split('\n')) {
        assert.ok(said.includes(line), line);
      }
    }
  });

  it('is harmless in dialogs, messages and the audit log', async () => {
    const { page } = visit;
    await page.getByRole('dialog').getByRole('button', { name: 'Delete event' }).click();
    await assertHarmless(['This event will be deleted.']);
    await page.getByRole('dialog').last().getByRole('button', { name: 'Delete event' }).click();
    await page.getByRole('status').getByText('Deleted “title <img').waitFor();
    await assertHarmless(['Deleted “title']);
    await page.getByRole('link', { name: 'Audit log' }).click();
    await assertHarmless(['deleted the event']);
  });

  it('is harmless as a search text', async () => {
    const query = new URLSearchParams({ q: EVENT.title.slice(0, 200) });
    await visit.page.goto(`${console.service.url}/admin?${query}`);
    await assertHarmless(['No agent matches']);
  });

  it('cannot change the direction of the text around it', async () => {
    const { page } = visit;
    await page.goto(`${console.service.url}/admin`);
    const cell = page.locator('tbody bdi').first();
    await cell.waitFor();
    const styles = await cell.evaluate((element) => {
      const view = element.ownerDocument.defaultView!;
      return view.getComputedStyle(element).unicodeBidi;
    });
    assert.match(styles, /isolate/);
    const shown = await page
      .locator('.unseen')
      .evaluateAll((marks) => marks.map((mark) => mark.getAttribute('data-code')));
    // A run of marks is shown once: the first one, and how many follow.
    assert.deepEqual(shown.slice(0, 3), ['U+202E', 'U+202C +2', 'U+2069']);
  });

  it('gets a limited number of marks, however much of it is invisible', async () => {
    const { page } = visit;
    const unseen = 'a\u200b'.repeat(100);
    const { agent_id } = await agent.create({
      title: unseen,
      location_name: '\u202e'.repeat(200),
      description: 'b\u200b\u200f'.repeat(3_000),
      start_at: '2031-01-01T18:00:00Z',
    });
    await page.goto(`${console.service.url}/admin/agents/${agent_id}`);
    const row = page.locator('tbody tr').first();
    await row.getByRole('button').waitFor();
    assert.equal(await row.locator('.column-title .row-link .unseen').count(), 20);
    const marks = row.locator('.column-title .second .unseen').first();
    assert.equal(await marks.getAttribute('data-code'), 'U+202E +199');
    await row.getByRole('button').click();
    await page.getByRole('dialog').waitFor();
    assert.equal(await page.getByRole('dialog').locator('dd .unseen').count(), 21);
    await page.keyboard.press('Escape');
  });

  it('makes this test fail if it runs', async () => {
    // The same text as markup, in a page without a policy: it runs, so the test can fail.
    const context = await console.browser.newContext({ bypassCSP: true });
    const page = await context.newPage();
    await page.goto(`${console.service.url}/health`);
    await page.setContent(`<main>${EVENT.title.replace('alert(1)', '')}</main>`);
    await page.waitForFunction('window.pwned === 1');
    await context.close();
  });
});
