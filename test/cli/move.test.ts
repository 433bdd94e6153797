// `move`: everything to PostgreSQL and back, unchanged; and what it refuses before it changes anything.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { UsageError } from '../../src/cli/command.ts';
import { readSides } from '../../src/cli/move.ts';
import { readConfig } from '../../src/config.ts';
import { columnsOf, TABLE_NAMES } from '../../src/domain/transfer.ts';
import { execute, readRows } from '../sqlite/files.ts';
import { newEvent } from '../support/client.ts';
import { runHere } from '../support/command.ts';
import { newDatabase } from '../support/postgres.ts';
import { type Ended, run } from '../support/process.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { NEW_AGENT } from './bulk.ts';
import {
  assertMoved,
  databaseOf,
  dumpDatabase,
  dumpFolder,
  type Env,
  eventsOf,
  exported,
  makeWorld,
  newMigratedDatabase,
  tryToServe,
  type World,
  withSql,
} from './moving.ts';

/** Asserts that keys, tiers and tokens work as before, and that the service accepts new writes. */
async function assertServes(env: Env, { keys, agentIds, token }: World): Promise<void> {
  const service = await startTestService(env);
  try {
    const as = (name: keyof World['keys']) => service.client.with({ 'x-api-key': keys[name] });
    const create = async (name: keyof World['keys']) =>
      (await as(name).post('/v1/events', newEvent())).status;
    assert.deepEqual(
      [await create('read'), await create('readwrite'), await create('admin'), await create('inactive')],
      [403, 200, 200, 401],
    );
    assert.equal((await as('read').nearby()).status, 200);
    const admin = service.client.with({ authorization: `Bearer ${token}` });
    assert.equal((await admin.get('/v1/admin/me')).body.email, 'ada@example.com');
    const agent = `/v1/admin/agents/${agentIds[0]}`;
    for (const tier of ['admin', 'read']) assert.equal((await admin.patch(agent, { tier })).status, 200);
  } finally {
    await service.close(); // an open service would keep a failure from being reported
  }
}

/** Asserts that what was deleted before a move can still be restored. */
async function assertRestores(env: Env, auditId: number): Promise<void> {
  const service = await startTestService(env);
  try {
    const admin = await service.newAdministrator();
    assert.equal((await admin.post(`/v1/admin/audit/${auditId}/restore`)).body.restored, 1);
    assert.equal((await admin.get('/v1/admin/agents')).body.agents.at(-1).event_count, 1);
  } finally {
    await service.close();
  }
}

/** Compares exports byte for byte, of everything and of each agent. */
async function assertSameExports(a: Env, b: Env, { agentIds }: World): Promise<void> {
  assert.equal(await exported(b), await exported(a));
  for (const agentId of agentIds) assert.deepEqual(await eventsOf(b, agentId), await eventsOf(a, agentId));
}

