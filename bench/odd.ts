// The searches that block the event loop longest, on a service that was just started, so that their events must first be
// read. Measures the CPU time of the main thread, so that other processes on the machine do not matter.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeCursor } from '../src/domain/events/cursor.ts';
import { EVENT_TYPES } from '../src/domain/events/event.ts';
import { searchCities } from './cases.ts';
import { CACHE } from './data.ts';
import { DAY_MS, HORIZON_DAYS } from './events.ts';
import { untilWords } from './load.ts';
import { mainThreadMicroseconds, runCommand, type Server, secondsOf, startService } from './processes.ts';
import { type Spread, spread } from './statistics.ts';
import { wordOf } from './vocabulary.ts';

export interface OddResult {
  readonly name: string;
  /** Milliseconds of CPU time for the whole response: no iteration of the event loop was longer. */
  readonly held: Spread;
  /** Milliseconds until the response had arrived. */
  readonly arrived: Spread;
}

const TURNS = 21;
/** Pause after the start, for garbage collection. */
const START_REST_MS = 1000;
/** Pause after a response: the CPU time of a running thread is not yet counted. */
const REST_MS = 5;
/** A place without events of the benchmark. */
const OCEAN = 'lat=-48.9&lng=-123.4';
const LAST_ID = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ';

/** Adds events of maximum length to the folder. Results are sorted, the worst first. */
export async function measureOdd(dataFolder: string, key: string): Promise<OddResult[]> {
  await addLongEvents(dataFolder);
  const service = await startService(dataFolder, join(dataFolder, 'odd.log'));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (path: string) => get(`${service.url}/v1/events/nearby?${path}`, key, agent);
  try {
    await sleep(START_REST_MS);
    await untilWords(service, key);
    const results = [await measure(service, 'the first search of all', 1, () => ask(`${OCEAN}&radius=1`))];
    const searches = { ...oddSearches(await findDensest(ask)), ...wordSearches(await findFrequentWord(ask)) };
    for (const [name, path] of Object.entries(searches)) {
      results.push(await measure(service, name, TURNS, () => ask(path)));
    }
    return results.sort((a, b) => b.held.max - a.held.max);
  } finally {
    agent.destroy();
    await service.stop();
  }
}

async function measure(
  { pid }: Server,
  name: string,
  turns: number,
  ask: () => Promise<unknown>,
): Promise<OddResult> {
  const held: number[] = [];
  const arrived: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const before = mainThreadMicroseconds(pid);
    arrived.push(1000 * (await secondsOf(ask)));
    await sleep(REST_MS);
    held.push((mainThreadMicroseconds(pid) - before) / 1000);
  }
  return { name, held: spread(held), arrived: spread(arrived) };
}

function oddSearches(densest: string): Record<string, string> {
  const instant = (ms: number) => new Date(ms).toISOString();
  const middle = Math.floor(Date.now() / DAY_MS + HORIZON_DAYS / 2) * DAY_MS;
  const cursorAt = (ms: number) => `cursor=${encodeCursor({ startMs: ms, id: LAST_ID })}`;
  const deep = cursorAt(middle);
  const last = cursorAt(middle + (HORIZON_DAYS / 2 - 1) * DAY_MS);
  const rare = 'event_type=ceremony&audience=kids';
  const many = `${EVENT_TYPES.map((type) => `event_type=${type}`).join('&')}&audience=kids&audience=adults`;
  const oneSecond = `starts_after=${instant(middle)}&starts_before=${instant(middle + 1000)}`;
  const nearlyAlways = `starts_after=${instant(Date.now() + DAY_MS)}&starts_before=${instant(middle + 80 * DAY_MS)}`;
  const wide = `${densest}&radius=100`;
  return {
    'no radius, limit 100': `${densest}&limit=100`,
    'no radius, rare filters, limit 100': `${densest}&limit=100&${rare}`,
    'no radius, rare filters, one second': `${densest}&limit=100&${rare}&${oneSecond}`,
    'no radius, rare filters, deep cursor': `${densest}&limit=100&${rare}&${deep}`,
    'no radius, rare filters, cursor near the end': `${densest}&limit=100&${rare}&${last}`,
    'no radius, all types, two audiences, nearly all starts': `${densest}&limit=100&${many}&${nearlyAlways}&${deep}`,
    'no radius, one second': `${densest}&limit=100&${oneSecond}`,
    '100 miles, limit 100': `${wide}&limit=100`,
    '100 miles, deep cursor': `${wide}&limit=100&${deep}`,
    '100 miles, rare filters, one second': `${wide}&limit=100&${rare}&${oneSecond}`,
    '100 miles, all types, two audiences, nearly all starts': `${wide}&limit=100&${many}&${nearlyAlways}&${deep}`,
    'half a mile': `${densest}&radius=0.5&limit=100`,
    'no radius, this weekend': `${densest}&limit=100&when=this_weekend`,
    'no radius, now': `${densest}&limit=100&when=now`,
    'no radius, on within two days': `${densest}&limit=100&active_after=${instant(middle)}&active_before=${instant(middle + 2 * DAY_MS)}`,
    'no radius, on at any time': `${densest}&limit=100&active_after=${instant(Date.now())}`,
    'no radius, nearest': `${densest}&limit=100&sort=distance`,
    'no radius, nearest, rare filters': `${densest}&limit=100&sort=distance&${rare}`,
    '100 of the longest events': `${OCEAN}&radius=1&limit=100`,
  };
}

