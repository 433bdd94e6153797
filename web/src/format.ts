// Numbers and times in the viewer's language; times of an event in its own timezone. Formatters are cached, because creating
// one costs far more than using it.
import type { AgentEvent } from './api.ts';

const numbers = new Intl.NumberFormat();

export function formatNumber(value: number): string {
  return numbers.format(value);
}

/** `1 event`, `1,200 events`. */
export function countOf(value: number, noun: string): string {
  return `${formatNumber(value)} ${noun}${value === 1 ? '' : 's'}`;
}

const BYTE_UNITS = ['B', 'KB', 'MB', 'GB'];

/** `1.5 MB`; a unit is 1,024 of the one before. */
export function formatBytes(bytes: number): string {
  const step = Math.min(BYTE_UNITS.length - 1, Math.max(0, Math.floor(Math.log2(bytes || 1) / 10)));
  const value = bytes / 1_024 ** step;
  return `${formatNumber(value < 10 ? Math.round(value * 10) / 10 : Math.round(value))} ${BYTE_UNITS[step]}`;
}

const formatters = new Map<string, Intl.DateTimeFormat | undefined>();

/** Undefined if the browser does not know the timezone. */
function formatter(name: keyof typeof STYLES, timeZone?: string): Intl.DateTimeFormat | undefined {
  const key = `${name} ${timeZone ?? ''}`;
  if (!formatters.has(key)) {
    try {
      formatters.set(key, new Intl.DateTimeFormat(undefined, { ...STYLES[name], timeZone }));
    } catch {
      formatters.set(key, undefined);
    }
  }
  return formatters.get(key);
}

const hourCycle = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions().hourCycle;
/** `06:30`, or `6:30 AM` in locales with a 12-hour clock. */
const CLOCK = { hour: hourCycle?.startsWith('h1') ? 'numeric' : '2-digit', minute: '2-digit' } as const;
const DAY = { year: 'numeric', month: 'short', day: 'numeric' } as const;
const STYLES = {
  day: DAY,
  full: { ...DAY, weekday: 'short', ...CLOCK, timeZoneName: 'short' },
  exact: { ...DAY, ...CLOCK, second: '2-digit' },
  event: { ...DAY, weekday: 'short', ...CLOCK },
  zone: { timeZoneName: 'short' },
  comparable: { ...DAY, ...CLOCK },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

/** The day in the viewer's timezone. */
export function formatDay(at: string): string {
  return formatter('day')!.format(new Date(at));
}

/** A day without a time, such as 2026-11-15. */
export function formatUtcDay(date: string): string {
  return formatter('day', 'UTC')!.format(new Date(date));
}

/** Day and time in the viewer's timezone, with the timezone. */
export function formatFull(at: string): string {
  return formatter('full')!.format(new Date(at));
}

/** Day and time to the second, in the viewer's timezone. */
export function formatExact(at: string): string {
  return formatter('exact')!.format(new Date(at));
}

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
const STEPS: readonly [unit: Intl.RelativeTimeFormatUnit, ms: number, until: number][] = [
  ['second', 1_000, 60_000],
  ['minute', 60_000, 3_600_000],
  ['hour', 3_600_000, 86_400_000],
  ['day', 86_400_000, 30 * 86_400_000],
  ['month', 30.44 * 86_400_000, 365 * 86_400_000],
  ['year', 365.25 * 86_400_000, Number.POSITIVE_INFINITY],
];

/** `5 min. ago`. Within ten seconds, or up to a minute in the future because of a slow clock, it is "now". */
export function formatRelative(at: string, nowMs: number): string {
  const ms = Date.parse(at) - nowMs;
  if (Math.abs(ms) < 10_000 || (ms > 0 && ms < 60_000)) return relative.format(0, 'second');
  const [unit, size] = STEPS.find(([, , until]) => Math.abs(ms) < until)!;
  return relative.format(Math.trunc(ms / size), unit);
}

/** A time in the event's timezone, and in the viewer's (`local`) if that differs. */
export interface EventTime {
  readonly text: string;
  /** Abbreviated timezone in the viewer's language. */
  readonly zone: string;
  readonly local: string | undefined;
}

export function formatEventTime(at: string, timeZone: string): EventTime {
  const date = new Date(at);
  const known = formatter('event', timeZone) ? timeZone : 'UTC';
  const text = formatter('event', known)!.format(date);
  const isSame = formatter('comparable', known)!.format(date) === formatter('comparable')!.format(date);
  return { text, zone: zoneOf(date, known), local: isSame ? undefined : formatFull(at) };
}

/** From start to end, with the end's day only if it differs. The zone is that at the start. */
export function formatEventSpan({ start_at, end_at, timezone }: AgentEvent): EventTime {
  const start = formatEventTime(start_at, timezone);
  if (!end_at) return start;
  const known = formatter('event', timezone) ? timezone : 'UTC';
  const [from, to] = [new Date(start_at), new Date(end_at)];
  const span = (style: 'event' | 'full', zone?: string) => formatter(style, zone)!.formatRange(from, to);
  return { ...start, text: span('event', known), local: start.local && span('full') };
}

function zoneOf(date: Date, timeZone: string): string {
  const parts = formatter('zone', timeZone)!.formatToParts(date);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? timeZone;
}

/** An event without an end counts as ended three hours after its start. */
const ASSUMED_MS = 3 * 3_600_000;

export function hasEnded({ start_at, end_at }: AgentEvent, nowMs: number): boolean {
  return nowMs >= (end_at ? Date.parse(end_at) : Date.parse(start_at) + ASSUMED_MS);
}
