// The formats that `import` reads: how a file says which it is, and how items come out of it.
import type { GivenFields } from '../domain/formats/lacking.ts';
import { readCalendar } from './calendar-items.ts';
import { readFeatures } from './geojson-items.ts';
import type { Item } from './import-items.ts';
import { parseLine, readLines } from './ndjson.ts';

export interface ImportFormat {
  /** What an item is numbered by. */
  readonly noun: string;
  /** What is counted while it runs. */
  readonly nouns: string;
  /** Whether its items may lack fields that options give. */
  readonly mayLack: boolean;
  /** Throws StartError for a file that is not what it should be as a whole. */
  readonly readItems: (chunks: AsyncIterable<Buffer>, given: GivenFields) => AsyncIterable<Item[]>;
}

export const IMPORT_FORMATS: Readonly<Record<string, ImportFormat>> = {
  ndjson: { noun: 'line', nouns: 'lines', mayLack: false, readItems: readLineItems },
  geojson: { noun: 'feature', nouns: 'features', mayLack: true, readItems: readFeatures },
  ics: { noun: 'line', nouns: 'events', mayLack: true, readItems: readCalendar },
};

/** By the ending of the file; JSON lines where it says nothing. */
export function formatOfFile(file: string): string {
  const ending = /\.(\w+)$/.exec(file)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(IMPORT_FORMATS, ending) ? ending : 'ndjson';
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
