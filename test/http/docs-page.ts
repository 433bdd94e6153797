// The API documentation in a real browser, for its tests: what the OpenAPI document describes, and what a visitor does.
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { getBrowser, type Visit, visit } from '../console/console.ts';
import type { TestService } from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: the OpenAPI document is checked by its own tests
type Json = any;

export interface Described {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Json;
  readonly parameters: readonly Json[];
}

/** Every operation of the OpenAPI document. */
export async function readDescribed(service: TestService): Promise<Described[]> {
  const { paths } = (await service.client.get('/openapi.json')).body;
  return Object.entries<Json>(paths).flatMap(([path, { parameters: shared = [], ...methods }]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      operation,
      parameters: [...(operation.parameters ?? []), ...shared],
    })),
  );
}

export async function openDocs(
  service: TestService,
  options: BrowserContextOptions = {},
  path = '/docs',
): Promise<Visit> {
  return visit(await getBrowser(), service.url, path, options);
}

export const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'API key' });
export const operationOf = (page: Page, id: string) => page.locator(`form#${id}`);

export async function newKey(service: TestService): Promise<string> {
  const body = { email: 'docs@example.com', agent_name: 'docs' };
  return (await service.client.post('/v1/auth/register', body)).body.api_key;
}

export async function useKey(page: Page, key: string): Promise<void> {
  await page.locator('#authorize-open').click();
  await dialogOf(page).getByLabel('Your key').fill(key);
  await page.getByRole('button', { name: 'Use this key' }).click();
  await dialogOf(page).waitFor({ state: 'hidden' });
}

/** Sends an operation, and returns the status and the body that the page shows. */
export async function send(operation: Locator): Promise<{ status: number; text: string }> {
  const shown = operation.locator('.response');
  await shown.evaluate((place) => place.replaceChildren());
  await operation.locator('button[type=submit]').click();
  const status = await shown.getByRole('status').innerText();
  const block = shown.getByRole('group', { name: 'Response', exact: true });
  return {
    status: Number(status.slice(0, 3)),
    text: (await block.count()) > 0 ? await block.innerText() : '',
  };
}
