// Reasons why `serve` cannot start: each is one clear line, no stack trace, an exit code, and nothing left behind.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { runHere } from '../support/command.ts';
import { type Ended, freePort, launchService, run } from '../support/process.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

/** Asserts a failure to start and returns the lines with the reasons. */
function reasons({ code, signal, stdout, stderr }: Ended, wanted = 1): string[] {
  assert.equal(signal, null);
  assert.equal(code, wanted, stderr);
  assert.equal(stdout, '');
  assert.doesNotMatch(stderr, /^ +at |Error:|node:internal|\.ts:\d/m);
  return stderr.replace(/\n$/, '').split('\n');
}

async function serveFailing(env: Record<string, string>): Promise<string> {
  const port = String(await freePort());
  const lines = reasons(await runHere(['serve'], { PORT: port, DATA_DIR: temporaryFolder(), ...env }));
  assert.equal(lines.length, 1, lines.join('\n'));
  await assert.rejects(fetch(`http://127.0.0.1:${port}/health`), 'nothing listens');
  return lines[0]!;
}

function folderWith(file: string, content: string): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, file), content);
  return folder;
}

const TEXT = 'This is a text and not a database, long enough to have a header and more than that. '.repeat(5);

describe('serve cannot start', () => {
  it('on a port that is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const lines = reasons(await run(['serve'], { PORT: String(port), DATA_DIR: temporaryFolder() }));
    other.close();
    assert.equal(lines.length, 1);
    assert.match(lines[0]!, new RegExp(`\\b${port}\\b.*in use.*PORT`));
  });

  it('on an address of another machine', async () => {
    assert.match(await serveFailing({ HOST: '192.0.2.1' }), /192\.0\.2\.1.*HOST/);
  });

  it('with a folder that cannot be created', async () => {
    const folder = join(folderWith('file', ''), 'file', 'below');
    const line = await serveFailing({ DATA_DIR: folder });
    assert.ok(line.includes(folder) && line.includes('DATA_DIR'), line);
  });

  it('with a file instead of a folder', async () => {
    const folder = join(folderWith('file', ''), 'file');
    const line = await serveFailing({ DATA_DIR: folder });
    assert.ok(line.includes(folder) && line.includes('DATA_DIR'), line);
  });

  it('on data of a newer version, which it does not change', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'local-events.db');
    const database = new DatabaseSync(path);
    database.exec(`CREATE TABLE of_the_future (column_1);
      CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
      INSERT INTO migrations VALUES (1, '0001-release-1'), (2, '0002-grants'), (3, '0003-of-the-future');
      PRAGMA user_version = 3`);
    database.close();
    const before = readFileSync(path);
    assert.match(await serveFailing({ DATA_DIR: folder }), /newer version/);
    const after = new DatabaseSync(path, { readOnly: true });
    assert.deepEqual(
      after
        .prepare('SELECT name FROM sqlite_schema')
        .all()
        .map(({ name }) => name),
      ['of_the_future', 'migrations'],
    );
    after.close();
    assert.equal(readFileSync(path).length, before.length);
  });

  it('on a data file that is not a database, which it does not change', async () => {
    const folder = folderWith('local-events.db', TEXT);
    const line = await serveFailing({ DATA_DIR: folder });
    assert.match(line, /local-events\.db.*not a database/);
    assert.equal(readFileSync(join(folder, 'local-events.db'), 'utf8'), TEXT);
  });

  it('on a damaged database', async () => {
    const folder = temporaryFolder();
    const service = await startTestService({ DATA_DIR: folder });
    const agent = await service.newAgent();
    await Promise.all(Array.from({ length: 50 }, () => agent.create({ description: 'x'.repeat(2_000) })));
    await service.close();
    const path = join(folder, 'local-events.db');
    const bytes = readFileSync(path);
    // The schema stays; the rows of the tables are overwritten.
    bytes.fill(0xab, 4096 * 3);
    writeFileSync(path, bytes);
    assert.match(await serveFailing({ DATA_DIR: folder }), /local-events\.db.*malformed/);
  });

  it('on a folder instead of the database file', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'local-events.db'));
    assert.match(await serveFailing({ DATA_DIR: folder }), /local-events\.db/);
  });

  it('on an invalid lock file, and does not blame another process', async () => {
    const line = await serveFailing({ DATA_DIR: folderWith('lock.db', TEXT) });
    assert.match(line, /lock\.db/);
    assert.doesNotMatch(line, /in use/);
  });

  it('on a folder that another process has locked, which keeps running', async () => {
    const folder = temporaryFolder();
    const first = await launchService({ DATA_DIR: folder });
    const line = await serveFailing({ DATA_DIR: folder });
    assert.ok(line.includes(folder) && line.includes('in use'), line);
    assert.equal((await fetch(`${first.url}/health`)).status, 200);
    first.child.kill('SIGTERM');
    assert.equal((await first.ended).code, 0);
  });

  it('with bad variables, and names all of them, one per line', async () => {
    const folder = join(temporaryFolder(), 'data');
    const bad = {
      PORT: '80a',
      PUBLIC_URL: 'ftp://example.com',
      REGISTRATION_TIER: 'king',
      RATE_LIMIT_READ: '-1',
      RATE_LIMIT_READWRITE: '1.5',
      RATE_LIMIT_ADMIN: 'many',
      REGISTRATIONS_PER_HOUR: '1e3',
      MAX_EVENTS_PER_AGENT: '0x10',
      CACHE_MB: 'lots',
      OIDC_ISSUER: 'accounts.example.com',
      ADMIN_EMAILS: 'ada',
      ADMIN_DOMAINS: 'ada@example.com',
      TRUST_PROXY: 'proxy',
      CORS_ORIGINS: 'example.com',
      OUTBOUND_ALLOW: 'example.com',
      LOG_LEVEL: 'loud',
    };
    const lines = reasons(await runHere(['serve'], { DATA_DIR: folder, ...bad }), 2);
    const named = lines.map((line) => line.split(' ', 1)[0]!);
    assert.deepEqual(named.toSorted(), [...Object.keys(bad), 'OIDC_CLIENT_ID'].toSorted());
    assert.throws(() => readFileSync(folder), { code: 'ENOENT' }, 'nothing was made');
  });
});
