// The port to the storage engines. Every promise may reject with UNAVAILABLE if the engine cannot respond. A rejected write
// may or may not have happened; an acknowledged one has happened and survives a power cut. Engines never read the clock.
// A caller sees its own write in its next call.

import type { Created } from './administration/activity.ts';
import type { AgentDetails } from './administration/agent-details.ts';
import type { AuditEntry, AuditRecord } from './administration/audit.ts';
import type { ListPosition } from './administration/cursor.ts';
import type { AllEventsPage, AllEventsQuery, OwnedWire } from './administration/event-list.ts';
import type { AgentListQuery, AuditQuery, EventListQuery } from './administration/list.ts';
import type { UndoOutcome, UndoStep } from './administration/undo.ts';
import type { AgentRecord, AgentRow, AgentUpdate, Tier } from './agent.ts';
import type { KeyFingerprint } from './api-key.ts';
import { DAY_MS, HOUR_MS } from './clock-and-random.ts';
import type { Position } from './events/cursor.ts';
import type { EventRow } from './events/event.ts';
import type { NearbyQuery } from './events/nearby.ts';
import type { GrantStore } from './grants.ts';
import type { Wire } from './wire.ts';

/** A stored event: encoded once, and sent to clients without parsing. */
export interface EventRecord {
  readonly version: number;
  readonly json: Wire;
}

/** Version of an event and time of its last change: its JSON has neither. */
export interface LastChange {
  readonly version: number;
  readonly updatedMs: number;
}

/** A stored event that was read by its ID. */
export interface FoundRecord extends EventRecord, LastChange {}

/** Position, place and last change of an event in a search, so that callers need not parse its JSON. */
export interface EventDetails extends Position, LastChange {
  readonly lat: number;
  readonly lng: number;
}

/** When a setting expires; the next `setSetting` or `getSetting` with an expiry may then remove it. `nowMs` is the time of the call. */
export interface Expiry {
  readonly atMs: number;
  readonly nowMs: number;
}

/** Who searches. Long searches take turns, step by step, in fair order of network and name, and end when the signal is aborted. */
export interface Searcher {
  readonly network: string;
  readonly name: string;
  readonly signal: AbortSignal;
}

export interface NearbyPage {
  readonly events: readonly Wire[];
  /** One for each event if the query asked for details, otherwise empty. */
  readonly details: readonly EventDetails[];
  /** All matching events, not only those of the page. */
  readonly total: number;
  /** Position of the last event, if more follow. It has a chord if the order is by distance. */
  readonly next: Position | undefined;
}

/** Outcome of a create. Inside an engine, the record has another type. */
export type CreateOutcome<Created = EventRecord, Existing = Created> =
  | { readonly kind: 'created'; readonly record: Created }
  /** The agent already has an event with this title, start and place. */
  | { readonly kind: 'existing'; readonly record: Existing }
  /** The agent has its maximum number of events. */
  | { readonly kind: 'limit' }
  /** The agent's events would have more bytes than it may store. */
  | { readonly kind: 'size-limit' }
  /** The agent no longer exists. */
  | { readonly kind: 'no-agent' };

export type ReplaceOutcome<Replaced = EventRecord> =
  | { readonly kind: 'replaced'; readonly record: Replaced }
  /** The event no longer exists, or has another version. */
  | { readonly kind: 'conflict' }
  /** Another event of the agent has this title, start and place. */
  | { readonly kind: 'duplicate'; readonly id: string }
  /** The event would grow, and the agent's events would then have more bytes than it may store. */
  | { readonly kind: 'size-limit' };

/** The event has more words than before, the memory for words is nearly full, and the agent's events use much of it. */
export interface WordLimit {
  readonly kind: 'word-limit';
}

/** An event in a list, with its position in the list's order. */
export interface ListedEvent extends LastChange {
  readonly json: Wire;
  readonly position: ListPosition;
}

/** A page of a list. */
export interface ListPage<Item, Next = ListPosition> {
  readonly items: readonly Item[];
  /** All matching items, not only those of the page. */
  readonly total: number;
  /** Position of the last item, if more follow. */
  readonly next: Next | undefined;
}

