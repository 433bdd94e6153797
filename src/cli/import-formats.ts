// The formats that `import` reads: how a file says which it is, by its ending or how it begins, and how items come out of it.
import { StartError } from '../domain/errors.ts';
import type { DefaultFields } from '../domain/formats/default-fields.ts';
import { readCalendar } from './calendar-items.ts';
import { readFeatures } from './geojson-items.ts';
import type { Item } from './import-items.ts';
import { parseLine, readLines } from './ndjson.ts';

export interface ImportFormat {
  /** Of files; JSON lines are also what other endings stand for. */
  readonly endings: readonly string[];
  /** What only files of this format begin with. */
  readonly beginning?: RegExp;
  /** What an item is numbered by. */
  readonly noun: string;
  /** What is counted while it runs. */
  readonly nouns: string;
  /** Whether its items may lack fields that options give. */
  readonly mayLack: boolean;
  /** Throws StartError for a file that is not what it should be as a whole. */
  readonly readItems: (chunks: AsyncIterable<Buffer>, given: DefaultFields) => AsyncIterable<Item[]>;
}

export const IMPORT_FORMATS: Readonly<Record<string, ImportFormat>> = {
  ndjson: {
    endings: ['ndjson', 'jsonl'],
    ...{ noun: 'line', nouns: 'lines', mayLack: false, readItems: readLineItems },
  },
  geojson: {
    endings: ['geojson', 'geojsonl', 'geojsons'],
    beginning: /^\ufeff?[\s\x1e]*\{\s*"(?:type"\s*:\s*"Feature(?:Collection)?"|features"\s*:\s*\[)/,
    ...{ noun: 'feature', nouns: 'features', mayLack: true, readItems: readFeatures },
  },
  ics: {
    endings: ['ics', 'ical', 'ifb'],
    beginning: /^\ufeff?\s*BEGIN:VCALENDAR\b/i,
    ...{ noun: 'line', nouns: 'events', mayLack: true, readItems: readCalendar },
  },
};

/** By the ending of the file; JSON lines where it says nothing. */
export function formatOfFile(file: string): string {
  const ending = /\.(\w+)$/.exec(file)?.[1]?.toLowerCase() ?? '';
  const found = Object.entries(IMPORT_FORMATS).find(([, { endings }]) => endings.includes(ending));
  return found?.[0] ?? 'ndjson';
}

/** Enough to know a file by. */
const BEGINNING_BYTES = 1_024;

/** The chunks as they are. Throws StartError where the first one is the beginning of another format. */
export async function* expectFormat(
  chunks: AsyncIterable<Buffer>,
  format: ImportFormat,
): AsyncGenerator<Buffer> {
  let isFirst = true;
  for await (const chunk of chunks) {
    if (isFirst) {
      const text = chunk.toString('utf8', 0, BEGINNING_BYTES);
      const other = Object.entries(IMPORT_FORMATS).find(([, { beginning }]) => beginning?.test(text));
      if (other && other[1] !== format) {
        throw new StartError(`the file begins as one of another format: give --format ${other[0]}`);
      }
      isFirst = false;
    }
    yield chunk;
  }
}

async function* readLineItems(chunks: AsyncIterable<Buffer>): AsyncGenerator<Item[]> {
  for await (const lines of readLines(chunks)) {
    yield lines.map((line) => ({
      number: line.number,
      bytes: line.bytes?.length ?? 0,
      read: () => parseLine(line),
    }));
  }
}
