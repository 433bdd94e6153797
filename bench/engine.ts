// npm run bench -- --engine postgres: compares one node and two nodes on PostgreSQL with the embedded engine and with the
// baseline, all with the same events. Rounds are interleaved as in rounds.ts. wrk sends the requests, except those to the
// baseline, which is so slow that requests in flight at the end must be counted.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../test/support/postgres-cluster.ts';
import { BIN } from '../test/support/process.ts';
import { type BesideCreates, measureBesideCreates } from './beside-creates.ts';
import { type Case, isWarm, makeCases } from './cases.ts';
import { type BenchAgent, benchAgents, CACHE, copyFolder } from './data.ts';
import { loadEngine } from './engine-data.ts';
import { load, type Measured, prime, type Target, untilWords } from './load.ts';
import { fileBeside, type Server, startServer, startService } from './processes.ts';
import { median, type Spread, spread } from './statistics.ts';

export interface EngineCase {
  readonly name: string;
  readonly one: Measured;
  readonly two: Measured;
  readonly embedded: Measured;
  readonly baseline: Measured | undefined;
  /** Requests per second of one node, as a part of the embedded engine's. */
  readonly ofEmbedded: Spread;
  /** CPU time of one node and PostgreSQL, as a multiple of the embedded engine's. */
  readonly cpuOfEmbedded: Spread;
  /** Requests per second of one node, as a multiple of the baseline's. */
  readonly times: Spread | undefined;
  /** The same by CPU time, including PostgreSQL's. */
  readonly timesByCpu: Spread | undefined;
  /** Requests per second of two nodes, as a multiple of one's. */
  readonly growth: Spread;
  /** Event loop delay of one node in milliseconds, 99th percentile. */
  readonly loopDelay: Spread;
}

interface EngineOptions {
  readonly rounds: number;
  readonly seconds: number;
}

/** Results of one burst for each server. */
interface Round {
  readonly one: Measured;
  readonly two: Measured;
  readonly embedded: Measured;
  readonly baseline: Measured | undefined;
  readonly loopDelay: number;
}

export async function measureEngine(
  cluster: Cluster,
  source: string,
  options: EngineOptions,
): Promise<{ cases: EngineCase[]; beside: BesideCreates[] }> {
  const folder = join(CACHE, 'requests');
  mkdirSync(folder, { recursive: true });
  const agents = benchAgents();
  const cases = makeCases(folder, agents, source).filter(({ kind }) => kind !== 'cold');
  console.error('PostgreSQL: loading them for the service');
  const url = await loadEngine(cluster, source);
  const servers: Server[] = [];
  const start = async (server: Promise<Server>) => {
    servers.push(await server);
    return servers.at(-1)!;
  };
  try {
    const nodes = [await start(startNode(url, folder, 0)), await start(startNode(url, folder, 1))];
    const baseline = await start(
      startServer([fileBeside('servers/postgis.ts')], {
        ...{ env: { DATABASE: cluster.url() }, logFile: join(folder, 'postgis.log'), healthPath: '/health' },
      }),
    );
    const dataFolder = copyFolder(source, 'embedded');
    const embedded = await start(startService(dataFolder, join(folder, 'embedded.log')));
    for (const server of [...nodes, embedded]) await untilWords(server, agents.searcher.key);
    const comparison = { cluster, nodes, embedded, baseline, folder, key: agents.searcher, ...options };
    const isCreate = ({ kind }: Case) => kind === 'create';
    const read = await runComparison(
      cases.filter((benchCase) => !isCreate(benchCase)),
      comparison,
    );
    // Creates come last, because the baseline would not find the new events.
    const created = await runComparison(cases.filter(isCreate), comparison);
    const pairs = {
      one: { searched: nodes[0]!, written: nodes[1]! },
      embedded: { searched: embedded, written: embedded },
    };
    const beside = await measureBesideCreates(cases, pairs, { ...options, key: agents.searcher.key });
    return { cases: [...read, ...created], beside };
  } finally {
    for (const server of servers) await server.stop();
  }
}

interface Comparison extends EngineOptions {
  readonly cluster: Cluster;
  readonly nodes: readonly Server[];
  readonly embedded: Server;
  readonly baseline: Server;
  readonly folder: string;
  readonly key: BenchAgent;
}

async function runComparison(cases: readonly Case[], comparison: Comparison): Promise<EngineCase[]> {
  const results = new Map(cases.map((benchCase) => [benchCase, [] as Round[]]));
  for (let round = 0; round <= comparison.rounds; round++) {
    console.error(round === 0 ? 'warming up' : `round ${round} of ${comparison.rounds}`);
    for (const benchCase of cases) {
      const measured = await runRound(benchCase, comparison, round % 2 === 1);
      if (round > 0) results.get(benchCase)!.push(measured);
    }
  }
  return [...results].map(([{ name }, rounds]) => summarise(name, rounds));
}

