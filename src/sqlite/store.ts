// The embedded engine: one database file, with one thread for writes, one for reading events and up to three for lists. The main
// thread keeps in memory what searches and key checks need. Rules are in the use cases, statements that write in writer.ts.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Created } from '../domain/administration/activity.ts';
import type { AgentDetails } from '../domain/administration/agent-details.ts';
import type { AuditEntry, AuditRecord } from '../domain/administration/audit.ts';
import type { AgentListQuery, AuditQuery, EventListQuery } from '../domain/administration/list.ts';
import { RecentRequests } from '../domain/administration/recent-requests.ts';
import type { UndoOutcome, UndoStep } from '../domain/administration/undo.ts';
import type { AgentRecord, AgentRow, AgentUpdate, Tier } from '../domain/agent.ts';
import type { KeyFingerprint } from '../domain/api-key.ts';
import { type EventRow, parseEvent } from '../domain/events/event.ts';
import type { NearbyQuery } from '../domain/events/nearby.ts';
import type { Words } from '../domain/events/words.ts';
import { Operations } from '../domain/operations.ts';
import {
  ACTIVE_WITHIN_MS,
  type BulkDeleted,
  type CreateOutcome,
  type DeleteOptions,
  type Expiry,
  type FoundRecord,
  type ListedEvent,
  type ListPage,
  type NearbyPage,
  type Quota,
  type ReplaceOutcome,
  ROWS_PER_SLICE,
  type Searcher,
  type Stats,
  type Store,
  type WordLimit,
} from '../domain/store.ts';
import type { Wire } from '../domain/wire.ts';
import type { EventStorage } from '../memory/event-lookup.ts';
import { EventMemory } from '../memory/event-memory.ts';
import { LastUses } from '../memory/last-uses.ts';
import type { AgentColumns } from './columns.ts';
import { EventWords } from './event-words.ts';
import { EventWrites } from './event-writes.ts';
import { databasePath } from './files/data-folder.ts';
import { FreeDisk, measureDisk } from './free-disk.ts';
import { SqliteGrants } from './grants.ts';
import { KeyOwners } from './key-owners.ts';
import { OpenFolder, startErrorOf } from './open-folder.ts';
import type { SqliteOptions } from './options.ts';
import { QuotaWindows } from './quota-windows.ts';
import { Reader } from './reader.ts';
import { RowRemoval } from './row-removal.ts';
import type { EndedAccess } from './threads/admin-writes.ts';
import type { ReaderCalls } from './threads/reader-worker.ts';
import type { UndoneSlice } from './threads/undo.ts';
import type { WriterClient } from './threads/writer-client.ts';

/** Maximum time for operations in progress when the store is closed. */
const CLOSE_TIMEOUT_MS = 4_000;

