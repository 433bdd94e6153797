// `npm run screenshots`: takes screenshots of the front page, the docs page and every console view in the demo, for
// docs/console.md: light, dark, and 390 pixels wide.
import { mkdirSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { startDemo } from '../demo/start.ts';
import { untilLoaded, visit } from '../test/console/console.ts';
import { launchBrowser } from '../test/support/browser.ts';
import { freePort } from '../test/support/process.ts';

const FOLDER = fileURLToPath(new URL('../docs/images', import.meta.url));

const SCREENS: Record<string, BrowserContextOptions> = {
  light: { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  narrow: { viewport: { width: 390, height: 800 }, colorScheme: 'light', hasTouch: true },
};

/** Steps that lead from the previous view to each view. */
const VIEWS: Record<string, (page: Page) => Promise<void>> = {
  agents: async (page) => {
    await page.goto(new URL('/admin?sort=-event_count', page.url()).href);
    await page.locator('tbody a').first().waitFor();
  },
  agent: async (page) => {
    await page.locator('tbody a').first().click();
    await page
      .getByLabel(/^Select /)
      .nth(2)
      .check();
    await page
      .getByLabel(/^Select /)
      .nth(3)
      .check();
  },
  'agent-keys': async (page) => {
    await page.getByRole('tab', { name: /^Keys/ }).click();
    await page.getByText(/^\d+ keys?$/).waitFor();
  },
  'agent-history': async (page) => {
    await page.getByRole('tab', { name: 'History' }).click();
    await untilLoaded(page);
  },
  event: async (page) => {
    await page.getByRole('tab', { name: /^Events/ }).click();
    await page.locator('tbody button').first().click();
    await page.getByRole('dialog').waitFor();
  },
  'delete-event': async (page) => {
    await page.getByRole('dialog').getByRole('button', { name: 'Delete event' }).click();
    await page.getByText('Delete for good').waitFor();
  },
  'delete-agent': async (page) => {
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Delete agent' }).click();
    await page.getByRole('dialog').getByLabel('Delete for good').check();
  },
  events: async (page) => {
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    await page
      .getByLabel(/^Select /)
      .nth(2)
      .check();
  },
  'delete-matching': async (page) => {
    await page.getByRole('searchbox', { name: 'Search events' }).fill('cheap');
    await page.getByRole('button', { name: /^Select all \d+ that match/ }).click();
    await page.getByRole('button', { name: /^Delete selected/ }).click();
    await page.getByRole('dialog').waitFor();
  },
  undo: async (page) => {
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Delete \d+ events/ })
      .click();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
  },
  'audit-log': async (page) => {
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByText('deactivated').first().waitFor();
  },
  restore: async (page) => {
    await page.getByRole('button', { name: 'Restore' }).first().click();
    await page.getByRole('dialog').getByText('come back').waitFor();
  },
  account: async (page) => {
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await page
      .getByRole('status')
      .getByText(/^Restored/)
      .waitFor();
    await page.getByRole('button', { name: /^Account of/ }).click();
  },
};

/** Paths of the other pages. */
const PAGES: Record<string, string> = { front: '/', docs: '/docs' };

async function takeAll(url: string, issuer: string): Promise<void> {
  const browser = await launchBrowser();
  try {
    for (const [screen, options] of Object.entries(SCREENS)) {
      const visitor = await visit(browser, url, '/admin', { ...options, reducedMotion: 'reduce' }, [issuer]);
      const take = async (view: string) => {
        const path = `${FOLDER}/${view}-${screen}.png`;
        await visitor.page.evaluate('scrollTo(0, 0)'); // a click may have scrolled the page
        await visitor.page.screenshot({ path, animations: 'disabled', caret: 'hide' });
        console.log(relative('', path));
      };
      await visitor.page.getByRole('link', { name: /^Sign in with/ }).waitFor();
      await take('console-sign-in');
      await visitor.signIn();
      for (const [view, open] of Object.entries(VIEWS)) {
        await open(visitor.page);
        await take(`console-${view}`);
      }
      for (const [view, path] of Object.entries(PAGES)) {
        await visitor.page.goto(url + path);
        await take(view);
      }
      await visitor.context.close();
    }
  } finally {
    await browser.close();
  }
}

const demo = await startDemo(await freePort());
try {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  await takeAll(demo.url, demo.issuer);
} finally {
  await demo.close();
  rmSync(demo.folder, { recursive: true });
}
