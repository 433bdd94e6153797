// The port to the storage engines. Every promise may reject with UNAVAILABLE when the engine cannot answer; a rejected
// write may or may not have happened, an answered one has happened and survives a power cut. Engines never ask for the
// time. A caller sees its own write in its next call.
import type { AgentRecord, AgentRow, AgentUpdate } from './agent.ts';
import type { KeyFingerprint, KeyRecord } from './api-key.ts';
import type { AuditEntry, AuditRecord } from './audit.ts';
import type { Position } from './cursor.ts';
import type { EventRow } from './event.ts';
import type { AgentListQuery, AuditQuery, EventListQuery } from './list.ts';
import type { ListPosition } from './list-cursor.ts';
import type { NearbyQuery } from './nearby.ts';
import type { Wire } from './wire.ts';

/** An event as it is read: encoded once, and never taken apart again on its way to a client. */
export interface EventRecord {
  readonly version: number;
  readonly json: Wire;
}

/** What a search knows of an event besides its JSON. */
export interface EventDetails extends Position {
  readonly lat: number;
  readonly lng: number;
}

export interface NearbyPage {
  readonly events: readonly Wire[];
  /** One for each event if the query asked for details, otherwise none. */
  readonly details: readonly EventDetails[];
  /** All that match, whatever the page. */
  readonly total: number;
  /** The position of the last event, where more follow. */
  readonly next: Position | undefined;
}

/** The outcome of a create. Layers below the store have other records, but the same kinds. */
export type CreateOutcome<Created = EventRecord, Existing = Created> =
  | { readonly kind: 'created'; readonly record: Created }
  /** An event with the same agent, title, start and place existed already. */
  | { readonly kind: 'existing'; readonly record: Existing }
  /** The agent has as many events as it may have. */
  | { readonly kind: 'limit' }
  /** The agent does not exist any more. */
  | { readonly kind: 'no-agent' };

export type ReplaceOutcome<Replaced = EventRecord> =
  | { readonly kind: 'replaced'; readonly record: Replaced }
  /** The event is gone or has another version. */
  | { readonly kind: 'conflict' }
  /** Another event of the agent has this title, start and place. */
  | { readonly kind: 'duplicate'; readonly id: string };

/** An event in a list, with its position in the list's order. */
export interface ListedEvent {
  readonly json: Wire;
  readonly position: ListPosition;
}

/** A page of a list. */
export interface ListPage<Item, Next = ListPosition> {
  readonly items: readonly Item[];
  /** All that match, whatever the page. */
  readonly total: number;
  /** The position of the last item, where more follow. */
  readonly next: Next | undefined;
}

/** How much there is, and how much of it is alive. */
export interface Stats {
  readonly agents: number;
  /** Agents that made a request within the last 24 hours. */
  readonly agents_active_today: number;
  readonly events: number;
  /** Events that have not ended. */
  readonly events_upcoming: number;
}

export const ACTIVE_WITHIN_MS = 24 * 3_600_000;

/** How long a window of requests lasts. */
export const QUOTA_WINDOW_MS = 3_600_000;

/** A fixed window of requests; it starts with the first request in it. */
export interface Quota {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly resetMs: number;
}

export interface Store {
  readonly engine: 'sqlite' | 'postgres';

  /** Rejects with UNAVAILABLE unless the store can read and write. */
  check(): Promise<void>;
  /**
   * Finishes the operations that were accepted, however many steps they have, then lets go of everything. Writes and whatever
   * has several steps are refused with UNAVAILABLE from the call on. Each page of `listAgentEvents` is an operation.
   */
  close(): Promise<void>;

  addAgent(agent: AgentRow, key: KeyFingerprint): Promise<void>;
  /** The active agent that holds this key, unless the key has expired by `nowMs`. */
  findAgentByKey(keyHash: string, nowMs: number): Promise<AgentRow | undefined>;
  /** The key, expired or not. */
  findKey(keyHash: string): Promise<KeyRecord | undefined>;
  /**
   * Gives the agent the new key beside the calling one, which ends at `callingExpiresMs` unless it ends before. Every other
   * key of the agent ends at once, and so does the calling one if its end is not after `nowMs`: two are left at most. False,
   * and nothing happens, unless the calling key is an active one of the active agent.
   */
  rotateKey(
    agentId: string,
    callingKeyHash: string,
    newKey: KeyFingerprint,
    nowMs: number,
    callingExpiresMs: number,
  ): Promise<boolean>;
  /** Ends the key at once, if there is such a key. Other nodes may take it for up to a second more. */
  revokeKey(keyHash: string): Promise<void>;
  /** Remembers that the agent made a request; written later, at most 10 seconds inexact. */
  noteUse(agentId: string, nowMs: number): void;
  /** Takes `cost` requests (0: only looks) from the bucket's window of one hour. */
  spend(bucket: string, limit: number, cost: 0 | 1, nowMs: number): Promise<Quota>;

