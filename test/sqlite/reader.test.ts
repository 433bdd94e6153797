// Failing reads: the caller gets UNAVAILABLE, not the error of SQLite.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openForWriting } from '../../src/sqlite/connection.ts';
import { Reader } from '../../src/sqlite/reader.ts';
import { temporaryFolder } from '../support/service.ts';

const UNAVAILABLE = { name: 'AppError', code: 'UNAVAILABLE' };

function newDatabase(): string {
  const path = join(temporaryFolder(), 'test.db');
  openForWriting(path).close();
  return path;
}

describe('a reader', () => {
  it('finds nothing in an empty database', async () => {
    const reader = new Reader(newDatabase());
    assert.deepEqual(
      [reader.findAgentDetails('x', 0), reader.findSetting('x'), reader.countEvents()],
      [undefined, undefined, 0],
    );
    await reader.eachEvent(() => assert.fail('there is none'));
    reader.close();
  });

  it('is unavailable once the file is damaged', async () => {
    const path = newDatabase();
    const reader = new Reader(path);
    writeFileSync(path, 'x'.repeat(100_000));
    assert.throws(() => reader.findAgentDetails('x', 0), UNAVAILABLE);
    assert.throws(() => reader.findSetting('x'), UNAVAILABLE);
    assert.throws(() => reader.countEvents(), UNAVAILABLE);
    await assert.rejects(
      reader.eachEvent(() => {}),
      UNAVAILABLE,
    );
    reader.close();
  });

  it('is unavailable once it is closed', () => {
    const reader = new Reader(newDatabase());
    reader.close();
    assert.throws(() => reader.findAgentDetails('x', 0), UNAVAILABLE);
  });
});