/** Totals for administrators. */
export interface Stats {
  readonly agents: number;
  /** Agents that made a request within the last 24 hours. */
  readonly agents_active_today: number;
  readonly events: number;
  /** Events that have not ended and are not cancelled. */
  readonly events_upcoming: number;
}

export interface BulkDeleted {
  readonly deleted: number;
  /** Null if nothing was deleted. */
  readonly audit_id: number | null;
}

export interface DeleteOptions {
  /** Delete only events of this agent. */
  readonly agentId?: string | undefined;
  /** `audit_id` of an earlier entry to which this delete is added. */
  readonly into?: number | undefined;
}

export const ACTIVE_WITHIN_MS = DAY_MS;

/** Maximum number of rows that one slice removes. */
export const ROWS_PER_SLICE = 300;

/** The unit of limits in MB. */
export const BYTES_PER_MB = 1_048_576;

/** Duration of a quota window. */
export const QUOTA_WINDOW_MS = HOUR_MS;

/** Tolerated difference between the clocks of nodes. */
export const MAX_SKEW_MS = 60_000;

/** Latest time at which a quota window can end. One that ends later was opened by a wrong clock, and does not count. */
export function latestResetMs(nowMs: number): number {
  return nowMs + QUOTA_WINDOW_MS + MAX_SKEW_MS;
}

/** State of a quota window, which starts with its first request. Requests are counted, or messages, registrations, bytes. */
export interface Quota {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly resetMs: number;
}

export interface Store extends GrantStore {
  readonly engine: 'sqlite' | 'postgres';

  /** Whether searches should go to other nodes, because this one still loads events into memory. Once false, it stays false. */
  readonly isLoading: boolean;

  /** Rejects with UNAVAILABLE unless the store can read and write. */
  check(): Promise<void>;
  /**
   * Finishes accepted operations, however many steps they have, then releases all resources. New writes and operations of
   * several steps are rejected with UNAVAILABLE.
   */
  close(): Promise<void>;

  addAgent(agent: AgentRow, key: KeyFingerprint): Promise<void>;
  /** The active agent that holds this key, unless the key has expired by `nowMs`. */
  findAgentByKey(keyHash: string, nowMs: number): Promise<AgentRow | undefined>;
  /**
   * Adds the new key. The calling key expires at `callingExpiresMs`, unless it expires earlier, and ends at once if that is
   * not after `nowMs`. Every other key of the agent ends at once, so at most two keys are left. Returns false and changes
   * nothing unless the calling key is an active key of the active agent. With `endGrants`, the agent's grants end; otherwise they belong
   * to the new key, too.
   */
  rotateKey(
    agentId: string,
    callingKeyHash: string,
    newKey: KeyFingerprint,
    nowMs: number,
    callingExpiresMs: number,
    endGrants?: boolean,
  ): Promise<boolean>;
  /** Ends the key and its grants at once, if it exists. Other nodes may accept it for another second. */
  revokeKey(keyHash: string): Promise<void>;
  /** Records that the agent made a request, with this key. The time of its last use is written later, accurate to 10 seconds. */
  noteUse(agentId: string, nowMs: number, keyHash?: string): void;
  /** Records that a limit or quota refused a request of the agent. Other nodes count it some seconds later. */
  noteRefusal(agentId: string, nowMs: number): void;
  /**
   * Takes `cost` from the bucket's window of one hour, if anything is left; 0 only reads. So a cost above 1 may exceed the limit
   * once.
   */
  spend(bucket: string, limit: number, cost: number, nowMs: number): Promise<Quota>;
  /** Like `spend` with cost 0, but includes what other nodes have reserved. Too slow for every request. */
  readQuota(bucket: string, limit: number, nowMs: number): Promise<Quota>;

