// npm run bench -- --console: measures the console in a browser with 100,000 agents and 1 million events, 50,000 of them of one
// agent, on both engines: the time of the API for each view, and the time from its response until the view is usable.
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { openConsole } from '../test/console/console.ts';
import { fillWithCrowd } from '../test/support/crowd.ts';
import { ENGINES } from '../test/support/engines.ts';
import { describeMachine, fixed, markdownTable, type Row, withSpread } from './report.ts';
import { type Spread, spread } from './statistics.ts';

const CROWD = { agents: 100_000, events: 50_000, othersEvents: 950_000 };
const WARM_UP = 1;

/** A service reads all events after its start; the views are measured when it has. */
const LOADING_MS = 60_000;

interface ViewTimes {
  readonly view: string;
  readonly engine: string;
  /** Slowest request of the view, in milliseconds. */
  readonly api: Spread;
  /** Time from its response until the rows are rendered and nothing is loading. */
  readonly usable: Spread;
}

/** URL paths by view. */
function viewsOf(agentId: string): Record<string, string> {
  const agent = `/admin/agents/${agentId}`;
  return {
    'agents, newest first': '/admin',
    'agents by name': '/admin?sort=agent_name',
    'agents by last use': '/admin?sort=-last_used_at',
    'agents by events': '/admin?sort=-event_count',
    'agents by events of 24 hours': '/admin?sort=-events_24h',
    'agents found': '/admin?q=agent+999',
    "one agent's events, upcoming": agent,
    "one agent's events, all": `${agent}?when=all`,
    "one agent's events by title": `${agent}?when=all&sort=title`,
    "one agent's events found": `${agent}?when=all&q=event+499`,
    'all events': '/admin/events',
    'all events, upcoming, by start': '/admin/events?when=upcoming&sort=start_at',
    'all events, past': '/admin/events?when=past',
    'all events of a type': '/admin/events?type=market',
    'all events found': '/admin/events?q=concert+999',
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
      // The measurement is injected as a script, which the page's Content-Security-Policy would block.
      const { page, signIn } = await tested.visit('/admin', { bypassCSP: true });
      await signIn();
      await sleep(LOADING_MS);
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

async function measureView(page: Page, url: string, rounds: number) {
  const api: number[] = [];
  const usable: number[] = [];
  for (let round = -WARM_UP; round < rounds; round++) {
    await page.goto(url, { waitUntil: 'commit' });
    const seen = (await page
      .waitForFunction(USABLE, undefined, { polling: 'raf' })
      .then((handle) => handle.jsonValue())) as { api: number; usable: number };
    if (round < 0) continue;
    api.push(seen.api);
    usable.push(seen.usable);
  }
  return { api: spread(api), usable: spread(usable) };
}

/** Runs in the page before each frame. Returns undefined until there are rows and nothing is loading. */
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
  const inFull = (count: number) => count.toLocaleString('en-US');
  const inMs = (value: Spread) => withSpread(value, (ms) => fixed(ms, 0));
  return [
    '# The console with many agents',
    '',
    `${inFull(CROWD.agents)} agents; one of them has ${inFull(CROWD.events)} events, the others together ${inFull(CROWD.othersEvents)}.`,
    'Milliseconds: median, minimum and maximum of',
    `${rounds} loads of the whole page in Chromium. "API" is the slowest request of the view, as seen by the browser; "usable" is the`,
    'time from its response until the rows are rendered and nothing is loading. Browser, service and database share the machine.',
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
