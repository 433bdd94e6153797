// Use cases of agents for events: search, read, create, update, delete.

import type { AgentRow } from '../domain/agent.ts';
import { AppError } from '../domain/errors.ts';
import {
  decodeEvent,
  type EventFields,
  type EventRow,
  type EventUpdate,
  encodeEvent,
} from '../domain/events/event.ts';
import { applyEventUpdate, isChanged } from '../domain/events/event-input.ts';
import type { NearbyQuery } from '../domain/events/nearby.ts';
import { wordBytes } from '../domain/events/words.ts';
import { isUlid, newUlid } from '../domain/ids.ts';
import type { Policy } from '../domain/policy.ts';
import {
  BYTES_PER_MB,
  type EventRecord,
  type FoundRecord,
  type NearbyPage,
  type Searcher,
  type Store,
} from '../domain/store.ts';
import { fromWire } from '../domain/wire.ts';
import type { Context } from './context.ts';
import { countBytes, type Network, requireByteQuota } from './stored-bytes.ts';

/** One page of events that have not ended, with the exact total. */
export function findNearby(
  { store, clock }: Context,
  query: NearbyQuery,
  searcher?: Searcher,
): Promise<NearbyPage> {
  return store.nearby(query, clock(), searcher);
}

/** Throws NOT_FOUND. */
export async function getEvent({ store }: Context, eventId: string): Promise<FoundRecord> {
  const record = isUlid(eventId) ? await store.findEvent(eventId) : undefined;
  return record ?? notFound();
}

/**
 * Creates the event, or returns the agent's existing event with the same title, start and place. Throws RATE_LIMITED if
 * the network has stored too much, EVENT_LIMIT_REACHED, or INVALID_API_KEY if the agent was deleted meanwhile.
 */
export async function createEvent(
  context: Context,
  agent: AgentRow,
  network: Network,
  fields: EventFields,
): Promise<{ readonly kind: 'created' | 'existing'; readonly record: EventRecord }> {
  const { store, clock, random, policy } = context;
  await requireByteQuota(context, network);
  const nowMs = clock();
  const row = {
    event_id: newUlid(nowMs, random),
    agent_id: agent.agent_id,
    version: 1,
    created_ms: nowMs,
    updated_ms: nowMs,
    ...fields,
  };
  const outcome = await store.createEvent(row, policy.maxEventsPerAgent, policy.maxBytesPerAgent);
  if (outcome.kind === 'no-agent')
    throw new AppError('INVALID_API_KEY', 'The agent of this key was deleted.');
  if (outcome.kind === 'limit') {
    throw new AppError(
      'EVENT_LIMIT_REACHED',
      `An agent may have at most ${policy.maxEventsPerAgent} events. Delete some that have ended, then retry.`,
    );
  }
  if (outcome.kind === 'size-limit') noRoom(policy);
  if (outcome.kind === 'word-limit') noRoomForWords();
  if (outcome.kind === 'created') {
    await countBytes(context, network, Math.max(outcome.record.json.length, wordBytes(row)));
  }
  return outcome;
}

/** Versions of the event that the caller knows, from If-Match; undefined: any version will do. */
export type KnownVersions = readonly number[] | undefined;

/**
 * Changes the fields of the update. If no value changes, the event keeps its version. Throws NOT_FOUND, DUPLICATE_EVENT,
 * PRECONDITION_FAILED if the event has none of the known versions, and VALIDATION_ERROR for values that are invalid only together with
 * the stored event. If the event grows, also EVENT_LIMIT_REACHED, and RATE_LIMITED if the network has stored too much.
 */
export async function updateEvent(
  context: Context,
  agent: AgentRow,
  network: Network,
  eventId: string,
  update: EventUpdate,
  known?: KnownVersions,
): Promise<EventRecord> {
  const nowMs = context.clock();
  // Checked before the queue of edits: only the owner's requests may wait there.
  const found = await findOwn(context.store, agent, eventId);
  return context.edits.run(eventId, (hasWaited) =>
    applyUpdate(context, agent, network, hasWaited ? undefined : found, eventId, update, nowMs, known),
  );
}

