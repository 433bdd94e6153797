// What a power cut leaves on the disk. record-writes.c has recorded every change to the files of a database; here they are
// applied again, up to any of them, with damage to whatever was not synced.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Chance } from '../../support/random.ts';

export const FILES = ['local-events.db', 'local-events.db-wal'] as const;

/** What becomes of changes that were not synced. */
export const DAMAGES = {
  lost: 'all are lost',
  kept: 'all are kept',
  torn: 'some sectors are kept, in no order',
  garbage: 'some sectors are kept, some have random bytes',
} as const;
export type Damage = keyof typeof DAMAGES;

interface Operation {
  /** Of the clock that process.hrtime reads. */
  readonly timeNs: bigint;
  readonly kind: 'write' | 'truncate' | 'sync';
  readonly file: (typeof FILES)[number];
  readonly offset: number;
  /** Of a truncated file: its new length. */
  readonly length: number;
  readonly data: Buffer;
}

const KINDS = [undefined, 'write', 'truncate', 'sync'] as const;
const HEAD_BYTES = 32;
const SECTOR_BYTES = 512;

export function readTrace(path: string): Operation[] {
  const bytes = readFileSync(path);
  const operations: Operation[] = [];
  for (let at = 0; at < bytes.length; ) {
    const kind = KINDS[bytes.readUInt32LE(at + 24)]!;
    const file = FILES[bytes.readUInt32LE(at + 28) - 1]!;
    const offset = Number(bytes.readBigUInt64LE(at + 8));
    const length = Number(bytes.readBigUInt64LE(at + 16));
    const timeNs = bytes.readBigUInt64LE(at);
    at += HEAD_BYTES;
    const data = bytes.subarray(at, kind === 'write' ? at + length : at);
    at += data.length;
    operations.push({ timeNs, kind, file, offset, length, data });
  }
  return operations;
}

export class Disk {
  readonly #files = new Map(
    FILES.map((name) => [name, { synced: new Content(), pending: [] as Operation[] }]),
  );

  apply(operation: Operation): void {
    const file = this.#files.get(operation.file)!;
    if (operation.kind !== 'sync') file.pending.push(operation);
    else for (const one of file.pending.splice(0)) file.synced.apply(one);
  }

  /** The files after a power cut now. */
  damaged(damage: Damage, chance: Chance): { name: string; bytes: Buffer }[] {
    return [...this.#files].map(([name, { synced, pending }]) => {
      const content = synced.copy();
      if (damage !== 'lost') for (const one of pending) content.applyWith(damage, one, chance);
      return { name, bytes: content.bytes };
    });
  }
}

/** The content of a file, with space to grow. */
class Content {
  #buffer = Buffer.alloc(0);
  #length = 0;

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  copy(): Content {
    const copy = new Content();
    copy.#buffer = Buffer.from(this.bytes);
    copy.#length = this.#length;
    return copy;
  }

  apply({ kind, offset, length, data }: Operation): void {
    const end = kind === 'truncate' ? length : Math.max(this.#length, offset + length);
    if (end !== this.#length) this.#resize(end);
    data.copy(this.#buffer, offset);
  }

  applyWith(damage: Damage, operation: Operation, chance: Chance): void {
    const { kind, offset, length, data } = operation;
    if (damage === 'kept' || kind === 'truncate') {
      if (damage === 'kept' || chance.chance(0.5)) this.apply(operation);
      return;
    }
    if (damage === 'garbage' && offset + length > this.#length) this.#resize(offset + length);
    for (let at = 0; at < length; at += SECTOR_BYTES) {
      const sector = data.subarray(at, at + SECTOR_BYTES);
      const fate = chance.next();
      if (fate < 0.5) this.apply({ ...operation, offset: offset + at, length: sector.length, data: sector });
      else if (damage === 'garbage' && fate < 0.75)
        randomBytes(sector.length).copy(this.#buffer, offset + at);
    }
  }

  #resize(length: number): void {
    if (length > this.#buffer.length) {
      this.#buffer = Buffer.concat([this.bytes, Buffer.alloc(2 * length - this.#length)]);
    } else {
      this.#buffer.fill(0, Math.min(length, this.#length), Math.max(length, this.#length));
    }
    this.#length = length;
  }
}
