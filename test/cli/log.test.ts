// The log, on a real pipe: every line is written before the process may end, and no reader can block it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Io } from '../../src/cli/command.ts';
import { openLog } from '../../src/cli/log.ts';
import { temporaryFolder } from '../support/service.ts';

/** More than a pipe holds, which is 64 KiB. */
const STALLING_BYTES = 200_000;

/** A pipe that is read only by `read`. */
class Pipe {
  readonly writeFd: number;
  readonly #readFd: number;

  constructor() {
    const path = join(temporaryFolder(), 'pipe');
    execFileSync('mkfifo', [path]);
    this.#readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    this.writeFd = openSync(path, constants.O_WRONLY);
  }

  /** Everything that is in the pipe. */
  read(): string {
    const chunk = Buffer.alloc(65_536);
    let text = '';
    try {
      for (let bytes = 1; bytes > 0; text += chunk.toString('utf8', 0, bytes))
        bytes = readSync(this.#readFd, chunk);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
    return text;
  }

  close(): void {
    closeSync(this.#readFd);
  }
}

const open = (fd: number) => openLog('info', { fd } as Io['stdout']);

function messagesOf(text: string): string[] {
  return text
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: string }).msg);
}

/** Asserts that these messages were written; shortens them to show a difference. */
function assertMessages(text: string, messages: readonly string[]): void {
  const shorten = (message: string) => `${message.slice(0, 20)} (${message.length})`;
  assert.deepEqual(messagesOf(text).map(shorten), messages.map(shorten));
}

describe('the log', () => {
  // Up to 4,096 bytes are written at once; more than that while that write is under way.
  for (const bytes of [0, 1_000, 4_000, 4_096, 5_000, 16_000, 17_000, 40_000]) {
    it(`has written its last line when it is finished, after ${bytes} bytes`, (t) =>
      assertAllWritten(t, ['x'.repeat(bytes), 'stopped']));
  }

  it('has written every line, however many wait for a write under way', (t) => {
    const lines = Array.from({ length: 300 }, (_, at) => `line ${at}`);
    return assertAllWritten(t, ['x'.repeat(5_000), ...lines]);
  });

  it('takes a line at any time while it is finished', async () => {
    const file = join(temporaryFolder(), 'log');
    // Closing the file takes some turns of the event loop.
    for (let turns = 0; turns < 30; turns++) {
      const { logger, finish } = open(openSync(file, 'a'));
      logger.info('last');
      const finished = finish();
      for (let turn = 0; turn < turns; turn++) await nextTurn();
      logger.info('late');
      await finished;
    }
    const messages = messagesOf(readFileSync(file, 'utf8'));
    assert.equal(messages.filter((message) => message === 'last').length, 30);
  });

  it('counts the lines that it drops while nobody reads them', async (t) => {
    const pipe = new Pipe();
    t.after(() => pipe.close());
    const { logger, droppedLines, finish } = open(pipe.writeFd);
    const line = 'x'.repeat(1_048_576);
    for (let count = 0; count < 10; count++) logger.info(line);
    assert.equal(droppedLines(), 0);
    for (let count = 0; count < 10; count++) logger.info(line);
    assert.ok(droppedLines() >= 4 && droppedLines() <= 5, String(droppedLines()));
    await finish();
  });

  async function assertAllWritten(t: TestContext, messages: readonly string[]): Promise<void> {
    const pipe = new Pipe();
    t.after(() => pipe.close());
    const { logger, finish } = open(pipe.writeFd);
    for (const message of messages) logger.info(message);
    await finish();
    assertMessages(pipe.read(), messages);
  }

  it('writes lines that come while it is being finished, and silently ignores later ones', async (t) => {
    const pipe = new Pipe();
    t.after(() => pipe.close());
    const { logger, finish } = open(pipe.writeFd);
    logger.info('x'.repeat(5_000));
    const finished = finish();
    logger.info('stopped');
    await finished;
    logger.info('too late');
    assert.equal(messagesOf(pipe.read()).at(-1), 'stopped');
  });

  it('can be finished although its reader has closed the pipe', async () => {
    const pipe = new Pipe();
    const { logger, finish } = open(pipe.writeFd);
    pipe.close();
    logger.info('x'.repeat(5_000));
    logger.info('stopped');
    await finish();
    logger.info('too late');
  });

  it('can be finished although its reader closed the pipe long ago', async () => {
    const pipe = new Pipe();
    const { logger, finish } = open(pipe.writeFd);
    pipe.close();
    logger.info('x'.repeat(5_000));
    await sleep(100);
    logger.info('stopped');
    await finish();
    logger.info('too late');
  });

  it('can be finished although its reader stalls, and nothing is lost if it reads again', async (t) => {
    const pipe = new Pipe();
    const { logger, finish } = open(pipe.writeFd);
    const messages = Array.from({ length: STALLING_BYTES / 1_000 }, (_, at) => `${at} ${'x'.repeat(1_000)}`);
    for (const message of messages) logger.info(message);
    await finish();
    logger.info('too late');
    let text = '';
    t.after(() => pipe.close());
    while (!text.includes(messages.at(-1)!)) {
      text += pipe.read();
      await sleep(5);
    }
    assertMessages(text, messages);
  });
});
