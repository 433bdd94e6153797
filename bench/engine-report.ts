// Report on the PostgreSQL engine: the table on the terminal and bench/RESULTS-postgres.md.
import { type BesideCreates, CREATE_RATE } from './beside-creates.ts';
import { type EngineCase, TARGET_OF_EMBEDDED, TARGET_TIMES_BASELINE } from './engine.ts';
import {
  describeMachine,
  fixed,
  markdownTable,
  milliseconds,
  type Row,
  TARGET_EVENTS,
  whole,
  withSpread,
} from './report.ts';

export interface EngineResults {
  readonly command: string;
  readonly loadBefore: number;
  readonly events: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly cases: readonly EngineCase[];
  readonly beside: readonly BesideCreates[];
}

export function engineTable({ cases, events }: EngineResults): Row[] {
  const head = [
    'case',
    'one node, requests/s',
    'p50 ms',
    'p99 ms',
    'CPU µs',
    'embedded, requests/s',
    'of embedded',
    'at least',
    'CPU, × embedded',
    'at most',
    'the baseline, requests/s',
    'CPU µs',
    '× the baseline',
    'at least',
    '× by CPU',
    'two nodes, requests/s',
    '× one node',
    'event loop delay, p99 ms',
  ];
  const rows = cases.map(({ name, one, two, embedded, baseline, ...ratios }): Row => {
    const target = events === TARGET_EVENTS ? TARGET_TIMES_BASELINE[name] : undefined;
    const { perSecond, cpu } = TARGET_OF_EMBEDDED;
    return [
      name,
      whole(one.perSecond),
      milliseconds(one.p50),
      milliseconds(one.p99),
      whole(one.cpuPerRequest),
      whole(embedded.perSecond),
      withSpread(ratios.ofEmbedded, fixed),
      target ? fixed(perSecond) : '–',
      withSpread(ratios.cpuOfEmbedded, fixed),
      target ? fixed(cpu) : '–',
      baseline ? fixed(baseline.perSecond, 1) : '–',
      baseline ? whole(baseline.cpuPerRequest) : '–',
      ratios.times ? withSpread(ratios.times, fixed) : '–',
      target ? fixed(target, 1) : '–',
      ratios.timesByCpu ? withSpread(ratios.timesByCpu, fixed) : '–',
      whole(two.perSecond),
      withSpread(ratios.growth, fixed),
      withSpread(ratios.loopDelay, fixed),
    ];
  });
  return [head, ...rows];
}

export function besideTable({ beside }: EngineResults): Row[] {
  const head = [
    'case',
    'one node, requests/s',
    'embedded, requests/s',
    'of embedded',
    'at least',
    'creates/s',
  ];
  const rows = beside.map(({ name, one, embedded, ofEmbedded, creates }): Row => {
    const target = fixed(TARGET_OF_EMBEDDED.besideCreates, 1);
    return [name, whole(one), whole(embedded), withSpread(ofEmbedded, fixed), target, whole(creates)];
  });
  return [head, ...rows];
}

export function renderEngine(results: EngineResults): string {
  const { events, rounds, seconds } = results;
  return [
    '# Last run of the benchmark on PostgreSQL',
    '',
    ...markdownTable([['', ''], ...describeMachine(results)]),
    '',
    `${whole(events)} events; ${rounds} interleaved rounds of ${seconds} s. One cluster holds the events twice, for the ` +
      'service and for the baseline; the embedded engine has its own file. Servers, PostgreSQL and the generator share the machine; CPU time is that of the ' +
      'server and of PostgreSQL together. Ratios are medians of the ratios within a round, with minimum and ' +
      'maximum in brackets. See [README.md](README.md) for what is measured and how.',
    '',
    ...markdownTable(engineTable(results)),
    '',
    `Searches on one node while another node creates ${CREATE_RATE} events/s, compared with the embedded engine, which does both itself:`,
    '',
    ...markdownTable(besideTable(results)),
    '',
  ].join('\n');
}
