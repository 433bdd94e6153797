// axe-core on every view, light and dark, and every view on small screens: the narrowest that the console supports, and a laptop's at
// 200 % zoom.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { insertGrant } from '../support/grants.ts';
import { findOverflow, findViolations } from '../support/page-checks.ts';
import { startTestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';
import { type ConsoleUnderTest, getBrowser, openConsole, type Visit, visit as visitPage } from './console.ts';

/** A console that is rendered later would replace what a test writes into the page. */
function untilSignInPage(page: Page): Promise<void> {
  return page.getByRole('link', { name: /^Sign in with/ }).waitFor();
}

/** For the browser: names of a dialog's buttons that no scrolling brings onto the screen. */
const FIND_HIDDEN = `[...document.querySelectorAll('dialog[open] button')]
  .filter((button) => {
    button.scrollIntoView({ block: 'nearest' });
    const { top, bottom } = button.getBoundingClientRect();
    return top < 0 || bottom > innerHeight;
  })
  .map(({ textContent }) => textContent)`;

describe('accessibility of the console', () => {
  let console: ConsoleUnderTest;
  let agentId: string;

  before(async () => {
    console = await openConsole('sqlite');
    const agent = await console.service.client.register('City guide');
    for (const day of [1, 2, 3]) {
      const start_at = `2031-05-0${day}T18:00:00Z`;
      ({ agent_id: agentId } = await agent.create({
        title: `Event ${day}`,
        start_at,
        description: 'Words.',
      }));
    }
    const doomed = await Promise.all([4, 5].map(() => agent.create()));
    await console.administrator.post(`/v1/admin/agents/${agentId}/events/delete`, {
      event_ids: doomed.map(({ event_id }) => event_id),
    });
    const idle = await console.service.client.register('Idle');
    await console.administrator.patch(`/v1/admin/agents/${agentId}`, { tier: 'admin' });
    await idle.nearby();
    insertGrant(console.service.folder, agentId);
  });
  after(() => console.close());

  /** How to reach each view. */
  const VIEWS: Record<string, (page: Page) => Promise<void>> = {
    agents: async (page) => {
      await open(page, '');
      await page.getByRole('link', { name: 'City guide' }).waitFor();
    },
    'agents, none found': async (page) => {
      await open(page, '');
      await page.getByRole('searchbox', { name: 'Search agents' }).fill('nobody');
      await page.getByText('No agent matches').waitFor();
    },
    'the menu': async (page) => {
      await open(page, '');
      await page.getByRole('button', { name: /^Account of/ }).click();
    },
    agent: async (page) => {
      await open(page, `/agents/${agentId}`);
      await page.getByLabel('Select Event 2').check();
    },
    event: async (page) => {
      await open(page, `/agents/${agentId}`);
      await page.getByRole('button', { name: 'Event 1' }).click();
      await page.getByRole('dialog').waitFor();
    },
    ...Object.fromEntries(
      ['Change tier', 'Deactivate', 'Delete all events', 'Delete agent'].map((name) => [
        name,
        async (page: Page) => {
          await open(page, `/agents/${agentId}`);
          if (name.startsWith('Delete')) await page.getByRole('button', { name: 'More actions' }).click();
          await page.getByRole('button', { name }).click();
          await page.getByRole('dialog').waitFor();
          if (name.startsWith('Delete')) await page.getByText('Delete for good').waitFor();
        },
      ]),
    ),
    'more actions': async (page) => {
      await open(page, `/agents/${agentId}`);
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('button', { name: 'Delete agent' }).waitFor();
    },
    keys: async (page) => {
      await open(page, `/agents/${agentId}?tab=keys`);
      await page.getByRole('button', { name: /^Revoke/ }).waitFor();
    },
    'Revoke key': async (page) => {
      await open(page, `/agents/${agentId}?tab=keys`);
      await page.getByRole('button', { name: /^Revoke/ }).click();
      await page.getByRole('dialog').waitFor();
    },
    grants: async (page) => {
      await open(page, `/agents/${agentId}?tab=grants`);
      await page.getByRole('button', { name: 'End the grant of Claude' }).waitFor();
    },
    'End grant': async (page) => {
      await open(page, `/agents/${agentId}?tab=grants`);
      await page.getByRole('button', { name: 'End the grant of Claude' }).click();
      await page.getByRole('dialog').waitFor();
    },
    history: async (page) => {
      await open(page, `/agents/${agentId}?tab=history`);
      await page.getByText('set the tier of').waitFor();
    },
    'audit log, none found': async (page) => {
      await open(page, `/audit?q=nothing&action=delete_agent&from=2026-01-01`);
      await page.getByText('No change matches').waitFor();
    },
    events: async (page) => {
      await open(page, '');
      await page.getByRole('link', { name: 'Events', exact: true }).click();
      await page.getByLabel('Select Event 2').check();
    },
    'events of an agent': async (page) => {
      await open(page, `/events?agent=${agentId}&q=event`);
      await page.getByText('Agent: City guide').waitFor();
    },
    'events, none found': async (page) => {
      await open(page, `/events?q=nothing`);
      await page.getByText('No event matches').waitFor();
    },
    'event of any agent': async (page) => {
      await open(page, `/events`);
      await page.getByRole('button', { name: 'Event 1' }).click();
      await page.getByRole('dialog').waitFor();
    },
    'delete all that match': async (page) => {
      await open(page, `/events?q=event`);
      await page.getByRole('button', { name: 'Select all 3 that match' }).click();
      await page.getByRole('button', { name: 'Delete selected (3)' }).click();
      await page.getByText('Delete for good').waitFor();
    },
    'audit log': async (page) => {
      await open(page, '');
      await page.getByRole('link', { name: 'Audit log' }).click();
      await page.getByText('set the tier of').waitFor();
      await page.locator('summary').click();
    },
    'not found': async (page) => {
      await open(page, '/nothing-here');
      await page.getByRole('heading', { name: 'Not found' }).waitFor();
    },
    'a failure': async (page) => {
      await open(page, '');
      await page.route('**/v1/admin/audit*', (route) => route.abort());
      await page.getByRole('link', { name: 'Audit log' }).click();
      await page.getByText('This could not be loaded').waitFor();
    },
  };

  const open = (page: Page, path: string) => page.goto(`${console.service.url}/admin${path}`);

  // axe-core is injected as text, which the page's policy would block.
  const OPTIONS = { bypassCSP: true, reducedMotion: 'reduce' } as const;

  /** Checks the current page in both colour schemes; in a short run only in the dark one. */
  const assertAccessible = async (page: Page) => {
    for (const colorScheme of size(['dark'] as const, ['light', 'dark'] as const)) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await findViolations(page), [], colorScheme);
    }
  };

  /** The narrowest, and 1280 × 800 at 200 % zoom. */
  const SMALL_SCREENS = [
    { width: 360, height: 740 },
    { width: 640, height: 400 },
  ];

  /** The view fits on small screens without scrolling sideways, and everything in its dialog can be reached. */
  const assertFits = async (page: Page, name: string) => {
    const usual = page.viewportSize()!;
    for (const screen of SMALL_SCREENS) {
      await page.setViewportSize(screen);
      // A browser applies media queries to a new width with the next frame.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      const overflow = await findOverflow(page);
      const hidden = await page.evaluate(FIND_HIDDEN);
      await page.setViewportSize(usual);
      assert.ok(overflow <= 0, `${name} is ${overflow} pixels wider than a screen of ${screen.width}`);
      assert.deepEqual(hidden, [], `${name} at a height of ${screen.height}`);
    }
  };

  describe('axe-core', () => {
    let visit: Visit;
    before(async () => {
      visit = await console.visit('/admin', OPTIONS);
      await untilSignInPage(visit.page);
      await assertAccessible(visit.page);
      await visit.signIn();
    });

    for (const [name, show] of Object.entries(VIEWS)) {
      it(`finds nothing in: ${name}`, async () => {
        const { page } = visit;
        await show(page);
        await assertAccessible(page);
        await assertFits(page, name);
        await page.unrouteAll();
      });
    }

    it('is followed by a check of the width that finds a wide view', async () => {
      const { page } = visit;
      await page.evaluate("document.querySelector('main').style.setProperty('width', '400px')");
      await assert.rejects(assertFits(page, 'a'), /a is \d\d pixels wider than a screen of 360/);
    });

    it('finds nothing in: not an administrator', async () => {
      const stranger = await console.visit('/admin', OPTIONS);
      await stranger.signIn('eve');
      await stranger.page.getByRole('heading', { name: 'Not an administrator' }).waitFor();
      await assertAccessible(stranger.page);
    });

    it('finds nothing in: sign-in with a token', async () => {
      const service = await startTestService();
      const { page } = await visitPage(await getBrowser(), service.url, '/admin', OPTIONS);
      await page.getByText('Use an identity provider instead').click();
      await assertAccessible(page);
      await service.close();
    });

    it('finds bad contrast in either scheme', async () => {
      const { page } = await console.visit('/admin', OPTIONS);
      await untilSignInPage(page);
      const grey = { light: '#bbb', dark: '#444' };
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.evaluate(
          `document.querySelector('main').style.setProperty('color', '${grey[colorScheme]}')`,
        );
        await page.evaluate(
          "document.querySelector('main').innerHTML = '<h1>A page</h1><p>Words of it.</p>'",
        );
        const problems = await findViolations(page);
        assert.deepEqual(
          problems.map((problem) => problem.split(':', 1)[0]),
          ['color-contrast'],
        );
      }
    });
  });

  it('is checked for buttons that cannot be reached', async () => {
    const { page } = await console.visit('/admin', { bypassCSP: true });
    await untilSignInPage(page);
    await page.evaluate(
      `document.body.insertAdjacentHTML('beforeend', '<dialog style="position: fixed; top: 300px"><p>Words</p><button style="margin-top: 400px">Lost')`,
    );
    await page.evaluate("document.querySelector('dialog').show()");
    await assert.rejects(assertFits(page, 'a'), /a at a height of 740/);
  });

  it('is checked by an axe-core that finds problems', async () => {
    const visit = await console.visit('/admin', { bypassCSP: true });
    await untilSignInPage(visit.page);
    await visit.page.evaluate(
      "document.querySelector('main').innerHTML = '<h1>A page</h1><img src=/admin/x><input>'",
    );
    const problems = await findViolations(visit.page);
    assert.deepEqual(problems.map((problem) => problem.split(':', 1)[0]).sort(), ['image-alt', 'label']);
  });
});
