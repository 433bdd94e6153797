// Finds the features in a stream of GeoJSON, whole collections or features one after the other, without holding more than
// one: whatever is in the outermost "features" is cut out, and the shell around it is checked at its end. Of a chunk, only
// copies are kept: a part of it would keep all of it in memory.
import { StartError } from '../domain/errors.ts';
import type { DefaultFields } from '../domain/formats/default-fields.ts';
import { readFeature } from '../domain/formats/geojson-reader.ts';
import type { Item } from './import-items.ts';
import { MAX_LINE_BYTES, parseLine } from './ndjson.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN = new Set([0x5b, 0x7b]);
const CLOSE = new Set([0x5d, 0x7d]);
const LIST = 0x5b;
/** White space, and what separates the texts of a sequence (RFC 8142). */
const BLANK = new Set([0x20, 0x09, 0x0a, 0x0d, 0x1e]);
const FEATURES = Buffer.from('"features"');
const MARK = Buffer.from('\ufeff');

/** The items of each chunk. Throws StartError, behind the items before it, where a file is not what it should be as a whole. */
export async function* readFeatures(
  chunks: AsyncIterable<Buffer>,
  given: DefaultFields,
): AsyncGenerator<Item[]> {
  const cutter = new FeatureCutter(given);
  for await (const chunk of chunks) {
    try {
      cutter.add(chunk);
    } finally {
      yield cutter.take();
    }
  }
  cutter.end();
}

/** Bytes that are kept up to a limit. */
class Piece {
  #parts: Buffer[] = [];
  length = 0;

  add(bytes: Buffer): void {
    this.length += bytes.length;
    if (this.length > MAX_LINE_BYTES) this.#parts = [];
    else if (bytes.length > 0) this.#parts.push(Buffer.from(bytes));
  }

  /** Undefined if there were too many. */
  take(): Buffer | undefined {
    const bytes = this.length > MAX_LINE_BYTES ? undefined : Buffer.concat(this.#parts);
    this.#parts = [];
    this.length = 0;
    return bytes;
  }
}

class FeatureCutter {
  readonly #given: DefaultFields;
  #items: Item[] = [];
  #count = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** How much of "features" the last string right inside the outermost object has matched; -1: it is another one. */
  #matched = -1;
  #isNamed = false;
  #isInFeatures = false;
  #hadFeatures = false;
  #hasItem = false;
  /** How much of a byte order mark there was. */
  #marked = 0;
  #hadObject = false;
  readonly #shell = new Piece();
  readonly #item = new Piece();

  constructor(given: DefaultFields) {
    this.#given = given;
  }

  add(chunk: Buffer): void {
    let from = 0; // of what is not yet kept
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
        if (byte === MARK[this.#marked]) {
          this.#marked = (this.#marked + 1) % MARK.length;
          continue;
        }
        if (byte !== 0x7b || this.#marked > 0) throw broken('it must be made of objects');
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
        if (this.#depth === 2 && byte === LIST && this.#isNamed) {
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
      if (this.#depth === 1) this.#isNamed = byte === COLON && this.#matched === FEATURES.length;
    }
    keep(chunk.length);
  }

  /** What is complete since the last time. */
  take(): Item[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  end(): void {
    if (this.#depth > 0 || this.#marked > 0) throw broken('it ends in the middle');
    if (!this.#hadObject) throw broken('it is empty');
  }

  #match(byte: number): void {
    this.#matched = byte === FEATURES[this.#matched] ? this.#matched + 1 : -1;
  }

  #cut(bytes: Buffer | undefined): void {
    const number = ++this.#count;
    const read = () => readFeature(parseLine({ number, bytes }), this.#given);
    this.#items.push({ number, bytes: bytes?.length ?? 0, read });
  }

  /** An object without the features in it: a collection, or a feature of its own. */
  #closeShell(): void {
    const bytes = this.#shell.take();
    const hadFeatures = this.#hadFeatures;
    this.#hadFeatures = false;
    const isTooLong = !hadFeatures && bytes === undefined;
    const type = isTooLong ? 'Feature' : typeOfShell(bytes);
    if (type !== (hadFeatures ? 'FeatureCollection' : 'Feature')) {
      throw broken('it must be a FeatureCollection, or Features one after the other');
    }
    if (!hadFeatures) this.#cut(bytes);
  }
}

function typeOfShell(bytes: Buffer | undefined): unknown {
  try {
    return (parseLine({ number: 0, bytes }) as { type?: unknown }).type;
  } catch (error) {
    throw broken(`outside of its features it ${(error as Error).message.replace(/^body: /, '')}`);
  }
}

function broken(reason: string): StartError {
  return new StartError(`the file is no GeoJSON that can be read: ${reason}`);
}
