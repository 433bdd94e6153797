// Formats that `import` reads: how to recognise each by its file extension or first bytes, and how to read its items.
import { StartError } from '../../domain/errors.ts';
import type { DefaultFields } from '../../domain/events/formats/default-fields.ts';
import { parseLine, readLines } from '../ndjson.ts';
import { readCalendar } from './calendar-items.ts';
import { readFeatures } from './geojson-items.ts';
import type { Item } from './import-items.ts';

export interface ImportFormat {
  /** File extensions. Any other extension means JSON lines. */
  readonly extensions: readonly string[];
  /** Matches the first bytes of files of this format only. */
  readonly beginning?: RegExp;
  /** Unit of an item's number in messages. */
  readonly noun: string;
  /** Plural of what the progress bar counts. */
  readonly nouns: string;
  /** Whether command-line options may fill in missing fields. */
  readonly takesDefaults: boolean;
  /** Throws StartError if the file as a whole is invalid. */
  readonly readItems: (chunks: AsyncIterable<Buffer>, defaults: DefaultFields) => AsyncIterable<Item[]>;
}

export const IMPORT_FORMATS: Readonly<Record<string, ImportFormat>> = {
  ndjson: {
    extensions: ['ndjson', 'jsonl'],
    ...{ noun: 'line', nouns: 'lines', takesDefaults: false, readItems: readLineItems },
  },
  geojson: {
    extensions: ['geojson', 'geojsonl', 'geojsons'],
    beginning: /^\ufeff?[\s\x1e]*\{\s*"(?:type"\s*:\s*"Feature(?:Collection)?"|features"\s*:\s*\[)/,
    ...{ noun: 'feature', nouns: 'features', takesDefaults: true, readItems: readFeatures },
  },
  ics: {
    extensions: ['ics', 'ical', 'ifb'],
    beginning: /^\ufeff?\s*BEGIN:VCALENDAR\b/i,
    ...{ noun: 'line', nouns: 'events', takesDefaults: true, readItems: readCalendar },
  },
};

/** Format name for the file's extension; JSON lines if the extension is unknown. */
export function formatOfFile(file: string): string {
  const extension = /\.(\w+)$/.exec(file)?.[1]?.toLowerCase() ?? '';
  const found = Object.entries(IMPORT_FORMATS).find(([, { extensions }]) => extensions.includes(extension));
  return found?.[0] ?? 'ndjson';
}

/** Enough to recognise a format. */
const BEGINNING_BYTES = 1_024;

/** Passes the chunks through. Throws StartError if the first one looks like another format. */
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
        throw new StartError(`the file looks like ${other[0]}: add --format ${other[0]}`);
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
