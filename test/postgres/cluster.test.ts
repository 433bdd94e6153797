// The clusters and databases that other tests rely on: their promises, checked on real servers.
import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { getAdministratorUrl, newDatabase } from '../support/postgres.ts';
import { type Cluster, startCluster } from '../support/postgres-cluster.ts';
import { childrenOf, isAlive } from '../support/postgres-programs.ts';
import { launchCommand, type RunningProcess, untilPrinted } from '../support/process.ts';

const pools: postgres.Sql[] = [];
after(async () => {
  for (const pool of pools) await pool.end({ timeout: 0 });
});

function connect(url: string): postgres.Sql {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  pools.push(sql);
  return sql;
}

/** Runs the script in a process that imports the helpers under test. */
function launchScript(script: string, env: Record<string, string> = {}): RunningProcess {
  const imports = [
    `import { getAdministratorUrl, newDatabase } from '${import.meta.resolve('../support/postgres.ts')}';`,
    `import { startCluster } from '${import.meta.resolve('../support/postgres-cluster.ts')}';`,
  ];
  const code = [...imports, script].join('\n');
  return launchCommand(process.execPath, ['--input-type=module', '--eval', code], { env });
}

describe('a fresh database', () => {
  it('has PostGIS and an ordinary role as its owner', async () => {
    const sql = connect(await newDatabase());
    const [row] = await sql`
      select st_distance('point(0 0)'::geography, 'point(0 1)'::geography) as metres, rolsuper, rolcreatedb,
        pg_has_role(datdba, 'member') as is_owner
      from pg_roles, pg_database where rolname = current_user and datname = current_database()`;
    assert.deepEqual(
      { ...row, metres: Math.round(row!.metres / 1000) },
      { metres: 111, rolsuper: false, rolcreatedb: false, is_owner: true },
    );
    await sql`create table mine (id int)`;
    await assert.rejects(sql`create extension file_fdw`, { code: '42501' });
  });

  it('shares nothing with another', async () => {
    const [one, other] = [connect(await newDatabase()), connect(await newDatabase())];
    await one`create table mine (id int)`;
    await assert.rejects(other`select * from mine`, { code: '42P01' });
  });

  it('is dropped with its owner when its process ends', async () => {
    const TEST_POSTGRES = await getAdministratorUrl();
    const { stdout } = await launchScript('console.log(await newDatabase())', { TEST_POSTGRES }).ended;
    const { username, pathname } = new URL(stdout);
    const sql = connect(TEST_POSTGRES);
    const left = await sql`
      select datname from pg_database where datname = ${pathname.slice(1)}
      union select rolname from pg_roles where rolname = ${username}`;
    assert.deepEqual([...left], []);
  });
});

describe('a cluster', () => {
  let cluster: Cluster;
  let sql: postgres.Sql;
  const ids = async () => (await sql`select id from kept order by id`).map(({ id }) => id);

  before(async () => {
    cluster = await startCluster();
    sql = connect(cluster.url());
    await sql`create table kept as select 1 as id`;
  });

  it('can be stopped and started', async () => {
    await cluster.stop();
    await assert.rejects(ids);
    await cluster.start();
    assert.deepEqual(await ids(), [1]);
  });

  it('can be killed and started', async () => {
    await sql`insert into kept values (2)`;
    await cluster.kill9();
    await assert.rejects(ids);
    await cluster.start();
    assert.deepEqual(await ids(), [1, 2]);
  });

  it('can hang for a while', async () => {
    cluster.pause();
    const found = ids();
    assert.equal(await Promise.race([found, sleep(300, 'waiting')]), 'waiting');
    cluster.resume();
    assert.deepEqual(await found, [1, 2]);
  });

  it('leaves nothing behind once it is removed, even while it hangs', async () => {
    const processes = [cluster.pid, ...childrenOf(cluster.pid)];
    assert.ok(processes.length > 3 && processes.every(isAlive));
    cluster.pause();
    await cluster.remove();
    assert.deepEqual(processes.filter(isAlive), []);
    assert.equal(existsSync(cluster.folder), false);
  });
});

describe('the process that started a cluster', { concurrency: true }, () => {
  const start = 'const { pid, folder } = await startCluster(); console.log(JSON.stringify({ pid, folder }));';

  it('removes it when it ends', async () => {
    const { pid, folder } = JSON.parse((await launchScript(start).ended).stdout);
    assert.equal(isAlive(pid), false);
    assert.equal(existsSync(folder), false);
  });

  it('ends the server even if it is killed', async () => {
    const running = launchScript(`${start} setInterval(() => {}, 1000);`);
    await untilPrinted(running, ({ stdout }) => stdout.endsWith('\n'));
    const { pid, folder } = JSON.parse(running.output().stdout);
    assert.ok(isAlive(pid));
    running.child.kill('SIGKILL');
    while (isAlive(pid)) await sleep(10);
    rmSync(folder, { recursive: true }); // nothing is left to delete it
  });
});

describe('a standby', () => {
  let primary: Cluster;
  let standby: Cluster;
  let sql: postgres.Sql;

  before(async () => {
    primary = await startCluster();
    standby = await primary.startStandby();
    sql = connect(primary.url());
    await sql`create table kept (id int)`;
  });
  after(() => Promise.all([primary.remove(), standby.remove()]));

  it('delays a commit while it hangs', async () => {
    standby.pause();
    const commit = sql`insert into kept values (1)`.then(() => 'committed');
    assert.equal(await Promise.race([commit, sleep(300, 'waiting')]), 'waiting');
    standby.resume();
    assert.equal(await commit, 'committed');
  });

  it('has every committed row when its primary is killed and it is promoted', async () => {
    let committed = 1;
    const writing = (async () => {
      for (;;) {
        await sql`insert into kept values (${committed + 1})`;
        committed++;
      }
    })();
    const failing = assert.rejects(writing);
    while (committed < 100) await sleep(10);
    await primary.kill9();
    await failing;
    await standby.promote();
    const promoted = connect(standby.url());
    const [row] = await promoted`select count(*)::int as count, max(id) as last from kept`;
    assert.equal(row!.count, row!.last);
    // One more may have been under way.
    assert.ok([committed, committed + 1].includes(row!.last), `${committed} committed, ${row!.last} there`);
    await promoted`insert into kept values (0)`;
  });
});
