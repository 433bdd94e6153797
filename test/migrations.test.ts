// Migrations: which files of a folder count, and which databases they fit.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { StartError } from '../src/domain/errors.ts';
import { LAST_BEFORE_RELEASE, readMigrations, requireKnown } from '../src/migrations.ts';
import { temporaryFolder } from './support/service.ts';

/** A folder with these files; each contains its own name. */
function folderWith(...files: readonly string[]): URL {
  const folder = new URL(`file://${temporaryFolder()}/`);
  for (const file of files) writeFileSync(new URL(file, folder), file);
  return folder;
}

function assertRefused(work: () => unknown, message: RegExp): void {
  assert.throws(work, (error: Error) => error instanceof StartError && message.test(error.message));
}

describe('readMigrations', () => {
  it('reads migrations in the order of their numbers', () => {
    assert.deepEqual(readMigrations(folderWith('0002-b.sql', '0003-a-1.sql', '0001-c.sql')), [
      { name: '0001-c', sql: '0001-c.sql' },
      { name: '0002-b', sql: '0002-b.sql' },
      { name: '0003-a-1', sql: '0003-a-1.sql' },
    ]);
    assert.deepEqual(readMigrations(folderWith()), []);
  });

  it('ignores other files', () => {
    const strays = ['.DS_Store', '.0001-a.sql.swp', '0001-a.sql~', '0001-a.sql.orig', '0001-a (copy).sql'];
    const others = ['README.md', '1-a.sql', '00001-a.sql', '0000.sql', 'a-0001.sql', 'Thumbs.db'];
    const found = readMigrations(folderWith('0001-a.sql', ...strays, ...others, '0002-b.sql'));
    assert.deepEqual(
      found.map(({ name }) => name),
      ['0001-a', '0002-b'],
    );
  });

  it('refuses a missing or repeated number', () => {
    const damaged = /^The installation is damaged: .* Reinstall local-events\.$/;
    for (const files of [['0000-a.sql'], ['0002-a.sql'], ['0001-a.sql', '0003-b.sql']])
      assertRefused(() => readMigrations(folderWith(...files)), damaged);
    assertRefused(
      () => readMigrations(folderWith('0001-a.sql', '0001-b.sql', '0002-c.sql')),
      /found 0001-b\.sql instead of migration 0002/,
    );
  });

  for (const engine of ['sqlite', 'postgres']) {
    it(`reads the migrations of ${engine}`, () => {
      const [first] = readMigrations(new URL(`../src/${engine}/migrations/`, import.meta.url));
      assert.match(first!.sql, /CREATE TABLE/);
    });
  }
});

describe('requireKnown', () => {
  const ours = ['0001-a', '0002-b', '0003-c'].map((name) => ({ name, sql: '' }));

  it('accepts an empty database, and one that has all or the first of the migrations', () => {
    requireKnown(ours, 0, []);
    requireKnown(ours, 1, ['0001-a']);
    requireKnown(ours, 3, ['0001-a', '0002-b', '0003-c']);
  });

  it('refuses data from before 1.0.0 by its first name, whatever its number, and says what to do', () => {
    for (const names of [[], ['0001-initial'], ['0001-start', '0002-b', '0003-c', '0004-d']])
      for (const version of [1, 3, 4])
        assertRefused(
          () => requireKnown(ours, version, names),
          new RegExp(
            `before 1\\.0\\.0.* "export" with the version of commit ${LAST_BEFORE_RELEASE}, then "import"`,
          ),
        );
    assert.match(LAST_BEFORE_RELEASE, /^[0-9a-f]{7,}$/);
  });

  it('refuses a database that a newer version wrote, whatever the names', () => {
    for (const names of [['0001-x'], ['0001-a', '0002-b', '0003-c', '0004-d']])
      assertRefused(
        () => requireKnown(ours, 4, names),
        /written by a newer version of local-events \(schema 4; this version supports up to 3\)\. Install that version or newer\.$/,
      );
  });

  it('refuses a database with other names, or in another order', () => {
    assertRefused(
      () => requireKnown(ours, 2, ['0001-a', '0002-x']),
      /another version of local-events: its migration 2 is 0002-x, not 0002-b\. Install that version\.$/,
    );
    assertRefused(() => requireKnown(ours, 3, ['0002-b', '0001-a']), /its migration 1 is 0002-b, not 0001-a/);
  });
});