/** `found` is the event if it was read just now. */
async function applyUpdate(
  context: Context,
  agent: AgentRow,
  network: Network,
  found: OwnEvent | undefined,
  eventId: string,
  update: EventUpdate,
  nowMs: number,
  known: KnownVersions,
): Promise<EventRecord> {
  const { store, policy } = context;
  for (let read = found; ; read = undefined) {
    const { row: stored, record } = read ?? (await findOwn(store, agent, eventId));
    requireKnown(stored, known);
    const next = applyEventUpdate(stored, update, nowMs);
    if (!isChanged(stored, next)) return record;
    const growth = sizeOf(next) - sizeOf(stored);
    if (growth > 0) await requireByteQuota(context, network);
    const outcome = await store.replaceEvent(next, policy.maxBytesPerAgent);
    if (outcome.kind === 'replaced') {
      await countBytes(context, network, growth);
      return outcome.record;
    }
    if (outcome.kind === 'size-limit') noRoom(policy);
    if (outcome.kind === 'word-limit') noRoomForWords();
    if (outcome.kind === 'duplicate') {
      throw new AppError(
        'DUPLICATE_EVENT',
        `Your event ${outcome.id} already has this title, start and place. Change or delete that one instead.`,
      );
    }
  }
}

/** Throws NOT_FOUND, and PRECONDITION_FAILED if the event has none of the known versions. */
export async function deleteEvent(
  { store }: Context,
  agent: AgentRow,
  eventId: string,
  known?: KnownVersions,
): Promise<void> {
  if (known === undefined) {
    if (!isUlid(eventId) || !(await store.deleteEvent(eventId, agent.agent_id))) notYours();
    return;
  }
  for (;;) {
    const { record } = await findOwn(store, agent, eventId);
    requireKnown(record, known);
    if (await store.deleteEvent(eventId, agent.agent_id, record.version)) return;
  }
}

/** An event as it is sent, and its fields. */
interface OwnEvent {
  readonly record: EventRecord;
  readonly row: EventRow;
}

async function findOwn(store: Store, agent: AgentRow, eventId: string): Promise<OwnEvent> {
  const record = (isUlid(eventId) && (await store.findEvent(eventId))) || notYours();
  const { json, version, updatedMs: updated_ms } = record;
  const row = decodeEvent({ json: fromWire(json), version, updated_ms });
  return row.agent_id === agent.agent_id ? { record, row } : notYours();
}

/** Bytes that count for the network: those of the JSON on disk, or of the words in memory if these are more. */
function sizeOf(row: EventRow): number {
  return Math.max(Buffer.byteLength(encodeEvent(row)), wordBytes(row));
}

function requireKnown({ version }: { readonly version: number }, known: KnownVersions): void {
  if (known === undefined || known.includes(version)) return;
  throw new AppError(
    'PRECONDITION_FAILED',
    'The event has changed, or If-Match does not have its ETag (with the quotes). Read the event again and check what changed before you retry.',
  );
}

function noRoom({ maxBytesPerAgent }: Policy): never {
  throw new AppError(
    'EVENT_LIMIT_REACHED',
    `The events of an agent may take at most ${maxBytesPerAgent / BYTES_PER_MB} MB in total, and this one does not fit. ` +
      'Delete some that have ended, or shorten their texts, then retry.',
  );
}

function noRoomForWords(): never {
  throw new AppError(
    'EVENT_LIMIT_REACHED',
    'The words of all events take nearly as much memory as INDEX_MAX_MB allows, and yours are a large part of them, as ' +
      'GET /v1/agents/me shows. Delete some events, or shorten their texts, then retry.',
  );
}

/** The message does not repeat the ID: a caller may have sent a secret, such as a key, in its place. */
function notFound(): never {
  throw new AppError('NOT_FOUND', 'There is no event with this ID.');
}

function notYours(): never {
  throw new AppError('NOT_FOUND', 'You have no event with this ID.');
}
