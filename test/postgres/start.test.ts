// Opening a database: many nodes at once, and every reason why it cannot be used, with what to do about it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { readConfig } from '../../src/config.ts';
import { StartError } from '../../src/domain/errors.ts';
import { ALL_EVENTS } from '../../src/domain/events/nearby.ts';
import type { Database } from '../../src/postgres/client/database.ts';
import { openDatabase } from '../../src/postgres/open.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { type Cluster, startCluster } from '../support/postgres-cluster.ts';
import { getProgram } from '../support/postgres-programs.ts';
import { freePort, run } from '../support/process.ts';

const open = (url: string): Promise<Database> => openDatabase(readConfig({ DATABASE_URL: url }).database!);

describe('opening a database', { timeout: 60_000 }, () => {
  /** A cluster whose databases lack PostGIS. */
  let cluster: Cluster;
  let administrator: postgres.Sql;
  /** The URL of a role that owns its database, which has PostGIS. */
  let url: string;
  before(async () => {
    cluster = await startCluster();
    administrator = postgres(cluster.url(), { max: 1, onnotice: () => {} });
    // All other roles need no password.
    const rules = join(cluster.data, 'pg_hba.conf');
    const rule = 'host all with_password 127.0.0.1/32 scram-sha-256\n';
    writeFileSync(rules, rule + readFileSync(rules, 'utf8'));
    await administrator`SELECT pg_reload_conf()`;
    url = await newOwned('ours');
  });
  after(async () => {
    await administrator.end();
    await cluster.remove();
  });

  async function newRole(name: string): Promise<void> {
    await administrator.unsafe(`CREATE ROLE ${name} LOGIN`);
  }

  /** An ordinary role's own database, with PostGIS. */
  async function newOwned(name: string): Promise<string> {
    await newRole(name);
    await administrator.unsafe(`CREATE DATABASE ${name} OWNER ${name}`);
    await psql(`psql -d ${name} -c 'CREATE EXTENSION postgis'`);
    return cluster.url(name, name);
  }

  /** Runs a command line as a superuser, as an operator would. */
  async function psql(line: string): Promise<void> {
    const env = { PGHOST: '127.0.0.1', PGPORT: String(cluster.port), PGUSER: 'postgres' };
    await promisify(execFile)('sh', ['-c', line.replace(/^psql /, `${getProgram('psql')} `)], { env });
  }

  async function refusal(url: string): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    open(url).then(
      (database) => database.close().then(() => reject(new Error('it was opened'))),
      (error) => (error instanceof StartError ? resolve(error.message) : reject(error)),
    );
    const message = await promise;
    assert.doesNotMatch(message, /secret|wrong/);
    return message;
  }

  it('works for ten nodes at once, which create one schema', async () => {
    const databases = await Promise.all(Array.from({ length: 10 }, () => open(url)));
    const versions = await databases[0]!.run('repeatable', (sql) => sql`SELECT version FROM schema_version`);
    assert.equal(versions.length, 1);
    await Promise.all(databases.map((database) => database.close()));
    await (await open(url)).close(); // and again, with nothing to migrate
  });

  it('waits some seconds for a server that is busy', async () => {
    cluster.pause();
    const opening = open(url);
    await sleep(2_500);
    cluster.resume();
    await (await opening).close();
  });

  it('works with the name and password of a role, escapes included', async () => {
    await administrator.unsafe(`CREATE ROLE with_password LOGIN PASSWORD 'p@ss/w?r#d,:%' IN ROLE ours`);
    const password = encodeURIComponent('p@ss/w?r#d,:%');
    const withPassword = `postgres://with_password:${password}@127.0.0.1:${cluster.port}/ours`;
    await (await open(withPassword)).close();
    assert.match(
      await refusal(withPassword.replace(password, 'wrong')),
      /password authentication failed.*\. Check user and password in DATABASE_URL\.$/,
    );
  });

  it('fails without PostGIS: the message says exactly what to run', async () => {
    await newRole('no_postgis');
    await administrator`CREATE DATABASE "no-postgis" OWNER no_postgis`;
    const url = cluster.url('no-postgis', 'no_postgis');
    const message = await refusal(url);
    const line = `psql -d "no-postgis" -c 'CREATE EXTENSION postgis'`;
    assert.equal(message, `PostGIS is not enabled in the database "no-postgis". Run as a superuser: ${line}`);
    await psql(line);
    await (await open(url)).close();
  });

  it('fails if PostGIS is in a schema where the role does not look: the message says exactly what to run', async () => {
    await newRole('elsewhere');
    await administrator`CREATE DATABASE "else-where" OWNER elsewhere`;
    await psql(`psql -d else-where -c 'CREATE SCHEMA gis' -c 'CREATE EXTENSION postgis SCHEMA gis'`);
    const url = cluster.url('else-where', 'elsewhere');
    const message = await refusal(url);
    const line =
      `psql -d "else-where" -c 'GRANT USAGE ON SCHEMA gis TO elsewhere' ` +
      `-c 'ALTER ROLE elsewhere IN DATABASE "else-where" SET search_path = "$user", public, gis'`;
    assert.equal(
      message,
      'PostGIS is in the schema gis of the database "else-where", where the role elsewhere does not look for it. ' +
        `Run as a superuser: ${line}`,
    );
    await psql(line);
    const store = await PostgresStore.open(readConfig({ DATABASE_URL: url }).database!);
    const { total } = await store.nearby({ ...ALL_EVENTS, lat: 1, lng: 2, radiusMiles: 10 }, Date.now());
    assert.equal(total, 0);
    await store.close();
  });

  it('fails without the ICU collation, by which texts are compared', async () => {
    const url = await newOwned('no_icu');
    await psql(`psql -d no_icu -c 'DROP COLLATION pg_catalog."und-x-icu"'`);
    const message = await refusal(url);
    assert.match(message, /^The database no_icu has no collation und-x-icu, .* built with ICU/);
  });

  it('works for a superuser, who may add PostGIS', async () => {
    await administrator`CREATE DATABASE of_superuser`;
    await (await open(cluster.url('of_superuser'))).close();
  });

  it('fails without the right to create tables: the message says exactly what to run', async () => {
    await newOwned('of_others');
    await newRole('guest');
    const url = cluster.url('of_others', 'guest');
    const message = await refusal(url);
    const line = 'GRANT CREATE ON SCHEMA public TO guest;';
    const who = 'The role guest may not create tables in the database of_others';
    assert.equal(message, `${who}. Run as its owner or a superuser: ${line}`);
    await psql(`psql -d of_others -c '${line}'`);
    await (await open(url)).close();
  });

  it('fails with the schema of a newer version', async () => {
    const database = await open(url);
    await database.run('once', (sql) => sql`UPDATE schema_version SET version = version + 99`);
    assert.match(
      await refusal(url),
      /written by a newer version of local-events \(schema 1\d\d; this version supports up to \d+\)/,
    );
    await database.run('once', (sql) => sql`UPDATE schema_version SET version = version - 99`);
    await database.close();
  });

  it('fails if the server is a standby, or read-only', async () => {
    await newRole('read_only');
    await administrator`ALTER ROLE read_only SET default_transaction_read_only = on`;
    assert.equal(
      await refusal(cluster.url('postgres', 'read_only')),
      `The database 127.0.0.1:${cluster.port}/postgres cannot be used: the server is a standby, or read-only. ` +
        'Set DATABASE_URL to the primary, or to several hosts including the primary.',
    );
  });

  it('works with several hosts of which one is up', async () => {
    const hosts = `127.0.0.1:${await freePort()},127.0.0.1:${cluster.port}`;
    await (await open(url.replace(/127[^/]*/, hosts))).close();
  });

  it('fails if host, database or role does not exist: the message says what to check', async () => {
    const closed = `127.0.0.1:${await freePort()}`;
    const check = 'Check host and port in DATABASE_URL, and that the server runs.';
    assert.equal(
      await refusal(`postgres://u:secret@${closed}/n`),
      `The database ${closed}/n cannot be used: connect ECONNREFUSED ${closed}. ${check}`,
    );
    assert.match(
      await refusal('postgres://u:secret@nowhere.invalid/n'),
      /Check (?:the host name|host and port) in DATABASE_URL/,
    );
    assert.match(
      await refusal(cluster.url('no_such_database')),
      /does not exist\. Create the database, or set another in DATABASE_URL\.$/,
    );
    assert.match(
      await refusal(cluster.url('postgres', 'nobody')),
      /role "nobody" does not exist\. Check the user/,
    );
  });

  it('fails if the server hangs', async () => {
    cluster.pause();
    const begun = performance.now();
    const message = await refusal(cluster.url());
    const tookMs = performance.now() - begun;
    cluster.resume();
    assert.match(message, /Check host and port in DATABASE_URL, and that the server runs\.$/);
    assert.ok(tookMs >= 5_000 && tookMs < 10_000, `it took ${tookMs} ms`);
  });

  it('ends the process with exit code 1 and only the message if it fails', async () => {
    const DATABASE_URL = cluster.url('no_such_database');
    const { code, stderr } = await run(['serve'], { DATABASE_URL, PORT: String(await freePort()) });
    assert.equal(code, 1);
    assert.match(stderr, /^The database .* cannot be used: .*\n$/);
  });
});
