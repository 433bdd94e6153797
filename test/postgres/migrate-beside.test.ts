// Migrations while other nodes use the database: which older versions go on, how migrations wait for locks, and steps outside a
// transaction.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../src/config.ts';
import { StartError } from '../../src/domain/errors.ts';
import { type Migration, readMigrations } from '../../src/migrations.ts';
import { Database } from '../../src/postgres/client/database.ts';
import { migrate, requireReadable } from '../../src/postgres/migrate.ts';
import { openDatabase } from '../../src/postgres/open.ts';
import { PostgresTransfer } from '../../src/postgres/transfer.ts';
import { newDatabase } from '../support/postgres.ts';
import { Side } from './side.ts';

const OURS = readMigrations(new URL('../../src/postgres/migrations/', import.meta.url));
const QUICK = { lockTimeoutMs: 100, pauseMs: 50, patienceMs: 60_000 };

const optionsOf = (url: string) => readConfig({ DATABASE_URL: url }).database!;

/** Migrations of a later version: ours and these. */
function later(...texts: readonly string[]): readonly Migration[] {
  const more = texts.map((sql, at) => ({
    name: `${String(OURS.length + 1 + at).padStart(4, '0')}-later`,
    sql,
  }));
  return [...OURS, ...more];
}

async function migrateWith(url: string, migrations: readonly Migration[], waits = QUICK) {
  const database = await Database.open({ ...optionsOf(url), statementTimeoutMs: 0, lockTimeoutMs: 100 });
  return migrate(database, migrations, waits).finally(() => database.close());
}

async function openAndClose(url: string): Promise<void> {
  await (await openDatabase(optionsOf(url))).close();
}

function assertRefused(work: Promise<unknown>, message: RegExp): Promise<void> {
  return assert.rejects(work, (error: Error) => error instanceof StartError && message.test(error.message));
}

async function start(t: TestContext): Promise<{ url: string; side: Side }> {
  const url = await newDatabase();
  await migrateWith(url, OURS);
  const side = new Side(url);
  t.after(() => side.close());
  return { url, side };
}

const COMPATIBLE = `-- Compatible from: ${OURS.length}\nALTER TABLE events ADD COLUMN later integer;`;

describe('a newer schema', () => {
  it('is accepted if it is compatible from ours, and not changed', async (t) => {
    const { url, side } = await start(t);
    await migrateWith(url, later(COMPATIBLE, `-- Compatible from: ${OURS.length}\nCREATE TABLE later ();`));
    const before = await side.sql`SELECT * FROM schema_version`;
    assert.equal(before[0]!.names.length, OURS.length + 2);
    await openAndClose(url);
    assert.deepEqual(await side.sql`SELECT * FROM schema_version`, before);
    assert.deepEqual(await migrateWith(url, OURS), { isNewer: true });
    assert.deepEqual(await migrateWith(url, later(COMPATIBLE)), { isNewer: true });
  });

  it('is refused if one of its migrations is not', async (t) => {
    const { url } = await start(t);
    await migrateWith(url, later(COMPATIBLE, 'CREATE TABLE later ();'));
    await assertRefused(
      openAndClose(url),
      /written by a newer version of local-events \(schema \d+; this version supports up to \d+\)/,
    );
    await assertRefused(migrateWith(url, later(COMPATIBLE)), /newer version/);
  });

  it('is refused if it has other migrations than ours', async (t) => {
    const { url } = await start(t);
    const others = later(COMPATIBLE).with(0, { name: '0001-theirs', sql: '' });
    await migrateWith(url, later(COMPATIBLE));
    await assertRefused(migrateWith(url, others.slice(0, OURS.length)), /its migration 1 is 0001-release-1/);
  });

  it('is read without migrating it, but not before it is migrated', async (t) => {
    const { url, side } = await start(t);
    const reading = async (migrations: readonly Migration[]) => {
      const database = await Database.open(optionsOf(url));
      await database
        .run('repeatable', (sql) => requireReadable(sql, 'db', migrations))
        .finally(() => database.close());
    };
    await migrateWith(url, later(COMPATIBLE));
    await reading(OURS);
    await assertRefused(
      reading(later(COMPATIBLE, 'CREATE TABLE later ();')),
      new RegExp(
        `older version of local-events \\(schema ${OURS.length + 1}\\).* Start the service once\\.$`,
      ),
    );
    assert.equal((await side.sql`SELECT * FROM schema_version`)[0]!.names.length, OURS.length + 1);
  });

  it('is refused by a move, which would not copy all of it', async (t) => {
    const { url } = await start(t);
    await migrateWith(url, later(COMPATIBLE));
    await assertRefused(PostgresTransfer.open(optionsOf(url), 'a'), /Use that version for the move/);
  });

  it('is migrated from where an interrupted migration stopped', async (t) => {
    const { url, side } = await start(t);
    const broken = later(COMPATIBLE, 'CREATE TABLE later (); SELECT 1 / 0;');
    await assert.rejects(migrateWith(url, broken), { code: '22012' });
    assert.equal((await side.sql`SELECT * FROM schema_version`)[0]!.names.length, OURS.length + 1);
    await migrateWith(url, later(COMPATIBLE, 'CREATE TABLE later ();'));
  });
});

