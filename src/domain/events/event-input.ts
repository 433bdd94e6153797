// Reads the request bodies of creates and updates, and applies the rules about an event's times.
import type { Static } from 'typebox';
import { ianaName, isWithinYears, OUTSIDE_YEARS, parseDateTime, resolveLocal } from '../datetime.ts';
import { type Issue, refuse } from '../errors.ts';
import { compile } from '../shape.ts';
import { EVENT_FIELDS, EventCreate, type EventFields, type EventRow, EventUpdate, endsMs } from './event.ts';

const checkCreate = compile(EventCreate);
const checkUpdate = compile(EventUpdate);

/** Reads the body of a create. Throws VALIDATION_ERROR naming every failing field; if strict, also for an event that has ended. */
export function readEventCreate(body: unknown, nowMs: number, isStrict = false): EventFields {
  const { value, issues } = checkCreate(body, 'body');
  const times = resolveTimes(value, nowMs, undefined);
  const { start_ms, end_ms = null } = times;
  const hasNoEnd = value.end_at == null && issues.every(({ loc }) => loc[1] !== 'end_at');
  if (isStrict && hasNoEnd && start_ms !== undefined && endsMs({ start_ms, end_ms }) <= nowMs)
    issues.push(HAS_ENDED);
  refuse([...issues, ...times.issues]);
  return { ...toStored(value), start_ms: start_ms!, end_ms };
}

/** An `end_at` in the past is refused anyway. */
const HAS_ENDED: Issue = {
  loc: ['body', 'start_at'],
  msg: 'the event has ended: without end_at it ends 3 hours after its start. Send a later start_at, or an end_at in the future',
  type: 'value_error',
};

/** The stored fields, without the times. */
function toStored(sent: Static<typeof EventCreate>): EventFields {
  const fields: Record<string, unknown> = {};
  for (const { name, stored, storedAs } of EVENT_FIELDS) {
    if (!storedAs) fields[stored] = normalise(name, sent[name] ?? null);
  }
  return fields as EventFields;
}

/** -0 becomes 0, and a timezone gets IANA's spelling. */
function normalise(name: string, value: unknown): unknown {
  if (name === 'timezone') return ianaName(value as string);
  return typeof value === 'number' ? value + 0 : value;
}

/**
 * Reads the body of an update and applies the rules that do not need the stored event. Throws VALIDATION_ERROR naming
 * every failing field.
 */
export function readEventUpdate(body: unknown, nowMs: number): EventUpdate {
  const { value, issues } = checkUpdate(body, 'body');
  refuse([...issues, ...resolveTimes(value, nowMs, undefined).issues]);
  return value;
}

/** Applies the update. Throws VALIDATION_ERROR for values that are invalid only together with the stored event. */
export function applyEventUpdate(stored: EventRow, update: EventUpdate, nowMs: number): EventRow {
  const { issues, ...times } = resolveTimes(update, nowMs, stored);
  refuse(issues);
  // Later than before, even within a millisecond or after the clock was set back.
  const updated_ms = Math.max(nowMs, stored.updated_ms + 1);
  const next: Record<string, unknown> = { ...stored, ...times, version: stored.version + 1, updated_ms };
  for (const { name, storedAs } of EVENT_FIELDS) {
    if (!storedAs && update[name] !== undefined) next[name] = normalise(name, update[name]);
  }
  return next as unknown as EventRow;
}

/** Whether an update has changed a value. */
export function isChanged(before: EventRow, after: EventRow): boolean {
  return EVENT_FIELDS.some(
    ({ stored }) => before[stored as keyof EventRow] !== after[stored as keyof EventRow],
  );
}

interface SentTimes {
  start_at?: string;
  end_at?: string | null;
  timezone?: string;
}

interface ResolvedTimes {
  start_ms?: number;
  end_ms?: number | null;
  issues: Issue[];
}

/**
 * Converts date-times to instants and applies the rules about them. If neither the request nor the stored event gives a
 * timezone, local times stay unresolved and the rules about them are not applied.
 */
function resolveTimes(sent: SentTimes, nowMs: number, stored: EventRow | undefined): ResolvedTimes {
  const issues: Issue[] = [];
  const result: ResolvedTimes = { issues };
  const timezone = sent.timezone ?? stored?.timezone;
  const resolve = (field: 'start_at' | 'end_at', text: string): number | undefined => {
    const time = parseDateTime(text)!;
    if (!('ms' in time) && timezone === undefined) return undefined;
    const ms = 'ms' in time ? time.ms : resolveLocal(time.local, timezone!);
    if (isWithinYears(ms)) return ms;
    issues.push({ loc: ['body', field], ...OUTSIDE_YEARS });
    return undefined;
  };
  if (sent.start_at !== undefined) {
    const ms = resolve('start_at', sent.start_at);
    if (ms !== undefined) result.start_ms = ms;
  }
  if (sent.end_at === null) result.end_ms = null;
  else if (sent.end_at !== undefined) {
    const ms = resolve('end_at', sent.end_at);
    if (ms !== undefined) result.end_ms = ms;
    if (ms !== undefined && ms <= nowMs) {
      issues.push({ loc: ['body', 'end_at'], msg: 'must lie in the future', type: 'value_error' });
      return result;
    }
  }
  const start = result.start_ms ?? (sent.start_at === undefined ? stored?.start_ms : undefined);
  const end = result.end_ms ?? (sent.end_at === undefined ? stored?.end_ms : undefined);
  const changesTimes = sent.start_at !== undefined || typeof sent.end_at === 'string';
  if (changesTimes && start !== undefined && typeof end === 'number' && end < start) {
    if (typeof sent.end_at === 'string') {
      issues.push({ loc: ['body', 'end_at'], msg: 'must not lie before start_at', type: 'value_error' });
    } else {
      issues.push({ loc: ['body', 'start_at'], msg: 'must not lie after end_at', type: 'value_error' });
    }
  }
  return result;
}
