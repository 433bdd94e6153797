// The page on which a person decides, in a real browser: without scripts, by keyboard, in light and dark, on narrow and enlarged screens, and
// with a client that waits for the redirect on this computer.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { assertClean, closeBrowser, getBrowser, type Visit, visit } from '../console/console.ts';
import { findOverflow, findViolations } from '../support/page-checks.ts';
import { useTestService } from '../support/service.ts';
import { authorizePath, exchange, newClientId, newVerifier } from './flow.ts';

describe('the page in a browser', () => {
  const service = useTestService();
  let listener: Server;
  let redirect: string;
  before(async () => {
    listener = createServer((_request, response) =>
      response.end('<!doctype html><title>Back</title>You may close this.'),
    );
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    redirect = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/callback`;
  });
  after(async () => {
    await closeBrowser();
    listener.close();
  });

  const open = async (
    options: BrowserContextOptions = {},
    changes: Record<string, string> = {},
  ): Promise<Visit & ReturnType<typeof newVerifier> & { clientId: string }> => {
    const pkce = newVerifier();
    const redirect_uri = changes.redirect_uri ?? redirect;
    const clientId = await newClientId(service.client, {
      redirect_uris: [redirect_uri],
      client_name: 'Claude',
    });
    const path = authorizePath(clientId, pkce, { redirect_uri, ...changes });
    const visited = await visit(await getBrowser(), service.url, path, options, [new URL(redirect).origin]);
    return { ...visited, ...pkce, clientId };
  };
  const codeIn = async (page: Page): Promise<string> => {
    await page.getByText('You may close this.').waitFor();
    return new URL(page.url()).searchParams.get('code')!;
  };

  it('leads a person without an agent, and without scripts, to the client', async () => {
    const visited = await open({ javaScriptEnabled: false });
    const { page } = visited;
    await page.getByLabel('E-mail').fill('you@example.com');
    await page.getByLabel('Name of the agent').fill('Weekend planner');
    await page.getByLabel('Read and publish').check();
    await page.getByRole('button', { name: 'Allow' }).click();
    const key = await page.locator('#key').textContent();
    await page.getByRole('button', { name: 'Continue to the client' }).click();
    const code = await codeIn(page);
    const { clientId, verifier, challenge } = visited;
    const tokens = await exchange(
      service.client,
      { clientId, verifier, challenge, code, key: key! },
      { redirect_uri: redirect },
    );
    assert.equal(tokens.body.scope, 'read publish');
    assertClean(visited);

    // The same browser comes back.
    const again = await newClientId(service.client, { redirect_uris: [redirect] });
    await page.goto(service.url + authorizePath(again, visited, { redirect_uri: redirect }));
    assert.ok(await page.getByLabel('Continue as Weekend planner').isChecked());
    await page.getByLabel('Read only').check();
    await page.getByRole('button', { name: 'Allow' }).click();
    assert.ok(await codeIn(page));
    await visited.context.close();
  });

  it('can be operated by keyboard, and does not send without a choice', async () => {
    const visited = await open();
    const { page } = visited;
    const key = (await service.client.register()).headers['x-api-key']!;
    await page.getByLabel('A new agent').focus();
    await page.keyboard.press('ArrowDown');
    assert.ok(await page.getByLabel('An agent that I have').isChecked());
    await page.keyboard.press('Tab');
    await page.keyboard.type(key);
    await page.keyboard.press('Enter');
    // The browser says what is missing, and leads there.
    assert.match(page.url(), /\/oauth\/authorize/);
    await page.keyboard.press('Space');
    assert.ok(await page.getByLabel('Read only').isChecked());
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    assert.ok(await codeIn(page));
    assertClean(visited);
    await visited.context.close();
  });

  it('shows the key field only for an agent that one has', async () => {
    const { page, context } = await open();
    assert.ok(await page.getByLabel('E-mail').isVisible());
    assert.ok(!(await page.getByLabel('Its API key').isVisible()));
    await page.getByLabel('An agent that I have').check();
    assert.ok(!(await page.getByLabel('E-mail').isVisible()));
    await context.close();
  });

  it('leads back to the client if the person cancels, and to an app with a scheme of its own', async () => {
    const { page, context } = await open();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('You may close this.').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('error'), 'access_denied');
    await context.close();
    const app = await open({}, { redirect_uri: 'cursor://anysphere/callback' });
    const left = app.page.waitForRequest(/^cursor:/).catch(() => undefined);
    await app.page.getByRole('button', { name: 'Cancel' }).click();
    await app.page.waitForTimeout(300);
    assert.deepEqual(
      app.problems.filter((problem) => /form-action/.test(problem)),
      [],
    );
    await app.context.close();
    await left;
  });

  for (const [look, options] of Object.entries<BrowserContextOptions>({
    light: { colorScheme: 'light' },
    dark: { colorScheme: 'dark' },
    narrow: { viewport: { width: 320, height: 640 } },
    'enlarged to 200 %': { viewport: { width: 640, height: 450 }, deviceScaleFactor: 2 },
  })) {
    it(`is accessible and fits: ${look}`, async () => {
      const { page, context } = await open(options, { redirect_uri: redirect });
      const check = async (what: string) => {
        assert.deepEqual(await findViolations(page), [], what);
        assert.ok((await findOverflow(page)) <= 0, what);
      };
      await check('the question');
      await page.getByLabel('Read only').check();
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.getByText('It ').first().waitFor();
      await check('problems');
      await page.getByLabel('E-mail').fill('you@example.com');
      await page.getByLabel('Name of the agent').fill('Weekend planner');
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.getByText('It is shown only once.').waitFor();
      await check('the key');
      await page.goto(`${service.url}/oauth/authorize?client_id=unknown`);
      await check('a problem');
      await context.close();
    });
  }
});
