// The interactive API documentation in a real browser.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';

describe('GET /docs', () => {
  let service: TestService;
  let browser: Browser;
  let page: Page;
  const asked: string[] = [];
  const problems: string[] = [];

  before(async () => {
    service = await startTestService();
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
    page.on('request', (request) => asked.push(request.url()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    await page.goto(`${service.url}/docs`);
    await page.getByRole('heading', { name: 'local-events' }).waitFor();
  });
  after(async () => {
    await browser.close();
    await service.close();
  });

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

  it('sends a request with a key and shows the response', async () => {
    const registered = await service.client.post('/v1/auth/register', {
      email: 'docs@example.com',
      agent_name: 'docs',
    });
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    await page.locator('#api_key_value').first().fill(registered.body.api_key);
    await page.getByRole('button', { name: 'Apply credentials' }).first().click();
    await page.getByRole('button', { name: 'Close' }).first().click();
    await page.locator('#operations-Events-searchNearby .opblock-summary-control').click();
    await page.getByRole('button', { name: 'Execute' }).click();
    const live = page.locator('.live-responses-table');
    await live.waitFor();
    assert.equal((await live.locator('.response-col_status').nth(1).innerText()).trim().slice(0, 3), '200');
    assert.match(await live.innerText(), /"total": 0/);
  });

  it('creates an event from the unchanged example', async () => {
    await page.locator('#operations-Events-createEvent .opblock-summary-control').click();
    const operation = page.locator('#operations-Events-createEvent');
    await operation.getByRole('button', { name: 'Execute' }).click();
    const live = operation.locator('.live-responses-table');
    await live.waitFor();
    assert.match(await live.innerText(), /"title": "Lantern workshop"/);
  });

  it('requests nothing from other hosts and violates no rule of its own policy', () => {
    assert.ok(asked.length >= 5);
    const others = asked.filter((url) => !url.startsWith(service.url) && !url.startsWith('data:'));
    assert.deepEqual(others, []);
    assert.deepEqual(problems, []);
  });
});
