// Room on the disk for an import: it stops while there is enough left for what follows it, and for the service.
import { statfsSync, statSync } from 'node:fs';
import { AppError } from '../../domain/errors.ts';
import { BYTES_PER_MB } from '../../domain/store.ts';
import { roomToOrder } from '../event-order.ts';
import { type DiskSpace, floorOf, usableBytesOf } from '../free-disk.ts';
import type { Reader } from '../reader.ts';
import { databasePath } from './data-folder.ts';

/** What one batch may take in the write-ahead log and in the database, with indexes. */
const BATCH_BYTES = 32 * BYTES_PER_MB;

/** With so much more than is needed, batches that are under way cannot use it up. */
const AMPLE_BYTES = 512 * BYTES_PER_MB;

type RoomReader = Pick<Reader, 'countFreeBytes' | 'findAgentDetails'>;

export class ImportRoom {
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
