// What the refusal of data from before 1.0.0 says to do: the last version before exports its own data, and that of an earlier version
// which it has opened; this version imports it. Needs the repository's history: in a shallow clone, run git fetch --unshallow.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { before, it } from 'node:test';
import { LAST_BEFORE_RELEASE } from '../../src/migrations.ts';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { readRows } from '../sqlite/files.ts';
import { runHere } from '../support/command.ts';
import { newDatabase } from '../support/postgres.ts';
import { launch } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';
import { fileOf, NEW_AGENT, toLines } from './bulk.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Wrote the first data of the version before, with the same migrations. */
const EARLIER = 'b09a7f6';

/** Installs the version of this commit. Returns a function that runs its commands. */
function install(commit: string) {
  const archive = ['archive', commit, 'bin', 'src', 'package.json'];
  const tar = execFileSync('git', archive, { cwd: ROOT, maxBuffer: 2 ** 28 });
  const folder = temporaryFolder();
  execFileSync('tar', ['-x', '-C', folder], { input: tar });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return async (args: readonly string[], env: Record<string, string>): Promise<string> => {
    const { code, stdout, stderr } = await launch(args, env, [], join(folder, 'bin/local-events.mjs')).ended;
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    return stdout;
  };
}

const FIELDS = { location_name: 'Hall', lat: 52.5, lng: 13.4, event_type: 'talk', timezone: 'Asia/Calcutta' };
const TITLES = ['Märchen 😀', 'cancelled', 'third'];
const events = fileOf(
  toLines(
    TITLES.map((title, at) => ({
      ...{ ...FIELDS, title, start_at: `2131-05-0${at + 1}T18:00:00` },
      ...(at === 1 && { status: 'cancelled' }),
    })),
  ),
);

let last: ReturnType<typeof install>;
before(() => {
  last = install(LAST_BEFORE_RELEASE);
});

/** Imports what the version before exports; returns the titles, with their status and timezone. */
async function takeOver(env: Record<string, string>): Promise<string[]> {
  const file = fileOf(await last(['export'], env));
  const folder = join(temporaryFolder(), 'data');
  const { code, stderr } = await runHere(['import', file, ...NEW_AGENT], { DATA_DIR: folder });
  assert.equal(code, 0, stderr);
  const rows = readRows(databasePath(folder), 'SELECT title, status, timezone FROM events ORDER BY start_ms');
  return rows.map((row) => Object.values(row).join(', '));
}

const TAKEN_OVER = TITLES.map(
  (title) => `${title}, ${title === 'cancelled' ? 'cancelled' : 'scheduled'}, Asia/Calcutta`,
);

for (const [name, newEnv] of [
  ['a folder', async () => ({ DATA_DIR: join(temporaryFolder(), 'data') })],
  ['a database', async () => ({ DATABASE_URL: await newDatabase() })],
] as const) {
  it(`takes over the events of ${name} of the last version before 1.0.0`, async () => {
    const env = await newEnv();
    await last(['import', events, ...NEW_AGENT], env);
    assert.match((await runHere(['export'], env)).stderr, /before 1\.0\.0/);
    assert.deepEqual(await takeOver(env), TAKEN_OVER);
  });
}

it('takes over the events of a folder of an earlier version that the last one has opened', async () => {
  const env = { DATA_DIR: join(temporaryFolder(), 'data') };
  await install(EARLIER)(['import', events, ...NEW_AGENT], env);
  await last(['import', fileOf(''), ...NEW_AGENT], env);
  assert.deepEqual(await takeOver(env), TAKEN_OVER);
});

it('is refused by the last version before 1.0.0, like all data of a newer one', async () => {
  for (const env of [{ DATA_DIR: join(temporaryFolder(), 'data') }, { DATABASE_URL: await newDatabase() }]) {
    assert.equal((await runHere(['import', events, ...NEW_AGENT], env)).code, 0);
    await assert.rejects(
      last(['import', events, ...NEW_AGENT], env),
      /another version of local-events: its migration 1 is 0001-release-1, not 0001-(?:initial|start)/,
    );
  }
});
