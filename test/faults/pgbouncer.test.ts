// PgBouncer in transaction mode between a node and its database. Where the timeouts of sessions or prepared statements do not
// survive it, a start is refused with the lines to write. With these lines, and from version 1.21 on, everything works.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { withSql } from '../cli/moving.ts';
import { Side } from '../postgres/side.ts';
import { assertError, newEvent } from '../support/client.ts';
import { runHere } from '../support/command.ts';
import { keepsPreparedStatements, startPgBouncer } from '../support/pgbouncer.ts';
import { newDatabase } from '../support/postgres.ts';
import { run } from '../support/process.ts';
import { startTestService } from '../support/service.ts';

const isNew = keepsPreparedStatements();

/** The lines to write contain it. */
const ENV = { DATABASE_STATEMENT_TIMEOUT_MS: '2000' };

/** What `serve` says when it is refused behind such a PgBouncer. */
async function refusal(databaseUrl: string, lines: readonly string[]): Promise<string> {
  const pooler = await startPgBouncer(databaseUrl, lines);
  const { code, stderr } = await run(['serve'], { ...ENV, PORT: '0', DATABASE_URL: pooler.url });
  await pooler.stop();
  assert.equal(code, 1, stderr);
  return stderr;
}

/** The lines of a message that are indented, to be written as they are. */
const linesToWrite = (message: string) => [...message.matchAll(/^ {2}(\S.*)$/gm)].map(([, line]) => line!);

const isSql = (line: string) => line.startsWith('ALTER ');

async function write(databaseUrl: string, statements: readonly string[]): Promise<void> {
  await withSql(databaseUrl, async (sql) => {
    for (const statement of statements) await sql.unsafe(statement);
  });
}

describe('behind PgBouncer', { timeout: 120_000 }, () => {
  /** What the first test was told to write. */
  let ini: string[] = [];
  let statements: string[] = [];

  it('a start is refused until the settings of sessions and prepared statements survive it', async () => {
    const databaseUrl = await newDatabase();
    const refused = await refusal(databaseUrl, []);
    assert.match(refused, /PgBouncer at 127\.0\.0\.1:\d+\S* refuses the settings of our sessions/);
    ini = linesToWrite(refused).filter((line) => !isSql(line));
    statements = linesToWrite(refused).filter(isSql);
    assert.equal(ini.length, 1);

    const ignored = await refusal(databaseUrl, ini);
    assert.match(
      ignored,
      /ignores the settings of our sessions \(statement_timeout is 0, .*idle_in_transaction/,
    );
    assert.deepEqual(linesToWrite(ignored), statements);
    await write(databaseUrl, statements);

    // Older versions do not know the line.
    const lost = await refusal(databaseUrl, isNew ? [...ini, 'max_prepared_statements = 0'] : ini);
    assert.match(lost, /loses prepared statements. Install version 1\.21 or newer/);
    assert.deepEqual(linesToWrite(lost), ['max_prepared_statements = 200']);
  });

  async function startBehind(t: TestContext, lines: readonly string[]) {
    const databaseUrl = await newDatabase();
    await write(databaseUrl, statements);
    const pooler = await startPgBouncer(databaseUrl, [...ini, ...lines]);
    t.after(() => pooler.stop());
    return { databaseUrl, env: { ...ENV, DATABASE_URL: pooler.url } };
  }

  it('in session mode, which keeps both, the service works', async (t) => {
    const { env } = await startBehind(t, ['pool_mode = session', 'default_pool_size = 30']);
    const service = await startTestService(env, { until: t });
    const agent = await service.newAgent();
    const { agent_id } = await agent.create();
    assert.equal((await agent.nearby()).body.total, 1);
    const listed = await runHere(['agents', 'list', '--json'], env);
    assert.equal(listed.code, 0, listed.stderr);
    assert.equal(JSON.parse(listed.stdout).agents[0].id, agent_id);
    const changed = await runHere(['agents', 'set-tier', agent_id, 'admin', '--json'], env);
    assert.equal(changed.code, 0, changed.stderr);
    const shown = await runHere(['agents', 'show', agent_id], env);
    assert.match(shown.stdout, /^tier +admin$/m, shown.stderr);
    const checked = await runHere(['check'], env);
    assert.equal(checked.code, 0, checked.stdout);
  });

  for (const lines of isNew ? [['max_prepared_statements = 200']] : []) {
    it('in transaction mode, from 1.21 on, the service works, and statements have their timeouts', async (t) => {
      const { databaseUrl, env } = await startBehind(t, lines);
      const service = await startTestService(env, { until: t });
      const agent = await service.newAgent();
      // More at once than PgBouncer has connections: every statement may run on any of them.
      const work = async () => {
        const { event_id } = await agent.create();
        for (const cost of ['1', '2', '3']) {
          assert.equal((await agent.patch(`/v1/events/${event_id}`, { cost })).status, 200);
          assert.equal((await agent.nearby({ radius: 10 })).status, 200);
          assert.equal((await agent.get('/v1/agents/me/events')).status, 200);
        }
        assert.equal((await agent.delete(`/v1/events/${event_id}`)).status, 204);
      };
      await Promise.all(Array.from({ length: 40 }, work));
      assert.equal((await agent.nearby()).body.total, 0);
      const side = new Side(databaseUrl);
      t.after(() => side.close());
      const lock = await side.hold((sql) =>
        // The role's own timeout would end this session, too.
        sql.unsafe('SET LOCAL idle_in_transaction_session_timeout = 0; LOCK TABLE events'),
      );
      assertError(await agent.post('/v1/events', newEvent()), 503, 'UNAVAILABLE');
      await lock.release();
      await agent.create();
    });

    it('a command that needs statements without a timeout says that it needs PostgreSQL itself', async (t) => {
      const { env } = await startBehind(t, lines);
      const { code, stderr } = await run(['export'], env);
      assert.equal(code, 1);
      assert.match(stderr, /without a timeout, but PgBouncer .* Use the address of PostgreSQL itself/);
    });
  }
});
