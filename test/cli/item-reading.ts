// Reads items of a format from text in memory, in chunks of any size.

import { IMPORT_FORMATS } from '../../src/cli/import-formats.ts';
import { AppError } from '../../src/domain/errors.ts';
import type { GivenFields } from '../../src/domain/formats/lacking.ts';

/** For each item its number and the body of its create, or the message of its refusal. */
export async function readItems(
  format: 'geojson' | 'ics',
  content: string | Buffer,
  { given = {}, chunkBytes = 65_536 }: { given?: GivenFields; chunkBytes?: number } = {},
): Promise<[number: number, body: Record<string, unknown> | string][]> {
  const bytes = Buffer.from(content);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  const batches = await Array.fromAsync(IMPORT_FORMATS[format]!.readItems(chunks(), given));
  return batches.flat().map(({ number, read }) => {
    try {
      return [number, read() as Record<string, unknown>];
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return [number, error.message];
    }
  });
}
