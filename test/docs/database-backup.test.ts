// The commands of docs/operations.md for a PostgreSQL database, run as written: only host, port and password differ.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { refresh, signIn } from '../oauth/flow.ts';
import { type Cluster, startCluster } from '../support/postgres-cluster.ts';
import { getProgram } from '../support/postgres-programs.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { size } from '../support/sizes.ts';
import { ROOT } from './readme.ts';

const blocks = [...readFileSync(`${ROOT}/docs/operations.md`, 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)].map(
  (match) => match[1]!,
);
const blockWith = (word: string) => {
  const [found, ...others] = blocks.filter((block) => block.includes(word));
  assert.deepEqual(others, [], word);
  return found!;
};

describe('docs/operations.md, PostgreSQL', { timeout: 120_000 }, () => {
  const folder = temporaryFolder();
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.remove());

  /** As the superuser of the database server, unless the command names another role. */
  function run(script: string): string {
    const text = script
      .replaceAll('@db1/', `@127.0.0.1:${cluster.port}/`)
      .replace('PGPASSWORD=…', 'PGPASSWORD=x');
    const env = {
      PATH: `${dirname(getProgram('pg_dump'))}:${process.env.PATH}`,
      PGHOST: '127.0.0.1',
      PGPORT: String(cluster.port),
      PGUSER: 'postgres',
    };
    return execFileSync('bash', ['-euo', 'pipefail', '-c', text], {
      cwd: folder,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }
  /** The commands that make the database, without the one that asks for a password. */
  const create = blockWith('createdb').replace(/^createuser .*\n/, '');

  it('backs up a database with other extensions, and restores it into one that has only PostGIS', async () => {
    run(`createuser events\n${create}`);
    // Only a superuser may create it.
    run("psql -d events -c 'CREATE EXTENSION pg_stat_statements' -c 'CREATE EXTENSION btree_gist'");
    const url = cluster.url('events', 'events');
    const service = await startTestService({ DATABASE_URL: url });
    const agent = await service.newAgent();
    const event = await agent.create();
    const signedIn = await signIn(service.client, { key: agent.headers['x-api-key']! });
    await service.close();

    const dump = blockWith('pg_dump ');
    const [restore = '', withoutExtensions = '', ...others] = blocks.filter((block) =>
      block.includes('pg_restore '),
    );
    assert.deepEqual(others, []);
    if (size(false, true)) {
      // A dump as earlier versions of the page made it.
      run(dump.replace(' --extension=postgis', ''));
      run(`dropdb events\n${create}`);
      assert.throws(() => run(restore), /permission denied to create extension/);
      run(withoutExtensions);
      run("psql -d events -c 'CREATE EXTENSION pg_stat_statements'");
    }
    run(dump);
    run(`dropdb events\n${create}`);
    run(restore);
    const restored = await startTestService({ DATABASE_URL: url });
    const found = await restored.client.with(agent.headers).get(`/v1/events/${event.event_id}`);
    assert.deepEqual(found.body, event);
    assert.equal((await refresh(restored.client, signedIn)).status, 200);
    await restored.client.with(agent.headers).create({ title: 'after the restore' });
    await restored.close();
  });
});
