// A move that is killed or stopped in the middle, in both directions: run again it copies exactly everything, and changes
// made in between are detected.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { execute, readRows } from '../sqlite/files.ts';
import { newEvent } from '../support/client.ts';
import { runHere } from '../support/command.ts';
import { launch } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';
import { importNew } from './bulk.ts';
import {
  assertMoved,
  databaseOf,
  dumpDatabase,
  dumpFolder,
  type Env,
  endOthers,
  exported,
  holdAt,
  makeWorld,
  newMigratedDatabase,
  tryToServe,
  type World,
  withSql,
} from './moving.ts';

const EVENTS = 10_000;
const OTHERS = 1_200;

/** Enough events of one agent, other agents and audit log entries that each table takes several steps. */
async function makeMany(): Promise<string> {
  const folder = join(temporaryFolder(), 'data');
  const lines = Array.from({ length: EVENTS }, (_, at) =>
    JSON.stringify(
      newEvent({
        description: `${at} `.repeat(40),
        lat: ((at * 7_919) % 18_000) / 100 - 90,
        lng: ((at * 104_729) % 36_000) / 100 - 180,
      }),
    ),
  );
  await importNew(lines.join('\n'), { DATA_DIR: folder, MAX_EVENTS_PER_AGENT: '0' });
  execute(
    databaseOf(folder),
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${OTHERS})
     INSERT INTO agents SELECT printf('0197d2e8-9a40-7c55-8f3e-%012x', i), 'a@b.c', 'agent ' || i, 'read', i % 2, i, NULL, 0, 0 FROM n;
     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${OTHERS})
     INSERT INTO audit (audit_id, at_ms, actor_subject, actor_email, action, target, target_name, detail, count)
     SELECT i * 2, i, 'ada', 'a@b.c', 'delete_event', 'x' || i, '', '', 1 FROM n;
     INSERT INTO settings (name, value) VALUES ('aardvark', 'before the mark of a move'), ('zebra', 'after it')`,
  );
  return folder;
}

/** The number of events that a move has copied into the folder. */
function eventsIn(folder: string): number {
  try {
    return readRows(databaseOf(folder), 'SELECT count(*) AS count FROM events')[0].count;
  } catch {
    return 0; // the table does not exist yet
  }
}

/** The number of rows moved so far, in all tables and in the last one. */
async function countIn(url: string): Promise<[rows: number, audit: number]> {
  const [found] = await withSql(
    url,
    (sql) => sql`
      SELECT ((SELECT count(*) FROM settings) + (SELECT count(*) FROM agents) + (SELECT count(*) FROM events)
        + (SELECT count(*) FROM audit))::integer AS rows, (SELECT count(*) FROM audit)::integer AS audit`,
  );
  return [found!.rows, found!.audit];
}

async function assertNotServed(env: Env): Promise<void> {
  const { code, stderr } = await tryToServe(env);
  assert.equal(code, 1, stderr);
  assert.match(stderr, /a move was not finished/);
}

describe(`a move of ${EVENTS} events`, () => {
  let folder: string;
  let url: string;
  const onTarget = () => ({ DATABASE_URL: url });
  before(async () => {
    folder = await makeMany();
    url = await newMigratedDatabase();
  });

  it('to PostgreSQL, killed in every table, is complete when it is run again', async () => {
    const source = dumpFolder(folder);
    const keyAt = (table: 'agents' | 'events' | 'audit', key: string, share: number) =>
      source[table][Math.floor(source[table].length * share)]![key] as string;
    const points = [
      { table: 'settings', key: 'zebra', isUndone: true },
      { table: 'agents', key: keyAt('agents', 'agent_id', 0.6), isUndone: false },
      { table: 'events', key: keyAt('events', 'event_id', 0.01), isUndone: true },
      { table: 'events', key: keyAt('events', 'event_id', 0.6), isUndone: false },
      { table: 'audit', key: keyAt('audit', 'audit_id', 0.7), isUndone: false },
    ] as const;
    let seen = -1;
    for (const { isUndone, ...point } of points) {
      const killed = await holdAt(
        [['move', '--to', url], { DATA_DIR: folder }],
        { url, ...point },
        async (move) => {
          move.child.kill('SIGKILL');
          await move.ended;
          if (isUndone) await endOthers(url); // otherwise the server completes the step of a client that has died
        },
      );
      assert.equal(killed.signal, 'SIGKILL', killed.stderr);
      const [rows, audit] = await countIn(url);
      assert.ok(rows > seen && audit < OTHERS, `${rows} rows after ${seen}`);
      seen = rows;
    }
    await assertNotServed(onTarget());
    const said = assertMoved(await runHere(['move', '--to', url], { DATA_DIR: folder }));
    assert.match(said, /^resuming: [\d,]+ rows are already there$/m);
    assert.deepEqual(await dumpDatabase(url), source);
    assert.equal(await exported(onTarget()), await exported({ DATA_DIR: folder }));
  });

  it('back to a folder, killed twice, is complete when it is run again', async () => {
    const back = join(temporaryFolder(), 'back');
    for (const share of [0, 0.3]) {
      const { child, ended, output } = launch(['move', '--from', url, '--to', back]);
      while (eventsIn(back) <= EVENTS * share) {
        assert.equal(child.exitCode, null, output().stderr);
        await sleep(3);
      }
      child.kill('SIGKILL');
      assert.equal((await ended).signal, 'SIGKILL');
      assert.ok(eventsIn(back) < EVENTS);
    }
    await assertNotServed({ DATA_DIR: back });
    const said = assertMoved(await runHere(['move', '--from', url, '--to', back]));
    assert.match(said, /^resuming: [\d,]+ rows are already there$/m);
    assert.deepEqual(dumpFolder(back), dumpFolder(folder));
    assert.equal(await exported({ DATA_DIR: back }), await exported({ DATA_DIR: folder }));
  });
});

describe('a move', () => {
  let world: World;
  before(async () => {
    world = await makeWorld();
  });

  it('that is stopped finishes its step, says so, and continues when it is run again', async () => {
    const { folder, agentIds } = world;
    const url = await newMigratedDatabase();
    const move: [string[], Env] = [['move', '--to', url], { DATA_DIR: folder }];
    for (const [signal, code, table, key] of [
      ['SIGINT', 130, 'agents', agentIds[1]!],
      ['SIGTERM', 143, 'audit', 1],
    ] as const) {
      const stopped = await holdAt(move, { url, table, key }, async ({ child }) => {
        child.kill(signal);
        await sleep(50);
      });
      assert.deepEqual([stopped.code, stopped.stdout], [code, ''], stopped.stderr);
      assert.match(stopped.stderr, /\nstopped in \d+\.\d s; run the same command again to continue\n$/);
      const rows = await dumpDatabase(url);
      assert.deepEqual(rows[table], dumpFolder(folder)[table]);
      assert.equal(rows.events.length > 0, table === 'audit');
    }
    await assertNotServed({ DATABASE_URL: url });
    assertMoved(await runHere(...move));
    assert.deepEqual(await dumpDatabase(url), dumpFolder(folder));
  });

  it('detects changes in the target between two runs, and the target is not served', async () => {
    const { folder } = world;
    const url = await newMigratedDatabase();
    const move: [string[], Env] = [['move', '--to', url], { DATA_DIR: folder }];
    const source = dumpFolder(folder);
    const last = source.audit.at(-1)!.audit_id as number;
    await holdAt(move, { url, table: 'audit', key: last }, async ({ child, ended }) => {
      child.kill('SIGKILL');
      await ended;
    });
    const change = (statement: string) => withSql(url, (sql) => sql.unsafe(statement));
    const differing = async () => {
      const { code, stdout, stderr } = await runHere(...move);
      assert.deepEqual([code, stdout], [1, ''], stderr);
      return /differs from the source in (.*): one of the two.*TRUNCATE.*\n$/.exec(stderr)?.[1];
    };
    const size = source.events.length;
    const first = `event_id = '${source.events[0]!.event_id}'`;
    await change(`UPDATE events SET lat = lat + 1e-14 WHERE ${first}`);
    assert.equal(await differing(), `events (${size} rows in the source, ${size} in the target)`);
    await change(`UPDATE events SET lat = ${source.events[0]!.lat} WHERE ${first}`);
    await change('UPDATE agents SET is_active = NOT is_active; UPDATE keys SET expires_ms = NULL');
    const four = '(4 rows in the source, 4 in the target)';
    assert.equal(await differing(), `agents ${four}, keys ${four}`);
    await change(`DELETE FROM events WHERE ${first}`);
    await assertNotServed({ DATABASE_URL: url });
    assert.ok(
      (await differing())?.endsWith(`, events (${size} rows in the source, ${size - 1} in the target)`),
    );
    await change('TRUNCATE settings, agents, keys, grants, grant_tokens, events, audit');
    assertMoved(await runHere(...move));
    assert.deepEqual(await dumpDatabase(url), source);
  });
});