describe('a migration that needs a lock', { timeout: 60_000 }, () => {
  it('lets others pass between its attempts, and is applied when it is free', async (t) => {
    const { url, side } = await start(t);
    const reading = await side.hold((sql) => sql`SELECT count(*) FROM events`);
    const migrating = migrateWith(url, later(COMPATIBLE));
    let isDone = false;
    void migrating.then(() => {
      isDone = true;
    });
    await side.untilBlocked();
    // Without a limit, this would wait behind the migration for as long as the other transaction is open.
    for (let time = 0; time < 5; time++) await side.sql`SELECT count(*) FROM events`;
    assert.equal(isDone, false);
    await reading.release();
    assert.deepEqual(await migrating, { isNewer: false });
    await side.sql`SELECT later FROM events`;
  });

  it('gives up at last, says what to do, and has changed nothing', async (t) => {
    const { url, side } = await start(t);
    const reading = await side.hold((sql) => sql`SELECT count(*) FROM events`);
    const impatient = { ...QUICK, patienceMs: 300 };
    await assertRefused(migrateWith(url, later(COMPATIBLE), impatient), /hold locks .* pg_stat_activity/);
    await reading.release();
    assert.equal((await side.sql`SELECT * FROM schema_version`)[0]!.names.length, OURS.length);
    await openAndClose(url);
  });
});

describe('a migration outside a transaction', { timeout: 60_000 }, () => {
  const INDEX = `-- An index, made while others write.
-- Compatible from: ${OURS.length}
-- Outside a transaction: CREATE INDEX CONCURRENTLY cannot run in one.

-- What an attempt that failed has left.
DROP INDEX CONCURRENTLY IF EXISTS later;

CREATE INDEX CONCURRENTLY later
  ON events (version);
`;

  const isValid = async ({ sql }: Side) =>
    (await sql`SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('later')`).map(
      ({ indisvalid }) => indisvalid,
    );

  it('runs once, although several nodes start at the same time', async (t) => {
    const { url, side } = await start(t);
    const all = later(INDEX, COMPATIBLE);
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => migrateWith(url, all)));
    assert.deepEqual(outcomes, Array(4).fill({ isNewer: false }));
    assert.deepEqual(await isValid(side), [true]);
    assert.equal((await side.sql`SELECT * FROM schema_version`)[0]!.names.length, OURS.length + 2);
  });

  it('is tried again after it had to wait for a transaction', async (t) => {
    const { url, side } = await start(t);
    const writing = await side.hold((sql) => sql`LOCK TABLE events IN ROW EXCLUSIVE MODE`);
    const migrating = migrateWith(url, later(INDEX));
    await side.untilBlocked();
    await sleep(500); // several attempts
    await writing.release();
    await migrating;
    assert.deepEqual(await isValid(side), [true]);
  });

  it('does not wait for a node of an older version that waits for its lock', async (t) => {
    const { url, side } = await start(t);
    const writing = await side.hold((sql) => sql`LOCK TABLE events IN ROW EXCLUSIVE MODE`);
    const migrating = migrateWith(url, later(INDEX));
    await side.untilBlocked();
    // As older versions do; its snapshot is what the index would wait for.
    const older = side.sql`SELECT pg_advisory_xact_lock(7305914226)`.execute();
    await writing.release();
    await Promise.all([older, migrating]);
    assert.deepEqual(await isValid(side), [true]);
  });
});
