// The embedded engine: one file, one writer thread, and in this thread everything that searches and key checks need in
// memory. Business rules are left to the use cases, statements that write to writer.ts.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditEntry } from '../domain/admin.ts';
import type { AgentRecord, AgentRow, AgentUpdate } from '../domain/agent.ts';
import type { KeyFingerprint } from '../domain/api-key.ts';
import { AppError, StartError } from '../domain/errors.ts';
import {
  AUDIENCES,
  type Audience,
  EVENT_TYPES,
  type EventRow,
  type EventType,
  encodeEvent,
  endsMs,
} from '../domain/event.ts';
import type { NearbyQuery } from '../domain/nearby.ts';
import type {
  CreateOutcome,
  EventRecord,
  NearbyPage,
  Quota,
  ReplaceOutcome,
  Store,
} from '../domain/store.ts';
import { EventIndex, type IndexEntry, type IndexQuery } from '../spatial/event-index.ts';
import { TagSet } from '../spatial/tags.ts';
import { AGENT_COLUMNS, type AgentColumns } from './columns.ts';
import { databasePath, type FolderLock, holdFolder } from './data-folder.ts';
import { QuotaWindows } from './quota-windows.ts';
import { Reader } from './reader.ts';
import { RecordCache } from './record-cache.ts';
import { WriterClient } from './writer-client.ts';

/** How often last uses are written; half of what they may be inexact. */
const TOUCH_INTERVAL_MS = 5_000;

/** How often a search waits for the writer before it gives up: only data changed behind our back makes it so many. */
const MAX_ROUNDS = 100;

/** How long the store may take to prove that it is alive. */
const CHECK_TIMEOUT_MS = 2_000;

export interface SqliteOptions {
  readonly folder: string;
  readonly cacheBytes: number;
  /** The time at which the store is opened: what has ended by then need not be searched. */
  readonly nowMs?: number;
  /** Told how many of the events are in memory while the store opens. */
  readonly onProgress?: (done: number, total: number) => void;
}

const INDEX_COLUMNS = 'event_id, version, start_ms, end_ms, lat, lng, event_type, audience';

export class SqliteStore implements Store {
  readonly engine = 'sqlite';
  readonly #lock: FolderLock;
  readonly #writer: WriterClient;
  readonly #reader: Reader;
  readonly #cache: RecordCache;
  readonly #index = new EventIndex();
  readonly #agents = new Map<string, AgentRow>();
  readonly #agentOfKey = new Map<string, string>();
  readonly #quotas = new QuotaWindows();
  /** The last use of each agent since the start. */
  readonly #used = new Map<string, number>();
  #unwrittenUses = new Set<string>();
  readonly #touchTimer: NodeJS.Timeout;

  private constructor(options: SqliteOptions, lock: FolderLock, writer: WriterClient) {
    this.#lock = lock;
    this.#writer = writer;
    this.#reader = new Reader(databasePath(options.folder));
    this.#cache = new RecordCache(options.cacheBytes);
    this.#touchTimer = setInterval(() => void this.#writeUses().catch(() => {}), TOUCH_INTERVAL_MS).unref();
  }

  /** Throws StartError if the folder is held by another process, cannot be written, or holds newer data. */
  static async open(options: SqliteOptions): Promise<SqliteStore> {
    const lock = holdFolder(options.folder);
    let writer: WriterClient | undefined;
    try {
      writer = await WriterClient.start(databasePath(options.folder));
      const store = new SqliteStore(options, lock, writer);
      await store.#load(options.nowMs ?? Number.NEGATIVE_INFINITY, options.onProgress ?? (() => {}));
      return store;
    } catch (error) {
      await writer?.close();
      lock.release();
      const cause = error instanceof AppError ? error.cause : error;
      const { code, message } = cause as Error & { code?: string };
      if (code !== 'ERR_SQLITE_ERROR') throw error;
      throw new StartError(`The database ${databasePath(options.folder)} cannot be read: ${message}`, {
        cause,
      });
    }
  }

