// The file of places: how it is laid out, read and written. It is compressed; unpacked, it is columns of numbers that are used as they
// are. scripts/build-places.ts makes it.
import { promisify } from 'node:util';
import { constants, zstdCompressSync, zstdDecompress } from 'node:zlib';
import type { NameTable } from './name-table.ts';

/** Places are numbered by population, the largest first: of two numbers, the smaller is the larger place. */
export interface PlaceData {
  /** In hundred-thousandths of a degree. */
  readonly lats: Int32Array;
  readonly lngs: Int32Array;
  /** 0: unknown. */
  readonly populations: Uint32Array;
  /** Numbers of the place's region and timezone. */
  readonly regions: Uint16Array;
  readonly zones: Uint16Array;
  /** The name of each place, as it is shown. */
  readonly shownNames: Buffer;
  readonly shownNameEnds: Uint32Array;
  /** Numbers are twice that of the place, and one more if the name is not its own but an alternate. */
  readonly names: NameTable;
  /** What can stand behind a name. Numbers are those of regions and, after all regions, countries. */
  readonly qualifiers: NameTable;
  readonly lists: PlaceLists;
}

export interface PlaceLists {
  /** Each region: the number of its country, and its name if it is known. */
  readonly regions: readonly (readonly [country: number, name: string | null])[];
  /** ISO codes. */
  readonly countries: readonly string[];
  readonly zones: readonly string[];
}

/** Columns in the order of the file. `ends` are stored as lengths, which compress better, and added up when they are read. */
const COLUMNS = [
  ['lats', 'int32'],
  ['lngs', 'int32'],
  ['populations', 'uint32'],
  ['regions', 'uint16'],
  ['zones', 'uint16'],
  ['shownNameEnds', 'ends'],
  ['shownNames', 'text'],
  ['keyEnds', 'ends'],
  ['numberEnds', 'ends'],
  ['numbers', 'uint32'],
  ['text', 'text'],
  ['qualifierKeyEnds', 'ends'],
  ['qualifierNumberEnds', 'ends'],
  ['qualifierNumbers', 'uint32'],
  ['qualifierText', 'text'],
] as const;

type Column = (typeof COLUMNS)[number][0];
type Columns = Record<Column, Buffer | Int32Array | Uint16Array | Uint32Array>;

/** Every column begins at a multiple of this, so that it can be used where it is. */
const ALIGNMENT = 4;

/** The compressed file: its unpacked length, then a Zstandard frame. */
export function packPlaces(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  const params = { [constants.ZSTD_c_compressionLevel]: 22, [constants.ZSTD_c_windowLog]: 25 };
  return Buffer.concat([length, zstdCompressSync(bytes, { params, pledgedSrcSize: bytes.length })]);
}

const unpack = promisify(zstdDecompress);

/** Unpacks on another thread, into one piece of memory, which need not be copied. */
export function unpackPlaces(file: Buffer): Promise<Buffer> {
  return unpack(file.subarray(4), { chunkSize: file.readUInt32LE(0) });
}

/** The content of the file, to be packed. */
export function encodePlaces(data: PlaceData): Buffer {
  const { lists, names, qualifiers, ...own } = data;
  const columns: Columns = {
    ...own,
    ...names,
    qualifierKeyEnds: qualifiers.keyEnds,
    qualifierNumberEnds: qualifiers.numberEnds,
    qualifierNumbers: qualifiers.numbers,
    qualifierText: qualifiers.text,
  };
  const bodies = COLUMNS.map(([name, kind]) => {
    const column = columns[name];
    return toBytes(kind === 'ends' ? toLengths(column as Uint32Array) : column);
  });
  const head = Buffer.from(JSON.stringify({ sizes: bodies.map(({ length }) => length), lists }));
  const length = Buffer.alloc(ALIGNMENT);
  length.writeUInt32LE(head.length);
  return Buffer.concat([length, ...[head, ...bodies].map(padded)]);
}

/** Uses the memory of the file, which must begin where a column may. Little-endian, as every platform of Node that is in use. */
export function decodePlaces(file: Buffer): PlaceData {
  const headLength = file.readUInt32LE(0);
  const head = file.toString('utf8', ALIGNMENT, ALIGNMENT + headLength);
  const { sizes, lists } = JSON.parse(head) as { sizes: number[]; lists: PlaceLists };
  let from = ALIGNMENT + aligned(headLength);
  const columns = {} as Columns;
  for (const [at, [name, kind]] of COLUMNS.entries()) {
    columns[name] = toColumn(kind, file.subarray(from, from + sizes[at]!));
    from += aligned(sizes[at]!);
  }
  const { qualifierKeyEnds, qualifierNumberEnds, qualifierNumbers, qualifierText, ...others } = columns;
  const { keyEnds, numberEnds, numbers, text, ...own } = others;
  return {
    ...own,
    names: { keyEnds, numberEnds, numbers, text },
    qualifiers: {
      keyEnds: qualifierKeyEnds,
      numberEnds: qualifierNumberEnds,
      numbers: qualifierNumbers,
      text: qualifierText,
    },
    lists,
  } as PlaceData;
}

function toColumn(kind: (typeof COLUMNS)[number][1], bytes: Buffer): Columns[Column] {
  const { buffer, byteOffset, length } = bytes;
  if (kind === 'text') return bytes;
  if (kind === 'uint16') return new Uint16Array(buffer, byteOffset, length / 2);
  if (kind === 'int32') return new Int32Array(buffer, byteOffset, length / 4);
  if (kind === 'uint32') return new Uint32Array(buffer, byteOffset, length / 4);
  return toEnds(new Uint16Array(buffer, byteOffset, length / 2));
}

function toLengths(ends: Uint32Array): Uint16Array {
  return Uint16Array.from(ends, (end, at) => end - (ends[at - 1] ?? 0));
}

function toEnds(lengths: Uint16Array): Uint32Array {
  const ends = new Uint32Array(lengths.length);
  let end = 0;
  for (let at = 0; at < lengths.length; at++) {
    end += lengths[at]!;
    ends[at] = end;
  }
  return ends;
}

function toBytes({ buffer, byteOffset, byteLength }: Columns[Column]): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(aligned(bytes.length) - bytes.length)]);
}

function aligned(length: number): number {
  return Math.ceil(length / ALIGNMENT) * ALIGNMENT;
}