  /**
   * Adds the event, unless the agent has one with this title, start and place, has `maxPerAgent` events, or the JSON of its
   * events would have more than `maxBytes` in UTF-8. 0: no limit.
   */
  createEvent(row: EventRow, maxPerAgent: number, maxBytes?: number): Promise<CreateOutcome | WordLimit>;
  findEvent(eventId: string): Promise<FoundRecord | undefined>;
  /**
   * Compare-and-set: replaces the version before `next`, which has an earlier `updated_ms`. `maxBytes` as in `createEvent`, but an event
   * that does not grow is always replaced.
   */
  replaceEvent(next: EventRow, maxBytes?: number): Promise<ReplaceOutcome | WordLimit>;
  /** False unless the agent had this event and, if a version is given, the event had that version. */
  deleteEvent(eventId: string, agentId: string, version?: number): Promise<boolean>;
  /**
   * Matching events that have not ended at `nowMs`, in the order of the query. If the searcher's signal is aborted, a long search
   * rejects with its reason.
   */
  nearby(query: NearbyQuery, nowMs: number, searcher?: Searcher): Promise<NearbyPage>;

  /** Ordered by creation. */
  listAgents(): Promise<AgentRecord[]>;
  /** With the keys that have not expired by `nowMs`. */
  findAgentDetails(agentId: string, nowMs: number): Promise<AgentDetails | undefined>;

  /** Matching agents in the requested order; ties by agent_id, in the same direction. */
  agentPage(query: AgentListQuery, nowMs: number): Promise<ListPage<AgentRecord>>;
  /** Matching events of the agent in the requested order; ties by event_id, in the same direction. */
  agentEventPage(agentId: string, query: EventListQuery, nowMs: number): Promise<ListPage<ListedEvent>>;
  /**
   * Matching events of all agents in the requested order; ties by event_id, in the same direction. Events that change meanwhile may
   * be counted as before or as after. Rejects with the signal's reason once it is aborted, as soon as possible.
   */
  eventPage(query: AllEventsQuery, nowMs: number, signal?: AbortSignal): Promise<AllEventsPage<OwnedWire>>;
  /** Newest entries first. */
  auditPage(query: AuditQuery): Promise<ListPage<AuditRecord, number>>;
  stats(nowMs: number): Promise<Stats>;
  /**
   * Numbers of stored events and agents that were created in each interval: from each of these ascending times to the next, and from
   * the last one on.
   */
  countCreated(fromMs: readonly number[]): Promise<readonly Created[]>;

  /**
   * This and the next five methods write the audit entry in the same transaction as the change, and add the name and the number of
   * what changed. They write none if nothing has that ID. Deletes whose entry has `undo: 'kept'` can be undone by `undoDelete`.
   */
  updateAgent(agentId: string, update: AgentUpdate, audit: AuditEntry): Promise<AgentRecord | undefined>;
  /**
   * Deletes these events; unknown IDs are ignored. With `agentId`, only events of this agent: 'no-agent' if it does not exist. With
   * `into`, they are added to that entry: 'wrong-entry' unless `mayExtend` allows it. No entry is written if nothing was deleted.
   */
  deleteEvents(
    eventIds: readonly string[],
    audit: AuditEntry,
    options?: DeleteOptions,
  ): Promise<BulkDeleted | 'no-agent' | 'wrong-entry'>;
  /** Deletes all events of the agent; if `withAgent`, also the agent, its keys and its grants. False if it does not exist. */
  deleteAll(agentId: string, audit: AuditEntry, withAgent: boolean): Promise<boolean>;
  /** Ends the agent's keys with this prefix like `revokeKey`, with an audit entry. False if none was valid. */
  revokeAgentKey(agentId: string, prefix: string, audit: AuditEntry): Promise<boolean>;
  /**
   * Adds the new key and ends all others of the agent, like `revokeKey`, and all its grants. Returns the agent's tier; undefined if it does
   * not exist.
   */
  replaceAgentKeys(agentId: string, newKey: KeyFingerprint, audit: AuditEntry): Promise<Tier | undefined>;
  /**
   * One step of an undo: restores the agent with its keys and grants if the entry deleted one, then the next events, as they were. Nothing is
   * restored twice. Events that cannot be restored are skipped; a later call may restore them. `audit` is the entry of the undo: its
   * target and detail are taken from the entry of the delete, and the first step that restores something writes it.
   */
  undoDelete(step: UndoStep, audit: AuditEntry): Promise<UndoOutcome>;
  /** Removes what deletes until this time have kept, in slices like `removeEnded`. Those deletes can then no longer be undone. */
  removeDeleted(deletedByMs: number): AsyncIterable<number>;

