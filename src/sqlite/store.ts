// The embedded engine: one database file, with one thread for writes, one for reading events and up to three for lists. The
// main thread keeps in memory what searches and key checks need. Use cases hold the rules; writer.ts the statements that write.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Created } from '../domain/administration/activity.ts';
import type { AgentDetails } from '../domain/administration/agent-details.ts';
import type { AuditEntry, AuditRecord } from '../domain/administration/audit.ts';
import type { AgentListQuery, AuditQuery, EventListQuery } from '../domain/administration/list.ts';
import { RecentRequests } from '../domain/administration/recent-requests.ts';
import type { AgentRecord, AgentRow, Tier } from '../domain/agent.ts';
import type { KeyFingerprint, KeyRecord } from '../domain/api-key.ts';
import { type EventRow, parseEvent } from '../domain/events/event.ts';
import type { NearbyQuery } from '../domain/events/nearby.ts';
import { Operations } from '../domain/operations.ts';
import type { WordShare } from '../domain/own-agent.ts';
import {
  ACTIVE_WITHIN_MS,
  type CreateOutcome,
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
import { toWire, type Wire } from '../domain/wire.ts';
import type { EventStorage } from '../memory/event-lookup.ts';
import { EventMemory } from '../memory/event-memory.ts';
import { LastUses } from '../memory/last-uses.ts';
import { Administration } from './administration.ts';
import type { AgentColumns } from './columns.ts';
import { EventWords } from './event-words.ts';
import { EventWrites } from './event-writes.ts';
import { databasePath } from './files/data-folder.ts';
import { FreeDisk, measureDisk } from './free-disk.ts';
import { KeyOwners } from './key-owners.ts';
import { OpenFolder, startErrorOf } from './open-folder.ts';
import type { SqliteOptions } from './options.ts';
import { QuotaWindows } from './quota-windows.ts';
import { detailsOf, Reader } from './reader.ts';
import { RowRemoval } from './row-removal.ts';
import type { ListReaderClient } from './threads/list-reader-client.ts';
import type { RowReaderCalls } from './threads/row-reader.ts';
import type { RowReaderClient } from './threads/row-reader-client.ts';
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
  readonly #rowReader: RowReaderClient;
  readonly #lists: ListReaderClient;
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
  readonly #administration: Administration;
  /** Before this process. */
  #newestWriteMs: number | undefined;

  private constructor(options: SqliteOptions, opened: OpenFolder) {
    const { writer, rowReader, lists } = opened;
    this.#opened = opened;
    this.#writer = writer;
    this.#rowReader = rowReader;
    this.#lists = lists;
    this.#reader = new Reader(databasePath(options.folder));
    this.#disk = new FreeDisk({
      floorBytes: options.minFreeBytes,
      ...{ onChange: options.onDiskChange, metrics: options.metrics },
      measure: options.measureDisk ?? (() => measureDisk(options.folder, () => this.#read('countFreeBytes'))),
    });
    const storage: EventStorage = {
      readEvents: (wanted, apply) => rowReader.run('findEvents', [wanted.map(({ row }) => row)], apply),
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
    this.#administration = new Administration({
      ...{ write: this.#write, memory: this.#memory, removal: this.#removal },
      step: (name, args, apply) => writer.run(name, args, apply),
      refusal: () => this.#disk.findRefusal(),
      ...{ agents: this.#agents, keys: this.#keys, uses: this.#uses, keyUses: this.#keyUses },
      deletedAfter: (auditId, eventId) => this.#read('deletedAfter', auditId, eventId),
      forgetAgent: (agentId) => this.#forgetAgent(agentId),
      toAgent: (row) => this.#toAgent(row),
      run: (work) => this.#operations.run(work),
    });
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
    await Promise.all([this.#uses.close(), this.#keyUses.close()]);
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

  findKey(keyHash: string): Promise<KeyRecord | undefined> {
    return this.#operations.run(() => this.#read('findKey', keyHash));
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

  findWordShare(agentId: string): WordShare {
    return this.#memory.findWordShare(agentId);
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

  findAgent(agentId: string): Promise<AgentRecord | undefined> {
    return this.#operations.run(async () => {
      const row = await this.#read('findAgent', agentId);
      return row && this.#toAgent(row);
    });
  }

  findAgentDetails(agentId: string, nowMs: number): Promise<AgentDetails | undefined> {
    return this.#operations.run(async () => {
      const found = await this.#read('findAgentDetails', agentId, nowMs);
      return found && detailsOf(found, this.#toAgent(found.agent), this.#keyUses);
    });
  }

  async *listAgentEvents(agentId: string): AsyncGenerator<readonly Wire[]> {
    for await (const page of this.#reader.agentEvents(agentId)) yield page.map(toWire);
  }

  agentPage(query: AgentListQuery, nowMs: number): Promise<ListPage<AgentRecord>> {
    return this.#operations.run(async () => {
      if (query.sort.key === 'last_used_at') await this.#uses.write();
      const page = await this.#lists.run('agentPage', [query, nowMs, this.#requests.for(query, nowMs)]);
      return { ...page, items: page.items.map((row) => this.#toAgent(row)) };
    });
  }

  agentEventPage(agentId: string, query: EventListQuery, nowMs: number): Promise<ListPage<ListedEvent>> {
    return this.#operations.run(() => this.#lists.run('agentEventPage', [agentId, query, nowMs]));
  }

  eventPage: Store['eventPage'] = (...args) =>
    this.#operations.run(async () => {
      const page = await this.#memory.list(...args);
      // An agent that was deleted meanwhile has no name.
      const nameOf = (json: Wire) => this.#agents.get(parseEvent(json).agent_id)?.agent_name ?? '';
      return { ...page, items: page.items.map((json) => ({ json, agentName: nameOf(json) })) };
    });

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

  countCreated(fromMs: readonly number[]): Promise<readonly Created[]> {
    return this.#operations.run(() => this.#lists.run('countCreated', [fromMs]));
  }

  updateAgent = (...args: Parameters<Store['updateAgent']>) => this.#administration.updateAgent(...args);
  deleteAgent = (...args: Parameters<Store['deleteAgent']>) => this.#administration.deleteAgent(...args);
  deleteAgentEvents = (...args: Parameters<Store['deleteAgentEvents']>) =>
    this.#administration.deleteAgentEvents(...args);
  deleteSelectedEvents = (...args: Parameters<Store['deleteSelectedEvents']>) =>
    this.#administration.deleteSelectedEvents(...args);
  deleteEventAsAdmin = (...args: Parameters<Store['deleteEventAsAdmin']>) =>
    this.#administration.deleteEventAsAdmin(...args);
  deleteEvents = (...args: Parameters<Store['deleteEvents']>) => this.#administration.deleteEvents(...args);
  undoDelete = (...args: Parameters<Store['undoDelete']>) => this.#administration.undoDelete(...args);
  removeDeleted = (deletedByMs: number) => this.#administration.removeDeleted(deletedByMs);

  revokeAgentKey(agentId: string, prefix: string, audit: AuditEntry): Promise<boolean> {
    return this.#write('revokeAgentKey', [agentId, prefix, audit], (removed) => {
      for (const keyHash of removed) this.#keys.remove(keyHash);
      return removed.length > 0;
    });
  }

  replaceAgentKeys(agentId: string, newKey: KeyFingerprint, audit: AuditEntry): Promise<Tier | undefined> {
    return this.#write('replaceAgentKeys', [agentId, newKey, audit], (ended) => {
      if (!ended) return undefined;
      for (const keyHash of ended) this.#keys.remove(keyHash);
      this.#keys.put(newKey.hash, agentId, undefined);
      return this.#agents.get(agentId)?.tier;
    });
  }

  removeEnded = (...args: Parameters<Store['removeEnded']>) => this.#administration.removeEnded(...args);

  async *removeUnusedAgents(registeredByMs: number, audit: AuditEntry): AsyncGenerator<number> {
    for (let count = ROWS_PER_SLICE; count === ROWS_PER_SLICE; yield count) {
      await this.#uses.write();
      count = await this.#write('removeUnusedAgents', [registeredByMs, ROWS_PER_SLICE, audit], (removed) => {
        for (const agentId of removed) this.#forgetAgent(agentId);
        return removed.length;
      });
    }
  }

  getSetting(name: string, initial: () => Promise<string>): Promise<string> {
    return this.#operations.run(async () => {
      const found = await this.#read('findSetting', name);
      return found ?? this.#writer.run('addSetting', [name, await initial()], (value) => value);
    });
  }

  findSetting = (name: string) => this.#operations.run(() => this.#read('findSetting', name));
  setSetting: Store['setSetting'] = (...args) => this.#write('setSetting', args, () => {});
  referenceTime = async () => ({ of: 'newest write', ms: this.#newestWriteMs }) as const;

  /** Runs a writer call that needs disk space. */
  #grow: WriterClient['run'] = (name, args, apply) => {
    const refusal = this.#disk.findRefusal();
    return refusal ? Promise.reject(refusal) : this.#write(name, args, apply);
  };

  /** Reads on the row reader's thread, so that a slow disk does not delay other requests. */
  #read<Name extends keyof RowReaderCalls>(name: Name, ...args: Parameters<RowReaderCalls[Name]>) {
    return this.#rowReader.run(name, args, (value) => value);
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
    this.#newestWriteMs = this.#reader.newestWriteMs();
    const total = this.#reader.countEvents();
    const loader = this.#memory.loader(total, nowMs);
    let done = 0;
    onProgress(0, total);
    await this.#reader.eachEvent((values) => {
      loader.add(values);
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
    this.#uses.forget(agentId);
  }

  #toAgent(row: AgentColumns): AgentRecord {
    return this.#uses.apply({ ...row, is_active: row.is_active === 1 });
  }
}
