// The look of the API documentation in a real browser: links, phones, zoom, accessibility and bytes.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { assertClean, closeBrowser, getBrowser } from '../console/console.ts';
import { countBytes, findOverflow, findViolations } from '../support/page-checks.ts';
import { startTestService, type TestService } from '../support/service.ts';
import {
  type Described,
  dialogOf,
  newKey,
  openDocs,
  operationOf,
  readDescribed,
  send,
  useKey,
} from './docs-page.ts';

/** All that the page loads: as it is stored, and as it is transferred. */
const MAX_BYTES = 165_000;
const MAX_FIRST_BYTES = 60_000;
const MAX_SECOND_BYTES = 5_000;

let service: TestService;
let described: readonly Described[];
before(async () => {
  service = await startTestService();
  described = await readDescribed(service);
});
after(async () => {
  await closeBrowser();
  await service.close();
});

const open = (options?: BrowserContextOptions, path?: string) => openDocs(service, options, path);

describe('a link to an operation', () => {
  /** How far below the top of the screen its title is. */
  const topOf = (page: Page, id: string) =>
    page.locator(`#${id} h3`).evaluate((title) => title.getBoundingClientRect().top);

  for (const [what, viewport] of Object.entries({
    wide: { width: 1280, height: 800 },
    narrow: { width: 390, height: 800 },
  })) {
    it(`scrolls to it and marks it, ${what}; links of earlier versions, too`, async () => {
      for (const [hash, id] of [
        ['#createEvent', 'createEvent'],
        ['#/Events/createEvent', 'createEvent'],
        ['#deleteEvents', 'deleteEvents'],
      ] as const) {
        const visitor = await open({ viewport }, `/docs${hash}`);
        const { page } = visitor;
        await page.locator(`.contents a[href="#${id}"][aria-current]`).waitFor({ state: 'attached' });
        const top = await topOf(page, id);
        assert.ok(top > 60 && top < 260, `${hash}: ${top} pixels`);
        assertClean(visitor);
        await visitor.context.close();
      }
    });
  }

  it('is followed from the menu of a narrow screen', async () => {
    const visitor = await open({ viewport: { width: 390, height: 800 } });
    const { page } = visitor;
    const menu = page.getByRole('button', { name: 'Operations and search' });
    const link = page
      .getByRole('navigation', { name: 'Operations' })
      .getByRole('link', { name: 'Create an event' });
    assert.equal(await link.isVisible(), false);
    await menu.click();
    await link.click();
    assert.equal(await link.isVisible(), false);
    assert.equal(await menu.getAttribute('aria-expanded'), 'false');
    while (Math.abs((await topOf(page, 'createEvent')) - 160) > 100) await page.waitForTimeout(50);
    await visitor.context.close();
  });
});

