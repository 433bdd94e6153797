// Interleaved rounds: each case runs on the service, on the limit and on the baseline, one right after the other, so that
// other load on the machine affects all of them alike. Only ratios within a round are compared.
import { join } from 'node:path';
import { type Case, isWarm, type SEARCHES } from './cases.ts';
import { load, type Measured, prime, type Target } from './load.ts';
import { fileBeside, type Server, startServer } from './processes.ts';
import { median, type Spread, spread } from './statistics.ts';

export interface CaseResult {
  readonly name: string;
  readonly kind: Case['kind'];
  readonly bodyBytes: number;
  readonly service: Measured;
  readonly limit: Measured;
  readonly postgis: Measured | undefined;
  /** Requests per second as a share of the limit's. */
  readonly share: Spread;
  /** The limit's CPU time per request as a share of the service's. */
  readonly cpuShare: Spread;
  /** Requests per second as a multiple of PostGIS's. */
  readonly timesPostgis: Spread | undefined;
}

export interface RoundOptions {
  readonly service: Server;
  /** Undefined if it is not installed. */
  readonly postgis: Target | undefined;
  readonly key: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly folder: string;
}

/** Number of searches of each kind whose responses are compared. */
const COMPARED = 20;

interface Comparison {
  readonly benchCase: Case;
  readonly bodyBytes: number;
  readonly limitServer: Server;
  readonly targets: Readonly<Record<string, Target>>;
  readonly measured: Record<string, Measured[]>;
}

export async function runRounds(cases: readonly Case[], options: RoundOptions): Promise<CaseResult[]> {
  const comparisons = await Promise.all(cases.map((benchCase) => prepare(benchCase, options)));
  if (options.postgis) await compareTotals(comparisons, options);
  console.error('warming up');
  for (const comparison of comparisons) {
    for (const target of Object.values(comparison.targets))
      await load(target, comparison.benchCase, options.key, 1);
  }
  for (let round = 0; round < options.rounds; round++) {
    console.error(`round ${round + 1} of ${options.rounds}`);
    for (const { benchCase, targets, measured } of comparisons) {
      // Alternate the order, so that no server is always first.
      const order = Object.entries(targets);
      if (round % 2 === 1) order.reverse();
      for (const [name, target] of order) {
        if (name === 'service' && isWarm(benchCase.kind)) await prime(target.url, benchCase, options.key);
        measured[name]!.push(await load(target, benchCase, options.key, options.seconds));
      }
    }
  }
  for (const { limitServer } of comparisons) await limitServer.stop();
  return comparisons.map(summarise);
}

async function prepare(benchCase: Case, options: RoundOptions): Promise<Comparison> {
  const { service, postgis, key, folder } = options;
  const isCreate = benchCase.kind === 'create';
  const bodyBytes = isCreate ? 0 : await meanBodyBytes(service.url, benchCase, key);
  const limitServer = await startServer([fileBeside('servers/limit.ts')], {
    env: isCreate ? {} : { SIZE: String(bodyBytes) },
    logFile: join(folder, 'limit.log'),
    healthPath: '/',
  });
  const targets: Record<string, Target> = {
    service: { url: service.url, pids: [service.pid] },
    limit: { url: limitServer.url, pids: [limitServer.pid] },
    ...(postgis && benchCase.kind === 'warm' && { postgis }),
  };
  const measured = Object.fromEntries(Object.keys(targets).map((name) => [name, []]));
  return { benchCase, bodyBytes, limitServer, targets, measured };
}

async function meanBodyBytes(url: string, { name, sample }: Case, key: string): Promise<number> {
  let bytes = 0;
  for (const path of sample) {
    const response = await fetch(url + path, { headers: { 'X-API-Key': key } });
    if (response.status !== 200) throw new Error(`${response.status} for ${name}: ${path}`);
    bytes += (await response.arrayBuffer()).byteLength;
  }
  return Math.round(bytes / sample.length);
}

/** Checks that PostGIS and the service find the same: otherwise their speeds are not comparable. */
async function compareTotals(comparisons: readonly Comparison[], { key }: RoundOptions): Promise<void> {
  for (const { benchCase, targets } of comparisons) {
    const { service, postgis } = targets;
    if (!service || !postgis) continue;
    for (const path of benchCase.sample.slice(0, COMPARED)) {
      const [ours, theirs] = await Promise.all([
        getPage(service.url + path, key),
        getPage(postgis.url + path, key),
      ]);
      if (ours !== theirs) throw new Error(`PostGIS finds ${theirs}, the service ${ours}: ${path}`);
    }
  }
}

/** Total and event IDs of the page, as text. */
async function getPage(url: string, key: string): Promise<string> {
  const response = await fetch(url, { headers: { 'X-API-Key': key } });
  const { total, events } = (await response.json()) as { total: number; events: { event_id: string }[] };
  return `${total}: ${events.map(({ event_id }) => event_id).join(' ')}`;
}

function summarise({ benchCase, bodyBytes, measured }: Comparison): CaseResult {
  const { service, limit, postgis } = measured as {
    service: Measured[];
    limit: Measured[];
    postgis?: Measured[];
  };
  const perRound = (ratio: (round: number) => number) => spread(service.map((_, round) => ratio(round)));
  return {
    name: benchCase.name,
    kind: benchCase.kind,
    bodyBytes,
    service: medians(service),
    limit: medians(limit),
    postgis: postgis && medians(postgis),
    share: perRound((round) => service[round]!.perSecond / limit[round]!.perSecond),
    cpuShare: perRound((round) => limit[round]!.cpuPerRequest / service[round]!.cpuPerRequest),
    timesPostgis: postgis && perRound((round) => service[round]!.perSecond / postgis[round]!.perSecond),
  };
}

export function medians(rounds: readonly Measured[]): Measured {
  const of = (name: keyof Measured) => median(rounds.map((round) => round[name]));
  return { perSecond: of('perSecond'), p50: of('p50'), p99: of('p99'), cpuPerRequest: of('cpuPerRequest') };
}

/** Minimum shares that the project aims for. */
export const TARGET_SHARES: Readonly<Record<string, number>> = {
  city: 0.28,
  filtered: 0.32,
  wide: 0.22,
  anywhere: 0.36,
  'read by id': 0.4,
  create: 0.22,
};
export const TARGET_TIMES_POSTGIS: Readonly<Record<(typeof SEARCHES)[number], number>> = {
  city: 30,
  filtered: 80,
  wide: 80,
  anywhere: 1000,
};
