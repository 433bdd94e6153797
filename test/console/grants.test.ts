// Grants on the page of an agent: who may act for it, whatever a client calls itself, and how an administrator ends that.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import type { Client } from '../support/client.ts';
import { insertGrant } from '../support/grants.ts';
import { assertClean, type ConsoleUnderTest, openConsole, type Visit } from './console.ts';

const HOSTILE = '<img src=x onerror="alert(1)">\u202eedualC';

describe('grants of an agent in the console', () => {
  let console: ConsoleUnderTest;
  let visit: Visit;
  let page: Page;
  let agent: Client;
  let agentId: string;

  before(async () => {
    console = await openConsole('sqlite');
    agent = await console.service.client.register('City guide');
    agentId = (await agent.get('/v1/agents/me')).body.agent.id;
    visit = await console.visit();
    page = visit.page;
    await visit.signIn();
  });
  after(() => console.close());

  const add = (fields: Parameters<typeof insertGrant>[2]) =>
    insertGrant(console.service.folder, agentId, fields);
  const openTab = () => page.goto(`${console.service.url}/admin/agents/${agentId}?tab=grants`);
  const row = (name: string) => page.getByRole('row', { name });
  const button = (name: string) => page.getByRole('button', { name });
  const outcome = (text: string) => page.getByRole('status').getByText(text).waitFor();

  it('says that there are none', async () => {
    await openTab();
    await page.getByText('No grants', { exact: true }).waitFor();
    await page.getByText('0 grants', { exact: true }).waitFor();
  });

  it('shows client, host, scopes and times, and the text of a hostile client as text', async () => {
    add({ created_ms: Date.now() - 3 * 86_400_000, last_used_ms: Date.now() - 3_600_000 });
    add({ client_name: HOSTILE, client_host: null, scopes: 'read' });
    add({ client_name: ' ', client_host: 'xn--e1afmkfd.example' });
    await openTab();
    await page.getByRole('tab', { name: 'Grants 3' }).waitFor();
    const claude = row('claude.ai');
    assert.match(await claude.innerText(), /Claude\s+claude\.ai[\s\S]*read and publish[\s\S]*1 hr ago/);
    const hostile = row('a program or app');
    assert.match(await hostile.innerText(), /<img src=x onerror="alert\(1\)">[\s\S]*read only/);
    assert.equal(await hostile.locator('img').count(), 0);
    assert.equal(await hostile.locator('.unseen').getAttribute('data-code'), 'U+202E');
    assert.match(await row('xn--e1afmkfd.example').innerText(), /^\s*blank/);
  });

  it('ends a grant after a question, with the keyboard, and the focus stays on the page', async () => {
    await openTab();
    await button('End the grant of Claude').focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('(claude.ai) can no longer act for City guide').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.equal((await agent.get('/v1/agents/me/grants')).body.grants.length, 3);
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'End grant' }).click();
    await outcome('Ended the grant of Claude to act for City guide.');
    await page.getByText('2 grants', { exact: true }).waitFor();
    assert.equal(await page.locator(':focus').innerText(), '2 grants');
    const names = (await agent.get('/v1/agents/me/grants')).body.grants.map(
      ({ client }: { client: { name: string } }) => client.name,
    );
    assert.deepEqual(names.sort(), [' ', HOSTILE]);
    await page.getByRole('tab', { name: 'History 1' }).click();
    await page.getByText('ended a grant of City guide', { exact: true }).waitFor();
  });

  it('says that a grant had already ended', async () => {
    await openTab();
    await button('End the grant of a client without a name').click();
    await agent.delete('/v1/agents/me/grants');
    await page.getByRole('dialog').getByRole('button', { name: 'End grant' }).click();
    await outcome('The grant of a client without a name had already ended.');
    await page.getByText('No grants', { exact: true }).waitFor();
  });

  it('fits on a narrow screen', async () => {
    add({ client_name: 'W'.repeat(200) });
    await page.setViewportSize({ width: 390, height: 800 });
    await openTab();
    await row('claude.ai').waitFor();
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
    assert.match(await row('claude.ai').innerText(), /read and publish · used/);
  });

  it('causes no errors in the browser', () => assertClean(visit));
});