describe('the look of /docs', () => {
  it('has Send beside the first words of an operation, whatever the number of parameters', async () => {
    for (const [width, height] of [
      [1280, 800],
      [390, 800],
      [640, 400],
    ] as const) {
      const visitor = await open({ viewport: { width, height } });
      const measured = await visitor.page.locator('form.operation').evaluateAll((forms) =>
        forms.map((form) => {
          const [send, name] = ['[type=submit]', 'tbody th'].map((part) =>
            form.querySelector(part)?.getBoundingClientRect(),
          );
          return {
            id: form.id,
            down: send!.top - form.getBoundingClientRect().top,
            wide: name?.width ?? 100,
          };
        }),
      );
      assert.equal(measured.length, described.length);
      for (const { id, down, wide } of measured) {
        assert.ok(down > 0 && down < 1_000, `${width}: ${id} has Send ${down} pixels down`);
        assert.ok(wide >= 60, `${width}: the names of ${id} are ${wide} pixels wide`);
      }
      await visitor.context.close();
    }
  });

  it('has no violation of axe-core, light and dark, wide and narrow, with responses and the dialog', async () => {
    for (const viewport of [
      { width: 1280, height: 900 },
      { width: 320, height: 700 },
    ]) {
      const visitor = await open({ viewport, bypassCSP: true });
      const { page } = visitor;
      const check = async (state: string) => {
        // A rule about the narrow layout does not depend on the colours.
        for (const colorScheme of viewport.width > 860 ? (['light', 'dark'] as const) : (['dark'] as const)) {
          await page.emulateMedia({ colorScheme });
          assert.deepEqual(await findViolations(page), [], `${state}, ${viewport.width}, ${colorScheme}`);
          const ground = await page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
          assert.equal(ground, colorScheme === 'dark' ? 'rgb(14, 16, 20)' : 'rgb(249, 250, 251)');
        }
        assert.ok((await findOverflow(page)) <= 0, state);
      };
      await useKey(page, await newKey(service));
      await send(operationOf(page, 'searchNearby'));
      await send(operationOf(page, 'getAdministrator'));
      await page.evaluate("for (const all of document.querySelectorAll('details')) all.open = true");
      if (viewport.width < 860) await page.getByRole('button', { name: 'Operations and search' }).click();
      await check('everything open');
      await page.keyboard.press('Escape');
      await page.locator('#get-key-open').click();
      await dialogOf(page).getByText('For administrators: a token').click();
      await check('the dialog');
      await visitor.context.close();
    }
  });

  it('leads a newcomer with a phone to a key, a search and an event, with each response in view', async () => {
    const screen = { width: 390, height: 800 };
    const visitor = await open({ viewport: screen, colorScheme: 'dark', hasTouch: true });
    const { page } = visitor;
    await page.locator('#get-key-open').tap();
    await dialogOf(page).getByLabel('E-mail').fill('phone@example.com');
    await dialogOf(page).getByLabel('Name of your agent').fill('From a phone');
    await dialogOf(page).getByRole('button', { name: 'Get a key' }).tap();
    await dialogOf(page).getByRole('link', { name: 'search for events' }).tap();
    for (const id of ['searchNearby', 'createEvent']) {
      const operation = operationOf(page, id);
      await operation.locator('[type=submit]').tap();
      const status = operation.getByRole('status');
      await status.getByText('200').waitFor();
      const box = (await status.boundingBox())!;
      assert.ok(box.y > 100 && box.y + box.height < screen.height, `${id}: ${box.y} pixels down`);
    }
    assertClean(visitor);
    await visitor.context.close();
  });

  it('shows the whole outline of what has the focus in the contents, wide and narrow', async () => {
    for (const width of [1280, 640, 390]) {
      const visitor = await open({ viewport: { width, height: 700 } });
      const { page } = visitor;
      if (width < 860) await page.getByRole('button', { name: 'Operations and search' }).click();
      await page.getByLabel('Search the operations').focus();
      for (const what of ['the search', 'the first link']) {
        const room = await page.locator(':focus').evaluate((focused) => {
          const { left, right } = focused.getBoundingClientRect();
          const list = focused.closest('.contents')!;
          const { left: from } = list.getBoundingClientRect();
          const { outlineWidth, outlineOffset } =
            focused.ownerDocument.defaultView!.getComputedStyle(focused);
          const outline = Number.parseFloat(outlineWidth) + Number.parseFloat(outlineOffset);
          return { outline, before: left - from, after: from + list.clientWidth - right };
        });
        assert.ok(room.outline > 0, `${what} has an outline`);
        assert.ok(
          room.before >= room.outline && room.after >= room.outline,
          `${width}: ${what} ${room.before} ${room.after}`,
        );
        await page.keyboard.press('Tab');
      }
      await visitor.context.close();
    }
  });

  it('fits at a zoom of 200 %, as on a screen half as wide', async () => {
    for (const width of [640, 390, 320]) {
      const visitor = await open({ viewport: { width, height: 500 }, deviceScaleFactor: 2 });
      await visitor.page.locator('#get-key-open').waitFor();
      assert.ok((await findOverflow(visitor.page)) <= 0, `${width}`);
      await visitor.context.close();
    }
  });
});

describe('the bytes of /docs', () => {
  it(`are at most ${MAX_BYTES}, everything included, not compressed`, async () => {
    const visitor = await open();
    const bodies: Promise<number>[] = [];
    visitor.page.on('response', (response) => bodies.push(response.body().then(({ length }) => length)));
    await visitor.page.reload({ waitUntil: 'networkidle' });
    const bytes = (await Promise.all(bodies)).reduce((sum, each) => sum + each, 0);
    assert.ok(
      bodies.length >= 8 && bytes > 50_000 && bytes <= MAX_BYTES,
      `${bodies.length} files, ${bytes} bytes`,
    );
    await visitor.context.close();
  });

  it(`transfer at most ${MAX_FIRST_BYTES} the first time and ${MAX_SECOND_BYTES} after that`, async () => {
    const context = await (await getBrowser()).newContext();
    const load = async () => {
      const page = await context.newPage();
      const bytes = await countBytes(page);
      await page.goto(`${service.url}/docs`, { waitUntil: 'networkidle' });
      await page.close();
      return bytes();
    };
    const [first, second] = [await load(), await load()];
    assert.ok(first > 10_000 && first < MAX_FIRST_BYTES, `${first} bytes`);
    assert.ok(second < MAX_SECOND_BYTES, `${second} bytes`);
    await context.close();
  });
});
