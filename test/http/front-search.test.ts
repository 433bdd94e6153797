// The form of the front page that searches: the events follow what is typed, and an error takes the focus only if it was asked for.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { closeBrowser, getBrowser, type Visit, visit } from '../console/console.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { newKey } from './docs-page.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
  const agent = await service.newAgent();
  for (const title of ['Lantern workshop', 'Jazz in the courtyard']) {
    const start_at = '2031-05-01T18:00:00Z';
    await agent.create({ title, start_at, lat: 52.52, lng: 13.4, timezone: 'Europe/Berlin' });
  }
});
after(async () => {
  await closeBrowser();
  await service.close();
});

/** The front page in a tab that has this key. */
async function open(key: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const visitor = await visit(await getBrowser(), service.url, '/', options);
  await visitor.page.evaluate((value) => sessionStorage.setItem('local-events-key', value), key);
  await visitor.page.reload();
  return visitor;
}

const focused = (page: Page) => page.evaluate('document.activeElement.id');

describe('the search of the front page', () => {
  it('follows words while they are typed, and asks for each result once', async () => {
    const visitor = await open(await newKey(service));
    const { page } = visitor;
    const results = page.locator('#results');
    await results.getByText('2 events').waitFor();
    const sent: (string | null)[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/v1/events/nearby') sent.push(searchParams.get('q'));
    });
    await page.getByLabel('Words').pressSequentially('jazz');
    await results.getByText('1 event').waitFor();
    assert.equal(await focused(page), 'q', 'the visitor may type on');
    assert.equal(sent.at(-1), 'jazz');
    // What is shown is not asked for again: the response that the visitor opens stays open.
    const count = sent.length;
    await results.getByText('The response as JSON').click();
    await page.getByLabel('When', { exact: true }).selectOption('next_7_days');
    await results.getByText('0 events').waitFor();
    assert.equal(sent.length, count + 1);
    await visitor.context.close();
  });

  it('leaves the focus where the visitor is when what was typed is refused; after Search, the field has it', async () => {
    const visitor = await open(await newKey(service));
    const { page } = visitor;
    await page.locator('#results').getByText('2 events').waitFor();
    await page.getByLabel('Place', { exact: true }).fill('999, 1');
    await page.getByLabel('Title').focus();
    await page.locator('#place-problem', { hasText: 'lat must be 90' }).waitFor();
    assert.equal(await focused(page), 'publish-title-field');
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('button', { name: 'Delete it' }).focus();
    await page.getByRole('button', { name: 'London' }).click();
    await page.locator('#results').getByText('0 events').waitFor();
    await page.getByLabel('Place', { exact: true }).fill('999, 1');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.locator('#place:focus').waitFor();
    await visitor.context.close();
  });

  it('takes the name of a place or coordinates, and says where it searched', async () => {
    const visitor = await open(await newKey(service));
    const { page } = visitor;
    const results = page.locator('#results');
    await results.getByText(/ events found near Berlin, State of Berlin, DE\./).waitFor();
    const place = page.getByLabel('Place', { exact: true });
    await place.fill('Кройцберг, Берлин');
    await page.keyboard.press('Enter');
    await results.getByText(/ events found near Kreuzberg, Berlin, DE\./).waitFor();
    await place.fill('52.52, 13.4');
    await page.keyboard.press('Tab');
    await results.getByText(/ events found\.$/).waitFor();
    assert.match(await page.locator('#curl').innerText(), /nearby\?lat=52\.52&lng=13\.4&radius=25"/);
    await visitor.context.close();
  });

  it('offers the places that a name could mean, and searches around the one that is chosen', async () => {
    const visitor = await open(await newKey(service));
    const { page } = visitor;
    const results = page.locator('#results');
    await results.getByText(/ events found/).waitFor();
    await page.getByLabel('Place', { exact: true }).fill('Springfield');
    await page.keyboard.press('Enter');
    const choices = page.getByRole('group', { name: 'Which place' }).getByRole('button');
    await choices.first().waitFor();
    assert.equal(await choices.count(), 5);
    assert.equal(await page.locator('#place-problem').innerText(), 'Which of these places do you mean?');
    assert.equal(await focused(page), 'place');
    await choices.getByText('Springfield, Illinois, US').click();
    await results.getByText('0 events found near Springfield, Illinois, US.').waitFor();
    assert.equal(await choices.count(), 0);
    assert.equal(await focused(page), 'place', 'the button has gone');
    await page.getByLabel('Place', { exact: true }).fill('Xyzzyville');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.locator('#place-problem', { hasText: 'is not a known place' }).waitFor();
    assert.equal(await choices.count(), 0);
    await visitor.context.close();
  });

  it('does not scroll down to its form because the key of the tab has ended', async () => {
    const key = await newKey(service);
    await service.client.with({ 'x-api-key': key }).post('/v1/auth/revoke', {});
    const visitor = await open(key);
    const { page } = visitor;
    await page.locator('#search-form [data-problem]:not([hidden])').waitFor();
    assert.equal(await focused(page), '');
    assert.equal(await page.evaluate('scrollY'), 0);
    await visitor.context.close();
  });
});

describe('the form that publishes', () => {
  it('has room for a date and a time, at 200 % zoom, too', async () => {
    for (const width of [1280, 640, 390, 320]) {
      const visitor = await open('', { viewport: { width, height: 450 } });
      const box = (await visitor.page.getByLabel('Start').boundingBox())!;
      assert.ok(box.width >= 225, `${width}: ${box.width} pixels`);
      await visitor.context.close();
    }
  });
});
