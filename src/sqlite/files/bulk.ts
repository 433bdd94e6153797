// Bulk reads and writes of a data folder without the in-memory index. Writing requires that no service uses the folder;
// reading works while one does.

import { statfsSync, statSync } from 'node:fs';
import type { AgentDetails } from '../../domain/administration/agent-details.ts';
import type { AuditEntry } from '../../domain/administration/audit.ts';
import type { AgentRecord, AgentRow, AgentUpdate, Tier } from '../../domain/agent.ts';
import type { KeyFingerprint } from '../../domain/api-key.ts';
import { AppError, StartError } from '../../domain/errors.ts';
import {
  decodeEvent,
  type EventRow,
  STORED_EVENT_COLUMNS,
  type StoredEvent,
} from '../../domain/events/event.ts';
import { type BulkReader, type BulkWriter, BYTES_PER_MB, type CreateOutcome } from '../../domain/store.ts';
import { type AgentColumns, type ColumnValues, columnValues } from '../columns.ts';
import { readDatabase } from '../connection.ts';
import { roomToOrder } from '../event-order.ts';
import { type DiskSpace, floorOf, usableBytesOf } from '../free-disk.ts';
import { requireReadable } from '../migrate.ts';
import { type AgentDetailColumns, Reader, requireFinishedMove } from '../reader.ts';
import { WriterClient } from '../threads/writer-client.ts';
import { databasePath, type FolderLock, getDatabase, holdFolder, requireSpace } from './data-folder.ts';

export class SqliteBulkWriter implements BulkWriter {
  readonly #lock: FolderLock;
  readonly #writer: WriterClient;
  readonly #reader: Reader;
  readonly #room: ImportRoom;
  #isTight = false;
  /** The newest batch. If it fails, so do those that wait for it. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(lock: FolderLock, writer: WriterClient, reader: Reader, room: ImportRoom) {
    this.#lock = lock;
    this.#writer = writer;
    this.#reader = reader;
    this.#room = room;
  }

  /** Throws StartError if another process uses the folder, it is not writable, its disk is full, or a newer version wrote its data. */
  static async open(folder: string, minFreeBytes?: number): Promise<SqliteBulkWriter> {
    const lock = holdFolder(folder);
    let writer: WriterClient | undefined;
    try {
      requireSpace(folder);
      const path = databasePath(folder);
      writer = await WriterClient.start(path, 'bulk');
      const reader = openReader(path);
      return new SqliteBulkWriter(lock, writer, reader, new ImportRoom(folder, minFreeBytes, reader));
    } catch (error) {
      await writer?.close();
      lock.release();
      throw error;
    }
  }

  async addAgent(agent: AgentRow, key: KeyFingerprint): Promise<void> {
    this.#room.check();
    return this.#writer.run('addAgent', [agent, key], () => {});
  }

  async findAgentByKey(keyHash: string, nowMs: number): Promise<AgentRow | undefined> {
    return toAgent(this.#reader.findAgentByKey(keyHash, nowMs));
  }

  async findAgentDetails(agentId: string, nowMs: number): Promise<AgentDetails | undefined> {
    return toDetails(this.#reader.findAgentDetails(agentId, nowMs));
  }

  updateAgent(agentId: string, update: AgentUpdate, audit: AuditEntry): Promise<AgentRecord | undefined> {
    return this.#writer.run('updateAgent', [agentId, update, audit], toAgent);
  }

  /** The next start, or the next bulk writer, deletes the rows of its events. */
  deleteAll(agentId: string, audit: AuditEntry, withAgent: boolean): Promise<boolean> {
    return this.#writer.run('deleteAll', [agentId, audit, withAgent], (upToRow) => upToRow !== undefined);
  }

  async replaceAgentKeys(
    agentId: string,
    newKey: KeyFingerprint,
    audit: AuditEntry,
  ): Promise<Tier | undefined> {
    const ended = await this.#writer.run('replaceAgentKeys', [agentId, newKey, audit], (keys) => keys);
    return ended && this.#reader.findAgentDetails(agentId, audit.at_ms)?.agent.tier;
  }

  createEvents(...args: Parameters<BulkWriter['createEvents']>): Promise<readonly CreateOutcome['kind'][]> {
    this.#room.add(args[0]);
    this.#isTight ||= !this.#room.isAmple;
    // Near the limit, one batch at a time: what is under way is not on the disk yet.
    const written = this.#isTight
      ? this.#last.then(() => {
          this.#room.check();
          return this.#write(...args);
        })
      : this.#write(...args);
    this.#last = written;
    return written;
  }

  #write(
    rows: readonly EventRow[],
    maxPerAgent: number,
    maxBytes = 0,
  ): Promise<readonly CreateOutcome['kind'][]> {
    return this.#writer.run(
      'createEvents',
      [rows.map((row) => columnValues(row)), maxPerAgent, maxBytes],
      (outcomes) => outcomes,
    );
  }

  async finish(): Promise<void> {
    // Without room, the next start tries again.
    await this.#writer.run('orderEvents', [this.#room.freeBytes], () => {}).catch(() => {});
  }

  async close(): Promise<void> {
    this.#reader.close();
    try {
      await this.#writer.close();
    } finally {
      this.#lock.release();
    }
  }
}

export class SqliteBulkReader implements BulkReader {
  readonly #reader: Reader;

  /** Throws StartError if the folder has no data, or the data cannot be read. */
  constructor(folder: string) {
    this.#reader = openReader(getDatabase(folder));
  }

