// `backup --keep`: a folder with the newest backups, and the age of the last one in the metrics.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeData } from '../sqlite/data.ts';
import { assertSound } from '../sqlite/files.ts';
import { runHere } from '../support/command.ts';
import { freePort } from '../support/process.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

const NAME = /^local-events-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.db$/;
const nameOf = (day: number) => `local-events-2026-01-0${day}T03-00-00Z.db`;

describe('backup --keep', () => {
  it('makes a backup named after its time, and removes all but the newest', async () => {
    const env = { DATA_DIR: await makeData() };
    const folder = temporaryFolder();
    const others = ['notes.txt', 'local-events-2026.db', 'other-2026-01-01T03-00-00Z.db'];
    for (const name of [...others, ...[1, 2, 3, 4].map(nameOf)]) writeFileSync(join(folder, name), name);
    const { code, stdout, stderr } = await runHere(['backup', '--keep', '3', folder], env);
    assert.deepEqual([code, stdout], [0, ''], stderr);
    const left = readdirSync(folder)
      .filter((name) => !others.includes(name))
      .sort();
    assert.deepEqual(left.slice(0, 2), [nameOf(3), nameOf(4)]);
    assert.equal(left.length, 3);
    assert.match(left[2]!, NAME);
    assertSound(join(folder, left[2]!));
    assert.equal(statSync(join(folder, left[2]!)).mode & 0o777, 0o600);
    assert.ok(others.every((name) => existsSync(join(folder, name))));
    assert.ok(stderr.endsWith(`removed ${nameOf(1)}\nremoved ${nameOf(2)}\n`), stderr);
  });

  it('creates the folder, private to its owner', async () => {
    const folder = join(temporaryFolder(), 'backups');
    const { code, stderr } = await runHere(['backup', folder, '--keep=1'], { DATA_DIR: await makeData() });
    assert.equal(code, 0, stderr);
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    assert.equal(readdirSync(folder).length, 1);
  });

  it('keeps the newest up to the one that it made, if the clock was ahead before', async () => {
    const folder = temporaryFolder();
    const future = [1, 2].map((day) => `local-events-2999-01-0${day}T03-00-00Z.db`);
    for (const name of [...future, ...[1, 2, 3].map(nameOf)]) writeFileSync(join(folder, name), name);
    const env = { DATA_DIR: await makeData() };
    const { code, stderr } = await runHere(['backup', '--keep', '2', folder], env);
    assert.equal(code, 0);
    const [third, made, ...others] = readdirSync(folder).sort();
    assert.equal(third, nameOf(3));
    assertSound(join(folder, made!));
    assert.deepEqual(others, future);
    assert.match(stderr, new RegExp(`^The clock is or was wrong: .* ${future.join(', ')}$`, 'm'));
  });

  it('removes nothing if the backup fails', async () => {
    const folder = temporaryFolder();
    for (const day of [1, 2, 3]) writeFileSync(join(folder, nameOf(day)), '');
    const before = readdirSync(folder);
    for (const env of [
      { DATA_DIR: temporaryFolder() },
      { DATABASE_URL: 'postgres://user@db.internal/events' },
    ]) {
      const { code } = await runHere(['backup', '--keep', '1', folder], env as Record<string, string>);
      assert.equal(code, 1);
      assert.deepEqual(readdirSync(folder), before);
    }
  });

  it('removes what a killed backup has left, when it is a day old', async () => {
    const folder = temporaryFolder();
    const [old, recent] = [`${nameOf(1)}.123.part`, `${nameOf(2)}.124.part`];
    for (const name of [old, recent]) writeFileSync(join(folder, name), '');
    const twoDaysAgo = Date.now() / 1_000 - 2 * 86_400;
    utimesSync(join(folder, old), twoDaysAgo, twoDaysAgo);
    assert.equal((await runHere(['backup', '--keep', '1', folder], { DATA_DIR: await makeData() })).code, 0);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.endsWith('.part')),
      [recent],
    );
  });
});

describe('the age of the last backup', { timeout: 120_000 }, () => {
  it('is in the metrics of a running service, and after a restart', async (test) => {
    const METRICS_PORT = String(await freePort());
    const env = { DATA_DIR: temporaryFolder(), METRICS_PORT };
    let service = await startTestService(env);
    test.after(() => service.close());
    const age = async () => {
      const text = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text();
      return Number(/^local_events_backup_age_seconds (\S+)$/m.exec(text)![1]);
    };
    assert.ok(Number.isNaN(await age()), 'there is none yet');
    const file = join(temporaryFolder(), 'copy.db');
    assert.equal((await runHere(['backup', file], env)).code, 0);
    while (Number.isNaN(await age())) await sleep(100);
    const marker = join(service.folder, 'local-events.db.last-backup');
    assert.match(readFileSync(marker, 'utf8'), /^\d{4}-.*Z\n$/);
    assert.equal(statSync(marker).mode & 0o777, 0o600);
    const first = await age();
    assert.ok(first >= 0 && first < 300, String(first));
    service.clock.advance(86_400_000);
    assert.ok((await age()) >= 86_400);
    await service.close();
    service = await startTestService(env);
    while (Number.isNaN(await age())) await sleep(100);
    assert.ok((await age()) < 600);
  });
});
