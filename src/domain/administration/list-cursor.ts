// Cursors of lists (agents, an agent's or all events, the audit log): a position as text. Opaque, versioned, bound to the list and
// its sort, strict when decoded.
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

export const NEVER_USED = -1;

export type ListName = 'agents' | 'events' | 'all_events' | 'own_events' | 'audit';

const VERSION = '1';

export function encodeListCursor(list: ListName, sort: string, { value, id }: ListPosition): string {
  return Buffer.from(`${VERSION}:${list}:${sort}:${id}:${value}`).toString('base64url');
}

/** Returns undefined for anything that encodeListCursor did not write for this list and sort. */
export function decodeListCursor(cursor: string, list: ListName, sort: string): ListPosition | undefined {
  const [version, name, sortedBy, id, ...rest] = Buffer.from(cursor, 'base64url').toString().split(':');
  if (version !== VERSION || name !== list || sortedBy !== sort || id === undefined) return undefined;
  if (!IDS[list](id)) return undefined;
  const value = VALUES[list].get(sort.replace('-', ''))?.(rest.join(':'), id);
  if (value === undefined) return undefined;
  return encodeListCursor(list, sort, { value, id }) === cursor ? { value, id } : undefined;
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
