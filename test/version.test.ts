// The version is the same wherever it is said. test/package/package.test.ts looks into the package.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { runHere } from './support/command.ts';
import { startTestService } from './support/service.ts';

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };

it('is that of package.json in the lock file, the changelog, the help and /health', async () => {
  const lock = JSON.parse(read('package-lock.json'));
  assert.deepEqual([lock.version, lock.packages[''].version], [version, version]);
  const released = [...read('CHANGELOG.md').matchAll(/^## (\d+\.\d+\.\d+)$/gm)].map(([, found]) => found);
  assert.equal(released[0], version);
  assert.ok((await runHere(['--help'])).stdout.startsWith(`local-events ${version}: `));
  const service = await startTestService();
  const { body } = await service.client.get('/health');
  await service.close();
  assert.equal(body.version, version);
});

it('has notes for whoever upgrades to a new major version', () => {
  for (const part of read('CHANGELOG.md').split(/^## /m).slice(1)) {
    if (/^\d+\.0\.0$/m.test(part)) assert.match(part, /^### Upgrade$/m);
  }
});
