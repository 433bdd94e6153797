// The others, as a process of their own: an agent that searches every 40 ms, on a new and on a kept connection in turn, and that
// twice a second asks for expensive work: a tool call, a calendar or its own list; an administrator who lists agents; and a monitor
// that reads /health. Reports statuses and times as JSON when it gets SIGTERM.
// Also measures how late its own timers are: on a busy machine, a slow response may be this process's own delay.
import { Agent, type OutgoingHttpHeaders, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface PoliteInput {
  readonly url: string;
  readonly key: string;
  /** An administrator's token; without it, nobody lists agents. */
  readonly token: string | undefined;
}

export interface Sample {
  /** The status, or why there was none. */
  readonly status: number | string;
  readonly ms: number;
  /** False if much of the time may be a delay of this process. */
  readonly isMeasurable: boolean;
}

export interface PoliteOutput {
  readonly searches: readonly Sample[];
  /** What needs a slot for expensive work. */
  readonly works: readonly Sample[];
  readonly lists: readonly Sample[];
  readonly checks: readonly Sample[];
  /** Requests sent again because the service had closed the kept connection, as every client library does. */
  readonly resent: number;
  /** Longest delay of this process's own timers. */
  readonly lagMs: number;
}

export const SEARCH = '/v1/events/nearby?lat=52.52&lng=13.405&radius=25';

const TOOL_CALL = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'search_events', arguments: { lat: 52.52, lng: 13.405, radius: 25, q: 'eve*' } },
});
const WORKS: readonly Work[] = [
  { path: '/mcp', body: TOOL_CALL },
  { path: `${SEARCH}&format=ics` },
  { path: '/v1/agents/me/events' },
];

interface Work {
  readonly path: string;
  readonly body?: string;
}

const SEARCH_EVERY_MS = 40;
const OTHERS_EVERY_MS = 500;
/** As patient as clients are. */
const TIMEOUT_MS = 10_000;
const CLOCK_MS = 20;
/** With a longer delay of its own, a sample says nothing, unless it took much longer still. */
const MAX_LAG_MS = 200;

if (import.meta.main) {
  const { url, key, token } = JSON.parse(process.argv[2]!) as PoliteInput;
  const kept = new Agent({ keepAlive: true });
  /** When, and by how much, this process was late. */
  const delays: { readonly atMs: number; readonly lateMs: number }[] = [];
  let lagMs = 0;
  let resent = 0;
  let isEnding = false;

  const send = ({ path, body }: Work, headers: OutgoingHttpHeaders, isKept: boolean) => {
    const { promise, resolve } = Promise.withResolvers<number | string>();
    const method = body === undefined ? 'GET' : 'POST';
    const sent = request(url + path, { method, headers, agent: isKept ? kept : false });
    const giveUp = setTimeout(() => sent.destroy(new Error('timeout')), TIMEOUT_MS);
    sent.on('response', (response) => {
      let isToolError = false;
      response.on('data', (bytes: Buffer) => {
        isToolError ||= bytes.includes('"isError":true'); // its status is 200
      });
      response.on('error', () => resolve('cut'));
      response.on('end', () => resolve(isToolError ? 'tool error' : response.statusCode!));
    });
    sent.on('close', () => clearTimeout(giveUp));
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (sent.reusedSocket && error.code === 'ECONNRESET') {
        resent++;
        send({ path, ...(body !== undefined && { body }) }, headers, false).then(resolve);
      } else resolve(error.code ?? error.message);
    });
    sent.end(body);
    return promise;
  };
  const measure = async (into: Sample[], work: Work, headers: OutgoingHttpHeaders, isKept: boolean) => {
    const sentMs = performance.now();
    const status = await send(work, headers, isKept);
    const doneMs = performance.now();
    await sleep(2 * CLOCK_MS); // the clock may have been as late as this
    const ms = doneMs - sentMs;
    const during = delays.filter(({ atMs }) => atMs >= sentMs && atMs <= doneMs + CLOCK_MS);
    const lateMs = during.reduce((sum, delay) => sum + delay.lateMs, 0);
    into.push({ status, ms, isMeasurable: lateMs <= Math.max(MAX_LAG_MS, ms / 2) });
  };
  /** Calls `work` at a fixed rate until the end; resolves when all of it is done. Does not catch up after a delay. */
  const every = async (periodMs: number, work: (turn: number) => Promise<void>) => {
    const running: Promise<void>[] = [];
    let dueMs = performance.now();
    for (let turn = 0; !isEnding; turn++) {
      running.push(work(turn));
      dueMs = Math.max(dueMs + periodMs, performance.now());
      await sleep(Math.max(0, dueMs - performance.now()));
    }
    await Promise.all(running);
  };

  let clockMs = performance.now();
  setInterval(() => {
    const nowMs = performance.now();
    const lateMs = nowMs - clockMs - CLOCK_MS;
    clockMs = nowMs;
    lagMs = Math.max(lagMs, lateMs);
    if (lateMs > CLOCK_MS) delays.push({ atMs: nowMs, lateMs });
  }, CLOCK_MS).unref();
  process.once('SIGTERM', () => {
    isEnding = true;
  });

  const [searches, works, lists, checks]: [Sample[], Sample[], Sample[], Sample[]] = [[], [], [], []];
  const toWork = {
    'x-api-key': key,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  await Promise.all([
    every(SEARCH_EVERY_MS, (turn) =>
      measure(searches, { path: SEARCH }, { 'x-api-key': key }, turn % 2 === 1),
    ),
    every(OTHERS_EVERY_MS, (turn) => measure(works, WORKS[turn % WORKS.length]!, toWork, false)),
    every(OTHERS_EVERY_MS, () => measure(checks, { path: '/health' }, {}, false)),
    token === undefined
      ? undefined
      : every(OTHERS_EVERY_MS, () =>
          measure(lists, { path: '/v1/admin/agents?limit=20' }, { authorization: `Bearer ${token}` }, false),
        ),
  ]);
  kept.destroy();
  console.log(JSON.stringify({ searches, works, lists, checks, resent, lagMs } satisfies PoliteOutput));
}
