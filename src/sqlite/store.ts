// The embedded engine: one database file, with one thread for writes, one for reading events and one for lists. The main
// thread keeps in memory what searches and key checks need. Use cases hold the rules; writer.ts the statements that write.
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentRecord, AgentRow, AgentUpdate } from '../domain/agent.ts';
import type { KeyFingerprint, KeyRecord } from '../domain/api-key.ts';
import type { AuditEntry, AuditRecord } from '../domain/audit.ts';
import { AppError, StartError } from '../domain/errors.ts';
import { type EventRow, encodeEvent } from '../domain/event.ts';
import type { AgentListQuery, AuditQuery, EventListQuery } from '../domain/list.ts';
import type { NearbyQuery } from '../domain/nearby.ts';
import { Operations } from '../domain/operations.ts';
import {
  ACTIVE_WITHIN_MS,
  type CreateOutcome,
  type EventRecord,
  type ListedEvent,
  type ListPage,
  type NearbyPage,
  type Quota,
  type ReplaceOutcome,
  ROWS_PER_SLICE,
  type Stats,
  type Store,
} from '../domain/store.ts';
import { toWire, type Wire } from '../domain/wire.ts';
import { EventMemory } from '../memory/event-memory.ts';
import { INDEX_COLUMNS, type IndexValues } from '../memory/index-mapping.ts';
import { AGENT_COLUMNS, type AgentColumns, agentOf, columnValues } from './columns.ts';
import { databasePath, type FolderLock, holdFolder } from './files/data-folder.ts';
import { type DiskSpace, FreeDisk, measureVolume, type OnDiskChange } from './free-disk.ts';
import { KeyOwners } from './key-owners.ts';
import { LastUses } from './last-uses.ts';
import { QuotaWindows } from './quota-windows.ts';
import { Reader, requireFinishedMove } from './reader.ts';
import { EventReaderClient } from './threads/event-reader-client.ts';
import { ListReaderClient } from './threads/list-reader-client.ts';
import { WriterClient } from './threads/writer-client.ts';

/** Maximum time for operations in progress when the store is closed. */
const CLOSE_TIMEOUT_MS = 4_000;

/** Maximum time for a health check. */
const CHECK_TIMEOUT_MS = 2_000;

export interface SqliteOptions {
  readonly folder: string;
  readonly cacheBytes: number;
  /** Current time. Events that have ended by then are not added to the search structures. */
  readonly nowMs?: number;
  /** Free space below which nothing is added or changed. Undefined: a default. 0: none. */
  readonly minFreeBytes?: number | undefined;
  readonly onDiskChange?: OnDiskChange;
  /** Reads the free space. */
  readonly measureDisk?: () => Promise<DiskSpace>;
  /** Called with the number of events read so far, and once with all of them before the index is built. */
  readonly onProgress?: (done: number, total: number) => void;
}

export class SqliteStore implements Store {
  readonly engine = 'sqlite';
  readonly #operations = new Operations();
  readonly #lock: FolderLock;
  readonly #writer: WriterClient;
  readonly #reader: Reader;
  readonly #eventReader: EventReaderClient;
  readonly #lists: ListReaderClient;
  readonly #memory: EventMemory;
  readonly #agents = new Map<string, AgentRow>();
  readonly #keys = new KeyOwners();
  readonly #quotas = new QuotaWindows();
  readonly #disk: FreeDisk;
  readonly #uses = new LastUses((used) => this.#writer.run('touchAgents', [used], () => {}));

