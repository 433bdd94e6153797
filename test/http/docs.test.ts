// The interactive API documentation in a real browser.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { assertClean, closeBrowser, getBrowser, type Visit, visit } from '../console/console.ts';
import { countBytes, findOverflow, findViolations } from '../support/page-checks.ts';
import { startTestService, type TestService } from '../support/service.ts';

const MAX_LIST_BYTES = 60_000;
const MAX_FIRST_BYTES = 600_000;
const MAX_SECOND_BYTES = 5_000;

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(async () => {
  await closeBrowser();
  await service.close();
});

const isShown = (page: Page) => page.locator('.opblock').last().waitFor();

/** Replaces the list by Swagger UI, unless it is there. */
async function tryOut(page: Page): Promise<void> {
  const operation = page.locator('[data-operation="Events/searchNearby"]');
  if ((await page.locator('.opblock').count()) === 0 && !page.url().includes('#/')) {
    await operation.locator('summary').click();
    await operation.getByRole('button', { name: 'Try it out' }).click();
  }
  await isShown(page);
}
const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'API key' });

async function open(options: Parameters<typeof visit>[3] = {}): Promise<Visit> {
  const visitor = await visit(await getBrowser(), service.url, '/docs', options);
  await tryOut(visitor.page);
  return visitor;
}

async function newKey(): Promise<string> {
  const body = { email: 'docs@example.com', agent_name: 'docs' };
  return (await service.client.post('/v1/auth/register', body)).body.api_key;
}

/** Opens the search, sends it, and returns the status. */
async function search(page: Page): Promise<string> {
  await tryOut(page);
  const operation = page.locator('#operations-Events-searchNearby');
  if ((await operation.locator('.opblock-body').count()) === 0) {
    await operation.locator('.opblock-summary-control').click();
  }
  await operation.getByRole('button', { name: 'Execute' }).click();
  const live = operation.locator('.live-responses-table');
  await live.waitFor();
  return (await live.locator('.response-col_status').nth(1).innerText()).trim().slice(0, 3);
}

describe('the list of operations', () => {
  const list = async (options: Parameters<typeof visit>[3] = {}) =>
    visit(await getBrowser(), service.url, '/docs', options);

  it('has every operation, parameter, field and status of the OpenAPI document, also without scripts', async () => {
    const { paths } = (await service.client.get('/openapi.json')).body;
    const visitor = await list({ javaScriptEnabled: false });
    const { page } = visitor;
    let count = 0;
    // biome-ignore lint/suspicious/noExplicitAny: the parts of the document are looked at as they are
    for (const [path, item] of Object.entries<Record<string, any>>(paths)) {
      const { parameters: shared = [], ...methods } = item;
      for (const [method, { operationId, summary, parameters = [], responses }] of Object.entries(methods)) {
        const operation = page.locator(`details[data-operation$="/${operationId}"]`);
        const said = (await operation.locator('summary').innerText()).replaceAll(/\s+/g, ' ');
        assert.equal(said, `${method.toUpperCase()} ${path} ${summary}`);
        await operation.locator('summary').click();
        const heads = await operation.locator('tbody th').allInnerTexts();
        for (const { name } of [...parameters, ...shared])
          assert.ok(heads.includes(name), `${operationId}: ${name}`);
        for (const status of Object.keys(responses))
          assert.ok(heads.includes(status), `${operationId}: ${status}`);
        count++;
      }
    }
    assert.equal(await page.locator('.light-operation').count(), count);
    const create = page.locator('[data-operation="Events/createEvent"]');
    for (const field of ['title', 'start_at', 'lat']) {
      await create.getByRole('rowheader', { name: field, exact: true }).waitFor();
    }
    assert.match(await create.locator('pre').first().innerText(), /Lantern workshop/);
    await visitor.context.close();
  });

  it('has no violation of axe-core, light and dark, closed and open, and fits on 320 pixels', async () => {
    const visitor = await list({ viewport: { width: 320, height: 700 }, bypassCSP: true });
    const { page } = visitor;
    await page.getByRole('main').getByRole('button', { name: 'Authorize' }).waitFor();
    for (const isOpen of [false, true]) {
      await page.evaluate(
        `for (const all of document.querySelectorAll('.light-operation')) all.open = ${isOpen}`,
      );
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await findViolations(page), [], `${isOpen} ${colorScheme}`);
      }
      assert.equal(await findOverflow(page), 0);
    }
    await visitor.context.close();
  });

  it('takes a key before anything is tried, and says so if Swagger UI cannot be loaded', async () => {
    const visitor = await list();
    const { page } = visitor;
    await page.getByRole('main').getByRole('button', { name: 'Authorize' }).click();
    await dialogOf(page)
      .getByLabel('Your key')
      .fill(await newKey());
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.getByRole('button', { name: 'Authorized' }).waitFor();
    await page.route('**/openapi.json', (route) => route.abort(), { times: 1 });
    const operation = page.locator('[data-operation="Events/searchNearby"]');
    await operation.locator('summary').focus();
    await page.keyboard.press('Enter');
    await operation.getByRole('button', { name: 'Try it out' }).click();
    await page.getByText('This could not be loaded').waitFor();
    await operation.getByRole('button', { name: 'Try it out' }).click();
    await page.locator('#operations-Events-searchNearby .opblock-body').waitFor();
    assert.equal(await search(page), '200');
    assertClean(visitor);
    await visitor.context.close();
  });
});

