// The suite itself: `npm test` has every test file, and `npm run test:long` has every file that uses a long size.
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
  it('has every test file of the repository', () => {
    const all = globSync('**/*.test.{ts,mts,js,mjs}', {
      cwd: ROOT,
      exclude: ['node_modules', '**/node_modules'],
    });
    assert.deepEqual([...filesOf(false)].sort(), all.sort());
  });

  it('has the acceptance suite twice, once per engine', () => {
    const jobs = findJobs(ROOT, [], false).filter(({ file }) => file.startsWith('test/acceptance/'));
    const on = (engine: string) => jobs.filter((job) => job.engine === engine).map(({ file }) => file);
    assert.ok(on('sqlite').length > 20);
    assert.deepEqual(on('sqlite'), on('postgres'));
  });

  it('includes in the long run every file that uses a size, directly or through imports', () => {
    const long = filesOf(true);
    for (const file of ['test/crash/kill.test.ts', 'test/store/postgres.test.ts']) assert.ok(long.has(file));
    assert.ok(!long.has('test/suite.test.ts'));
    const users = globSync('test/**/*.test.ts', { cwd: ROOT }).filter(importsSizes);
    assert.ok(users.length > 5);
    assert.deepEqual(
      users.filter((file) => !long.has(file)),
      [],
    );
  });
});