async function runRound(benchCase: Case, comparison: Comparison, isReversed: boolean): Promise<Round> {
  const { nodes, embedded, baseline, cluster, seconds } = comparison;
  const { key } = comparison.key;
  const burst = async (server: Server, part = benchCase) => {
    const pids = server === embedded ? [server.pid] : [server.pid, cluster.pid];
    const target: Target = { url: server.url, pids, andChildren: true, isSlow: server === baseline };
    if (isWarm(part.kind) && server !== baseline) await prime(server.url, part, key);
    return load(target, part, key, seconds);
  };
  const measureOne = async () => {
    await readLoopDelay(comparison, 0);
    return { one: await burst(nodes[0]!), loopDelay: await readLoopDelay(comparison, 0) };
  };
  const measureTwo = async () => ({
    two: sum(await Promise.all(nodes.map((node) => burst(node, half(benchCase))))),
  });
  const measureEmbedded = async () => ({ embedded: await burst(embedded) });
  const measureBaseline = async () => ({
    baseline: benchCase.kind === 'warm' ? await burst(baseline) : undefined,
  });
  const measurements: (() => Promise<Partial<Round>>)[] = [
    measureBaseline,
    measureEmbedded,
    measureOne,
    measureTwo,
  ];
  if (isReversed) measurements.reverse();
  let round: Partial<Round> = {};
  for (const measure of measurements) round = { ...round, ...(await measure()) };
  return round as Round;
}

function half(benchCase: Case): Case {
  return { ...benchCase, connections: benchCase.connections / 2 };
}

/** Combines bursts that ran at the same time. */
function sum(bursts: readonly Measured[]): Measured {
  const most = (name: keyof Measured) => Math.max(...bursts.map((burst) => burst[name]));
  const perSecond = bursts.reduce((all, burst) => all + burst.perSecond, 0);
  // CPU time is unknown: each burst has counted PostgreSQL's for both.
  return { perSecond, p50: most('p50'), p99: most('p99'), cpuPerRequest: Number.NaN };
}

async function startNode(database: string, folder: string, number: number): Promise<Server> {
  const file = delayFile(folder, number);
  rmSync(file, { force: true });
  const logFile = join(folder, `node-${number}.log`);
  rmSync(logFile, { force: true });
  const server = await startServer(['--import', fileBeside('loop-delay.ts'), BIN, 'serve'], {
    env: { DATABASE_URL: database, RATE_LIMIT_READWRITE: '1000000000', LOOP_DELAY_FILE: file },
    logFile,
    healthPath: '/health',
  });
  while (!readFileSync(logFile, 'utf8').includes(IN_MEMORY)) await sleep(10);
  return server;
}

/** What a node logs when it has loaded all events. */
const IN_MEMORY = 'Searches are answered from memory';

const delayFile = (folder: string, number: number) => join(folder, `loop-delay-${number}.json`);

/** Event loop delay since the last call, 99th percentile in milliseconds. */
async function readLoopDelay({ nodes, folder }: Comparison, number: number): Promise<number> {
  const file = delayFile(folder, number);
  rmSync(file, { force: true });
  process.kill(nodes[number]!.pid, 'SIGUSR2');
  for (;;) {
    try {
      return (JSON.parse(readFileSync(file, 'utf8')) as { p99: number }).p99;
    } catch {
      await sleep(10); // not written yet
    }
  }
}

function summarise(name: string, rounds: readonly Round[]): EngineCase {
  const medians = (of: (round: Round) => Measured): Measured => {
    const value = (field: keyof Measured) => median(rounds.map((round) => of(round)[field]));
    return {
      perSecond: value('perSecond'),
      p50: value('p50'),
      p99: value('p99'),
      cpuPerRequest: value('cpuPerRequest'),
    };
  };
  const ratios = (ratio: (round: Round) => number) => spread(rounds.map(ratio));
  const hasBaseline = rounds.every(({ baseline }) => baseline);
  return {
    name,
    one: medians(({ one }) => one),
    two: medians(({ two }) => two),
    embedded: medians(({ embedded }) => embedded),
    ofEmbedded: ratios(({ one, embedded }) => one.perSecond / embedded.perSecond),
    cpuOfEmbedded: ratios(({ one, embedded }) => one.cpuPerRequest / embedded.cpuPerRequest),
    baseline: hasBaseline ? medians(({ baseline }) => baseline!) : undefined,
    times: hasBaseline ? ratios(({ one, baseline }) => one.perSecond / baseline!.perSecond) : undefined,
    timesByCpu: hasBaseline
      ? ratios(({ one, baseline }) => baseline!.cpuPerRequest / one.cpuPerRequest)
      : undefined,
    growth: ratios(({ one, two }) => two.perSecond / one.perSecond),
    loopDelay: ratios(({ loopDelay }) => loopDelay),
  };
}

/** Minimum multiples that the project aims for. */
export const TARGET_TIMES_BASELINE: Readonly<Record<string, number>> = {
  city: 1.3,
  filtered: 1.3,
  wide: 1.3,
  anywhere: 1.5,
};

/** Minimum part of the embedded engine's requests per second, alone and beside creates, and maximum multiple of its CPU time, for searches. */
export const TARGET_OF_EMBEDDED = { perSecond: 0.75, cpu: 1.5, besideCreates: 0.6 };