  async listAgents(): Promise<AgentRecord[]> {
    const agents: AgentRecord[] = [];
    await this.#reader.eachAgent((row) => agents.push(toAgent(row)!));
    return agents;
  }

  async findAgentDetails(agentId: string, nowMs: number): Promise<AgentDetails | undefined> {
    return toDetails(this.#reader.findAgentDetails(agentId, nowMs));
  }

  async countEvents(): Promise<number> {
    return this.#reader.countEvents();
  }

  /** Ordered so that SQLite need not sort: all events by ID, so by age; one agent's events along the index events_identity. */
  events(agentId: string | undefined): AsyncIterable<readonly EventRow[]> {
    const select = `SELECT ${STORED_EVENT_COLUMNS.join(', ')} FROM stored_events`;
    return this.#rows(
      agentId === undefined
        ? this.#reader.batches(`${select} ORDER BY event_id`, [])
        : this.#reader.batches(`${select} WHERE agent_id = ? ORDER BY start_ms, lat, lng, title`, [agentId]),
    );
  }

  async *#rows(batches: AsyncIterable<readonly ColumnValues[]>): AsyncGenerator<EventRow[]> {
    for await (const batch of batches) yield batch.map((values) => decodeEvent(toStored(values)));
  }

  async close(): Promise<void> {
    this.#reader.close();
  }
}

function openReader(path: string): Reader {
  requireFinishedMove(path);
  try {
    readDatabase(path, requireReadable);
    return new Reader(path);
  } catch (error) {
    if (error instanceof StartError) throw error;
    const cause = error instanceof AppError ? error.cause : error;
    throw new StartError(`The database ${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

function toStored(values: ColumnValues): StoredEvent {
  const named = STORED_EVENT_COLUMNS.map((name, at) => [name, values[at]]);
  return Object.fromEntries(named) as StoredEvent;
}

function toDetails(found: AgentDetailColumns | undefined): AgentDetails | undefined {
  return found && { ...found, agent: toAgent(found.agent)!, words: undefined };
}

function toAgent(row: AgentColumns | undefined): AgentRecord | undefined {
  return row && { ...row, is_active: row.is_active === 1 };
}

/** What one batch may take in the write-ahead log and in the database, with indexes. */
const BATCH_BYTES = 32 * BYTES_PER_MB;

/** With so much more than is needed, batches that are under way cannot use it up. */
const AMPLE_BYTES = 512 * BYTES_PER_MB;

type RoomReader = Pick<Reader, 'countFreeBytes' | 'findAgentDetails'>;

/** Room on the disk for an import: it stops while there is enough left for what follows it, and for the service. */
class ImportRoom {
  readonly #folder: string;
  readonly #minFreeBytes: number | undefined;
  readonly #reader: RoomReader;
  /** Number of events of each agent that gets some, with these. */
  readonly #counts = new Map<string, number>();

  /** `minFreeBytes` as for the service: undefined is its default, 0 no floor. */
  constructor(folder: string, minFreeBytes: number | undefined, reader: RoomReader) {
    this.#folder = folder;
    this.#minFreeBytes = minFreeBytes;
    this.#reader = reader;
  }

  /** Room for what is written after the events: the log's content moves to the database when it is emptied. */
  get freeBytes(): number {
    return this.#measure().freeBytes - this.#logBytes();
  }

  /** Counts these events. */
  add(rows: readonly { readonly agent_id: string }[]): void {
    for (const { agent_id } of rows) {
      const before =
        this.#counts.get(agent_id) ?? this.#reader.findAgentDetails(agent_id, 0)?.agent.event_count ?? 0;
      this.#counts.set(agent_id, before + 1);
    }
  }

  /** Whether the batches that are under way, and more, fit for certain. */
  get isAmple(): boolean {
    if (this.#minFreeBytes === 0) return true;
    const space = this.#measure();
    return usableBytesOf(space) >= this.#neededBytes(space).total + AMPLE_BYTES;
  }

  /** Throws UNAVAILABLE if there is no room for the events that were counted. */
  check(): void {
    if (this.#minFreeBytes === 0) return;
    const space = this.#measure();
    const { floor, total } = this.#neededBytes(space);
    if (usableBytesOf(space) >= total) return;
    const inMb = (bytes: number) => Math.ceil(bytes / BYTES_PER_MB);
    throw new AppError(
      'UNAVAILABLE',
      `the disk of the data folder ${this.#folder} is nearly full: ${Math.floor(space.freeBytes / BYTES_PER_MB)} MB are free, ` +
        `${inMb(floor)} MB must stay free (MIN_FREE_DISK_MB), and the import needs ${inMb(total - floor)} MB to go on. Free some space`,
    );
  }

  #neededBytes(space: DiskSpace): { floor: number; total: number } {
    const floor = floorOf(space, this.#minFreeBytes);
    const later = [...this.#counts.values()].reduce((sum, count) => sum + roomToOrder(count), 0);
    return { floor, total: Math.max(floor + later, this.#logBytes()) + BATCH_BYTES };
  }

  #measure(): DiskSpace {
    const { bavail, blocks, bsize } = statfsSync(this.#folder);
    const reusableBytes = this.#reader.countFreeBytes();
    return { freeBytes: bavail * bsize, reusableBytes, totalBytes: blocks * bsize };
  }

  #logBytes(): number {
    return statSync(`${databasePath(this.#folder)}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  }
}
