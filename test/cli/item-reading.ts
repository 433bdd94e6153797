// Reads items of a format from text in memory, in chunks of any size.

import { IMPORT_FORMATS } from '../../src/cli/import/import-formats.ts';
import type { Item } from '../../src/cli/import/import-items.ts';
import { AppError } from '../../src/domain/errors.ts';
import type { DefaultFields } from '../../src/domain/events/formats/default-fields.ts';

/** The number of each item and the body of its create, or its error message, read as soon as it is available. */
export async function readItems(
  format: 'geojson' | 'ics',
  content: string | Buffer,
  { given = {}, chunkBytes = 65_536 }: { given?: DefaultFields; chunkBytes?: number } = {},
): Promise<[number: number, body: Record<string, unknown> | string][]> {
  const read: [number, Record<string, unknown> | string][] = [];
  for await (const items of IMPORT_FORMATS[format]!.readItems(chunksOf(content, chunkBytes), given)) {
    for (const item of items) read.push([item.number, readItem(item)]);
  }
  return read;
}

function readItem(item: Item): Record<string, unknown> | string {
  try {
    return item.read() as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.message;
  }
}

/** The numbers of the items before the syntax error, and the error. */
export async function readUntilBroken(
  format: 'geojson' | 'ics',
  content: string,
  chunkBytes: number,
): Promise<{ items: number[]; problem: string }> {
  const items: number[] = [];
  try {
    for await (const batch of IMPORT_FORMATS[format]!.readItems(chunksOf(content, chunkBytes), {})) {
      items.push(...batch.map(({ number }) => number));
    }
  } catch (error) {
    return { items, problem: (error as Error).message };
  }
  return { items, problem: 'none' };
}

export async function* chunksOf(content: string | Buffer, chunkBytes: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(content);
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}
