// The file of places is what the script makes of the packages that are installed.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { buildPlaces } from '../../scripts/build-places.ts';
import { content } from './gazetteer-file.ts';

it('scripts/build-places.ts makes the content of src/places/places.zst again', () => {
  assert.ok(buildPlaces().equals(content), 'run "node scripts/build-places.ts", and look at what changed');
});
