// npm run bench: creates the data, starts the servers, measures, prints a table and writes RESULTS.md and results.svg.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { HOW_TO_INSTALL_POSTGRES } from '../scripts/machine.ts';
import type { Cluster } from '../test/support/postgres-cluster.ts';
import { measureAgainst, measureMetrics } from './against.ts';
import { makeCases } from './cases.ts';
import { renderChart } from './chart.ts';
import { measureConsole } from './console.ts';
import { benchAgents, CACHE, copyFolder, prepareFolder } from './data.ts';
import { measureEngine } from './engine.ts';
import { besideTable, engineTable, renderEngine } from './engine-report.ts';
import { measureMixed, measureStart } from './extras.ts';
import { measureImport } from './import-rate.ts';
import type { IndexInput, IndexOutput } from './index-only.ts';
import { ensureWrk, untilWords } from './load.ts';
import { measureOdd } from './odd.ts';
import { measureOverload } from './overload.ts';
import { measurePages } from './pages.ts';
import { startPostgres } from './postgres.ts';
import {
  fileBeside,
  residentBytes,
  runScript,
  type Server,
  secondsOf,
  startServer,
  startService,
} from './processes.ts';
import {
  caseTable,
  growthRow,
  indexRows,
  otherTable,
  plainTable,
  type Results,
  renderMarkdown,
} from './report.ts';
import { runRounds } from './rounds.ts';

const USAGE = `npm run bench [-- OPTIONS]
  --events N      100000, 1000000 (the default) or 10000000
  --rounds N      rounds for each case (9)
  --seconds N     length of a round (3)
  --quick         a quick check: 100000 events, 3 rounds of 1 second
  --index         the index only, at 1 and at 10 million events
  --engine NAME   sqlite (the default), or postgres: one and two nodes over PostgreSQL, compared with the embedded engine and the baseline
  --console       the console in a browser with many agents, on both engines
  --pages         /, /docs and the console on a slow phone: sizes, and when they are usable
  --overload      5,000 connections compared with 256, and what a polite client sees meanwhile
  --against DIR   this checkout compared with another one, before and after a change; also with --engine postgres
  --metrics       this checkout with metrics compared with it without
  --no-postgis    without the comparison with PostGIS`;

const SIZES = [100_000, 1_000_000, 10_000_000];

interface Options {
  readonly events: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly usesPostgis: boolean;
}