  async check(): Promise<void> {
    const late = new Promise<never>((_, reject) => {
      const error = new AppError('UNAVAILABLE', 'The store does not answer.');
      setTimeout(() => reject(error), CHECK_TIMEOUT_MS).unref();
    });
    // After a commit that failed, a full disk perhaps, only one that succeeds shows that all is well again.
    const answer = this.#writer.isFailing ? 'probe' : 'ping';
    await Promise.race([this.#writer.run(answer, [], () => {}), late]);
    this.#reader.findSetting('');
  }

  async close(): Promise<void> {
    clearInterval(this.#touchTimer);
    await this.#writeUses().catch(() => {});
    this.#reader.close();
    await this.#writer.close();
    this.#lock.release();
  }

  addAgent(agent: AgentRow, key: KeyFingerprint): Promise<void> {
    return this.#writer.run('addAgent', [agent, key], () => {
      this.#agents.set(agent.agent_id, agent);
      this.#agentOfKey.set(key.hash, agent.agent_id);
    });
  }

  async findAgentByKey(keyHash: string): Promise<AgentRow | undefined> {
    const agent = this.#agents.get(this.#agentOfKey.get(keyHash) ?? '');
    return agent?.is_active ? agent : undefined;
  }

  noteUse(agentId: string, nowMs: number): void {
    this.#used.set(agentId, nowMs);
    this.#unwrittenUses.add(agentId);
  }

  async spend(bucket: string, limit: number, cost: 0 | 1, nowMs: number): Promise<Quota> {
    return this.#quotas.spend(bucket, limit, cost, nowMs);
  }

  createEvent(row: EventRow, maxPerAgent: number): Promise<CreateOutcome> {
    return this.#writer.run('createEvent', [row, maxPerAgent], (outcome): CreateOutcome => {
      if (outcome.kind === 'created') return { kind: 'stored', created: true, record: this.#keep(row) };
      if (outcome.kind === 'existing')
        return { kind: 'stored', created: false, record: toRecord(outcome.row) };
      return outcome;
    });
  }

  async findEvent(eventId: string): Promise<EventRecord | undefined> {
    return this.#find(eventId);
  }

  async findEventRow(eventId: string): Promise<EventRow | undefined> {
    return this.#reader.findEvent(eventId);
  }

  replaceEvent(next: EventRow): Promise<ReplaceOutcome> {
    return this.#writer.run('replaceEvent', [next], (outcome) =>
      outcome.kind === 'replaced' ? { kind: 'replaced', record: this.#keep(next) } : outcome,
    );
  }

