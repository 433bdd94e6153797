// Cursors of lists (agents, an agent's or all events, the audit log) and of undos: a position as text. Opaque, versioned, strict when
// decoded. A cursor of a list is bound to the list and its sort.
import { TIERS } from '../agent.ts';
import { EARLIEST_MS, LATEST_MS } from '../datetime.ts';
import { EVENT_TYPES } from '../events/event.ts';
import { isUlid, isUuid } from '../ids.ts';

/**
 * The position just after an item in the order of a list: its sort value, then its ID. Texts are case-folded and sorted by
 * their bytes. A boolean is 0 or 1. The last use of an agent that was never used is NEVER_USED.
 */
export interface ListPosition {
  readonly value: string | number;
  readonly id: string;
}

const VERSION = '1';

export const NEVER_USED = -1;

export type ListName = 'agents' | 'events' | 'all_events' | 'own_events' | 'audit';

/** How far a undo of many events has got. */
export interface UndoPosition {
  /** ID of the last event of the previous step; empty for the first step. */
  readonly after: string;
  /** ID of the audit entry of this undo, if an earlier step wrote it. Clients can forge it: stores check that it belongs to this undo. */
  readonly into: number | undefined;
}

export function encodeListCursor(list: ListName, sort: string, { value, id }: ListPosition): string {
  return encode([list, sort, id, value]);
}

/** Returns undefined for anything that encodeListCursor did not write for this list and sort. */
export function decodeListCursor(cursor: string, list: ListName, sort: string): ListPosition | undefined {
  const [name, sortedBy, id, ...rest] = decode(cursor);
  if (name !== list || sortedBy !== sort || id === undefined || !IDS[list](id)) return undefined;
  const value = VALUES[list].get(sort.replace('-', ''))?.(rest.join(':'), id);
  if (value === undefined) return undefined;
  return encodeListCursor(list, sort, { value, id }) === cursor ? { value, id } : undefined;
}

export function encodeUndoCursor({ after, into }: UndoPosition): string {
  return encode(['restore', after, into ?? '']);
}

/** Returns undefined for anything that encodeUndoCursor did not write. */
export function decodeUndoCursor(cursor: string): UndoPosition | undefined {
  const [, after, into] = decode(cursor);
  if (after === undefined || into === undefined || !isUlid(after) || !/^([1-9]\d{0,14})?$/.test(into))
    return undefined;
  const position = { after, into: into === '' ? undefined : Number(into) };
  return encodeUndoCursor(position) === cursor ? position : undefined;
}

function encode(fields: readonly (string | number)[]): string {
  return Buffer.from([VERSION, ...fields].join(':')).toString('base64url');
}

/** The fields. Encoding them again shows whether the version and all else of the text is right. */
function decode(cursor: string): string[] {
  return Buffer.from(cursor, 'base64url').toString().split(':').slice(1);
}

const IDS: Readonly<Record<ListName, (id: string) => boolean>> = {
  agents: (id) => isUuid(id) && id === id.toLowerCase(),
  events: isUlid,
  all_events: isUlid,
  own_events: isUlid,
  audit: (id) => /^[1-9]\d*$/.test(id) && Number.isSafeInteger(Number(id)),
};

/** Decodes a sort value; undefined if it is invalid. */
type ReadValue = (text: string, id: string) => string | number | undefined;

/** PostgreSQL rejects NUL. */
const text: ReadValue = (value) => (value !== '' && !value.includes('\0') ? value : undefined);

const sameAsId: ReadValue = (value, id) => (value === id ? value : undefined);

function among(values: readonly string[]): ReadValue {
  return (value) => (values.includes(value) ? value : undefined);
}

function integer(least: number, most: number): ReadValue {
  return (value) => {
    const number = Number(value);
    return Number.isInteger(number) && number >= least && number <= most ? number : undefined;
  };
}

const VALUES: Readonly<Record<ListName, ReadonlyMap<string, ReadValue>>> = {
  agents: new Map([
    ['agent_name', text],
    ['email', text],
    ['tier', among(TIERS)],
    ['is_active', integer(0, 1)],
    ['event_count', integer(0, Number.MAX_SAFE_INTEGER)],
    ['created_at', integer(EARLIEST_MS, LATEST_MS)],
    ['last_used_at', integer(NEVER_USED, LATEST_MS)],
    ['events_24h', integer(0, Number.MAX_SAFE_INTEGER)],
    ['events_7d', integer(0, Number.MAX_SAFE_INTEGER)],
    ['requests_1h', integer(0, Number.MAX_SAFE_INTEGER)],
    ['refusals_1h', integer(0, Number.MAX_SAFE_INTEGER)],
  ]),
  events: new Map([
    ['start_at', integer(EARLIEST_MS, LATEST_MS)],
    ['title', text],
    ['event_type', among(EVENT_TYPES)],
    ['created_at', sameAsId], // IDs sort by creation
  ]),
  all_events: new Map([
    ['start_at', integer(EARLIEST_MS, LATEST_MS)],
    ['created_at', sameAsId],
  ]),
  own_events: new Map([['start_at', integer(EARLIEST_MS, LATEST_MS)]]),
  audit: new Map([['at', sameAsId]]),
};