function wordSearches(word: string): Record<string, string> {
  return {
    'a word of every tenth event, no radius': `${OCEAN}&limit=100&q=${word}`,
    'a word of every tenth event, no radius, nearest': `${OCEAN}&limit=100&q=${word}&sort=distance`,
    'a word of every tenth event, no radius, this weekend': `${OCEAN}&limit=100&q=${word}&when=this_weekend`,
    'all words with two letters, no radius': `${OCEAN}&limit=100&q=${word.slice(0, 2)}*`,
  };
}

/** The most frequent word that no more than every tenth event has. */
async function findFrequentWord(ask: (path: string) => Promise<string>): Promise<string> {
  const totalOf = async (path: string) => (JSON.parse(await ask(path)) as { total: number }).total;
  const all = await totalOf(`${OCEAN}&limit=1`);
  for (let rank = 0; ; rank++) {
    const word = wordOf(rank);
    if ((await totalOf(`${OCEAN}&limit=1&q=${word}`)) <= all / 10) return word;
  }
}

/** Parameters of the place with most events within 100 miles. */
async function findDensest(ask: (path: string) => Promise<string>): Promise<string> {
  let densest = { place: '', total: -1 };
  for (const { lat, lng } of searchCities()) {
    const place = `lat=${lat}&lng=${lng}`;
    const { total } = JSON.parse(await ask(`${place}&radius=100&limit=1`)) as { total: number };
    if (total > densest.total) densest = { place, total };
  }
  return densest.place;
}

/** Adds a page of events of maximum length, in characters of four bytes. */
async function addLongEvents(dataFolder: string): Promise<void> {
  const [lat, lng] = new URLSearchParams(OCEAN).values().map(Number).toArray();
  const long = (length: number) => '🎈'.repeat(length);
  const lines = Array.from({ length: 100 }, (_, number) =>
    JSON.stringify({
      ...{ title: `${number} `.padEnd(4) + long(196), description: long(10_000), location_name: long(200) },
      ...{ address: long(500), url: long(2000), cost: long(200), timezone: 'UTC', lat, lng },
      ...{ event_type: 'festival', start_at: new Date(Date.now() + 30 * DAY_MS).toISOString() },
    }),
  );
  const folder = join(CACHE, 'requests');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'long-events.ndjson');
  writeFileSync(file, lines.join('\n'));
  await runCommand(['import', file, '--email', 'long@example.com', '--name', 'Long'], {
    DATA_DIR: dataFolder,
  });
  rmSync(file);
}

function get(url: string, key: string, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers: { 'X-API-Key': key } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${response.statusCode} for ${url}`));
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', (part: string) => {
          text += part;
        })
        .on('end', () => resolve(text));
    });
    sent.on('error', reject).end();
  });
}
