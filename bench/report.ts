// Report of the benchmark: the table on the terminal and bench/RESULTS.md.
import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import type { MixedResult, StartResult } from './extras.ts';
import type { ImportResult } from './import-rate.ts';
import type { IndexOutput } from './index-only.ts';
import type { OddResult } from './odd.ts';
import { type CaseResult, TARGET_SHARES, TARGET_TIMES_POSTGIS } from './rounds.ts';
import type { Spread } from './statistics.ts';

export interface Results {
  readonly command: string;
  /** Load average of the minute before the run. */
  readonly loadBefore: number;
  readonly events: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly cases: readonly CaseResult[];
  readonly index: IndexOutput;
  /** With ten times as many events, if requested. */
  readonly largerIndex: IndexOutput | undefined;
  readonly residentBytes: number;
  readonly start: StartResult;
  /** From then until searches by words are answered. */
  readonly wordsSeconds: number;
  readonly imported: ImportResult;
  readonly mixed: MixedResult;
  readonly odd: readonly OddResult[];
  readonly postgisMissing: string | undefined;
}

export type Row = readonly string[];

export const whole = (value: number) => Math.round(value).toLocaleString('en-US');
export const fixed = (value: number, digits = 2) => value.toFixed(digits);
export const milliseconds = (microseconds: number) => fixed(microseconds / 1000);
export const withSpread = ({ median, min, max }: Spread, show: (value: number) => string) =>
  `${show(median)} (${show(min)}–${show(max)})`;

/** Targets are defined for 1 million events. */
export const TARGET_EVENTS = 1_000_000;

export function caseTable({ cases, events }: Results): Row[] {
  const hasTargets = events === TARGET_EVENTS;
  const shares = new Map(cases.map(({ name, share }) => [name, share.median]));
  const head = [
    'case',
    'requests/s',
    'p50 ms',
    'p99 ms',
    'CPU µs',
    'body bytes',
    'limit requests/s',
    'limit CPU µs',
    'share of the limit',
    'at least',
    'share by CPU',
    'PostGIS requests/s',
    'PostGIS CPU µs',
    '× PostGIS',
    'at least',
  ];
  const rows = cases.map((result): Row => {
    const { name, kind, service, limit, postgis } = result;
    const target = kind === 'cold' ? 0.5 * shares.get(name.replace(' cold', ''))! : TARGET_SHARES[name];
    const times = (TARGET_TIMES_POSTGIS as Record<string, number>)[name];
    return [
      name,
      whole(service.perSecond),
      milliseconds(service.p50),
      milliseconds(service.p99),
      whole(service.cpuPerRequest),
      result.bodyBytes > 0 ? whole(result.bodyBytes) : 'as sent',
      whole(limit.perSecond),
      whole(limit.cpuPerRequest),
      withSpread(result.share, fixed),
      target !== undefined && hasTargets ? fixed(target) : '–',
      withSpread(result.cpuShare, fixed),
      postgis ? fixed(postgis.perSecond, 1) : '–',
      postgis ? whole(postgis.cpuPerRequest) : '–',
      result.timesPostgis ? withSpread(result.timesPostgis, whole) : '–',
      result.timesPostgis && times && hasTargets ? whole(times) : '–',
    ];
  });
  return [head, ...rows];
}

export function otherTable(results: Results): Row[] {
  const { start, imported, mixed, index, largerIndex } = results;
  const rows: Row[] = [['what', 'measured', 'at most', 'how']];
  const longest = results.odd[0]!;
  rows.push(
    ...indexRows(index, results.events),
    [
      'memory of the index and lookups',
      `${whole(index.bytesPerEvent)} bytes per event`,
      '200',
      'heap and buffers',
    ],
    [
      'resident memory after all searches',
      `${whole(results.residentBytes / 1e6)} MB`,
      results.events === TARGET_EVENTS ? '900' : '–',
      'with the cache as filled by the cold searches',
    ],
    [
      'ready after start, of a plain SELECT',
      withSpread(start.ratio, fixed),
      '3',
      `${fixed(start.readySeconds)} s against ${fixed(start.selectSeconds)} s, processes included`,
    ],
    [
      'searches by words answered, after that',
      `${fixed(results.wordsSeconds, 1)} s`,
      '–',
      'on a quiet machine; the words of all events are read in the background',
    ],
    ...newSearchRows(results),
    [
      'rows/s of import, of plain inserts in one transaction',
      withSpread(imported.ratio, fixed),
      imported.rows === TARGET_EVENTS ? 'at least 0.3' : '–',
      `${whole(imported.rows)} lines: ${whole(imported.imported)} rows/s against ${whole(imported.inserted)}`,
    ],
    [
      'p99 of city at 1,000/s with 500 creates/s, of that without',
      withSpread(mixed.ratio, fixed),
      '2',
      `${milliseconds(mixed.mixedP99)} ms against ${milliseconds(mixed.aloneP99)} ms; ${whole(mixed.creates)} creates/s completed`,
    ],
    [
      'longest of the odd searches: event loop held',
      `${fixed(longest.held.max)} ms (its median ${fixed(longest.held.median)} ms)`,
      '20 ms',
      `${longest.name}; CPU time`,
    ],
  );
  if (largerIndex?.cityAtTotals !== undefined) rows.push(growthRow(index, largerIndex));
  return rows;
}

