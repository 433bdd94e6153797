// `check`: what is wrong with an installation, and what a start would migrate. It changes nothing.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import postgres from 'postgres';
import { settingNames } from '../../src/config.ts';
import { execute, readRows } from '../sqlite/files.ts';
import { runHere } from '../support/command.ts';
import { newDatabase } from '../support/postgres.ts';
import { run } from '../support/process.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

type Env = Record<string, string>;

/** The exit code, and the lines: kind, subject and text. */
async function check(env: Env, start: typeof run = runHere) {
  const { code, stdout, stderr } = await start(['check'], env);
  assert.equal(stderr, '');
  const lines = stdout.trimEnd().split('\n');
  const last = lines.pop()!;
  const found = lines.map(
    (line) => /^(ok|note|problem) +([a-z]+) +(.+)$/.exec(line)!.slice(1) as [string, string, string],
  );
  const problems = found.filter(([kind]) => kind === 'problem');
  assert.equal(code, problems.length > 0 ? 2 : 0);
  assert.match(
    last,
    problems.length === 0 ? /^No problems\.$/ : new RegExp(`^${problems.length} problems?\\.$`),
  );
  const textOf = (wanted: string) => found.find(([, about]) => about === wanted)?.[2] ?? '';
  return { code, found, problems: problems.map(([, about, text]) => `${about}: ${text}`), textOf };
}

/** A folder with an agent and an event, which no service uses. */
async function newData(): Promise<string> {
  const service = await startTestService();
  await (await service.newAgent()).create();
  await service.close();
  return service.folder;
}

function change(folder: string, sql: string): void {
  execute(join(folder, 'local-events.db'), sql);
}

const today = () => new Date().toISOString().slice(0, 10);

