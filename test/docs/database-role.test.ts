// deploy/database.sh, run against a real server: it makes the service's role, and its password is never an argument.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import postgres from 'postgres';
import { type Cluster, startCluster } from '../support/postgres-cluster.ts';
import { getProgram } from '../support/postgres-programs.ts';
import { temporaryFolder } from '../support/service.ts';
import { ROOT } from './readme.ts';

/** With what a shell, psql or SQL could misread. */
const PASSWORD = 'a\'b"c$d\\e :f';

/** Whether the stored verifier (RFC 5803) is that of the password. */
function isVerifierOf(password: string, verifier: string): boolean {
  const [, rounds, salt, storedKey] = /^SCRAM-SHA-256\$(\d+):(.+)\$(.+):/.exec(verifier)!;
  const salted = pbkdf2Sync(password, Buffer.from(salt!, 'base64'), Number(rounds), 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  return createHash('sha256').update(clientKey).digest('base64') === storedKey;
}

describe('deploy/database.sh', { timeout: 120_000 }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.remove());

  it('makes the role events with the password of EVENTS_PASSWORD, which is no argument of any program', async () => {
    const sql = postgres(cluster.url(), { max: 1, onnotice: () => {} });
    try {
      await sql`CREATE DATABASE events`;
      const folder = temporaryFolder();
      const seen = join(folder, 'arguments');
      const psql = getProgram('psql');
      writeFileSync(join(folder, 'psql'), `#!/bin/sh\necho "$@" >> '${seen}'\nexec '${psql}' "$@"\n`);
      chmodSync(join(folder, 'psql'), 0o755);
      execFileSync('sh', [join(ROOT, 'deploy/database.sh')], {
        env: {
          PATH: `${folder}:${process.env.PATH}`,
          PGHOST: '127.0.0.1',
          PGPORT: String(cluster.port),
          POSTGRES_USER: 'postgres',
          EVENTS_PASSWORD: PASSWORD,
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const said = readFileSync(seen, 'utf8');
      assert.match(said, /--dbname=events/);
      assert.doesNotMatch(said, /a'b/);
      const [role] =
        await sql`SELECT rolsuper, rolcanlogin, rolpassword FROM pg_authid WHERE rolname = 'events'`;
      assert.deepEqual([role!.rolsuper, role!.rolcanlogin], [false, true]);
      assert.ok(isVerifierOf(PASSWORD, role!.rolpassword));
      assert.equal(isVerifierOf('another', role!.rolpassword), false);
    } finally {
      await sql.end();
    }
  });
});
