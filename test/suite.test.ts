// The suite itself: every test is in `npm test` or in `npm run test:long`, and whatever has a long size is run in it.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findJobs } from '../scripts/test-jobs.ts';

const ROOT = join(import.meta.dirname, '..');
const importsSizes = (file: string) =>
  /from '[./]+\/(?:support\/)?sizes\.ts'/.test(readFileSync(join(ROOT, file), 'utf8'));
const filesOf = (isLong: boolean) => new Set(findJobs(ROOT, [], isLong).map(({ file }) => file));

describe('the suite', () => {
  it('has every test file, in the folder where files are looked for', () => {
    const all = globSync('**/*.test.{ts,mts,js,mjs}', {
      cwd: ROOT,
      exclude: ['node_modules', '**/node_modules'],
    });
    assert.deepEqual([...filesOf(false)].sort(), all.sort());
  });

  it('has the acceptance suite twice, on either engine', () => {
    const jobs = findJobs(ROOT, [], false).filter(({ file }) => file.startsWith('test/acceptance/'));
    const on = (engine: string) => jobs.filter((job) => job.engine === engine).map(({ file }) => file);
    assert.ok(on('sqlite').length > 20);
    assert.deepEqual(on('sqlite'), on('postgres'));
  });

  it('runs long what has a long size, which no file but a test may have', () => {
    const users = globSync('test/**/*.ts', { cwd: ROOT }).filter(importsSizes);
    assert.ok(users.length > 5);
    assert.deepEqual([...filesOf(true)].sort(), users.sort());
  });
});
