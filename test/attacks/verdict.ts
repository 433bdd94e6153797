// What every attack must show: the others are served, the service lives, and memory and disk stay bounded.
import type { Sample } from './polite.ts';
import { DEFAULT_MAX_KEPT_MB, type Outcome } from './run.ts';

const MIN_OK_SHARE = 0.99;
/** Plus the time that the service was ready to run but had no core, because the attacker and other programs used them. */
const MAX_SEARCH_MS = 1_000;
const MAX_WORK_MS = 5_000;
const MAX_LIST_MS = 5_000;
const MAX_GROWTH_MB = 400;
/** Share of searches that must be measurable; fewer say that the machine is too busy for this test. */
const MIN_MEASURABLE = 0.8;

/** One line about the attack, for people. */
export function describeOutcome({
  polite,
  seen,
  peakGrowthMb,
  tcpMb,
  waitedMs,
  keptMb,
  diskGrowthMb,
  isAlive,
}: Outcome): string {
  const { searches, works, lists, checks, lagMs, resent } = polite;
  const ms = timesOf(searches);
  const parts = [
    `others ${shareOk(searches)} ok`,
    `p50 ${Math.round(at(ms, 0.5))} ms, p99 ${Math.round(at(ms, 0.99))} ms, slowest ${Math.round(at(ms, 1))} ms`,
    `tools, formats and own lists ${shareOk(works)} (${Math.round(at(timesOf(works), 1))} ms)`,
    `lists ${shareOk(lists)} (${Math.round(at(timesOf(lists), 1))} ms)`,
    `health ${shareOk(checks)}`,
    `memory +${Math.round(peakGrowthMb)} MB, kept ${keptMb === undefined ? '?' : Math.round(keptMb)} MB`,
    `disk +${Math.round(diskGrowthMb)} MB`,
    `attacker saw ${
      Object.entries(seen)
        .map(([name, count]) => `${name}×${count}`)
        .join(' ') || 'nothing'
    }`,
    `TCP buffers ${Math.round(tcpMb)} MB`,
    `lag of the others ${Math.round(lagMs)} ms, resent ${resent}`,
    `service without a core for ${Math.round(waitedMs)} ms`,
  ];
  if (!isAlive) parts.unshift('THE SERVICE DIED');
  return parts.join('; ');
}

/** Everything that is not as it must be; empty if the service holds. */
export function problemsOf(outcome: Outcome): string[] {
  const { row, polite, seen, peakGrowthMb, keptMb, diskGrowthMb, waitedMs, isAlive, log, signedIn } = outcome;
  const { searches, works, lists, checks } = polite;
  const measurable = searches.filter(({ isMeasurable }) => isMeasurable);
  const ms = timesOf(measurable);
  const maxKeptMb = row.maxKeptMb ?? DEFAULT_MAX_KEPT_MB;
  const problems: [isProblem: boolean, text: string][] = [
    [!isAlive, `the service died: ${log}`],
    [okOf(searches) < searches.length * MIN_OK_SHARE, `searches by others: ${statusesOf(searches)}`],
    [at(ms, 1) > MAX_SEARCH_MS + waitedMs, `the slowest search by others took ${Math.round(at(ms, 1))} ms`],
    [!(seen.connected! > 0), 'the attacker never connected'],
    [lists.length === 0 && signedIn === undefined, 'the administrator listed nothing'],
    [okOf(lists) < lists.length, `lists of the administrator: ${statusesOf(lists)}`],
    [at(timesOf(lists), 1) > MAX_LIST_MS + waitedMs, `a list took ${Math.round(at(timesOf(lists), 1))} ms`],
    [okOf(works) < works.length, `tools, formats and own lists of others: ${statusesOf(works)}`],
    [
      at(timesOf(works), 1) > MAX_WORK_MS + waitedMs,
      `a tool call, calendar or own list took ${Math.round(at(timesOf(works), 1))} ms`,
    ],
    [okOf(checks) < checks.length, `responses of /health: ${statusesOf(checks)}`],
    [![200, undefined].includes(signedIn as 200), `the administrator who signs in: ${signedIn}`],
    [peakGrowthMb > MAX_GROWTH_MB, `resident memory grew by ${Math.round(peakGrowthMb)} MB`],
    [!((keptMb ?? Infinity) <= maxKeptMb), `${Math.round(keptMb ?? NaN)} MB are still in use after it`],
    [diskGrowthMb > (row.maxDiskMb ?? Infinity), `the data grew by ${Math.round(diskGrowthMb)} MB`],
    [
      measurable.length < searches.length * MIN_MEASURABLE || searches.length < 100,
      `only ${measurable.length} of ${searches.length} searches could be measured: the machine is too busy`,
    ],
    ...Object.keys(seen)
      .filter((name) => /^\d{3}/.test(name))
      .filter((name) => ![200, 429, 503, ...(row.statuses ?? [])].map(String).includes(name))
      .map((name): [boolean, string] => [true, `the attacker saw ${name}`]),
  ];
  return problems.flatMap(([isProblem, text]) => (isProblem ? [text] : []));
}

function okOf(samples: readonly Sample[]): number {
  return samples.filter(({ status }) => status === 200).length;
}

function shareOk(samples: readonly Sample[]): string {
  return `${okOf(samples)}/${samples.length}`;
}

function statusesOf(samples: readonly Sample[]): string {
  const counts = Map.groupBy(samples, ({ status }) => status);
  return [...counts].map(([status, { length }]) => `${status}×${length}`).join(' ');
}

function timesOf(samples: readonly Sample[]): number[] {
  return samples.map(({ ms }) => ms).sort((a, b) => a - b);
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
