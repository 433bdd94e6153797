// Compares this checkout with another one, to measure the cost of a change. Sends the same requests to both in turn, each on
// its own copy of the same data.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readMigrations } from '../src/migrations.ts';
import { BIN } from '../test/support/process.ts';
import { type Case, makeCases } from './cases.ts';
import { benchAgents, CACHE, copyFolder, prepareFolder } from './data.ts';
import { load, type Measured, prime } from './load.ts';
import { type Server, startService } from './processes.ts';
import { describeMachine, fixed, markdownTable, type Row, whole, withSpread } from './report.ts';
import { medians } from './rounds.ts';
import { spread } from './statistics.ts';

interface AgainstOptions {
  /** Folder of the other checkout, with its dependencies installed. */
  readonly folder: string;
  readonly events: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly command: string;
  readonly loadBefore: number;
}

type Side = 'before' | 'after';

/** Measures the warm searches and reads. Returns the report. */
export async function measureAgainst(options: AgainstOptions): Promise<string> {
  const bin = join(options.folder, 'bin/local-events.mjs');
  if (!existsSync(bin)) throw new Error(`There is no checkout at ${options.folder}.`);
  const git = ['-C', options.folder, 'rev-parse', '--short', 'HEAD'];
  const commit = execFileSync('git', git, { encoding: 'utf8' }).trim();
  const migrations = readMigrations(pathToFileURL(join(options.folder, 'src/sqlite/migrations/')));
  const source = prepareFolder(options.events, migrations);
  const copies = { before: copyFolder(source, 'before'), after: copyFolder(source, 'after') };
  const requests = join(CACHE, 'requests');
  mkdirSync(requests, { recursive: true });
  const agents = benchAgents();
  const cases = makeCases(requests, agents, source).filter(({ kind }) => kind === 'warm' || kind === 'read');
  const servers: Server[] = [];
  const start = async (side: Side, program: string) => {
    const server = await startService(copies[side], join(copies[side], 'access.log'), program);
    servers.push(server);
    return { url: server.url, pids: [server.pid] };
  };
  try {
    const targets = { before: await start('before', bin), after: await start('after', BIN) };
    const rows: Row[] = [];
    const measured = new Map<Case, Record<Side, Measured[]>>(
      cases.map((benchCase) => [benchCase, { before: [], after: [] }]),
    );
    // Round 0 is a warm-up and is not measured.
    for (let round = 0; round <= options.rounds; round++) {
      console.error(round === 0 ? 'warming up' : `round ${round} of ${options.rounds}`);
      for (const benchCase of cases) {
        const order: Side[] = round % 2 === 0 ? ['before', 'after'] : ['after', 'before'];
        for (const side of order) {
          if (benchCase.kind === 'warm') await prime(targets[side].url, benchCase, agents.searcher.key);
          const result = await load(targets[side], benchCase, agents.searcher.key, options.seconds);
          if (round > 0) measured.get(benchCase)![side].push(result);
        }
      }
    }
    for (const [{ name }, sides] of measured) rows.push(compare(name, sides));
    return render(rows, commit, options);
  } finally {
    for (const server of servers) await server.stop();
    for (const copy of Object.values(copies)) rmSync(copy, { recursive: true, force: true });
  }
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

function render(rows: readonly Row[], commit: string, options: AgainstOptions): string {
  const { events, rounds, seconds, ...run } = options;
  return [
    '# Cost of the last measured change',
    '',
    ...markdownTable([HEAD, ...rows]),
    '',
    `${whole(events)} events; ${rounds} interleaved rounds of ${seconds} s for each case and side. Ratios are medians of the ` +
      'ratios within a round, with minimum and maximum in brackets; all other numbers are medians of the rounds.',
    '',
    ...markdownTable([['', ''], ['before', commit], ...describeMachine(run)]),
    '',
  ].join('\n');
}