describe('check', () => {
  it('finds nothing before a first start, and makes nothing', async () => {
    const folder = join(temporaryFolder(), 'below', 'data');
    const { code, textOf } = await check({ DATA_DIR: folder });
    assert.equal(code, 0);
    assert.match(textOf('database'), /no data .* yet/);
    assert.ok(!existsSync(join(folder, '..')));
  });

  it('finds nothing wrong with a service, running or stopped, and disturbs neither', async () => {
    const service = await startTestService();
    const agent = await service.newAgent();
    await agent.create();
    const env = { DATA_DIR: service.folder };
    const during = await check(env, run);
    assert.deepEqual(during.problems, []);
    assert.match(during.textOf('database'), / 1 events and 1 agents\. A service uses it now\./);
    assert.deepEqual(
      during.found.map(([kind, about]) => `${kind} ${about}`),
      ['ok settings', 'ok disk', 'ok clock', 'ok database', 'ok schema'],
    );
    assert.equal((await agent.create()).title.length > 0, true);
    await service.close();
    const path = join(service.folder, 'local-events.db');
    const before = readFileSync(path);
    const after = await check(env);
    assert.deepEqual(after.problems, []);
    assert.match(after.textOf('database'), /No service uses it now/);
    assert.ok(readFileSync(path).equals(before));
    const again = await startTestService(env);
    await again.close();
  });

  it('names misspelt variables, and leaves those of other programs alone', async () => {
    const env = {
      ...{
        DATA_DIR: temporaryFolder(),
        RATE_LIMIT_REED: '5',
        POTR: '80',
        data_dir: 'x',
        KEEP_ENDED_DAY: '3',
      },
      ...{
        PATH: '/bin',
        HOME: '/root',
        HOSTNAME: 'a',
        LANG: 'C',
        SHELL: 'sh',
        USER: 'u',
        TERM: 'x',
        PWD: '/',
        NODE_ENV: 'production',
      },
      ...{
        PGPASSWORD: 'x',
        POSTGRES_PORT: '1',
        LOGNAME: 'x',
        MAIL: 'x',
        SHLVL: '1',
        EDITOR: 'x',
        CACHE_DIR: 'x',
        EMPTY_PORTS: '',
      },
    };
    const { problems } = await check(env);
    assert.deepEqual(
      problems.map((text) => /^settings: (\S+) is not a setting.* mean (\S+)\?$/.exec(text)!.slice(1)),
      [
        ['RATE_LIMIT_REED', 'RATE_LIMIT_READ'],
        ['POTR', 'PORT'],
        ['data_dir', 'DATA_DIR'],
        ['KEEP_ENDED_DAY', 'KEEP_ENDED_DAYS'],
      ],
    );
  });

  it('knows the settings that the documents list', () => {
    const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
    const listed = [...page.matchAll(/^\| `([A-Z_]+)`/gm)].map((match) => match[1]!);
    assert.deepEqual([...settingNames()].sort(), listed.sort());
  });

  it('finds an address that others cannot use, and a provider without administrators', async () => {
    const env = { DATA_DIR: temporaryFolder() };
    for (const HOST of ['0.0.0.0', '::']) {
      const [problem, ...others] = (await check({ ...env, HOST })).problems;
      assert.match(problem!, /^settings: HOST is .* PUBLIC_URL is not set/);
      assert.deepEqual(others, []);
      assert.equal((await check({ ...env, HOST, PUBLIC_URL: 'https://events.example.org' })).code, 0);
    }
    const provider = { OIDC_ISSUER: 'http://accounts.example.com', OIDC_CLIENT_ID: 'client' };
    const { problems } = await check({ ...env, ...provider });
    assert.deepEqual(problems.length, 2, problems.join());
  });

  it('lists all bad settings', async () => {
    const { problems } = await check({
      DATA_DIR: temporaryFolder(),
      PORT: 'x',
      CACHE_MB: 'lots',
      CACHE_MP: '1',
    });
    assert.match(
      problems.join('\n'),
      /^settings: CACHE_MP is not .*\nsettings: PORT must be .*\nsettings: CACHE_MB must be .*$/,
    );
  });

  it('finds a disk that is nearly full, or cannot be written', async () => {
    const { problems } = await check({ DATA_DIR: await newData(), MIN_FREE_DISK_MB: '999999999' });
    assert.match(problems.join(), /^disk: Only \d+ MB are free .* below 999999999 MB \(MIN_FREE_DISK_MB\)/);
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    const below = await check({ DATA_DIR: join(file, 'data') });
    assert.match(below.problems.join(), /^disk: The data folder .* cannot be written/);
  });

  it('finds a clock that is ahead or behind', async () => {
    const folder = await newData();
    const daysAgo = Date.now() - 200 * 86_400_000;
    change(
      folder,
      `UPDATE settings SET value = '{"lastRunMs":${daysAgo},"waitedMs":0}' WHERE name = 'retention_clock'`,
    );
    const ahead = await check({ DATA_DIR: folder });
    assert.match(ahead.problems.join(), /^clock: .*200 days after the service last ran/);
    assert.equal((await check({ DATA_DIR: folder, CLOCK_CONFIRMED: today() })).code, 0);
    assert.match(
      String(
        readRows(
          join(folder, 'local-events.db'),
          "SELECT value FROM settings WHERE name = 'retention_clock'",
        )[0]!.value,
      ),
      new RegExp(String(daysAgo)),
      'nothing is noted',
    );
    const later = await newData();
    change(
      later,
      `UPDATE agents SET created_ms = ${Date.now() + 3_600_000}, last_used_ms = ${Date.now() + 3_600_000}`,
    );
    assert.match(
      (await check({ DATA_DIR: later })).problems.join(),
      /^clock: The clock of this machine is behind/,
    );
  });

  it('says what a start would migrate, and does not migrate it', async () => {
    const folder = await newData();
    const schemaOf = async () => check({ DATA_DIR: folder });
    assert.match((await schemaOf()).textOf('schema'), /^Schema \d+: .*nothing/);
    change(folder, 'PRAGMA user_version = 999');
    assert.match((await schemaOf()).problems.join('\n'), /^schema: .*newer version/);
    change(folder, 'DELETE FROM migrations; PRAGMA user_version = 0');
    const older = await schemaOf();
    assert.equal(older.code, 0);
    assert.match(older.textOf('schema'), /^Schema 0: a start applies 0001-release-1, 0002-grants\b/);
    assert.deepEqual(readRows(join(folder, 'local-events.db'), 'PRAGMA user_version'), [{ user_version: 0 }]);
  });

  it('finds data that cannot be used', async () => {
    const text = temporaryFolder();
    writeFileSync(join(text, 'local-events.db'), 'This is not a database. '.repeat(500));
    assert.match(
      (await check({ DATA_DIR: text })).problems.join(),
      /^database: .*local-events\.db.*not a database/,
    );
    const other = temporaryFolder();
    change(other, 'CREATE TABLE other (a)');
    assert.match(
      (await check({ DATA_DIR: other })).problems.join('\n'),
      /^database: .*not a local-events database\.$/,
    );
    const log = temporaryFolder();
    writeFileSync(join(log, 'local-events.db-wal'), 'x');
    assert.match((await check({ DATA_DIR: log })).problems.join(), /missing or empty/);
    // As for another user's folder, the system does not say what is in it.
    const closed = join(temporaryFolder(), 'closed');
    symlinkSync(closed, closed);
    const { found, problems } = await check({ DATA_DIR: closed });
    assert.match(problems.join('\n'), /^database: \S+ cannot be read \(ELOOP\)\. Run this as the user of /m);
    assert.doesNotMatch(JSON.stringify(found), /no data|nothing yet/);
    const moving = await newData();
    change(moving, "INSERT INTO settings (name, value) VALUES ('unfinished_move', 'elsewhere')");
    assert.match((await check({ DATA_DIR: moving })).problems.join(), /^database: .*elsewhere/);
  });
});