  deleteEvent(eventId: string, agentId: string): Promise<boolean> {
    return this.#writer.run('deleteEvent', [eventId, agentId], (removed) => {
      if (removed) this.#forget(eventId);
      return removed;
    });
  }

  async nearby(query: NearbyQuery, nowMs: number): Promise<NearbyPage> {
    const wanted = toIndexQuery(query);
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const { handles, total, more } = this.#index.search(wanted, nowMs);
      const records = this.#findAll(handles);
      if (records) {
        const last = records.at(-1);
        const next = more && last ? { startMs: last.startMs, id: last.id } : undefined;
        return { records, total, next };
      }
      await this.#writer.run('ping', [], () => {});
    }
    throw new AppError('UNAVAILABLE', 'The data changes faster than it can be read. Try again.');
  }

  async listAgents(): Promise<AgentRecord[]> {
    const agents: AgentRecord[] = [];
    const sql = `SELECT ${AGENT_COLUMNS} FROM agents ORDER BY created_ms, agent_id`;
    await this.#reader.each<AgentColumns>(sql, [], (row) => agents.push(this.#toAgent(row)));
    return agents;
  }

  async findAgent(agentId: string): Promise<AgentRecord | undefined> {
    const row = this.#reader.findAgent(agentId);
    return row && this.#toAgent(row);
  }

  async *listAgentEvents(agentId: string): AsyncGenerator<readonly EventRecord[]> {
    for await (const rows of this.#reader.agentEvents(agentId)) yield rows.map(toRecord);
  }

  updateAgent(agentId: string, update: AgentUpdate, audit: AuditEntry): Promise<AgentRecord | undefined> {
    return this.#writer.run('updateAgent', [agentId, update, audit], (columns) => {
      const agent = this.#agents.get(agentId);
      if (!columns || !agent) return undefined;
      this.#agents.set(agentId, { ...agent, ...update });
      return this.#toAgent(columns);
    });
  }

  deleteAgent(agentId: string, audit: AuditEntry): Promise<boolean> {
    return this.#writer.run('deleteAgent', [agentId, audit], (removed) => {
      for (const eventId of removed ?? []) this.#forget(eventId);
      this.#agents.delete(agentId);
      for (const [keyHash, holder] of this.#agentOfKey) {
        if (holder === agentId) this.#agentOfKey.delete(keyHash);
      }
      this.#used.delete(agentId);
      this.#unwrittenUses.delete(agentId);
      return removed !== undefined;
    });
  }

  deleteAgentEvents(agentId: string, audit: AuditEntry): Promise<boolean> {
    return this.#writer.run('deleteAgentEvents', [agentId, audit], (removed) => {
      for (const eventId of removed ?? []) this.#forget(eventId);
      return removed !== undefined;
    });
  }

  deleteEventAsAdmin(eventId: string, audit: AuditEntry): Promise<boolean> {
    return this.#writer.run('deleteEventAsAdmin', [eventId, audit], (removed) => {
      if (removed) this.#forget(eventId);
      return removed;
    });
  }

  async getSetting(name: string, initial: () => Promise<string>): Promise<string> {
    const found = this.#reader.findSetting(name);
    return found ?? this.#writer.run('addSetting', [name, await initial()], (value) => value);
  }

  async #load(nowMs: number, onProgress: (done: number, total: number) => void): Promise<void> {
    for (const agent of await this.listAgents()) this.#agents.set(agent.agent_id, agent);
    const keys = 'SELECT key_hash, agent_id FROM keys';
    await this.#reader.each<{ key_hash: string; agent_id: string }>(keys, [], ({ key_hash, agent_id }) => {
      this.#agentOfKey.set(key_hash, agent_id);
    });
    const total = this.#reader.countEvents();
    const loader = this.#index.loader(total, nowMs);
    let done = 0;
    await this.#reader.each<EventRow>(`SELECT ${INDEX_COLUMNS} FROM events`, [], (row) => {
      loader.add(toEntry(row));
      if (++done % 10_000 === 0) onProgress(done, total);
    });
    for (const _ of loader.finish()) await nextTurn();
  }

  /** Brings cache and index up to a row that is on the disk. */
  #keep(row: EventRow): EventRecord {
    const record = toRecord(row);
    this.#cache.put(this.#index.put(toEntry(row)), record);
    return record;
  }

  #forget(eventId: string): void {
    const handle = this.#index.remove(eventId);
    if (handle !== undefined) this.#cache.remove(handle);
  }

  /** Undefined where the file is ahead of the index, by a commit whose answer is still under way. */
  #findAll(handles: Int32Array): EventRecord[] | undefined {
    const records: EventRecord[] = [];
    for (const handle of handles) {
      const record = this.#cache.find(handle) ?? this.#readRecord(this.#index.idOf(handle), handle);
      if (record?.version !== this.#index.versionOf(handle)) return undefined;
      records.push(record);
    }
    return records;
  }

  #find(eventId: string): EventRecord | undefined {
    const handle = this.#index.find(eventId);
    return (handle && this.#cache.find(handle)) || this.#readRecord(eventId, handle);
  }

  /** Reads an event from the file, and keeps it unless it is ahead of the index. */
  #readRecord(eventId: string, handle: number | undefined): EventRecord | undefined {
    const row = this.#reader.findEvent(eventId);
    if (!row) return undefined;
    const record = toRecord(row);
    if (handle !== undefined && record.version === this.#index.versionOf(handle))
      this.#cache.put(handle, record);
    return record;
  }

  #toAgent(row: AgentColumns): AgentRecord {
    const last_used_ms = this.#used.get(row.agent_id) ?? row.last_used_ms;
    return { ...row, is_active: row.is_active === 1, last_used_ms };
  }

  async #writeUses(): Promise<void> {
    if (this.#unwrittenUses.size === 0) return;
    const used = new Map([...this.#unwrittenUses].map((agentId) => [agentId, this.#used.get(agentId)!]));
    this.#unwrittenUses = new Set();
    try {
      await this.#writer.run('touchAgents', [used], () => {});
    } catch (error) {
      for (const agentId of used.keys()) if (this.#used.has(agentId)) this.#unwrittenUses.add(agentId);
      throw error;
    }
  }
}

function toRecord(row: EventRow): EventRecord {
  const { event_id, agent_id, version, start_ms } = row;
  return { id: event_id, agentId: agent_id, version, startMs: start_ms, json: encodeEvent(row) };
}

/** One number for each pair of type and audience. */
function tagOf(type: EventType, audience: Audience): number {
  return TYPE_NUMBER.get(type)! * AUDIENCES.length + AUDIENCES.indexOf(audience);
}

const TYPE_NUMBER = new Map<EventType, number>(EVENT_TYPES.map((type, number) => [type, number]));

function toEntry(row: EventRow): IndexEntry {
  return {
    id: row.event_id,
    version: row.version,
    startMs: row.start_ms,
    endsMs: endsMs(row),
    lat: row.lat,
    lng: row.lng,
    tag: tagOf(row.event_type, row.audience),
  };
}

function toIndexQuery(query: NearbyQuery): IndexQuery {
  return {
    lat: query.lat,
    lng: query.lng,
    radiusMiles: query.radiusMiles,
    tags: query.types || query.audiences ? tagsOf(query.types, query.audiences) : undefined,
    startsFromMs: query.startsFromMs ?? Number.NEGATIVE_INFINITY,
    startsBeforeMs: query.startsBeforeMs ?? Number.POSITIVE_INFINITY,
    after: query.after,
    limit: query.limit,
  };
}

function tagsOf(
  types: readonly EventType[] = EVENT_TYPES,
  audiences: readonly Audience[] = AUDIENCES,
): TagSet {
  return new TagSet(types.flatMap((type) => audiences.map((audience) => tagOf(type, audience))));
}
