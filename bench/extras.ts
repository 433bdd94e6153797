// Measurements besides throughput: startup, and searches at a fixed rate while events are created.
import { join } from 'node:path';
import type { Case } from './cases.ts';
import type { GeneratorInput, GeneratorOutput } from './generator.ts';
import { prime } from './load.ts';
import { runScript, type Server, secondsOf, startService } from './processes.ts';
import { median, type Spread, spread } from './statistics.ts';

export interface StartResult {
  readonly readySeconds: number;
  readonly selectSeconds: number;
  readonly ratio: Spread;
}

const STARTS = 3;

/** Time from the start of the process to the first 200 of /health, compared with a process that only selects. */
export async function measureStart(dataFolder: string): Promise<StartResult> {
  const ready: number[] = [];
  const select: number[] = [];
  // Run 0 loads the file into the page cache.
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

export interface MixedResult {
  /** Microseconds. */
  readonly aloneP99: number;
  readonly mixedP99: number;
  readonly ratio: Spread;
  /** Completed creates per second. */
  readonly creates: number;
}

const SEARCH_RATE = 1000;
const CREATE_RATE = 500;

/** 99th percentile of `city` at a fixed rate, with and without concurrent creates at a fixed rate. */
export async function measureMixed(
  url: string,
  { city, create, key }: { city: Case; create: Case; key: string },
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<MixedResult> {
  const alone: number[] = [];
  const mixed: number[] = [];
  const creates: number[] = [];
  const generate = (benchCase: Case, rate: number, round: number) =>
    runScript<GeneratorOutput>('generator.ts', {
      ...{
        url,
        requestFile: benchCase.requestFile,
        connections: benchCase.connections,
        seconds,
        rate,
        warmSeconds: 1,
      },
      ...{ key: benchCase === create ? undefined : key, from: 9_000_000_000 + round * 1_000_000 },
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
