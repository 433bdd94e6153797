// Loading the names of places: once, when they are first needed, and again only after a failure.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { AppError } from '../../src/domain/errors.ts';
import { lazyPlaces } from '../../src/places/places.ts';
import { temporaryFolder } from '../support/service.ts';
import { content, data } from './gazetteer-file.ts';

const FILE = new URL('../../src/places/places.zst', import.meta.url);

describe('the names of places', () => {
  it('are unavailable while the file is missing or damaged, and loaded as soon as it is there', async () => {
    const file = join(temporaryFolder(), 'places.zst');
    const places = lazyPlaces(pathToFileURL(file));
    const isUnavailable = (error: AppError) =>
      error.code === 'UNAVAILABLE' && /Send coordinates/.test(error.message) && error.cause instanceof Error;
    await assert.rejects(places.resolve('Bern'), isUnavailable);
    const whole = await readFile(FILE);
    writeFileSync(file, whole.subarray(0, 100_000));
    await assert.rejects(places.resolve('Bern'), isUnavailable);
    writeFileSync(file, whole);
    assert.equal((await places.resolve('Bern')).kind, 'found');
  });

  it('are loaded once for requests that come at the same time', async () => {
    const places = lazyPlaces();
    const before = process.memoryUsage().arrayBuffers;
    const found = await Promise.all(
      Array.from({ length: 50 }, (_, at) => places.resolve(at % 2 ? 'Bern' : 'Wien')),
    );
    assert.ok(found.every(({ kind }) => kind === 'found'));
    // One load takes 23 MB, and twice as much until what it needed is collected; 50 would take more than 1,000.
    assert.ok(process.memoryUsage().arrayBuffers - before < 200e6);
  });

  it('take at most 25 MB', () => {
    const { names, qualifiers, lists: _, ...columns } = data;
    const derived = [columns.shownNameEnds, names.keyEnds, names.numberEnds, qualifiers.keyEnds];
    const bytes = derived.reduce((sum, { byteLength }) => sum + byteLength, content.length);
    assert.ok(bytes < 25e6, String(bytes));
  });
});
