// Finds the features in a GeoJSON stream (collections or a sequence of features) and keeps one at a time. It cuts out the
// elements of the outermost "features" array, and checks the object around it (the shell) when that ends. It copies what it
// keeps of a chunk, because a slice would keep the whole chunk in memory.
import { StartError } from '../../domain/errors.ts';
import type { DefaultFields } from '../../domain/events/formats/default-fields.ts';
import { readFeature } from '../../domain/events/formats/geojson.ts';
import { MAX_LINE_BYTES, parseLine } from '../ndjson.ts';
import type { Item } from './import-items.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN = new Set([0x5b, 0x7b]);
const CLOSE = new Set([0x5d, 0x7d]);
const LIST = 0x5b;
/** White space, and the record separator of text sequences (RFC 8142). */
const BLANK = new Set([0x20, 0x09, 0x0a, 0x0d, 0x1e]);
const FEATURES = Buffer.from('"features"');
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** Yields the items of each chunk. If the file as a whole is invalid, throws StartError after the items before the fault. */
export async function* readFeatures(
  chunks: AsyncIterable<Buffer>,
  defaults: DefaultFields,
): AsyncGenerator<Item[]> {
  const cutter = new FeatureCutter(defaults);
  for await (const chunk of chunks) {
    try {
      cutter.add(chunk);
    } finally {
      yield cutter.take();
    }
  }
  cutter.end();
}

/** Buffer that drops its bytes when they exceed the limit. */
class BoundedBuffer {
  #parts: Buffer[] = [];
  length = 0;

  add(bytes: Buffer): void {
    this.length += bytes.length;
    if (this.length > MAX_LINE_BYTES) this.#parts = [];
    else if (bytes.length > 0) this.#parts.push(Buffer.from(bytes));
  }

  /** Empties the buffer. Undefined if the bytes exceeded the limit. */
  take(): Buffer | undefined {
    const bytes = this.length > MAX_LINE_BYTES ? undefined : Buffer.concat(this.#parts);
    this.#parts = [];
    this.length = 0;
    return bytes;
  }
}

class FeatureCutter {
  readonly #defaults: DefaultFields;
  #items: Item[] = [];
  #count = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** Characters of "features" that the last string directly inside the outermost object matches; -1: another string. */
  #matched = -1;
  /** Whether the next value is that of "features". */
  #isFeaturesNext = false;
  #isInFeatures = false;
  #hadFeatures = false;
  #hasItem = false;
  /** Bytes of a byte order mark read so far. */
  #markBytes = 0;
  #hadObject = false;
  readonly #shell = new BoundedBuffer();
  readonly #item = new BoundedBuffer();

  constructor(defaults: DefaultFields) {
    this.#defaults = defaults;
  }

  add(chunk: Buffer): void {
    let from = 0; // start of the bytes not kept yet
    const keep = (to: number): void => {
      const bytes = chunk.subarray(from, to);
      if (this.#isInFeatures) this.#item.add(bytes);
      else if (this.#depth > 0) this.#shell.add(bytes);
      from = to;
    };
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (this.#isInString) {
        if (this.#depth === 1) this.#match(byte);
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#isInString = false;
        continue;
      }
      if (BLANK.has(byte)) continue;
      if (this.#depth === 0) {
        if (byte === BYTE_ORDER_MARK[this.#markBytes]) {
          this.#markBytes = (this.#markBytes + 1) % BYTE_ORDER_MARK.length;
          continue;
        }
        if (byte !== 0x7b || this.#markBytes > 0) throw invalidFile('it must consist of JSON objects');
        from = at;
        this.#depth = 1;
        this.#hadObject = true;
        continue;
      }
      if (this.#isInFeatures) {
        if (this.#depth === 2 && (byte === COMMA || byte === 0x5d)) {
          keep(at);
          const isLast = byte === 0x5d;
          if (!isLast || this.#hasItem) this.#cut(this.#item.take());
          else this.#item.take(); // white space
          this.#hasItem = !isLast;
          from = at + 1;
          if (isLast) {
            this.#isInFeatures = false;
            this.#depth = 1;
            from = at;
          }
          continue;
        }
        this.#hasItem = true;
      }
      if (byte === QUOTE) {
        this.#isInString = true;
        this.#matched = 1;
      } else if (OPEN.has(byte)) {
        this.#depth++;
        if (this.#depth === 2 && byte === LIST && this.#isFeaturesNext) {
          keep(at + 1);
          this.#isInFeatures = true;
          this.#hadFeatures = true;
          this.#hasItem = false;
        }
      } else if (CLOSE.has(byte)) {
        if (this.#depth === 1) {
          keep(at + 1);
          this.#depth = 0;
          this.#closeShell();
        } else this.#depth--;
      }
      if (this.#depth === 1) this.#isFeaturesNext = byte === COLON && this.#matched === FEATURES.length;
    }
    keep(chunk.length);
  }

  /** Returns and forgets the items completed since the last call. */
  take(): Item[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  /** Throws StartError if the file is empty or cut off. */
  end(): void {
    if (this.#depth > 0 || this.#markBytes > 0) throw invalidFile('it is incomplete');
    if (!this.#hadObject) throw invalidFile('it is empty');
  }

  #match(byte: number): void {
    this.#matched = byte === FEATURES[this.#matched] ? this.#matched + 1 : -1;
  }

  #cut(bytes: Buffer | undefined): void {
    const number = ++this.#count;
    const read = () => readFeature(parseLine({ number, bytes }), this.#defaults);
    this.#items.push({ number, bytes: bytes?.length ?? 0, read });
  }

  /** Checks an outermost object without its features: it must be a collection or a single feature. Throws StartError. */
  #closeShell(): void {
    const bytes = this.#shell.take();
    const hadFeatures = this.#hadFeatures;
    this.#hadFeatures = false;
    const isTooLong = !hadFeatures && bytes === undefined;
    const type = isTooLong ? 'Feature' : typeOfShell(bytes);
    if (type !== (hadFeatures ? 'FeatureCollection' : 'Feature')) {
      throw invalidFile('it must be a FeatureCollection or a sequence of Features');
    }
    if (!hadFeatures) this.#cut(bytes);
  }
}

function typeOfShell(bytes: Buffer | undefined): unknown {
  try {
    return (parseLine({ number: 0, bytes }) as { type?: unknown }).type;
  } catch (error) {
    throw invalidFile(`outside its features it ${(error as Error).message.replace(/^body: /, '')}`);
  }
}

function invalidFile(reason: string): StartError {
  return new StartError(`the file is not valid GeoJSON: ${reason}`);
}