describe('GET /docs', () => {
  let visitor: Visit;
  let page: Page;
  before(async () => {
    visitor = await open();
    page = visitor.page;
  });
  after(() => visitor.context.close());

  it('lists every operation of the OpenAPI document', async () => {
    const { paths } = (await service.client.get('/openapi.json')).body;
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods as object)
        .filter((name) => name !== 'parameters')
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
    const shown = await page.locator('.opblock-summary').evaluateAll((blocks) =>
      blocks.map((block) => {
        const method = block.querySelector('.opblock-summary-method')?.textContent;
        const path = block.querySelector('.opblock-summary-path')?.getAttribute('data-path');
        return `${method} ${path}`;
      }),
    );
    assert.deepEqual(shown.sort(), described.sort());
  });

  it('shows every parameter of an operation and of its path, and the fields of a body', async () => {
    const { paths } = (await service.client.get('/openapi.json')).body;
    const path = paths['/v1/events/nearby'];
    const described = [...path.get.parameters, ...path.parameters].map(({ name }: { name: string }) => name);
    assert.equal(await search(page), '401');
    const operation = page.locator('#operations-Events-searchNearby');
    const rows = operation.locator('tr[data-param-name]');
    const shown = await rows.evaluateAll((all) => all.map((row) => row.getAttribute('data-param-name')));
    assert.deepEqual(shown, described);
    await operation.getByRole('tab', { name: 'Schema' }).first().click();
    await operation.getByText('next_cursor', { exact: true }).first().waitFor();
  });

  it('sends a request with a key and shows the response', async () => {
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    await dialogOf(page)
      .getByLabel('Your key')
      .fill(await newKey());
    await page.getByRole('button', { name: 'Use this key' }).click();
    await dialogOf(page).waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Authorized' }).waitFor();
    await page.locator('#operations-Events-searchNearby').getByRole('button', { name: 'Clear' }).click();
    assert.equal(await search(page), '200');
    assert.match(await page.locator('.live-responses-table').innerText(), /"total": 0/);
  });

  it('creates an event from the unchanged example', async () => {
    const operation = page.locator('#operations-Events-createEvent');
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Execute' }).click();
    const live = operation.locator('.live-responses-table');
    await live.waitFor();
    assert.match(await live.innerText(), /"title": "Lantern workshop"/);
  });

  it('keeps the key when it is reloaded, in this tab only', async () => {
    await page.reload();
    await page.getByRole('button', { name: 'Authorized' }).waitFor();
    assert.equal(await search(page), '200');
    const other = await visitor.context.newPage();
    await other.goto(service.url);
    assert.equal(await other.getByLabel('API key').inputValue(), '');
    assert.equal(await other.evaluate('JSON.stringify(localStorage)'), '{}');
    await other.close();
  });

  it('forgets the key when the field is emptied', async () => {
    await page.getByRole('button', { name: 'Authorized' }).click();
    await dialogOf(page).getByLabel('Your key').fill('');
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.getByRole('button', { name: 'Authorize', exact: true }).waitFor();
    assert.equal(await page.evaluate('sessionStorage.length'), 0);
  });

  it('has a dialog with the API key first and alone; a token for administrators is behind it', async () => {
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    const dialog = dialogOf(page);
    assert.deepEqual(await dialog.locator('input:visible').evaluateAll((all) => all.map(({ id }) => id)), [
      'api-key',
    ]);
    assert.equal(await page.evaluate('document.activeElement.id'), 'api-key');
    await dialog.getByText('For administrators: a token').click();
    await dialog.getByLabel('Token').fill(await service.newToken());
    await dialog.getByRole('button', { name: 'Use this token' }).click();
    await page.keyboard.press('Escape');
    const operation = page.locator('.opblock', { has: page.locator('[data-path="/v1/admin/me"]') });
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Execute' }).click();
    await operation.locator('.live-responses-table').getByText('admin@example.com').first().waitFor();
    await operation.locator('.opblock-summary-control').click();
  });

  it('opens the dialog from the lock of an operation, too, and closes it', async () => {
    await page.locator('#operations-Events-createEvent .authorization__btn').click();
    await dialogOf(page).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await dialogOf(page).waitFor({ state: 'hidden' });
  });

  it('gives a key, and uses it; leads back to the front page, which has it, too', async () => {
    await page.getByRole('main').getByRole('button', { name: 'Get a key' }).click();
    await dialogOf(page).getByLabel('E-mail').fill('docs@example.com');
    await dialogOf(page).getByLabel('Name of your agent').fill('From the docs');
    await page.keyboard.press('Enter');
    await page.locator('#new-key').waitFor();
    const key = await page.locator('#new-key-text').innerText();
    assert.equal((await service.client.with({ 'x-api-key': key }).get('/v1/agents/me')).status, 200);
    await page.keyboard.press('Escape');
    assert.equal(await search(page), '200');
    await page.getByRole('link', { name: 'local-events' }).click();
    await page.waitForURL(`${service.url}/`);
    assert.equal(await page.getByLabel('API key').inputValue(), key);
    await page.getByRole('link', { name: 'API', exact: true }).click();
    await page.getByRole('button', { name: 'Authorized' }).waitFor();
    assertClean(visitor);
  });

  it('has no violation of axe-core, light and dark, and fits on 320 pixels', async () => {
    const check = async (state: string) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await findViolations(page), [], `${state}, ${colorScheme}`);
        const ground = await page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
        assert.equal(ground, colorScheme === 'dark' ? 'rgb(14, 16, 20)' : 'rgb(249, 250, 251)');
      }
    };
    await check('the list');
    await search(page);
    await page.locator('#operations-Events-createEvent .opblock-summary-control').click();
    await page.locator('#operations-Events-createEvent').getByRole('button', { name: 'Execute' }).waitFor();
    await check('two open operations');
    await page.setViewportSize({ width: 320, height: 700 });
    assert.equal(await findOverflow(page), 0);
    for (const name of ['searchNearby', 'createEvent']) {
      await page.locator(`#operations-Events-${name} .opblock-summary-control`).click();
    }
    await page.getByRole('button', { name: 'Authorized' }).click();
    for (const text of ['No key yet? Get one', 'For administrators: a token'])
      await page.getByText(text).click();
    await check('the dialog');
    assert.equal(await findOverflow(page), 0);
  });

  it('requests nothing from other hosts and violates no rule of its own policy', () => assertClean(visitor));
});

describe('the bytes of /docs', () => {
  async function load(context: BrowserContext, withSwaggerUi: boolean): Promise<number> {
    const page = await context.newPage();
    const bytes = await countBytes(page);
    const path = withSwaggerUi ? '/docs#/Events/searchNearby' : '/docs';
    await page.goto(service.url + path, { waitUntil: 'networkidle' });
    if (withSwaggerUi) await isShown(page);
    await page.close();
    return bytes();
  }

  it(`are at most ${MAX_LIST_BYTES} until an operation is tried`, async () => {
    const context = await (await getBrowser()).newContext();
    const bytes = await load(context, false);
    assert.ok(bytes > 10_000 && bytes < MAX_LIST_BYTES, `${bytes} bytes`);
    await context.close();
  });

  it(`are at most ${MAX_FIRST_BYTES} the first time and ${MAX_SECOND_BYTES} after that`, async () => {
    const context = await (await getBrowser()).newContext();
    const [first, second] = [await load(context, true), await load(context, true)];
    assert.ok(first > 100_000 && first < MAX_FIRST_BYTES, `${first} bytes`);
    assert.ok(second < MAX_SECOND_BYTES, `${second} bytes`);
    await context.close();
  });
});
