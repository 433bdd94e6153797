// Searches on one node while another creates events at a fixed rate, compared with the embedded engine, which does both itself.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Case } from './cases.ts';
import type { GeneratorInput, GeneratorOutput } from './generator.ts';
import { load, prime } from './load.ts';
import { runScript, type Server } from './processes.ts';
import { median, type Spread, spread } from './statistics.ts';

export const CREATE_RATE = 500;

/** The generator needs this long to start and to reach its rate. */
const WARM_SECONDS = 1;

export interface BesideCreates {
  readonly name: string;
  /** Requests per second. */
  readonly one: number;
  readonly embedded: number;
  readonly ofEmbedded: Spread;
  /** Completed creates per second, the fewest of all rounds. */
  readonly creates: number;
}

/** Where searches and creates are sent. */
interface Pair {
  readonly searched: Server;
  readonly written: Server;
}

interface Options {
  readonly rounds: number;
  readonly seconds: number;
  readonly key: string;
}

export async function measureBesideCreates(
  cases: readonly Case[],
  { one, embedded }: { one: Pair; embedded: Pair },
  options: Options,
): Promise<BesideCreates[]> {
  const create = cases.find(({ kind }) => kind === 'create')!;
  const results: BesideCreates[] = [];
  for (const search of cases.filter(({ kind }) => kind === 'warm')) {
    const rounds: Record<'one' | 'embedded', Result>[] = [];
    for (let round = 0; round < options.rounds; round++) {
      console.error(`${search.name} beside creates, round ${round + 1} of ${options.rounds}`);
      const measured = new Map<Pair, Result>();
      for (const pair of round % 2 === 0 ? [one, embedded] : [embedded, one])
        measured.set(pair, await measure(search, create, pair, options));
      rounds.push({ one: measured.get(one)!, embedded: measured.get(embedded)! });
    }
    results.push({
      name: search.name,
      one: median(rounds.map((round) => round.one.searches)),
      embedded: median(rounds.map((round) => round.embedded.searches)),
      ofEmbedded: spread(rounds.map((round) => round.one.searches / round.embedded.searches)),
      creates: Math.min(...rounds.flatMap((round) => [round.one.creates, round.embedded.creates])),
    });
  }
  return results;
}

/** Both per second. */
interface Result {
  readonly searches: number;
  readonly creates: number;
}

async function measure(search: Case, create: Case, { searched, written }: Pair, options: Options) {
  await prime(searched.url, search, options.key);
  const createAtRate = runScript<GeneratorOutput>('generator.ts', {
    ...{ url: written.url, requestFile: create.requestFile, connections: create.connections },
    ...{ key: undefined, from: nextNumber(), rate: CREATE_RATE },
    ...{ seconds: options.seconds, warmSeconds: WARM_SECONDS },
  } satisfies GeneratorInput);
  const searchWhenWarm = async () => {
    await sleep(WARM_SECONDS * 1000);
    return load({ url: searched.url, pids: [] }, search, options.key, options.seconds);
  };
  const [created, found] = await Promise.all([createAtRate, searchWhenWarm()]);
  return { searches: found.perSecond, creates: created.perSecond };
}

let bursts = 0;

/** A first number for creates that no other burst comes near. */
function nextNumber(): number {
  return 5_000_000_000 + bursts++ * 1_000_000;
}
