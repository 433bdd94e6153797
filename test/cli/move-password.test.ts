// The password of `move`: from the environment or a file, never from its arguments. The server checks it.
import assert from 'node:assert/strict';
import { chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runHere } from '../support/command.ts';
import { createDatabase, startSharedCluster } from '../support/postgres.ts';
import type { Cluster } from '../support/postgres-cluster.ts';
import { run } from '../support/process.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { assertMoved, type Env, withSql } from './moving.ts';

const PASSWORD = 'p@ss/w?r#d,:% ü"';

describe('the password of a move', () => {
  let cluster: Cluster;
  let folder: string;
  let passwordFile: string;
  before(async () => {
    cluster = await startSharedCluster();
    await requirePasswords();
    const service = await startTestService();
    await service.newAgent();
    await service.close();
    folder = service.folder;
    passwordFile = join(temporaryFolder(), 'password');
    writeFileSync(passwordFile, `${PASSWORD}\n`);
  });
  after(() => cluster.remove());

  /** Makes the server ask everybody but its superuser for a password. */
  async function requirePasswords(): Promise<void> {
    const file = join(cluster.data, 'pg_hba.conf');
    const { uid, gid } = statSync(file);
    const rule = (user: string, method: string) => `host all ${user} 127.0.0.1/32 ${method}\n`;
    writeFileSync(file, rule('postgres', 'trust') + rule('all', 'scram-sha-256'));
    chownSync(file, uid, gid);
    await withSql(cluster.url(), (sql) => sql`SELECT pg_reload_conf()`);
    const url = await createDatabase(cluster.url());
    const isTrusted = () =>
      withSql(url, (sql) => sql`SELECT 1`).then(
        () => true,
        () => false,
      );
    while (await isTrusted()) await sleep(10);
  }

  /** URL of a new database, without the password that its owner has. */
  async function newUrl(): Promise<string> {
    const url = await createDatabase(cluster.url());
    const { username } = new URL(url);
    await withSql(cluster.url(), (sql) =>
      sql.unsafe(`ALTER ROLE ${username} PASSWORD '${PASSWORD.replaceAll("'", "''")}'`),
    );
    return url;
  }

  const withPassword = (url: string) => {
    const { host, username, pathname } = new URL(url);
    return `postgres://${username}:${encodeURIComponent(PASSWORD)}@${host}${pathname}`;
  };

  it('comes from PGPASSWORD, in both directions', async () => {
    const url = await newUrl();
    const secret = { PGPASSWORD: PASSWORD };
    assertMoved(await run(['move', '--to', url], { ...secret, DATA_DIR: folder }));
    assertMoved(await run(['move', '--from', url, '--to', join(temporaryFolder(), 'back')], secret));
  });

  it('comes from the file that --password-file names, in both directions', async () => {
    const url = await newUrl();
    const secret = ['--password-file', passwordFile];
    assertMoved(await runHere(['move', '--to', url, ...secret], { DATA_DIR: folder }));
    assertMoved(await runHere(['move', '--from', url, '--to', join(temporaryFolder(), 'back'), ...secret]));
    const other = await newUrl();
    assertMoved(await runHere(['move', ...secret], { DATA_DIR: folder, DATABASE_URL: other }));
  });

  it('may be part of DATABASE_URL', async () => {
    const url = await newUrl();
    assertMoved(await runHere(['move'], { DATA_DIR: folder, DATABASE_URL: withPassword(url) }));
  });

  it('is refused in the arguments, before anything is changed, and is not printed', async () => {
    const url = await newUrl();
    const ended = await runHere(['move', '--to', withPassword(url)], { DATA_DIR: folder });
    assert.deepEqual([ended.code, ended.stdout], [2, '']);
    assert.match(ended.stderr, /^--to contains a password, .* set PGPASSWORD or add --password-file FILE\. /);
    assert.ok(!ended.stderr.includes(encodeURIComponent(PASSWORD)) && !ended.stderr.includes(PASSWORD));
    const database = new URL(url).pathname.slice(1);
    const tables = await withSql(
      cluster.url(database),
      (sql) => sql`SELECT 1 FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'spatial_ref_sys'`,
    );
    assert.equal(tables.length, 0);
  });

  it('must be right', async () => {
    const url = await newUrl();
    const wrong = join(temporaryFolder(), 'wrong');
    writeFileSync(wrong, 'sesame');
    const cases: [args: string[], env: Env][] = [
      [[], {}],
      [['--password-file', wrong], {}],
    ];
    for (const [args, env] of cases) {
      const ended = await runHere(['move', '--to', url, ...args], { ...env, DATA_DIR: folder });
      assert.deepEqual([ended.code, ended.stdout], [1, ''], ended.stderr);
      assert.match(ended.stderr, /password/i);
      assert.doesNotMatch(ended.stderr, /sesame/);
    }
  });

  it('needs a file that can be read and is not empty', async () => {
    const empty = join(temporaryFolder(), 'empty');
    writeFileSync(empty, '\n');
    const directory = join(temporaryFolder(), 'directory');
    mkdirSync(directory);
    for (const [file, reason] of [
      [join(temporaryFolder(), 'missing'), /^Cannot read the file of --password-file: ENOENT/],
      [directory, /^Cannot read the file of --password-file: EISDIR/],
      [empty, /^The file of --password-file is empty\./],
    ] as const) {
      const args = ['move', '--to', cluster.url('events', 'events'), '--password-file', file];
      const ended = await runHere(args, { DATA_DIR: folder });
      assert.deepEqual([ended.code, ended.stdout], [1, ''], ended.stderr);
      assert.match(ended.stderr, reason);
    }
  });
});