describe('check on PostgreSQL', () => {
  it('says what a start would create, and creates nothing; then, that nothing is missing', async () => {
    const DATABASE_URL = await newDatabase();
    const fresh = await check({ DATABASE_URL });
    assert.deepEqual(fresh.problems, []);
    assert.match(fresh.textOf('schema'), /^Schema 0: a start .*applies 0001-release-1, 0002-grants\b/);
    const sql = postgres(DATABASE_URL, { max: 1 });
    assert.deepEqual([...(await sql`SELECT to_regclass('schema_version') AS found`)], [{ found: null }]);
    await sql.end();
    const service = await startTestService({ DATABASE_URL });
    const { problems, textOf } = await check({ DATABASE_URL });
    await service.close();
    assert.deepEqual(problems, []);
    assert.match(textOf('schema'), /a start migrates nothing/);
    assert.match(textOf('database'), /is PostgreSQL \d+\.\d+ with PostGIS \d/);
    assert.match(textOf('clock'), /agrees/);
    assert.doesNotMatch(
      JSON.stringify(fresh.found),
      new RegExp(new URL(DATABASE_URL).password || 'no password'),
    );
  });

  it('finds a role that may not change the data, a newer schema, and a database that does not respond', async () => {
    const DATABASE_URL = await newDatabase();
    await (await startTestService({ DATABASE_URL })).close();
    const sql = postgres(DATABASE_URL, { max: 1 });
    const guest = new URL(await newDatabase()).username;
    await sql.unsafe(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${guest}`);
    const reader = DATABASE_URL.replace(/\/\/[^@]+@/, `//${guest}@`);
    const { problems } = await check({ DATABASE_URL: reader });
    assert.match(problems.join(), new RegExp(`^schema: The role ${guest} may not change the table`));
    await sql`UPDATE schema_version SET version = 999`;
    await sql.end();
    assert.match((await check({ DATABASE_URL })).problems.join(), /^schema: .*newer version/);
    const gone = await check({ DATABASE_URL: 'postgres://u:hidden@127.0.0.1:1/x' });
    assert.match(gone.problems.join(), /^database: .*cannot be used: .*ECONNREFUSED/);
    assert.doesNotMatch(JSON.stringify(gone.found), /hidden/);
  });
});