/** Highest CPU time of a search with newer parameters, as a multiple of that of `city`. */
const TARGET_TIMES_CITY: Record<string, number> = {
  active: 1.3,
  when: 1.3,
  nearest: 2,
  'words in a city': 2,
};

function newSearchRows({ cases }: Results): Row[] {
  const cpuOf = (name: string) => cases.find((each) => each.name === name)!.service.cpuPerRequest;
  return Object.entries(TARGET_TIMES_CITY).map(([name, target]) => [
    `CPU time of ${name}, of city`,
    fixed(cpuOf(name) / cpuOf('city')),
    String(target),
    `${whole(cpuOf(name))} µs against ${whole(cpuOf('city'))} µs`,
  ]);
}

const INDEX_TARGETS = { city: 20, filtered: 10, wide: 45, anywhere: 2, active: 26, when: 26, nearest: 40 };

export function indexRows(index: IndexOutput, events: number): Row[] {
  const { microseconds, meanTotals, afterQuietDay } = index;
  const rows = Object.entries(INDEX_TARGETS).map(([name, target]) => [
    `index only, ${name}`,
    `${fixed(microseconds[name as keyof typeof microseconds], 1)} µs`,
    events === TARGET_EVENTS ? `${target} µs` : '–',
    `${whole(events)} events, ${whole(meanTotals[name as keyof typeof meanTotals])} found on average`,
  ]);
  const quietDay = `${withSpread(afterQuietDay, fixed)} ms`;
  const how = `${whole(events)} events; retires all that ended that day`;
  return [...rows, ['index only, first search after a day without searches', quietDay, '20 ms', how]];
}

export function growthRow(index: IndexOutput, larger: IndexOutput): Row {
  const ratio = larger.cityAtTotals! / index.microseconds.city;
  const how = `${fixed(larger.cityAtTotals!, 1)} µs against ${fixed(index.microseconds.city, 1)} µs`;
  return ['index only, city at ten times the events and equal matches', fixed(ratio), '2', how];
}

export function renderMarkdown(results: Results): string {
  const { events, rounds, seconds } = results;
  return [
    '# Last run of the benchmark',
    '',
    '![Share of the limit and multiples of PostGIS](results.svg)',
    '',
    ...markdownTable([['', ''], ...describeMachine(results)]),
    '',
    `${whole(events)} events; ${rounds} interleaved rounds of ${seconds} s for each case and server. Ratios are medians of the ` +
      'ratios within a round, with minimum and maximum in brackets; all other numbers are medians of the rounds. ' +
      'See [README.md](README.md) for what is measured and how.',
    ...(results.postgisMissing ? ['', results.postgisMissing] : []),
    '',
    ...markdownTable(caseTable(results)),
    '',
    ...markdownTable(otherTable(results)),
    '',
    'The odd searches, in milliseconds:',
    '',
    ...markdownTable([
      ['search', 'event loop held', 'response after'],
      ...results.odd.map(({ name, held, arrived }) => [
        name,
        withSpread(held, fixed),
        withSpread(arrived, fixed),
      ]),
    ]),
    '',
  ].join('\n');
}

export function describeMachine({ command, loadBefore }: Pick<Results, 'command' | 'loadBefore'>): Row[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { encoding: 'utf8', cwd: import.meta.dirname }).trim();
  const isChanged = git('status', '--porcelain', '--', '../src') !== '';
  return [
    [
      'machine',
      `${cpus().length} × ${cpus()[0]!.model.trim()}, ${whole(totalmem() / 1e9)} GB, ${process.platform}`,
    ],
    ['load before the run', fixed(loadBefore, 1)],
    ['Node', process.version],
    ['commit', git('rev-parse', '--short', 'HEAD') + (isChanged ? ', with changes in src/' : '')],
    ['command', `\`${command}\``],
    ['date', `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`],
  ];
}

export function markdownTable([head, ...rows]: readonly Row[]): string[] {
  const line = (cells: Row) => `| ${cells.join(' | ')} |`;
  return [line(head!), line(head!.map(() => '---')), ...rows.map(line)];
}

/** Table with aligned columns for the terminal. */
export function plainTable(rows: readonly Row[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