export class SqliteStore implements Store {
  readonly engine = 'sqlite';
  readonly isLoading = false;
  readonly #operations = new Operations();
  readonly #opened: OpenFolder;
  readonly #writer: WriterClient;
  readonly #reader: Reader;
  readonly #memory: EventMemory;
  readonly #words: EventWords;
  readonly #eventWrites: EventWrites;
  readonly #agents = new Map<string, AgentRow>();
  readonly #keys = new KeyOwners((keyHash) => this.#keyUses.forget(keyHash));
  readonly #quotas = new QuotaWindows();
  readonly #disk: FreeDisk;
  readonly #removal = new RowRemoval(() =>
    this.#writer.run('removeSlice', [ROWS_PER_SLICE], (hasRemoved) => hasRemoved),
  );
  readonly #uses = new LastUses((used) => this.#writer.run('touchAgents', [used], () => undefined));
  readonly #keyUses = new LastUses((used) => this.#writer.run('touchKeys', [used], () => undefined));
  readonly #requests = new RecentRequests();
  readonly #grants = new SqliteGrants({
    findAgent: (agentId) => this.#agents.get(agentId),
    read: (name, ...args) => this.#operations.run(() => this.#read(name, ...args)),
    write: (name, args, apply) => this.#write(name, args, apply),
    grow: (name, args, apply) => this.#grow(name, args, apply),
    finish: (name, args, apply) => this.#writer.run(name, args, apply),
  });
  /** Time of the newest write before this process started. */
  #newestWriteMs: number | undefined;

  private constructor(options: SqliteOptions, opened: OpenFolder) {
    const { writer, reader } = opened;
    this.#opened = opened;
    this.#writer = writer;
    this.#reader = new Reader(databasePath(options.folder));
    this.#disk = new FreeDisk({
      floorBytes: options.minFreeBytes,
      ...{ onChange: options.onDiskChange, metrics: options.metrics },
      measure: options.measureDisk ?? (() => measureDisk(options.folder, () => this.#read('countFreeBytes'))),
    });
    const storage: EventStorage = {
      readEvents: (wanted, apply) => reader.run('findEvents', [wanted.map(({ row }) => row)], apply),
      // Commits are applied to the memory before later calls return.
      catchUp: () => writer.run('ping', [], () => {}),
    };
    this.#memory = new EventMemory(options.cacheBytes, storage, options.metrics, {
      ...options,
      keepsWords: true,
    });
    this.#words = new EventWords(
      this.#memory,
      (row) => this.#read('wordsAfter', row),
      ...([options.onWordsProblem, options.onWordsReady] as const),
    );
    this.#eventWrites = new EventWrites(this.#memory, this.#words, (...call) => this.#grow(...call));
  }

  /** Throws StartError if the folder cannot be opened, see OpenFolder, or read. */
  static async open(options: SqliteOptions): Promise<SqliteStore> {
    const path = databasePath(options.folder);
    let opened: OpenFolder | undefined;
    try {
      opened = await OpenFolder.open(options.folder, options);
      const store = new SqliteStore(options, opened);
      await store.#disk.update();
      await store.#load(options.nowMs ?? Number.NEGATIVE_INFINITY, options.onProgress ?? (() => {}));
      return store;
    } catch (error) {
      await opened?.close().catch(() => {});
      throw startErrorOf(error, path);
    }
  }

  check(): Promise<void> {
    return this.#operations.run(() => this.#opened.check());
  }

  async close(): Promise<void> {
    const late = sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false });
    await Promise.race([this.#operations.close(), late]);
    this.#words.close();
    this.#disk.close();
    await this.#removal.close();
    await Promise.all([this.#uses.close(), this.#keyUses.close(), this.#grants.close()]);
    this.#reader.close();
    await this.#opened.close();
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

  rotateKey(...args: Parameters<Store['rotateKey']>): Promise<boolean> {
    const [agentId, callingKeyHash, newKey] = args;
    return this.#write('rotateKey', args, (rotated) => {
      if (rotated) this.#keys.rotate(agentId, callingKeyHash, newKey.hash, rotated);
      this.#grants.ended(rotated?.endedGrants ?? []);
      return rotated !== undefined;
    });
  }

  revokeKey(keyHash: string): Promise<void> {
    return this.#write('revokeKey', [keyHash], (endedGrants) => {
      this.#keys.remove(keyHash);
      this.#grants.ended(endedGrants);
    });
  }

  noteUse(agentId: string, nowMs: number, keyHash?: string): void {
    this.#uses.note(agentId, nowMs);
    this.#requests.note(agentId, nowMs);
    if (keyHash !== undefined) this.#keyUses.note(keyHash, nowMs);
  }

  noteRefusal: Store['noteRefusal'] = (...noted) => this.#requests.noteRefusal(...noted);

  async spend(bucket: string, limit: number, cost: number, nowMs: number): Promise<Quota> {
    return this.#quotas.spend(bucket, limit, cost, nowMs);
  }

  readQuota(bucket: string, limit: number, nowMs: number): Promise<Quota> {
    return this.spend(bucket, limit, 0, nowMs);
  }

  createEvent(row: EventRow, maxPerAgent: number, maxBytes = 0): Promise<CreateOutcome | WordLimit> {
    return this.#eventWrites.create(row, maxPerAgent, maxBytes);
  }

  findEvent(eventId: string): Promise<FoundRecord | undefined> {
    return this.#operations.run(() => this.#memory.find(eventId));
  }

  replaceEvent(next: EventRow, maxBytes = 0): Promise<ReplaceOutcome | WordLimit> {
    return this.#eventWrites.replace(next, maxBytes);
  }

  deleteEvent(eventId: string, agentId: string, version?: number): Promise<boolean> {
    return this.#write('deleteEvent', [eventId, agentId, version ?? null], (removed) => {
      if (removed) this.#memory.remove(eventId);
      return removed;
    });
  }

  nearby(query: NearbyQuery, nowMs: number, searcher?: Searcher): Promise<NearbyPage> {
    return this.#operations.run(() => this.#memory.search(query, nowMs, searcher));
  }

  listAgents(): Promise<AgentRecord[]> {
    return this.#operations.run(async () => {
      const agents: AgentRecord[] = [];
      await this.#reader.eachAgent((row) => agents.push(this.#toAgent(row)));
      return agents;
    });
  }

  findAgentDetails(agentId: string, nowMs: number): Promise<AgentDetails | undefined> {
    return this.#operations.run(async () => {
      const found = await this.#read('findAgentDetails', agentId, nowMs);
      if (!found) return undefined;
      const keys = found.keys.map((key) => ({
        ...key,
        last_used_ms: this.#keyUses.latest(key.key_hash, key.last_used_ms),
      }));
      return {
        ...found,
        agent: this.#toAgent(found.agent),
        keys,
        words: this.#memory.findWordShare(agentId),
      };
    });
  }

  agentPage(query: AgentListQuery, nowMs: number): Promise<ListPage<AgentRecord>> {
    return this.#operations.run(async () => {
      if (query.sort.key === 'last_used_at') await this.#uses.write();
      const page = await this.#read('agentPage', query, nowMs, this.#requests.for(query, nowMs));
      return { ...page, items: page.items.map((row) => this.#toAgent(row)) };
    });
  }

  agentEventPage(agentId: string, query: EventListQuery, nowMs: number): Promise<ListPage<ListedEvent>> {
    return this.#operations.run(() => this.#read('agentEventPage', agentId, query, nowMs));
  }

  eventPage: Store['eventPage'] = (...args) =>
    this.#operations.run(async () => {
      const page = await this.#memory.list(...args);
      // An agent that was deleted meanwhile has no name.
      const nameOf = (json: Wire) => this.#agents.get(parseEvent(json).agent_id)?.agent_name ?? '';
      return { ...page, items: page.items.map((json) => ({ json, agentName: nameOf(json) })) };
    });

  auditPage(query: AuditQuery): Promise<ListPage<AuditRecord, number>> {
    return this.#operations.run(() => this.#read('auditPage', query));
  }

  stats(nowMs: number): Promise<Stats> {
    return this.#operations.run(async () => {
      await this.#uses.write();
      const agents = await this.#read('countAgents', nowMs - ACTIVE_WITHIN_MS);
      return { ...agents, events: this.#memory.size, events_upcoming: this.#memory.countUpcoming(nowMs) };
    });
  }

  countCreated(fromMs: readonly number[]): Promise<readonly Created[]> {
    return this.#operations.run(() => this.#read('countCreated', fromMs));
  }

  updateAgent(agentId: string, update: AgentUpdate, audit: AuditEntry): Promise<AgentRecord | undefined> {
    return this.#write('updateAgent', [agentId, update, audit], (columns) => {
      const agent = this.#agents.get(agentId);
      if (!columns || !agent) return undefined;
      this.#agents.set(agentId, { ...agent, ...update });
      return this.#toAgent(columns);
    });
  }

  deleteEvents(
    eventIds: readonly string[],
    audit: AuditEntry,
    options: DeleteOptions & { readonly endedByMs?: number } = {},
  ): Promise<BulkDeleted | 'no-agent' | 'wrong-entry'> {
    return this.#write('deleteEvents', [eventIds, audit, options], (outcome) => {
      if (typeof outcome === 'string') return outcome;
      this.#memory.removeMany(Buffer.from(outcome.eventIds.join(',')));
      return { deleted: outcome.deleted, audit_id: outcome.audit_id };
    });
  }

  async deleteAll(agentId: string, audit: AuditEntry, withAgent: boolean): Promise<boolean> {
    // Last uses are written first, so that an undo restores them, too.
    if (withAgent && audit.undo === 'kept')
      await Promise.all([this.#uses.write(), this.#keyUses.write(), this.#grants.writeUses()]);
    return this.#write('deleteAll', [agentId, audit, withAgent], (upToRow) => {
      if (withAgent) this.#forgetAgent(agentId);
      if (upToRow === undefined) return false;
      this.#memory.removeEventsOf(agentId, upToRow);
      this.#removal.begin();
      return true;
    });
  }

  undoDelete(wanted: UndoStep, audit: AuditEntry): Promise<UndoOutcome> {
    const { auditId, deletedAfterMs, after } = wanted;
    return this.#operations.run(async () => {
      const check = () => this.#writer.run('checkUndo', [auditId, deletedAfterMs], (state) => state);
      let state = await check(); // `pending`: rows of the delete are still to be moved to where they are kept
      for (; state === 'pending'; state = await check()) {
        await this.#writer.run('moveSlice', [auditId, ROWS_PER_SLICE], () => {});
      }
      if (state) return { kind: state };
      const refused = this.#disk.findRefusal();
      if (refused) throw refused;
      const { ids, words, hasMore } = await this.#read('deletedAfter', auditId, after);
      return this.#writer.run('undoSlice', [wanted, ids, audit], (outcome): UndoOutcome => {
        if (outcome.kind !== 'restored') return outcome;
        this.#applyUndo(outcome, new Map(ids.map((id, at) => [id, words[at]!])));
        const { skipped, into } = outcome;
        const last = hasMore ? ids.at(-1) : undefined;
        return { kind: 'restored', restored: outcome.events.length, skipped, last, into };
      });
    });
  }

  async *removeDeleted(deletedByMs: number): AsyncGenerator<number> {
    for (;;) {
      const removed = await this.#write('removeDeleted', [deletedByMs, ROWS_PER_SLICE], (count) => count);
      if (removed === undefined) return;
      yield removed;
    }
  }

  revokeAgentKey(agentId: string, prefix: string, audit: AuditEntry): Promise<boolean> {
    return this.#write('revokeAgentKey', [agentId, prefix, audit], (ended) => {
      this.#forgetAccess(ended);
      return ended.keys.length > 0;
    });
  }

  replaceAgentKeys(agentId: string, newKey: KeyFingerprint, audit: AuditEntry): Promise<Tier | undefined> {
    return this.#write('replaceAgentKeys', [agentId, newKey, audit], (ended) => {
      if (!ended) return undefined;
      this.#forgetAccess(ended);
      this.#keys.put(newKey.hash, agentId, undefined);
      return this.#agents.get(agentId)?.tier;
    });
  }

  async *removeEnded(
    endedByMs: number,
    audit: AuditEntry,
    into: number | undefined,
  ): AsyncGenerator<BulkDeleted> {
    let entry = into;
    for await (const eventIds of this.#memory.idsEndedBy(endedByMs, ROWS_PER_SLICE)) {
      let removed = await this.deleteEvents(eventIds, audit, { into: entry, endedByMs });
      // The entry is too old, or something of it was restored: begin a new one.
      if (removed === 'wrong-entry') removed = await this.deleteEvents(eventIds, audit, { endedByMs });
      const slice = removed as BulkDeleted;
      entry = slice.audit_id ?? undefined;
      yield slice;
    }
  }

  async *removeUnusedAgents(registeredByMs: number, audit: AuditEntry): AsyncGenerator<number> {
    for (let count = ROWS_PER_SLICE; count === ROWS_PER_SLICE; yield count) {
      await this.#uses.write();
      count = await this.#write('removeUnusedAgents', [registeredByMs, ROWS_PER_SLICE, audit], (removed) => {
        for (const agentId of removed) this.#forgetAgent(agentId);
        return removed.length;
      });
    }
  }

  getSetting(name: string, initial: () => Promise<string>, expiry?: Expiry): Promise<string> {
    return this.#operations.run(async () => {
      const found = await this.#read('findSetting', name);
      return found ?? this.#writer.run('addSetting', [name, await initial(), expiry], (value) => value);
    });
  }

  findSetting = (name: string) => this.#operations.run(() => this.#read('findSetting', name));
  setSetting: Store['setSetting'] = (...args) => this.#write('setSetting', args, () => {});
  referenceTime = async () => ({ of: 'newest write', ms: this.#newestWriteMs }) as const;

  addClient: Store['addClient'] = (...args) => this.#grants.addClient(...args);
  findClient: Store['findClient'] = (...args) => this.#grants.findClient(...args);
  addGrant: Store['addGrant'] = (...args) => this.#grants.addGrant(...args);
  exchangeCode: Store['exchangeCode'] = (...args) => this.#grants.exchangeCode(...args);
  findRefreshToken: Store['findRefreshToken'] = (...args) => this.#grants.findRefreshToken(...args);
  refreshGrant: Store['refreshGrant'] = (...args) => this.#grants.refreshGrant(...args);
  findAccessToken: Store['findAccessToken'] = (...args) => this.#grants.findAccessToken(...args);
  noteGrantUse: Store['noteGrantUse'] = (...args) => this.#grants.noteGrantUse(...args);
  endToken: Store['endToken'] = (...args) => this.#grants.endToken(...args);
  listGrants: Store['listGrants'] = (...args) => this.#grants.listGrants(...args);
  endGrants: Store['endGrants'] = (...args) => this.#grants.endGrants(...args);
  removeIdleGrants: Store['removeIdleGrants'] = (...args) => this.#grants.removeIdleGrants(...args);

  /** Runs a writer call that needs disk space. */
  #grow: WriterClient['run'] = (name, args, apply) => {
    const refusal = this.#disk.findRefusal();
    return refusal ? Promise.reject(refusal) : this.#write(name, args, apply);
  };

  /** Reads on another thread, so that a slow disk does not delay other requests. */
  #read<Name extends keyof ReaderCalls>(name: Name, ...args: Parameters<ReaderCalls[Name]>) {
    return this.#opened.reader.run(name, args, (value) => value);
  }

  /** Runs a writer call as an operation of its own. */
  #write: WriterClient['run'] = (name, args, apply) =>
    this.#operations.run(async () => {
      this.#opened.requireFolder();
      return this.#writer.run(name, args, apply);
    });

  async #load(nowMs: number, onProgress: (done: number, total: number) => void): Promise<void> {
    for (const agent of await this.listAgents()) this.#agents.set(agent.agent_id, agent);
    await this.#reader.eachKey((keyHash, agentId, expiresMs) => this.#keys.put(keyHash, agentId, expiresMs));
    await this.#reader.eachAccessToken(nowMs, (token) => this.#grants.load(token));
    this.#newestWriteMs = this.#reader.newestWriteMs();
    const total = this.#reader.countEvents();
    const loader = this.#memory.loader(total, nowMs);
    let done = 0;
    onProgress(0, total);
    await this.#reader.eachEvent((event) => {
      loader.add(event);
      if (++done % 10_000 === 0) onProgress(done, total);
    });
    onProgress(total, total);
    await loader.finish();
    this.#removal.begin(); // continues what the last process left
    void this.#words.begin();
  }

  #forgetAgent(agentId: string): void {
    this.#agents.delete(agentId);
    this.#keys.removeOf(agentId);
    this.#grants.agentDeleted(agentId);
    this.#uses.forget(agentId);
  }

  #forgetAccess({ keys, grants }: EndedAccess): void {
    for (const keyHash of keys) this.#keys.remove(keyHash);
    this.#grants.ended(grants);
  }

  #applyUndo({ agent, keys, accessTokens, events }: UndoneSlice, words: ReadonlyMap<string, Words>): void {
    if (agent) {
      const { last_used_ms: _, event_count: __, ...row } = this.#toAgent(agent);
      this.#agents.set(row.agent_id, row);
      for (const { key_hash, expires_ms } of keys)
        this.#keys.put(key_hash, row.agent_id, expires_ms ?? undefined);
      for (const token of accessTokens) this.#grants.load(token);
    }
    for (const event of events) this.#memory.putIndexed(event, words.get(event.id)!);
  }

  #toAgent(row: AgentColumns): AgentRecord {
    return this.#uses.apply({ ...row, is_active: row.is_active === 1 });
  }
}
