// npm run bench -- --engine postgres: the service on PostgreSQL, as one node and as two, against the usual way, all over
// one cluster with the same events. Rounds are interleaved as in rounds.ts; everybody is asked by the same generator.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../test/support/postgres-cluster.ts';
import { BIN } from '../test/support/process.ts';
import { type Case, makeCases } from './cases.ts';
import { type BenchAgent, benchAgents, CACHE } from './data.ts';
import { loadEngine } from './engine-data.ts';
import { load, type Measured, type Target } from './load.ts';
import { fileBeside, type Server, startServer } from './processes.ts';
import { median, type Spread, spread } from './statistics.ts';

export interface EngineCase {
  readonly name: string;
  readonly one: Measured;
  readonly two: Measured;
  readonly usual: Measured | undefined;
  /** Requests per second of one node, as a multiple of the usual way's. */
  readonly times: Spread | undefined;
  /** The same by CPU time, PostgreSQL's included. */
  readonly timesByCpu: Spread | undefined;
  /** Requests per second of two nodes, as a multiple of one's. */
  readonly growth: Spread;
  /** Milliseconds that the event loop of one node was late, 99th percentile. */
  readonly loopDelay: Spread;
}

interface EngineOptions {
  readonly rounds: number;
  readonly seconds: number;
}

/** Of one burst, at each of them. */
interface Round {
  readonly one: Measured;
  readonly two: Measured;
  readonly usual: Measured | undefined;
  readonly loopDelay: number;
}

export async function measureEngine(
  cluster: Cluster,
  source: string,
  options: EngineOptions,
): Promise<EngineCase[]> {
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
    const usual = await start(
      startServer([fileBeside('servers/postgis.ts')], {
        ...{ env: { DATABASE: cluster.url() }, logFile: join(folder, 'postgis.log'), healthPath: '/health' },
      }),
    );
    const contest = { cluster, nodes, usual, folder, key: agents.searcher, ...options };
    const isCreate = ({ kind }: Case) => kind === 'create';
    const read = await runContest(
      cases.filter((asked) => !isCreate(asked)),
      contest,
    );
    // Last, because the usual way would not find the events that they add.
    return [...read, ...(await runContest(cases.filter(isCreate), contest))];
  } finally {
    for (const server of servers) await server.stop();
  }
}

interface Contest extends EngineOptions {
  readonly cluster: Cluster;
  readonly nodes: readonly Server[];
  readonly usual: Server;
  readonly folder: string;
  readonly key: BenchAgent;
}

async function runContest(cases: readonly Case[], contest: Contest): Promise<EngineCase[]> {
  const results = new Map(cases.map((asked) => [asked, [] as Round[]]));
  for (let round = 0; round <= contest.rounds; round++) {
    console.error(round === 0 ? 'warming up' : `round ${round} of ${contest.rounds}`);
    for (const asked of cases) {
      const measured = await runRound(asked, contest, round % 2 === 1);
      if (round > 0) results.get(asked)!.push(measured);
    }
  }
  return [...results].map(([{ name }, rounds]) => summarise(name, rounds));
}

async function runRound(asked: Case, contest: Contest, isTurned: boolean): Promise<Round> {
  const { nodes, usual, cluster, seconds } = contest;
  const burst = (server: Server, part = asked) => {
    const target: Target = {
      url: server.url,
      pids: [server.pid, cluster.pid],
      andChildren: true,
      isSlow: true,
    };
    return load(target, part, contest.key.key, seconds);
  };
  const askOne = async () => {
    await readLoopDelay(contest, 0);
    return { one: await burst(nodes[0]!), loopDelay: await readLoopDelay(contest, 0) };
  };
  const askTwo = async () => ({ two: sum(await Promise.all(nodes.map((node) => burst(node, half(asked))))) });
  const askUsual = async () => ({ usual: asked.kind === 'warm' ? await burst(usual) : undefined });
  const asking: (() => Promise<Partial<Round>>)[] = [askUsual, askOne, askTwo];
  if (isTurned) asking.reverse();
  let round: Partial<Round> = {};
  for (const ask of asking) round = { ...round, ...(await ask()) };
  return round as Round;
}

function half(asked: Case): Case {
  return { ...asked, connections: asked.connections / 2 };
}

/** Two bursts at once as one. */
function sum(bursts: readonly Measured[]): Measured {
  const most = (name: keyof Measured) => Math.max(...bursts.map((burst) => burst[name]));
  const perSecond = bursts.reduce((all, burst) => all + burst.perSecond, 0);
  // Each has counted the CPU time of PostgreSQL for both.
  return { perSecond, p50: most('p50'), p99: most('p99'), cpuPerRequest: Number.NaN };
}

function startNode(database: string, folder: string, number: number): Promise<Server> {
  const file = delayFile(folder, number);
  rmSync(file, { force: true });
  return startServer(['--import', fileBeside('loop-delay.ts'), BIN, 'serve'], {
    env: { DATABASE_URL: database, RATE_LIMIT_READWRITE: '1000000000', LOOP_DELAY_FILE: file },
    logFile: join(folder, `node-${number}.log`),
    healthPath: '/health',
  });
}

const delayFile = (folder: string, number: number) => join(folder, `loop-delay-${number}.json`);

/** Since the last time. */
async function readLoopDelay({ nodes, folder }: Contest, number: number): Promise<number> {
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
  const hasUsual = rounds.every(({ usual }) => usual);
  return {
    name,
    one: medians(({ one }) => one),
    two: medians(({ two }) => two),
    usual: hasUsual ? medians(({ usual }) => usual!) : undefined,
    times: hasUsual ? ratios(({ one, usual }) => one.perSecond / usual!.perSecond) : undefined,
    timesByCpu: hasUsual ? ratios(({ one, usual }) => usual!.cpuPerRequest / one.cpuPerRequest) : undefined,
    growth: ratios(({ one, two }) => two.perSecond / one.perSecond),
    loopDelay: ratios(({ loopDelay }) => loopDelay),
  };
}

/** The least multiples that the project asks of itself. */
export const TARGET_TIMES_USUAL: Readonly<Record<string, number>> = {
  city: 1.3,
  filtered: 1.3,
  wide: 1.3,
  anywhere: 1.5,
};
