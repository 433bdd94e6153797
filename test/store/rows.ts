// Rows for tests of the stores, no two alike, and the records that a store must return for them.
import assert from 'node:assert/strict';
import type { AuditEntry } from '../../src/domain/administration/audit.ts';
import type { ListPosition } from '../../src/domain/administration/cursor.ts';
import type { EventListQuery } from '../../src/domain/administration/list.ts';
import type { AgentRecord, AgentRow } from '../../src/domain/agent.ts';
import { hashSecret, type KeyFingerprint, type KeyRecord } from '../../src/domain/api-key.ts';
import { decodeEvent, EVENT_DEFAULTS, type EventRow } from '../../src/domain/events/event.ts';
import { ALL_EVENTS, type NearbyQuery } from '../../src/domain/events/nearby.ts';
import type { EventRecord, Store } from '../../src/domain/store.ts';
import { fromWire, type Wire } from '../../src/domain/wire.ts';

export const NOW_MS = Date.parse('2031-05-01T12:00:00Z');
export const HOUR_MS = 3_600_000;

let made = 0;

export function newUlid(): string {
  return `01J${(++made).toString().padStart(23, '0')}`;
}

export function newUuid(): string {
  return `0197d2e8-9a40-7c55-8f3e-${(++made).toString(16).padStart(12, '0')}`;
}

export function newAgentRow(fields: Partial<AgentRow> = {}): AgentRow {
  return {
    agent_id: newUuid(),
    email: 'agent@example.com',
    agent_name: `agent ${made}`,
    tier: 'readwrite',
    is_active: true,
    created_ms: NOW_MS + made,
    ...fields,
  };
}

export function newKey(): KeyFingerprint {
  return { hash: hashSecret(`key ${++made}`), prefix: 'lev_test' };
}

/** Adds an agent with a key. */
export async function addAgent(
  store: Store,
  fields: Partial<AgentRow> = {},
): Promise<{ agent: AgentRow; key: KeyFingerprint }> {
  const agent = newAgentRow(fields);
  const key = newKey();
  await store.addAgent(agent, key);
  return { agent, key };
}

/** An event of the agent that starts in a day. */
export function newEventRow(agent: Pick<AgentRow, 'agent_id'>, fields: Partial<EventRow> = {}): EventRow {
  return {
    ...EVENT_DEFAULTS,
    event_id: newUlid(),
    agent_id: agent.agent_id,
    version: 1,
    title: `event ${made}`,
    start_ms: NOW_MS + 24 * HOUR_MS,
    timezone: 'Europe/Berlin',
    location_name: 'somewhere',
    lat: 52.52,
    lng: 13.405,
    event_type: 'talk',
    created_ms: NOW_MS,
    updated_ms: fields.created_ms ?? NOW_MS,
    ...fields,
  };
}

/** Creates the event and returns its row. */
export async function addEvent(
  store: Store,
  agent: Pick<AgentRow, 'agent_id'>,
  fields: Partial<EventRow> = {},
): Promise<EventRow> {
  const row = newEventRow(agent, fields);
  const outcome = await store.createEvent(row, 0);
  assert.equal(outcome.kind, 'created');
  return row;
}

/** The event as it is on the wire, parsed. */
export function wireOf(row: EventRow): Record<string, unknown> {
  const { version, start_ms, end_ms, created_ms, updated_ms, status, unknown, ...same } = row;
  return {
    ...same,
    ...(status === 'cancelled' && { status }),
    ...unknown,
    start_at: new Date(start_ms).toISOString(),
    end_at: end_ms === null ? null : new Date(end_ms).toISOString(),
    created_at: new Date(created_ms).toISOString(),
  };
}

/** Asserts that the record has the values of the row. */
export function assertRecord(record: EventRecord | undefined, row: EventRow): void {
  assert.equal(record?.version, row.version);
  assertEvents([record!.json], [row]);
}

/** Asserts that the events have the values of the rows, in this order. */
export function assertEvents(events: readonly Wire[], rows: readonly EventRow[]): void {
  assert.deepEqual(events.map(parseEvent), rows.map(wireOf));
}

export function parseEvent(event: Wire): Record<string, unknown> {
  return JSON.parse(fromWire(event)) as Record<string, unknown>;
}

export function idOf(event: Wire): string {
  return parseEvent(event).event_id as string;
}

/** A search for everything that has not ended, unless the fields say otherwise. */
export function search(fields: Partial<NearbyQuery> = {}): NearbyQuery {
  return { ...ALL_EVENTS, limit: 100, ...fields };
}

/** Every event of a search, page by page. */
export async function searchAll(store: Store, query: NearbyQuery, nowMs: number): Promise<Wire[]> {
  const events: Wire[] = [];
  for (let after = query.after; ; ) {
    const page = await store.nearby({ ...query, after }, nowMs);
    events.push(...page.events);
    if (!page.next) return events;
    after = page.next;
  }
}

export const WHOLE_LIST: Omit<EventListQuery, 'after'> = {
  ...{ q: '', when: 'all', limit: 500 },
  sort: { key: 'start_at', descending: false },
};

/** Every event of the agent, page by page, ordered by start and event_id. */
export async function eventsOf(store: Store, agentId: string, after?: ListPosition): Promise<Wire[]> {
  const events: Wire[] = [];
  for (;;) {
    const page = await store.agentEventPage(agentId, { ...WHOLE_LIST, after }, NOW_MS);
    events.push(...page.items.map(({ json }) => json));
    if (!page.next) return events;
    after = page.next;
  }
}

export function auditOf(action: AuditEntry['action'], target: string, detail = ''): AuditEntry {
  return { at_ms: NOW_MS, actor_subject: 'ada', actor_email: 'ada@example.com', action, target, detail };
}

/** The agent, with its number of events and last use. */
export async function findAgent(
  store: Pick<Store, 'findAgentDetails'>,
  agentId: string,
): Promise<AgentRecord | undefined> {
  return (await store.findAgentDetails(agentId, NOW_MS))?.agent;
}

/** The agent's key, expired or not. */
export async function findKey(
  store: Store,
  agentId: string,
  keyHash: string,
): Promise<KeyRecord | undefined> {
  const details = await store.findAgentDetails(agentId, Number.MIN_SAFE_INTEGER);
  const key = details?.keys.find(({ key_hash }) => key_hash === keyHash);
  return key && { prefix: key.prefix, created_ms: key.created_ms, expires_ms: key.expires_ms };
}

/** Deletes the event as an administrator. False if there is none. */
export async function deleteOne(store: Store, eventId: string, audit: AuditEntry): Promise<boolean> {
  const outcome = await store.deleteEvents([eventId], audit);
  return typeof outcome === 'object' && outcome.deleted === 1;
}

/** Deletes these events of the agent, and returns their number; undefined if there is no such agent. */
export async function deleteSelected(
  store: Store,
  agentId: string,
  eventIds: readonly string[],
  audit: AuditEntry,
): Promise<number | undefined> {
  const outcome = await store.deleteEvents(eventIds, audit, { agentId });
  return typeof outcome === 'object' ? outcome.deleted : undefined;
}

/** The fields of a stored event. */
export async function findRow(store: Store, eventId: string): Promise<EventRow | undefined> {
  const record = await store.findEvent(eventId);
  if (!record) return undefined;
  const { json, version, updatedMs: updated_ms } = record;
  return decodeEvent({ json: fromWire(json), version, updated_ms });
}
