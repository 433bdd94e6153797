// npm run bench -- --pages: measures what the pages transfer, and when they are usable, on a slow phone.
import { loadavg } from 'node:os';
import type { BrowserContext } from 'playwright-core';
import { openConsole } from '../test/console/console.ts';
import { countBytes } from '../test/support/page-checks.ts';
import { describeMachine, fixed, markdownTable, type Row, withSpread } from './report.ts';
import { type Spread, spread } from './statistics.ts';

/** How many times slower than this machine the processor is. */
const CPU_SLOWDOWN = 4;

interface Network {
  readonly name: string;
  readonly megabits: number;
  /** Time until the response to each request begins, in milliseconds. */
  readonly latencyMs: number;
}

/** Both are called slow 4G. DevTools delays each request by several round trips. */
const NETWORKS: readonly Network[] = [
  { name: 'Lighthouse', megabits: 1.6, latencyMs: 150 },
  { name: 'DevTools', megabits: 1.44, latencyMs: 562.5 },
];

/** Paths, and what is there when a page is usable. */
const PAGES: Record<string, { path: string; usable: string }> = {
  '`/`': { path: '/', usable: '#registration button' },
  '`/docs`': { path: '/docs', usable: '#authorize-open:not([hidden])' },
  'console, signed out': { path: '/admin', usable: 'a.button.primary.wide' },
  'console, list of agents': { path: '/admin', usable: 'tbody .row-link' },
};
const SIGNED_IN = 'console, list of agents';

interface Visit {
  readonly kilobytes: number;
  /** Milliseconds until the scripts of the page had run and `usable` was there. */
  readonly usableMs: number;
}

interface PageTimes {
  readonly page: string;
  readonly network: Network;
  readonly first: readonly Visit[];
  readonly second: readonly Visit[];
}

export async function measurePages(rounds: number, command: string): Promise<string> {
  const loadBefore = loadavg()[0]!;
  const tested = await openConsole('sqlite');
  try {
    const { client } = tested.service;
    await client.post('/v1/auth/register', { email: 'bench@example.com', agent_name: 'Bench' });
    // The measurement is injected as a script, which the page's Content-Security-Policy would block.
    const stranger = await tested.visit('/admin', { bypassCSP: true });
    const administrator = await tested.visit('/admin', { bypassCSP: true });
    await administrator.signIn();
    const times: PageTimes[] = [];
    for (const [page, { path, usable }] of Object.entries(PAGES)) {
      const { context } = page === SIGNED_IN ? administrator : stranger;
      for (const network of NETWORKS) {
        console.error(`${page}, ${network.name}`);
        const visits: { first: Visit; second: Visit }[] = [];
        for (let round = 0; round < rounds; round++) {
          visits.push(await visitTwice(context, tested.service.url + path, usable, network));
        }
        times.push({
          ...{ page, network },
          ...{ first: visits.map(({ first }) => first), second: visits.map(({ second }) => second) },
        });
      }
    }
    return render(times, rounds, describeMachine({ command, loadBefore }));
  } finally {
    await tested.close();
  }
}

/** The first visit has an empty cache. */
async function visitTwice(
  context: BrowserContext,
  url: string,
  usable: string,
  network: Network,
): Promise<{ first: Visit; second: Visit }> {
  const page = await context.newPage();
  const devTools = await context.newCDPSession(page);
  try {
    await devTools.send('Network.enable');
    await devTools.send('Network.clearBrowserCache');
    const bytesPerSecond = (network.megabits * 1e6) / 8;
    await devTools.send('Network.emulateNetworkConditions', {
      ...{ offline: false, latency: network.latencyMs },
      ...{ downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond / 2 },
    });
    await devTools.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
    const bytes = await countBytes(page);
    const visit = async (): Promise<Visit> => {
      const before = bytes();
      await page.goto(url, { waitUntil: 'commit' });
      const usableMs = await page
        .waitForFunction<number>(timeWhenUsable(usable), undefined, { polling: 'raf' })
        .then((handle) => handle.jsonValue());
      await page.waitForLoadState('networkidle');
      return { kilobytes: (bytes() - before) / 1000, usableMs };
    };
    const first = await visit();
    return { first, second: await visit() };
  } finally {
    await page.close();
  }
}

/** Runs in the page before each frame. Returns undefined until its scripts have run and the element is there. */
const timeWhenUsable = (selector: string) => `(() => {
  const [{ domContentLoadedEventEnd: ran }] = performance.getEntriesByType('navigation');
  return ran > 0 && document.querySelector(${JSON.stringify(selector)}) ? performance.now() : undefined;
})()`;

function render(times: readonly PageTimes[], rounds: number, machine: readonly Row[]): string {
  const inSeconds = (value: Spread) => withSpread(value, (ms) => fixed(ms / 1000, 2));
  const size = (visits: readonly Visit[]) =>
    fixed(spread(visits.map(({ kilobytes }) => kilobytes)).median, 1);
  const time = (visits: readonly Visit[]) => inSeconds(spread(visits.map(({ usableMs }) => usableMs)));
  return [
    '# Pages on a slow phone',
    '',
    `A processor ${CPU_SLOWDOWN} times slower than this machine's, and the networks that Lighthouse and DevTools call slow 4G: ${NETWORKS.map(
      ({ megabits, latencyMs }) => `${megabits} Mbit/s and ${latencyMs} ms`,
    ).join(', and ')}.`,
    'KB is what is transferred, with headers. A page is usable when its scripts have run and what people need is there: the form',
    'for a key, the buttons of the docs, the link to sign in, the first row of the list. The first visit has an empty cache, the second follows it.',
    `Seconds: median, minimum and maximum of ${rounds} visits. Browser and service share the machine.`,
    '',
    ...markdownTable([['', ''], ...machine]),
    '',
    ...markdownTable([
      ['page', 'network', 'KB', 'usable after s', 'second visit: KB', 'usable after s'],
      ...times.map(({ page, network, first, second }) => [
        ...[page, network.name, size(first), time(first), size(second), time(second)],
      ]),
    ]),
    '',
  ].join('\n');
}
