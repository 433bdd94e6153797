// The suite itself: every test file is in `npm test` or `npm run test:long`, and every file that uses a long size is in the latter.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { findJobs } from '../scripts/test-jobs.ts';
import { temporaryFolder } from './support/service.ts';

const ROOT = join(import.meta.dirname, '..');
const importsSizes = (file: string) =>
  /from '[./]+\/(?:support\/)?sizes\.ts'/.test(readFileSync(join(ROOT, file), 'utf8'));
const filesOf = (isLong: boolean) => new Set(findJobs(ROOT, [], isLong).flatMap(({ files }) => files));

describe('the suite', () => {
  it('has every test file of the repository in one of its runs', () => {
    const all = globSync('**/*.test.{ts,mts,js,mjs}', {
      cwd: ROOT,
      exclude: ['node_modules', '**/node_modules'],
    });
    assert.deepEqual([...filesOf(false).union(filesOf(true))].sort(), all.sort());
    assert.ok(all.length - filesOf(false).size < 60, 'only slow ones are left to the long run');
  });

  it('has the acceptance suite twice, once per engine', () => {
    const jobs = findJobs(ROOT, [], false);
    const on = (engine?: string) => jobs.filter((job) => job.engine === engine).flatMap(({ files }) => files);
    assert.ok(on('sqlite').every((file) => file.startsWith('test/acceptance/')));
    assert.ok(on(undefined).every((file) => !file.startsWith('test/acceptance/')));
    assert.ok(on('sqlite').length > 20);
    assert.deepEqual(on('sqlite'), on('postgres'));
  });

  it('has the attacks in both runs, and outages in the long one, alone', () => {
    const alone = (isLong: boolean) =>
      findJobs(ROOT, [], isLong).flatMap(({ isAlone, files }) => (isAlone ? [files] : []));
    const attacks = ['test/attacks/attacks.test.ts'];
    const outages = ['failover', 'outage', 'restart'].map((name) => [`test/nodes/${name}.test.ts`]);
    assert.deepEqual(alone(false), [attacks]);
    assert.deepEqual(alone(true), [attacks, ...outages]);
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

  // A service that still ran would keep the process from ending.
  it('ends the service of an acceptance target that cannot be prepared', { timeout: 60_000 }, async (t) => {
    const folder = temporaryFolder();
    // With a provider, admin-token refuses.
    const provider = { OIDC_ISSUER: 'http://127.0.0.1:1', OIDC_CLIENT_ID: 'a', OIDC_CLIENT_SECRET: 'b' };
    const data = JSON.stringify({ DATA_DIR: join(folder, 'data'), ...provider });
    const script = `import { startAcceptanceTarget } from ${JSON.stringify(join(ROOT, 'scripts/acceptance-target.ts'))};
      await startAcceptanceTarget(${data}).catch(() => console.log('failed'));`;
    writeFileSync(join(folder, 'start.mjs'), script);
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'start.mjs')], {
      signal: t.signal,
    });
    assert.equal(stdout, 'failed\n');
  });
});
