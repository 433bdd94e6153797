// Compares two services: this checkout with another one, to measure the cost of a change, or this checkout without and with
// metrics. Sends the same requests to both in turn, each on its own copy of the same data, in a folder or in a PostgreSQL of its own.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readMigrations } from '../src/migrations.ts';
import { type Cluster, startCluster } from '../test/support/postgres-cluster.ts';
import { BIN, freePort } from '../test/support/process.ts';
import { type Case, isWarm, makeCases } from './cases.ts';
import { benchAgents, CACHE, copyFolder, prepareFolder } from './data.ts';
import { load, type Measured, prime, untilWords } from './load.ts';
import { runCommand, type Server, startService } from './processes.ts';
import { describeMachine, fixed, markdownTable, type Row, whole, withSpread } from './report.ts';
import { medians } from './rounds.ts';
import { spread } from './statistics.ts';

interface CompareOptions {
  readonly engine?: string;
  readonly events: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly command: string;
  readonly loadBefore: number;
}

type Side = 'before' | 'after';

/** Two starts of the same program differ by up to 8 % for as long as they run, so both sides start several times. */
const STARTS = 5;

/** How often the metrics are read meanwhile: more often than Prometheus would. */
const READ_INTERVAL_MS = 1_000;

/** Measures this checkout against another one in `folder`, with its dependencies installed. Returns the report. */
export async function measureAgainst(folder: string, options: CompareOptions): Promise<string> {
  const bin = join(folder, 'bin/local-events.mjs');
  if (!existsSync(bin)) throw new Error(`There is no checkout at ${folder}.`);
  const git = ['-C', folder, 'rev-parse', '--short', 'HEAD'];
  const commit = execFileSync('git', git, { encoding: 'utf8' }).trim();
  const migrations = readMigrations(pathToFileURL(join(folder, 'src/sqlite/migrations/')));
  // The same events in the schema of each: a version from before 1.0.0 cannot open data of this one, nor the other way round.
  const sources = {
    before: prepareFolder(options.events, migrations),
    after: prepareFolder(options.events, undefined, 'plain'),
  };
  const bins = { before: bin, after: BIN };
  const clusters = options.engine === 'postgres' ? await moveToClusters(sources, bins) : undefined;
  try {
    const rows = await compareSides(
      sources,
      options,
      (side, dataDir, logFile) => {
        const env = clusters && { DATABASE_URL: clusters[side].url() };
        return startService(dataDir, logFile, { bin: bins[side], ...(env && { env }) });
      },
      clusters,
    );
    return render('Cost of the last measured change', rows, ['before', commit], options);
  } finally {
    for (const cluster of Object.values(clusters ?? {})) await cluster.remove();
  }
}

/** A PostgreSQL for each side, into which its own version has moved its data. */
async function moveToClusters(
  sources: Readonly<Record<Side, string>>,
  bins: Readonly<Record<Side, string>>,
): Promise<Record<Side, Cluster>> {
  const settings = { fsync: 'on', shared_buffers: `${Math.floor(totalmem() / 8 / 1_048_576)}MB` };
  const clusters = { before: await startCluster({ settings }), after: await startCluster({ settings }) };
  for (const side of ['before', 'after'] as const) {
    console.error(`moving the data of the side ${side}`);
    const folder = copyFolder(sources[side], side);
    const env = { DATA_DIR: folder, DATABASE_URL: clusters[side].url() };
    await runCommand(['move'], env, bins[side]);
  }
  return clusters;
}

/** Measures the service with metrics, which are read meanwhile, against the service without. Returns the report. */
export async function measureMetrics(options: CompareOptions): Promise<string> {
  const port = await freePort();
  const source = prepareFolder(options.events);
  const read = () =>
    fetch(`http://127.0.0.1:${port}/metrics`)
      .then((response) => response.text())
      .catch(() => {});
  const reading = setInterval(() => void read(), READ_INTERVAL_MS);
  try {
    const rows = await compareSides({ before: source, after: source }, options, (side, dataDir, logFile) =>
      startService(dataDir, logFile, side === 'before' ? {} : { env: { METRICS_PORT: String(port) } }),
    );
    const sides: Row = ['before, after', 'without METRICS_PORT; with it, and its metrics read every second'];
    return render('Cost of metrics', rows, sides, options);
  } finally {
    clearInterval(reading);
  }
}