  /** Adds the event unless the agent has one with the same title, start and place, or `maxPerAgent` (0: no limit) events. */
  createEvent(row: EventRow, maxPerAgent: number): Promise<CreateOutcome>;
  findEvent(eventId: string): Promise<EventRecord | undefined>;
  /** The columns of an event, to change them. */
  findEventRow(eventId: string): Promise<EventRow | undefined>;
  /** Compare and set: `next` takes the place of the version before it. */
  replaceEvent(next: EventRow): Promise<ReplaceOutcome>;
  /** False unless the agent had such an event; where a version is given, in that version. */
  deleteEvent(eventId: string, agentId: string, version?: number): Promise<boolean>;
  /** Events not ended at `nowMs` that match, by start and event_id. */
  nearby(query: NearbyQuery, nowMs: number): Promise<NearbyPage>;

  /** By creation. */
  listAgents(): Promise<AgentRecord[]>;
  findAgent(agentId: string): Promise<AgentRecord | undefined>;
  /**
   * By start and event_id, ended ones included; some at a time, each time as they are then: nothing is held in between, so
   * a caller may take its time. An event that does not change meanwhile is neither skipped nor repeated.
   */
  listAgentEvents(agentId: string): AsyncIterable<readonly Wire[]>;

  /** Agents that match, in the order that is asked for; ties by agent_id, in the same direction. */
  agentPage(query: AgentListQuery): Promise<ListPage<AgentRecord>>;
  /** Events of the agent that match, in the order that is asked for; ties by event_id, in the same direction. */
  agentEventPage(agentId: string, query: EventListQuery, nowMs: number): Promise<ListPage<ListedEvent>>;
  /** The latest entries first. */
  auditPage(query: AuditQuery): Promise<ListPage<AuditRecord, number>>;
  stats(nowMs: number): Promise<Stats>;

  /**
   * Each of these writes the audit entry in the same step, with the name and the number of what it found, unless there was
   * nothing by that identifier.
   */
  updateAgent(agentId: string, update: AgentUpdate, audit: AuditEntry): Promise<AgentRecord | undefined>;
  /** The agent, its keys and its events. */
  deleteAgent(agentId: string, audit: AuditEntry): Promise<boolean>;
  deleteAgentEvents(agentId: string, audit: AuditEntry): Promise<boolean>;
  /** Those of the events that are the agent's; how many. Undefined if there is no such agent. Without any, no entry. */
  deleteSelectedEvents(
    agentId: string,
    eventIds: readonly string[],
    audit: AuditEntry,
  ): Promise<number | undefined>;
  deleteEventAsAdmin(eventId: string, audit: AuditEntry): Promise<boolean>;

  /** Remembers that the session ended before it would have expired, and forgets those that have expired by `nowMs`. */
  endSession(sessionId: string, expiresMs: number, nowMs: number): Promise<void>;
  isSessionEnded(sessionId: string): Promise<boolean>;

  /** The value under this name; `initial` is stored and returned where there was none. */
  getSetting(name: string, initial: () => Promise<string>): Promise<string>;
}

/** Bulk writing by an operator, while no service holds the data. Nothing is loaded to open it. */
export interface BulkWriter {
  addAgent(agent: AgentRow, key: KeyFingerprint): Promise<void>;
  /** The active agent that holds this key, unless the key has expired by `nowMs`. */
  findAgentByKey(keyHash: string, nowMs: number): Promise<AgentRow | undefined>;
  /**
   * Adds rows in one step, by the rules of `createEvent`; the outcomes are in their order. Calls need not wait for each
   * other: they are carried out in order, those that wait together in one transaction.
   */
  createEvents(rows: readonly EventRow[], maxPerAgent: number): Promise<readonly CreateOutcome['kind'][]>;
  /** Finishes what was accepted, then lets go of everything. */
  close(): Promise<void>;
}

/** Bulk reading by an operator, beside whoever holds the data. */
export interface BulkReader {
  findAgent(agentId: string): Promise<AgentRecord | undefined>;
  countEvents(): Promise<number>;
  /** The events of an agent, or all of them, ended ones included, as they were at one moment; some at a time. */
  events(agentId: string | undefined): AsyncIterable<readonly EventRow[]>;
  close(): Promise<void>;
}

/** What a whole store holds. */
export interface StoreSummary {
  /** The version of its tables. */
  readonly schema: number;
  readonly events: number;
  readonly agents: number;
  /** When the newest event was created; null where there is none. */
  readonly newestAt: string | null;
}

/** How far a copy of everything is, and a way to end it. */
export interface CopyControl {
  readonly signal: AbortSignal;
  /** All is copied when both are the same; it is checked after that. */
  onProgress(doneBytes: number, totalBytes: number): void;
}