describe('move', () => {
  let world: World;
  before(async () => {
    world = await makeWorld();
  });

  it('moves everything to PostgreSQL and back, where it is served as before', async () => {
    const url = await newMigratedDatabase();
    // Started once, the target has its own signing key; the move replaces it by that of the source.
    await (await startTestService({ DATABASE_URL: url })).close();
    const source = dumpFolder(world.folder);
    const env = { DATA_DIR: world.folder };
    assertMoved(await run(['move', '--to', url], env));
    assert.deepEqual(await dumpDatabase(url), source);
    assert.deepEqual(dumpFolder(world.folder), source, 'the source has not changed');
    await assertSameExports(env, { DATABASE_URL: url }, world);

    await assertServes({ DATABASE_URL: url }, world);
    const moved = await dumpDatabase(url);
    assert.deepEqual(
      moved.audit.slice(source.audit.length).map((row) => row.audit_id),
      [1, 2].map((more) => Number(source.audit.at(-1)!.audit_id) + more),
    );

    const folder = join(temporaryFolder(), 'below', 'back');
    assertMoved(await runHere(['move', '--from', url, '--to', folder]));
    assert.deepEqual(dumpFolder(folder), moved);
    await assertSameExports({ DATABASE_URL: url }, { DATA_DIR: folder }, world);
    await assertServes({ DATA_DIR: folder }, world);
    assert.equal(dumpFolder(folder).audit.at(-1)!.audit_id, Number(moved.audit.at(-1)!.audit_id) + 2);
  });

  it('moves what can still be restored', async () => {
    const folder = temporaryFolder();
    const service = await startTestService({ DATA_DIR: folder });
    const admin = await service.newAdministrator();
    const { agent_id } = await (await service.newAgent()).create();
    await admin.delete(`/v1/admin/agents/${agent_id}`);
    const auditId = Number((await admin.get('/v1/admin/audit')).body.entries[0].id);
    await service.close();
    const url = await newDatabase();
    assertMoved(await runHere(['move', '--to', url], { DATA_DIR: folder }));
    const back = join(temporaryFolder(), 'back');
    assertMoved(await runHere(['move', '--from', url, '--to', back]));
    assert.deepEqual(dumpFolder(back), dumpFolder(folder));
    await assertRestores({ DATABASE_URL: url }, auditId);
    await assertRestores({ DATA_DIR: back }, auditId);
  });

  it('reads the URL from DATABASE_URL, and moves empty tables', async () => {
    const url = await newDatabase();
    const empty = temporaryFolder();
    await (await startTestService({ DATA_DIR: empty })).close();
    assertMoved(await runHere(['move'], { DATA_DIR: empty, DATABASE_URL: url }));
    const folder = temporaryFolder();
    assertMoved(await runHere(['move', '--to', folder], { DATABASE_URL: url }));
    assert.deepEqual(dumpFolder(folder), dumpFolder(empty));
    const names = dumpFolder(folder).settings.map(({ name }) => name);
    assert.deepEqual(names.sort(), ['admin_signing_key', 'retention_clock', 'session_secret']);
    const service = await startTestService({ DATABASE_URL: url });
    await service.newAgent();
    await service.close();
  });

  it('covers every table and column of both engines', async () => {
    const url = await newMigratedDatabase();
    const onlyHere =
      /^(?:quotas|agent_requests|event_changes.*|schema_version|spatial_ref_sys|geography_columns|geometry_columns)$/;
    const inPostgres = await withSql(
      url,
      (sql) => sql`
        SELECT table_name || '.' || column_name AS name FROM information_schema.columns
        WHERE table_schema = 'public' AND is_generated = 'NEVER' AND table_name !~ ${onlyHere.source}
          AND column_name NOT IN ('words', 'words_by')`, // found in the JSON
    );
    const inSqlite = readRows(
      databaseOf(world.folder),
      `SELECT s.name || '.' || c.name AS name FROM sqlite_schema s, pragma_table_info(s.name) c
       WHERE s.type = 'table' AND s.name NOT IN ('migrations', 'event_order', 'removals') AND c.name <> 'row_id'`,
    );
    const known = TABLE_NAMES.flatMap((table) =>
      columnsOf(table).map(([column]) => `${table}.${column}`),
    ).sort();
    assert.deepEqual(inPostgres.map(({ name }) => name).sort(), known);
    assert.deepEqual(inSqlite.map(({ name }) => name).sort(), known);
  });

  describe('refuses', () => {
    let url: string;
    before(async () => {
      url = await newMigratedDatabase();
    });
    const refused = async (args: string[], env: Record<string, string>): Promise<string> => {
      const { code, stdout, stderr } = await runHere(['move', ...args], env);
      assert.deepEqual([code, stdout], [1, ''], stderr);
      assert.equal(stderr.split('\n').length, 2, stderr);
      return stderr;
    };

    it('a database or folder that holds data', async () => {
      const full = await newDatabase();
      const service = await startTestService({ DATABASE_URL: full });
      await service.newAgent();
      await service.close();
      const before = await dumpDatabase(full);
      assert.match(
        await refused(['--to', full], { DATA_DIR: world.folder }),
        /already holds data \(agents\)/,
      );
      assert.deepEqual(await dumpDatabase(full), before);
      const folder = dumpFolder(world.folder);
      assert.match(
        await refused(['--from', full, '--to', world.folder], {}),
        /already holds data \(agents\)/,
      );
      assert.deepEqual(dumpFolder(world.folder), folder);
    });

    it('a folder that a service uses, as source or target', async () => {
      const service = await startTestService();
      try {
        assert.match(await refused(['--to', url], { DATA_DIR: service.folder }), /is in use by another/);
        assert.match(await refused(['--from', url, '--to', service.folder], {}), /is in use by another/);
      } finally {
        await service.close();
      }
    });

    it('a database that a node uses, as source or target', async () => {
      const node = await startTestService({ DATABASE_URL: url });
      try {
        const [there, back] = await Promise.all([
          refused(['--to', url], { DATA_DIR: world.folder }),
          refused(['--from', url, '--to', join(temporaryFolder(), 'back')], {}),
        ]);
        for (const said of [there, back]) assert.match(said, /is in use by another .* Stop every node/);
      } finally {
        await node.close();
      }
    });

    it('a folder without data, one with other files, and a path that is not a folder', async () => {
      const folder = join(temporaryFolder(), 'data');
      assert.match(await refused(['--to', url], { DATA_DIR: folder }), /^There is no data in /);
      assert.ok(!existsSync(folder));
      mkdirSync(folder);
      writeFileSync(join(folder, 'letter.txt'), '');
      assert.match(await refused(['--from', url, '--to', folder], {}), /contains other files/);
      assert.deepEqual(readdirSync(folder), ['letter.txt']);
      assert.match(
        await refused(['--from', url, '--to', join(folder, 'letter.txt')], {}),
        /cannot be written/,
      );
      writeFileSync(databaseOf(folder), 'x'.repeat(100_000));
      assert.match(await refused(['--to', url], { DATA_DIR: folder }), /cannot be read/);
    });

    it('a source or target that an unfinished move of another source has left', async () => {
      const half = temporaryFolder();
      await (await startTestService({ DATA_DIR: half })).close();
      const mark = "INSERT INTO settings (name, value) VALUES ('unfinished_move', 'elsewhere')";
      execute(databaseOf(half), mark);
      assert.match(
        await refused(['--to', url], { DATA_DIR: half }),
        /holds only part of the data of elsewhere/,
      );
      const halfDatabase = await newMigratedDatabase();
      await withSql(halfDatabase, (sql) => sql.unsafe(mark));
      assert.match(
        await refused(['--to', halfDatabase], { DATA_DIR: world.folder }),
        /holds part of the data of elsewhere, not of .*TRUNCATE/,
      );
      const commands: ((env: Env) => Promise<Ended>)[] = [
        tryToServe,
        (env) => runHere(['export'], env),
        (env) => runHere(['import', databaseOf(half), ...NEW_AGENT], env),
      ];
      for (const command of commands) {
        const both: Env[] = [{ DATA_DIR: half }, { DATABASE_URL: halfDatabase }];
        for (const ended of await Promise.all(both.map((env) => command(env)))) {
          const printed = ended.stdout
            .split('\n')
            .filter((line) => !line.includes('"msg":"This primary is used now."'));
          assert.deepEqual([ended.code, printed], [1, ['']], ended.stderr);
          assert.ok(command === tryToServe || ended.stdout === '', 'only a service has a log');
          assert.match(
            ended.stderr,
            /^The database .* holds a part of the data of elsewhere: .* "move" again .*\n$/,
          );
        }
      }
    });

    it('a database that cannot be opened, without showing the password', async () => {
      const wrong = new URL(url);
      wrong.password = 'sesame';
      wrong.pathname = '/nowhere';
      const said = await refused([], { DATA_DIR: world.folder, DATABASE_URL: wrong.href });
      assert.match(said, /"nowhere" does not exist/);
      assert.doesNotMatch(said, /sesame/);
    });
  });

  describe('refuses the arguments of', () => {
    const address = 'postgres://user:sesame@host/name';
    const inQuery = 'postgres://user@host/name?sslmode=require&password=sesame';
    const cases: [args: string[], reason: RegExp][] = [
      [[], /needs --to .*DATABASE_URL/],
      [['--from', './data'], /needs --to .*DATABASE_URL/],
      [['--to', './data'], /needs --from .*DATABASE_URL/],
      [['--from', address], /needs --to FOLDER/],
      [['--from', address, '--to', address], /needs a data folder on one side/],
      [['--from', './data', '--to', './other'], /needs a data folder on one side/],
      [['--to', ''], /needs a folder or/],
      [['--to', 'mysql://user:sesame@host/name'], /must look like postgres:\/\/user@host/],
      [['--to', 'postgres://user:sesame@'], /must look like postgres:\/\/user@host/],
      [['--to', address], /^--to contains a password.* set PGPASSWORD or add --password-file FILE/],
      [['--from', address, '--to', './data'], /^--from contains a password.* set PGPASSWORD or/],
      [['--to', 'postgres://user:sesame@host1,host2:5433/name'], /^--to contains a password/],
      [['--to', 'postgres://:sesame@host/name'], /^--to contains a password/],
      [['--to', inQuery], /^--to contains a password/],
      [['--to', address, '--password-file', './password'], /^--to contains a password/],
      [['--to', 'postgres://user@host/name', '--password-file', ''], /--password-file needs a file/],
      [[address], /takes only --from, --to and --password-file/],
      [['--to', address, address], /takes only --from, --to and --password-file/],
      [['--too', address], /--too/],
      [['--to'], /--to/],
    ];
    it('move --password-file FILE if DATABASE_URL has a password already', () => {
      assert.throws(() => readSides(['--password-file', 'x'], readConfig({ DATABASE_URL: address })), {
        message: '--password-file is for a URL without a password, but DATABASE_URL contains one.',
      });
    });

    for (const [args, reason] of cases) {
      it(`move ${args.join(' ')}`, () => {
        assert.throws(
          () => readSides(args, readConfig({})),
          (error: Error) => {
            assert.ok(error instanceof UsageError);
            assert.match(error.message, reason);
            assert.doesNotMatch(error.message, /sesame/);
            return true;
          },
        );
      });
    }
  });
});