  private constructor(
    options: SqliteOptions,
    lock: FolderLock,
    writer: WriterClient,
    eventReader: EventReaderClient,
  ) {
    this.#lock = lock;
    this.#writer = writer;
    this.#eventReader = eventReader;
    this.#reader = new Reader(databasePath(options.folder));
    this.#lists = new ListReaderClient(databasePath(options.folder));
    this.#disk = new FreeDisk({
      floorBytes: options.minFreeBytes,
      onChange: options.onDiskChange,
      measure: options.measureDisk ?? (() => this.#measureDisk(options.folder)),
    });
    this.#memory = new EventMemory(options.cacheBytes, {
      readRows: (rows, apply) => eventReader.run('findEvents', [rows], apply),
      // Commits are applied to the memory before later calls return.
      catchUp: () => writer.run('ping', [], () => {}),
    });
  }

  /**
   * Throws StartError if another process uses the folder, it is not writable, a newer version wrote its data, or a move into
   * it is unfinished.
   */
  static async open(options: SqliteOptions): Promise<SqliteStore> {
    const lock = holdFolder(options.folder);
    let writer: WriterClient | undefined;
    let eventReader: EventReaderClient | undefined;
    try {
      const path = databasePath(options.folder);
      requireFinishedMove(path);
      writer = await WriterClient.start(path);
      eventReader = await EventReaderClient.start(path);
      const store = new SqliteStore(options, lock, writer, eventReader);
      await store.#disk.update();
      await store.#load(options.nowMs ?? Number.NEGATIVE_INFINITY, options.onProgress ?? (() => {}));
      return store;
    } catch (error) {
      await eventReader?.close().catch(() => {});
      await writer?.close().catch(() => {});
      lock.release();
      const cause = error instanceof AppError ? error.cause : error;
      const { code, message } = cause as Error & { code?: string };
      if (code !== 'ERR_SQLITE_ERROR') throw error;
      throw new StartError(`The database ${databasePath(options.folder)} cannot be read: ${message}`, {
        cause,
      });
    }
  }

  check(): Promise<void> {
    return this.#operations.run(() => this.#check());
  }

  async #check(): Promise<void> {
    const timeout = new Promise<never>((_, reject) => {
      const error = new AppError('UNAVAILABLE', 'The store does not respond. Retry.');
      setTimeout(() => reject(error), CHECK_TIMEOUT_MS).unref();
    });
    // After a failed commit, e.g. because of a full disk, only a successful one proves that writes work again.
    const call = this.#writer.isFailing ? 'probe' : 'ping';
    await Promise.race([this.#writer.run(call, [], () => {}), timeout]);
    // Not called, because it may be busy; but its thread must be running.
    if (this.#eventReader.isGone) throw new AppError('UNAVAILABLE', 'The store cannot read events.');
    this.#reader.findSetting('');
  }

  async close(): Promise<void> {
    const late = sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false });
    await Promise.race([this.#operations.close(), late]);
    this.#disk.close();
    await this.#uses.close();
    this.#reader.close();
    // The writer is closed last: as the last connection, it removes SQLite's write-ahead log.
    await this.#lists.close().catch(() => {});
    await this.#eventReader.close().catch(() => {});
    await this.#writer.close().finally(() => this.#lock.release());
  }

  addAgent(agent: AgentRow, key: KeyFingerprint): Promise<void> {
    return this.#grow('addAgent', [agent, key], () => {
      this.#agents.set(agent.agent_id, agent);
      this.#keys.put(key.hash, agent.agent_id, undefined);
    });
  }

  async findAgentByKey(keyHash: string, nowMs: number): Promise<AgentRow | undefined> {
    const agent = this.#agents.get(this.#keys.findHolder(keyHash, nowMs) ?? '');
    return agent?.is_active ? agent : undefined;
  }

  async findKey(keyHash: string): Promise<KeyRecord | undefined> {
    return this.#reader.findKey(keyHash);
  }

  rotateKey(...args: Parameters<Store['rotateKey']>): Promise<boolean> {
    const [agentId, callingKeyHash, newKey] = args;
    return this.#write('rotateKey', args, (rotated) => {
      if (rotated) this.#keys.rotate(agentId, callingKeyHash, newKey.hash, rotated);
      return rotated !== undefined;
    });
  }

  revokeKey(keyHash: string): Promise<void> {
    return this.#write('revokeKey', [keyHash], () => this.#keys.remove(keyHash));
  }

  noteUse(agentId: string, nowMs: number): void {
    this.#uses.note(agentId, nowMs);
  }

  async spend(bucket: string, limit: number, cost: number, nowMs: number): Promise<Quota> {
    return this.#quotas.spend(bucket, limit, cost, nowMs);
  }

  createEvent(row: EventRow, maxPerAgent: number, maxBytes = 0): Promise<CreateOutcome> {
    const json = encodeEvent(row);
    const values = columnValues(row, json);
    return this.#grow('createEvent', [values, maxPerAgent, maxBytes], (outcome): CreateOutcome => {
      if (outcome.kind === 'created')
        return { kind: 'created', record: this.#memory.put(row, json, outcome.record.rowId) };
      if (outcome.kind === 'existing') {
        const { version, json: stored } = outcome.record;
        return { kind: 'existing', record: { version, json: toWire(stored) } };
      }
      return outcome;
    });
  }

  findEvent(eventId: string): Promise<EventRecord | undefined> {
    return this.#operations.run(() => this.#memory.find(eventId));
  }

  async findEventRow(eventId: string): Promise<EventRow | undefined> {
    return this.#reader.findEvent(eventId);
  }

  replaceEvent(next: EventRow, maxBytes = 0): Promise<ReplaceOutcome> {
    const json = encodeEvent(next);
    return this.#grow(
      'replaceEvent',
      [columnValues(next, json), maxBytes],
      (outcome): ReplaceOutcome =>
        outcome.kind === 'replaced'
          ? { kind: 'replaced', record: this.#memory.put(next, json, undefined) }
          : outcome,
    );
  }

  deleteEvent(eventId: string, agentId: string, version?: number): Promise<boolean> {
    return this.#write('deleteEvent', [eventId, agentId, version ?? null], (removed) => {
      if (removed) this.#memory.remove(eventId);
      return removed;
    });
  }

  nearby(query: NearbyQuery, nowMs: number): Promise<NearbyPage> {
    return this.#operations.run(() => this.#memory.search(query, nowMs));
  }

  listAgents(): Promise<AgentRecord[]> {
    return this.#operations.run(async () => {
      const agents: AgentRecord[] = [];
      const sql = `SELECT ${AGENT_COLUMNS} FROM agents ORDER BY created_ms, agent_id`;
      await this.#reader.each(sql, (row) => agents.push(this.#toAgent(agentOf(row))));
      return agents;
    });
  }

  async findAgent(agentId: string): Promise<AgentRecord | undefined> {
    const row = this.#reader.findAgent(agentId);
    return row && this.#toAgent(row);
  }

  async *listAgentEvents(agentId: string): AsyncGenerator<readonly Wire[]> {
    for await (const page of this.#reader.agentEvents(agentId)) yield page.map(toWire);
  }

  agentPage(query: AgentListQuery): Promise<ListPage<AgentRecord>> {
    return this.#operations.run(async () => {
      if (query.sort.key === 'last_used_at') await this.#uses.write();
      const page = await this.#lists.run('agentPage', [query]);
      return { ...page, items: page.items.map((row) => this.#toAgent(row)) };
    });
  }

  agentEventPage(agentId: string, query: EventListQuery, nowMs: number): Promise<ListPage<ListedEvent>> {
    return this.#operations.run(() => this.#lists.run('agentEventPage', [agentId, query, nowMs]));
  }

  auditPage(query: AuditQuery): Promise<ListPage<AuditRecord, number>> {
    return this.#operations.run(() => this.#lists.run('auditPage', [query]));
  }

  stats(nowMs: number): Promise<Stats> {
    return this.#operations.run(async () => {
      await this.#uses.write();
      const agents = await this.#lists.run('countAgents', [nowMs - ACTIVE_WITHIN_MS]);
      return { ...agents, events: this.#memory.size, events_upcoming: this.#memory.countUpcoming(nowMs) };
    });
  }

  updateAgent(agentId: string, update: AgentUpdate, audit: AuditEntry): Promise<AgentRecord | undefined> {
    return this.#write('updateAgent', [agentId, update, audit], (columns) => {
      const agent = this.#agents.get(agentId);
      if (!columns || !agent) return undefined;
      this.#agents.set(agentId, { ...agent, ...update });
      return this.#toAgent(columns);
    });
  }

  deleteAgent(agentId: string, audit: AuditEntry): Promise<boolean> {
    return this.#write('deleteAgent', [agentId, audit], (removed) => {
      for (const eventId of removed ?? []) this.#memory.remove(eventId);
      this.#forgetAgent(agentId);
      return removed !== undefined;
    });
  }

  deleteAgentEvents(agentId: string, audit: AuditEntry): Promise<boolean> {
    return this.#write('deleteAgentEvents', [agentId, audit], (removed) => {
      for (const eventId of removed ?? []) this.#memory.remove(eventId);
      return removed !== undefined;
    });
  }

  deleteSelectedEvents(
    agentId: string,
    eventIds: readonly string[],
    audit: AuditEntry,
  ): Promise<number | undefined> {
    return this.#write('deleteSelectedEvents', [agentId, eventIds, audit], (removed) => {
      for (const eventId of removed ?? []) this.#memory.remove(eventId);
      return removed?.length;
    });
  }

  deleteEventAsAdmin(eventId: string, audit: AuditEntry): Promise<boolean> {
    return this.#write('deleteEventAsAdmin', [eventId, audit], (removed) => {
      if (removed) this.#memory.remove(eventId);
      return removed;
    });
  }

  async *removeEnded(endedByMs: number): AsyncGenerator<number> {
    for await (const eventIds of this.#memory.idsEndedBy(endedByMs, ROWS_PER_SLICE)) {
      yield await this.#write('removeEnded', [eventIds, endedByMs], (removed) => {
        for (const eventId of removed) this.#memory.remove(eventId);
        return removed.length;
      });
    }
  }

  async *removeUnusedAgents(registeredByMs: number): AsyncGenerator<number> {
    for (let count = ROWS_PER_SLICE; count === ROWS_PER_SLICE; yield count) {
      await this.#uses.write();
      count = await this.#write('removeUnusedAgents', [registeredByMs, ROWS_PER_SLICE], (removed) => {
        for (const agentId of removed) this.#forgetAgent(agentId);
        return removed.length;
      });
    }
  }

  endSession(sessionId: string, expiresMs: number, nowMs: number): Promise<void> {
    return this.#write('endSession', [sessionId, expiresMs, nowMs], () => {});
  }

  async isSessionEnded(sessionId: string): Promise<boolean> {
    return this.#reader.isSessionEnded(sessionId);
  }

  getSetting(name: string, initial: () => Promise<string>): Promise<string> {
    return this.#operations.run(async () => {
      const found = this.#reader.findSetting(name);
      return found ?? this.#writer.run('addSetting', [name, await initial()], (value) => value);
    });
  }

  /** Runs a writer call that needs disk space. */
  #grow: WriterClient['run'] = (name, args, apply) => {
    const refusal = this.#disk.findRefusal();
    return refusal ? Promise.reject(refusal) : this.#write(name, args, apply);
  };

  /** Runs a writer call as an operation of its own. */
  #write: WriterClient['run'] = (name, args, apply) =>
    this.#operations.run(() => this.#writer.run(name, args, apply));

  async #load(nowMs: number, onProgress: (done: number, total: number) => void): Promise<void> {
    for (const agent of await this.listAgents()) this.#agents.set(agent.agent_id, agent);
    const keys = 'SELECT key_hash, agent_id, expires_ms FROM keys';
    await this.#reader.each<[string, string, number | null]>(keys, ([keyHash, agentId, expiresMs]) =>
      this.#keys.put(keyHash, agentId, expiresMs ?? undefined),
    );
    const total = this.#reader.countEvents();
    const loader = this.#memory.loader(total, nowMs);
    let done = 0;
    await this.#reader.each<IndexValues>(`SELECT ${INDEX_COLUMNS} FROM events`, (values) => {
      loader.add(values);
      if (++done % 10_000 === 0) onProgress(done, total);
    });
    onProgress(total, total);
    await loader.finish();
  }

  async #measureDisk(folder: string): Promise<DiskSpace> {
    return { ...(await measureVolume(folder)), reusableBytes: this.#reader.countFreeBytes() };
  }

  #forgetAgent(agentId: string): void {
    this.#agents.delete(agentId);
    this.#keys.removeOf(agentId);
    this.#uses.forget(agentId);
  }

  #toAgent(row: AgentColumns): AgentRecord {
    const last_used_ms = this.#uses.find(row.agent_id) ?? row.last_used_ms;
    return { ...row, is_active: row.is_active === 1, last_used_ms };
  }
}