type StartSide = (side: Side, dataDir: string, logFile: string) => Promise<Server>;

/** Measures the warm searches, reads and creates. */
async function compareSides(
  sources: Readonly<Record<Side, string>>,
  options: CompareOptions,
  startSide: StartSide,
  clusters?: Readonly<Record<Side, Cluster>>,
): Promise<Row[]> {
  const copies = { before: copyFolder(sources.before, 'before'), after: copyFolder(sources.after, 'after') };
  const requests = join(CACHE, 'requests');
  mkdirSync(requests, { recursive: true });
  const agents = benchAgents();
  const cases = makeCases(requests, agents, sources.after).filter(
    ({ kind }) => kind !== 'cold' && kind !== 'new',
  );
  const measured = new Map<Case, Record<Side, Measured[]>>(
    cases.map((benchCase) => [benchCase, { before: [], after: [] }]),
  );
  const measure = async (rounds: number) => {
    const servers: Server[] = [];
    const start = async (side: Side) => {
      const server = await startSide(side, copies[side], join(copies[side], 'access.log'));
      servers.push(server);
      await untilWords(server, agents.searcher.key);
      // With the processes of its database.
      return clusters
        ? { url: server.url, pids: [server.pid, clusters[side].pid], andChildren: true }
        : { url: server.url, pids: [server.pid] };
    };
    try {
      const targets = { before: await start('before'), after: await start('after') };
      // Round 0 is a warm-up and is not measured.
      for (let round = 0; round <= rounds; round++) {
        console.error(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
        for (const benchCase of cases) {
          const order: Side[] = round % 2 === 0 ? ['before', 'after'] : ['after', 'before'];
          for (const side of order) {
            if (isWarm(benchCase.kind)) await prime(targets[side].url, benchCase, agents.searcher.key);
            const result = await load(targets[side], benchCase, agents.searcher.key, options.seconds);
            if (round > 0) measured.get(benchCase)![side].push(result);
          }
        }
      }
    } finally {
      for (const server of servers) await server.stop();
    }
  };
  try {
    const { starts, roundsPerStart } = splitRounds(options.rounds);
    for (let start = 0; start < starts; start++) await measure(roundsPerStart);
    return [...measured].map(([{ name }, sides]) => compare(name, sides));
  } finally {
    for (const copy of Object.values(copies)) rmSync(copy, { recursive: true, force: true });
  }
}

function splitRounds(rounds: number): { starts: number; roundsPerStart: number } {
  const starts = Math.min(STARTS, rounds);
  return { starts, roundsPerStart: Math.ceil(rounds / starts) };
}

function compare(name: string, { before, after }: Record<Side, Measured[]>): Row {
  const [old, now] = [medians(before), medians(after)];
  const ratio = (of: keyof Measured) => spread(after.map((round, at) => round[of] / before[at]![of]));
  return [
    name,
    whole(old.perSecond),
    whole(now.perSecond),
    withSpread(ratio('perSecond'), fixed),
    whole(old.cpuPerRequest),
    whole(now.cpuPerRequest),
    withSpread(ratio('cpuPerRequest'), fixed),
  ];
}

const HEAD: Row = [
  'case',
  'before, requests/s',
  'after, requests/s',
  'after ÷ before',
  'before, CPU µs',
  'after, CPU µs',
  'after ÷ before',
];

function render(title: string, rows: readonly Row[], sides: Row, options: CompareOptions): string {
  const { engine = 'sqlite', events, rounds, seconds, ...run } = options;
  const { starts, roundsPerStart } = splitRounds(rounds);
  return [
    `# ${title}`,
    '',
    ...markdownTable([HEAD, ...rows]),
    '',
    `${whole(events)} events; ${starts} starts of each side, ${roundsPerStart} interleaved rounds of ${seconds} s for each case, side and start. Ratios are medians of the ` +
      'ratios within a round, with minimum and maximum in brackets; all other numbers are medians of the rounds.',
    '',
    ...markdownTable([['', ''], sides, ['engine', engine], ...describeMachine(run)]),
    '',
  ].join('\n');
}
