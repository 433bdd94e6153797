// Interleaved rounds: every case at the service, at its limit and at the usual way, one right after the other, so that
// what else happens on the machine meets all of them. Only ratios within a round are compared.
import { join } from 'node:path';
import type { Case, SearchName } from './cases.ts';
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
  /** Requests per second, of the limit's. */
  readonly share: Spread;
  /** The limit's CPU time per request, of the service's. */
  readonly cpuShare: Spread;
  /** Requests per second, as a multiple of PostGIS's. */
  readonly timesPostgis: Spread | undefined;
}

export interface RoundOptions {
  readonly service: Server;
  /** Undefined: not on this machine. */
  readonly postgis: Target | undefined;
  readonly key: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly folder: string;
}

/** Searches of each kind whose answers are compared. */
const COMPARED = 20;

interface Contest {
  readonly asked: Case;
  readonly bodyBytes: number;
  readonly limitServer: Server;
  readonly targets: Readonly<Record<string, Target>>;
  readonly measured: Record<string, Measured[]>;
}

export async function runRounds(cases: readonly Case[], options: RoundOptions): Promise<CaseResult[]> {
  const contests = await Promise.all(cases.map((asked) => prepare(asked, options)));
  if (options.postgis) await compareTotals(contests, options);
  console.error('warming up');
  for (const contest of contests) {
    for (const target of Object.values(contest.targets)) await load(target, contest.asked, options.key, 1);
  }
  for (let round = 0; round < options.rounds; round++) {
    console.error(`round ${round + 1} of ${options.rounds}`);
    for (const { asked, targets, measured } of contests) {
      // Nobody is always first.
      const order = Object.entries(targets);
      if (round % 2 === 1) order.reverse();
      for (const [name, target] of order) {
        if (name === 'service' && asked.kind === 'warm') await prime(target.url, asked, options.key);
        measured[name]!.push(await load(target, asked, options.key, options.seconds));
      }
    }
  }
  for (const { limitServer } of contests) await limitServer.stop();
  return contests.map(summarise);
}

async function prepare(asked: Case, options: RoundOptions): Promise<Contest> {
  const { service, postgis, key, folder } = options;
  const isCreate = asked.kind === 'create';
  const bodyBytes = isCreate ? 0 : await meanBodyBytes(service.url, asked, key);
  const limitServer = await startServer([fileBeside('servers/limit.ts')], {
    env: isCreate ? {} : { SIZE: String(bodyBytes) },
    logFile: join(folder, 'limit.log'),
    healthPath: '/',
  });
  const targets: Record<string, Target> = {
    service: { url: service.url, pids: [service.pid] },
    limit: { url: limitServer.url, pids: [limitServer.pid] },
    ...(postgis && asked.kind === 'warm' && { postgis }),
  };
  const measured = Object.fromEntries(Object.keys(targets).map((name) => [name, []]));
  return { asked, bodyBytes, limitServer, targets, measured };
}

async function meanBodyBytes(url: string, { name, sample }: Case, key: string): Promise<number> {
  let bytes = 0;
  for (const path of sample) {
    const answer = await fetch(url + path, { headers: { 'X-API-Key': key } });
    if (answer.status !== 200) throw new Error(`${answer.status} for ${name}: ${path}`);
    bytes += (await answer.arrayBuffer()).byteLength;
  }
  return Math.round(bytes / sample.length);
}

/** A faster answer counts only if it is the same answer. */
async function compareTotals(contests: readonly Contest[], { key }: RoundOptions): Promise<void> {
  for (const { asked, targets } of contests) {
    const { service, postgis } = targets;
    if (!service || !postgis) continue;
    for (const path of asked.sample.slice(0, COMPARED)) {
      const [ours, theirs] = await Promise.all([
        getPage(service.url + path, key),
        getPage(postgis.url + path, key),
      ]);
      if (ours !== theirs) throw new Error(`PostGIS finds ${theirs}, the service ${ours}: ${path}`);
    }
  }
}

/** The total and the events of the page, as text. */
async function getPage(url: string, key: string): Promise<string> {
  const answer = await fetch(url, { headers: { 'X-API-Key': key } });
  const { total, events } = (await answer.json()) as { total: number; events: { event_id: string }[] };
  return `${total}: ${events.map(({ event_id }) => event_id).join(' ')}`;
}

function summarise({ asked, bodyBytes, measured }: Contest): CaseResult {
  const { service, limit, postgis } = measured as {
    service: Measured[];
    limit: Measured[];
    postgis?: Measured[];
  };
  const perRound = (ratio: (round: number) => number) => spread(service.map((_, round) => ratio(round)));
  return {
    name: asked.name,
    kind: asked.kind,
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

/** The least shares that the project asks of itself. */
export const TARGET_SHARES: Readonly<Record<string, number>> = {
  city: 0.28,
  filtered: 0.32,
  wide: 0.22,
  anywhere: 0.36,
  'read by id': 0.4,
  create: 0.22,
};
export const TARGET_TIMES_POSTGIS: Readonly<Record<SearchName, number>> = {
  city: 30,
  filtered: 80,
  wide: 80,
  anywhere: 1000,
};
