// The permanent thread that reads: small reads do not wait behind a queue of pages, and pages do not wait behind a queue of small reads.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { openForWriting } from '../../src/sqlite/connection.ts';
import { ReaderClient } from '../../src/sqlite/threads/reader-client.ts';
import { temporaryFolder } from '../support/service.ts';

const PAGE = Array.from({ length: 100 }, (_, row) => row);

/** Sends the first calls, all at once, then one more; returns how many of the first were answered before that one. */
async function answeredBefore(
  first: (client: ReaderClient) => Promise<unknown>,
  then: (client: ReaderClient) => Promise<unknown>,
): Promise<number> {
  const path = join(temporaryFolder(), 'rows.db');
  openForWriting(path).close();
  const client = await ReaderClient.start(path);
  let answered = 0;
  const calls = Array.from({ length: 200 }, () => first(client).then(() => answered++));
  await then(client);
  const before = answered;
  await Promise.all(calls);
  await client.close();
  return before;
}

const readPage = (client: ReaderClient) => client.run('findEvents', [PAGE], () => {});
const readSetting = (client: ReaderClient) => client.run('findSetting', ['name'], () => {});
const readOneEvent = (client: ReaderClient) => client.run('findEvents', [[7]], () => {});
const wait = (client: ReaderClient) => client.run('ping', [], () => {});

describe('the permanent reader thread', () => {
  for (const [name, read] of Object.entries({ readSetting, readOneEvent })) {
    it(`answers a small read before pages that wait (${name})`, async () => {
      assert.ok((await answeredBefore(readPage, read)) <= 16);
    });
  }

  it('answers a small read after at most three of the largest pages, however many wait', async () => {
    const read = async (client: ReaderClient) => {
      await nextTurn(); // by then, the first pages are on their way
      await readSetting(client);
    };
    assert.ok((await answeredBefore(readPage, read)) <= 3);
  });

  it('answers a page before small reads that wait', async () => {
    assert.ok((await answeredBefore(readSetting, readPage)) <= 16);
  });

  it('answers small reads of the same turn of the event loop with one message', async () => {
    const path = join(temporaryFolder(), 'rows.db');
    openForWriting(path).close();
    const threads: Worker[] = [];
    process.once('worker', (thread) => threads.push(thread));
    const client = await ReaderClient.start(path);
    let messages = 0;
    threads[0]!.on('message', () => messages++);
    await Promise.all(Array.from({ length: 16 }, () => readOneEvent(client)));
    assert.equal(messages, 1);
    await client.close();
  });

  it('answers a ping after all calls before it', async () => {
    assert.equal(await answeredBefore(readPage, wait), 200);
  });
});