const { values: given } = parseArgs({
  options: {
    events: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    index: { type: 'boolean', default: false },
    engine: { type: 'string', default: 'sqlite' },
    console: { type: 'boolean', default: false },
    pages: { type: 'boolean', default: false },
    overload: { type: 'boolean', default: false },
    against: { type: 'string' },
    metrics: { type: 'boolean', default: false },
    'no-postgis': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const options: Options = {
  events: Number(given.events ?? (given.quick ? 100_000 : 1_000_000)),
  rounds: Number(given.rounds ?? (given.quick ? 3 : 9)),
  seconds: Number(given.seconds ?? (given.quick ? 1 : 3)),
  usesPostgis: !given['no-postgis'],
};
const isValid =
  SIZES.includes(options.events) &&
  ['sqlite', 'postgres'].includes(given.engine) &&
  [options.rounds, options.seconds].every((n) => Number.isInteger(n) && n > 0);
if (given.help || !isValid) {
  console.error(USAGE);
  process.exitCode = given.help ? 0 : 2;
} else if (given.index) await measureIndex();
else if (given.console) await measureBrowser('RESULTS-console.md', measureConsole);
else if (given.pages) await measureBrowser('RESULTS-pages.md', measurePages);
else if (given.overload) await measureFlood();
else if (given.against !== undefined) await measureChange(given.against);
else if (given.metrics) await measureOnOff();
else if (given.engine === 'postgres') await measurePostgres();
else await measureAll();

function runIndex(input: IndexInput): Promise<IndexOutput> {
  console.error(`the index alone, ${input.events} events`);
  return runScript('index-only.ts', input, ['--expose-gc']);
}

async function measureIndex(): Promise<void> {
  const small = await runIndex({ events: 1_000_000 });
  const large = await runIndex({ events: 10_000_000, totals: small.cityTotals });
  const head = ['what', 'measured', 'at most', 'how'];
  const memory = ['memory at 10 million', `${Math.round(large.bytesPerEvent)} bytes per event`, '200', ''];
  console.log(
    plainTable([
      head,
      ...indexRows(small, 1_000_000),
      ...indexRows(large, 10_000_000),
      growthRow(small, large),
      memory,
    ]),
  );
}

async function measureBrowser(
  file: string,
  measure: (rounds: number, command: string) => Promise<string>,
): Promise<void> {
  const report = await measure(options.rounds, describeCommand());
  writeFileSync(fileBeside(file), report);
  console.log(report);
}

async function measureFlood(): Promise<void> {
  process.setMaxListeners(50); // each process has a listener that kills it if this process ends first
  const { events, rounds, seconds } = options;
  const run = { command: describeCommand(), loadBefore: loadavg()[0]! };
  const report = await measureOverload({ events, rounds, seconds, ...run });
  writeFileSync(fileBeside('RESULTS-overload.md'), report);
  console.log(report);
}

async function measureChange(folder: string): Promise<void> {
  process.setMaxListeners(50); // each server has a listener that kills it if this process ends first
  ensureWrk();
  const { events, rounds, seconds } = options;
  const run = { command: describeCommand(), loadBefore: loadavg()[0]! };
  const report = await measureAgainst(folder, { engine: given.engine, events, rounds, seconds, ...run });
  writeFileSync(fileBeside('RESULTS-change.md'), report);
  console.log(report);
}

async function measureOnOff(): Promise<void> {
  process.setMaxListeners(50);
  ensureWrk();
  const { events, rounds, seconds } = options;
  const report = await measureMetrics({
    ...{ events, rounds, seconds, command: describeCommand(), loadBefore: loadavg()[0]! },
  });
  writeFileSync(fileBeside('RESULTS-metrics.md'), report);
  console.log(report);
}

async function measurePostgres(): Promise<void> {
  process.setMaxListeners(50); // each server has a listener that kills it if this process ends first
  ensureWrk();
  const loadBefore = loadavg()[0]!;
  console.error(`data: ${options.events} events`);
  const source = prepareFolder(options.events);
  const cluster = await startPostgres(source);
  if (!cluster)
    throw new Error(
      `This benchmark needs PostgreSQL with PostGIS. To install it: ${HOW_TO_INSTALL_POSTGRES}`,
    );
  try {
    const measured = await measureEngine(cluster, source, options);
    const results = { command: describeCommand(), loadBefore, ...options, ...measured };
    writeFileSync(fileBeside('RESULTS-postgres.md'), renderEngine(results));
    console.log(`\n${plainTable(engineTable(results))}\n\n${plainTable(besideTable(results))}`);
  } finally {
    await cluster.remove();
  }
}

function describeCommand(): string {
  return ['npm run bench', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(' ');
}

async function measureAll(): Promise<void> {
  process.setMaxListeners(50); // each server has a listener that kills it if this process ends first
  ensureWrk();
  const loadBefore = loadavg()[0]!;
  console.error(`data: ${options.events} events`);
  const source = prepareFolder(options.events);
  const dataFolder = copyFolder(source);
  console.error('start');
  const start = await measureStart(dataFolder);
  console.error('import');
  const imported = await measureImport(options.events);
  const isLarge = options.events === 10_000_000;
  const index = await runIndex({ events: isLarge ? 1_000_000 : options.events });
  const largerIndex = isLarge
    ? await runIndex({ events: options.events, totals: index.cityTotals })
    : undefined;
  const postgres = await openPostgres(source);
  try {
    const served = await measureServed(dataFolder, postgres);
    console.error('odd searches');
    const odd = await measureOdd(dataFolder, benchAgents().searcher.key);
    const missing = options.usesPostgis
      ? `PostgreSQL with PostGIS is not installed, so there is no comparison with it. To install it: ${HOW_TO_INSTALL_POSTGRES}`
      : 'Run without the comparison with PostGIS.';
    report({
      ...{ command: describeCommand(), loadBefore, start, imported, index, largerIndex, ...served, odd },
      ...{ events: options.events, rounds: options.rounds, seconds: options.seconds },
      postgisMissing: postgres ? undefined : missing,
    });
  } finally {
    await postgres?.remove();
    rmSync(dataFolder, { recursive: true, force: true });
  }
}

async function openPostgres(source: string): Promise<Cluster | undefined> {
  if (!options.usesPostgis) return undefined;
  console.error('PostgreSQL: loading the same events');
  const postgres = await startPostgres(source);
  if (!postgres)
    console.error(
      `PostgreSQL with PostGIS is not installed; continuing without it. To install it: ${HOW_TO_INSTALL_POSTGRES}`,
    );
  return postgres;
}

type Served = Pick<Results, 'cases' | 'residentBytes' | 'mixed' | 'wordsSeconds'>;

/** All measurements over HTTP. */
async function measureServed(dataFolder: string, postgres: Cluster | undefined): Promise<Served> {
  const folder = join(CACHE, 'requests');
  mkdirSync(folder, { recursive: true });
  const agents = benchAgents();
  const { key } = agents.searcher;
  const cases = makeCases(folder, agents, dataFolder);
  const service = await startService(dataFolder, join(dataFolder, 'access.log'));
  let baseline: Server | undefined;
  try {
    const wordsSeconds = await secondsOf(() => untilWords(service, key));
    baseline =
      postgres &&
      (await startServer([fileBeside('servers/postgis.ts')], {
        ...{ env: { DATABASE: postgres.url() }, logFile: join(folder, 'postgis.log'), healthPath: '/health' },
      }));
    const postgis = baseline && {
      ...{ url: baseline.url, pids: [baseline.pid, postgres!.pid], andChildren: true, isSlow: true },
    };
    const shared = { service, key, folder, rounds: options.rounds, seconds: options.seconds };
    const create = cases.find(({ kind }) => kind === 'create')!;
    const reading = cases.filter((benchCase) => benchCase !== create);
    const read = await runRounds(reading, { ...shared, postgis });
    const resident = residentBytes(service.pid);
    console.error('searches at a fixed rate, with and without creates');
    const mixedRounds = { rounds: Math.min(5, options.rounds), seconds: 2 * options.seconds };
    const mixed = await measureMixed(service.url, { city: cases[0]!, create, key }, mixedRounds);
    // Creates come last, because the searches would find the new events.
    const created = await runRounds([create], { ...shared, postgis: undefined });
    return { cases: [...read, ...created], residentBytes: resident, mixed, wordsSeconds };
  } finally {
    await baseline?.stop();
    await service.stop();
  }
}

function report(results: Results): void {
  writeFileSync(fileBeside('RESULTS.md'), renderMarkdown(results));
  writeFileSync(fileBeside('results.svg'), renderChart(results.cases));
  console.log(`\n${plainTable(caseTable(results))}\n\n${plainTable(otherTable(results))}`);
}