  /**
   * Removes events that had ended by this time. Each step of the iterator removes one slice, so that other writes run in between. It
   * can be stopped after any step; another call continues. While one node does this, it ends at once on all others. All slices become
   * part of one entry of the audit log, without titles: of `into` under the rules of `deleteEvents`, or else of a new one.
   */
  removeEnded(endedByMs: number, audit: AuditEntry, into: number | undefined): AsyncIterable<BulkDeleted>;
  /**
   * The same for agents that were registered by this time, never made a request (accurate to 10 seconds) and have no events. Each
   * agent gets an entry, as in `deleteAll`. Each step yields the number of removed agents.
   */
  removeUnusedAgents(registeredByMs: number, audit: AuditEntry): AsyncIterable<number>;

  /**
   * The value of this setting. If there is none, stores the result of `initial`, which may also be called if there is one. With an expiry,
   * a new setting has it, and other settings that have expired are removed.
   */
  getSetting(name: string, initial: () => Promise<string>, expiry?: Expiry): Promise<string>;
  /** Also finds a setting that has expired but was not removed yet. */
  findSetting(name: string): Promise<string | undefined>;
  /** With an expiry, also removes other settings that have expired. */
  setSetting(name: string, value: string, expiry?: Expiry): Promise<void>;
  /** Time of the database's own clock; an engine without one has only the time of its newest write. */
  referenceTime(): Promise<ReferenceTime>;
}

/** A time that the clock of this process can be compared with. */
export type ReferenceTime =
  | { readonly of: 'database'; readonly ms: number }
  /** When something was last written before this process; undefined if nothing was. */
  | { readonly of: 'newest write'; readonly ms: number | undefined };

/** The methods with which administrators change agents. */
export type AgentStore = Pick<Store, 'findAgentDetails' | 'updateAgent' | 'deleteAll' | 'replaceAgentKeys'>;

/** Bulk writes by an operator, while no service uses the data. Opening it loads nothing into memory. */
export interface BulkWriter extends AgentStore {
  addAgent(agent: AgentRow, key: KeyFingerprint): Promise<void>;
  /** The active agent that holds this key, unless the key has expired by `nowMs`. */
  findAgentByKey(keyHash: string, nowMs: number): Promise<AgentRow | undefined>;
  /**
   * Adds the rows in one transaction, by the rules of `createEvent`; the outcomes are in the same order. Calls need not wait
   * for each other: they run in order, and waiting calls share a transaction. Rejects with UNAVAILABLE if the disk is
   * nearly full, as does `addAgent`.
   */
  createEvents(
    rows: readonly EventRow[],
    maxPerAgent: number,
    maxBytes?: number,
  ): Promise<readonly CreateOutcome['kind'][]>;
  /** Prepares the lists of the written events, if the disk has room; otherwise the next start does. */
  finish(): Promise<void>;
  /** Finishes accepted operations, then releases all resources. */
  close(): Promise<void>;
}

/** Bulk reads by an operator, also while a service uses the data. */
export interface BulkReader {
  /** As in the store. What a running service has not written yet is missing: last uses of some seconds. */
  listAgents(): Promise<AgentRecord[]>;
  findAgentDetails(agentId: string, nowMs: number): Promise<AgentDetails | undefined>;
  countEvents(): Promise<number>;
  /** The events of an agent, or all events, including ended ones, as a snapshot in batches. */
  events(agentId: string | undefined): AsyncIterable<readonly EventRow[]>;
  close(): Promise<void>;
}

/** Summary of a whole store. */
export interface StoreSummary {
  /** Version of its schema. */
  readonly schema: number;
  readonly events: number;
  readonly agents: number;
  /** When the newest event was created; null if there are no events. */
  readonly newestAt: string | null;
}

/** Progress and cancellation of a full copy. */
export interface CopyControl {
  readonly signal: AbortSignal;
  /** When both are equal, everything is copied, and the check of the copy begins. */
  onProgress(doneBytes: number, totalBytes: number): void;
}
