// npm run bench -- --console: the console in a browser before a hundred thousand agents and an agent with fifty thousand
// events, on both engines: how long the API takes for each view, and how long after its answer the view can be used.
import { loadavg } from 'node:os';
import type { Page } from 'playwright-core';
import { openConsole } from '../test/console/console.ts';
import { fillWithCrowd } from '../test/support/crowd.ts';
import { ENGINES } from '../test/support/engines.ts';
import { describeMachine, fixed, markdownTable, type Row, withSpread } from './report.ts';
import { type Spread, spread } from './statistics.ts';

const CROWD = { agents: 100_000, events: 50_000 };
const WARM_UP = 1;

interface ViewTimes {
  readonly view: string;
  readonly engine: string;
  /** The slowest of the view's requests, in milliseconds. */
  readonly api: Spread;
  /** From its answer until the rows are drawn and nothing is busy. */
  readonly usable: Spread;
}

/** Addresses, by what they show. */
function viewsOf(agentId: string): Record<string, string> {
  const agent = `/admin/agents/${agentId}`;
  return {
    'agents, newest first': '/admin',
    'agents by name': '/admin?sort=agent_name',
    'agents by last use': '/admin?sort=-last_used_at',
    'agents by events': '/admin?sort=-event_count',
    'agents found': '/admin?q=agent+999',
    'events, upcoming': agent,
    'events, all': `${agent}?when=all`,
    'events by title': `${agent}?when=all&sort=title`,
    'events found': `${agent}?when=all&q=event+499`,
    'audit log': '/admin/audit',
  };
}

export async function measureConsole(rounds: number, command: string): Promise<string> {
  const loadBefore = loadavg()[0]!;
  const times: ViewTimes[] = [];
  for (const engine of ['sqlite', 'postgres'] as const) {
    console.error(`a crowd on ${engine}`);
    const env = await ENGINES[engine]();
    const agentId = await fillWithCrowd(env, CROWD, Date.now());
    const tested = await openConsole(engine, env);
    try {
      await tested.administrator.patch(`/v1/admin/agents/${agentId}`, { tier: 'admin' });
      // What is measured in the page is given to it as text, which its policy rightly refuses.
      const { page, signIn } = await tested.visit('/admin', { bypassCSP: true });
      await signIn();
      for (const [view, path] of Object.entries(viewsOf(agentId))) {
        console.error(`  ${view}`);
        times.push({ view, engine, ...(await measureView(page, tested.service.url + path, rounds)) });
      }
    } finally {
      await tested.close();
    }
  }
  return render(times, rounds, describeMachine({ command, loadBefore }));
}

async function measureView(page: Page, address: string, rounds: number) {
  const api: number[] = [];
  const usable: number[] = [];
  for (let round = -WARM_UP; round < rounds; round++) {
    await page.goto(address, { waitUntil: 'commit' });
    const seen = (await page
      .waitForFunction(USABLE, undefined, { polling: 'raf' })
      .then((handle) => handle.jsonValue())) as { api: number; usable: number };
    if (round < 0) continue;
    api.push(seen.api);
    usable.push(seen.usable);
  }
  return { api: spread(api), usable: spread(usable) };
}

/** In the page, before each frame: undefined until rows are there and nothing is on its way. */
const USABLE = `(() => {
  const rows = document.querySelectorAll('tbody tr:not(.skeleton-row)').length;
  if (rows === 0 || document.querySelector('[aria-busy=true]')) return undefined;
  const asked = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/v1/admin/'));
  return {
    api: Math.max(...asked.map(({ requestStart, responseEnd }) => responseEnd - requestStart)),
    usable: performance.now() - Math.max(...asked.map(({ responseEnd }) => responseEnd)),
  };
})()`;

function render(times: readonly ViewTimes[], rounds: number, machine: readonly Row[]): string {
  const inMs = (value: Spread) => withSpread(value, (ms) => fixed(ms, 0));
  return [
    '# The console before a crowd',
    '',
    `${CROWD.agents.toLocaleString('en-US')} agents, one of them with ${CROWD.events.toLocaleString('en-US')} events.`,
    'Milliseconds: the median, least and most of',
    `${rounds} loads of the whole page in Chromium. "API" is the slowest request of the view, as the browser sees it; "usable" is the`,
    'time from its answer until the rows are drawn and nothing is busy. Browser, service and database share the machine.',
    '',
    ...markdownTable([['', ''], ...machine]),
    '',
    ...markdownTable([
      ['engine', 'view', 'API', 'usable after it'],
      ...times.map(({ engine, view, api, usable }) => [engine, view, inMs(api), inMs(usable)]),
    ]),
    '',
  ].join('\n');
}
