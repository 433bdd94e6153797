// What is measured beside throughput: the start, searches at a fixed rate while events are created, and the searches that
// hold the event loop longest.

import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { encodeCursor } from '../src/domain/cursor.ts';
import type { Case } from './cases.ts';
import { CityPicker } from './cities.ts';
import { DAY_MS } from './events.ts';
import type { GeneratorInput, GeneratorOutput } from './generator.ts';
import { prime } from './load.ts';
import { runScript, type Server, startService } from './processes.ts';
import { median, type Spread, spread } from './statistics.ts';

export interface StartResult {
  readonly readySeconds: number;
  readonly selectSeconds: number;
  readonly ratio: Spread;
}

const STARTS = 3;

/** From the start of the process to the first 200 of /health, against a process that only selects. */
export async function measureStart(dataFolder: string): Promise<StartResult> {
  const ready: number[] = [];
  const select: number[] = [];
  // The first brings the file into memory.
  for (let run = 0; run <= STARTS; run++) {
    select.push(await secondsOf(() => runScript('plain-select.ts', { dataFolder })));
    let service: Server | undefined;
    ready.push(
      await secondsOf(async () => {
        service = await startService(dataFolder, join(dataFolder, 'start.log'));
      }),
    );
    await service!.stop();
  }
  ready.shift();
  select.shift();
  const ratio = spread(ready.map((seconds, run) => seconds / select[run]!));
  return { readySeconds: median(ready), selectSeconds: median(select), ratio };
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}

export interface MixedResult {
  /** Microseconds. */
  readonly aloneP99: number;
  readonly mixedP99: number;
  readonly ratio: Spread;
  /** Creates per second that were answered. */
  readonly creates: number;
}

const SEARCH_RATE = 1000;
const CREATE_RATE = 500;

/** The 99th percentile of `city` at a fixed rate, with and without creates at a fixed rate beside it. */
export async function measureMixed(
  url: string,
  { city, create, key }: { city: Case; create: Case; key: string },
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<MixedResult> {
  const alone: number[] = [];
  const mixed: number[] = [];
  const creates: number[] = [];
  const generate = (asked: Case, rate: number, round: number) =>
    runScript<GeneratorOutput>('generator.ts', {
      ...{
        url,
        requestFile: asked.requestFile,
        connections: asked.connections,
        seconds,
        rate,
        warmSeconds: 1,
      },
      ...{ key: asked === create ? undefined : key, from: 9_000_000_000 + round * 1_000_000 },
    } satisfies GeneratorInput);
  await prime(url, city, key);
  for (let round = 0; round < rounds; round++) {
    alone.push((await generate(city, SEARCH_RATE, round)).p99);
    const [searched, created] = await Promise.all([
      generate(city, SEARCH_RATE, round),
      generate(create, CREATE_RATE, round),
    ]);
    mixed.push(searched.p99);
    creates.push(created.perSecond);
  }
  const ratio = spread(mixed.map((p99, round) => p99 / alone[round]!));
  return { aloneP99: median(alone), mixedP99: median(mixed), ratio, creates: median(creates) };
}

export interface OddResult {
  readonly name: string;
  /** Milliseconds. */
  readonly median: number;
  readonly max: number;
}

/** Asked one at a time: the whole answer takes at least as long as the event loop was held. */
export async function measureOdd(url: string, key: string): Promise<OddResult[]> {
  const { lat, lng } = new CityPicker().largest();
  const at = `/v1/events/nearby?lat=${lat}&lng=${lng}`;
  const middle = Math.floor(Date.now() / DAY_MS + 90) * DAY_MS;
  const deep = `cursor=${encodeCursor({ startMs: middle, id: '7ZZZZZZZZZZZZZZZZZZZZZZZZZ' })}`;
  const rare = 'event_type=ceremony&audience=kids';
  const window = `starts_after=${new Date(middle).toISOString()}&starts_before=${new Date(middle + 1000).toISOString()}`;
  const odd: Record<string, string> = {
    'no radius, limit 100': `${at}&limit=100`,
    'no radius, rare filters, limit 100': `${at}&limit=100&${rare}`,
    'no radius, one second': `${at}&limit=100&${window}`,
    'no radius, rare filters, deep cursor': `${at}&limit=100&${rare}&${deep}`,
    '100 miles around the largest city, limit 100': `${at}&radius=100&limit=100`,
    '100 miles around the largest city, deep cursor': `${at}&radius=100&limit=100&${deep}`,
    '100 miles around the largest city, rare filters, one second': `${at}&radius=100&${rare}&${window}`,
    'half a mile around the largest city': `${at}&radius=0.5&limit=100`,
    'every type and audience named, 100 miles': `${at}&radius=100&event_type=talk&event_type=tour&event_type=club&audience=kids&audience=adults&audience=all`,
  };
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const results: OddResult[] = [];
  for (const [name, path] of Object.entries(odd)) {
    const took: number[] = [];
    for (let turn = 0; turn < 21; turn++)
      took.push(1000 * (await secondsOf(() => get(url + path, key, agent))));
    results.push({ name, median: median(took), max: Math.max(...took) });
  }
  agent.destroy();
  return results.sort((a, b) => b.median - a.median);
}

function get(url: string, key: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers: { 'X-API-Key': key } }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${answer.statusCode} for ${url}`));
      answer.resume().on('end', resolve);
    });
    sent.on('error', reject).end();
  });
}
