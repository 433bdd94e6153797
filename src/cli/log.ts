// The log on standard output: structured lines that are written together, and all of them before the process ends.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import type { Io } from './command.ts';

/** How long finishing the log may take, should its reader stall. */
const LOG_FINISH_MS = 300;

/**
 * Lines are written together, half a second late at most: one at a time, each would cost a system call. All are out
 * before an exit. What a reader who stalls leaves behind is bounded; then lines are dropped.
 */
const LOG_BUFFER = { minLength: 4_096, periodicFlush: 500, maxLength: 16_777_216 };

interface Log {
  readonly logger: Logger;
  /** Writes what is left, as far as anybody reads it. */
  finish(): Promise<void>;
}

/** Structured lines, or readable ones on a terminal. */
export function openLog(level: string, stdout: Io['stdout']): Log {
  if (stdout.isTTY) {
    const logger = pino({ level }, pretty({ sync: true, singleLine: true, ignore: 'pid,hostname' }));
    return { logger, finish: async () => {} };
  }
  if (stdout.fd === undefined) return { logger: pino({ level }, stdout), finish: async () => {} };
  const destination = pino.destination({ fd: stdout.fd, sync: false, ...LOG_BUFFER });
  const closed = Promise.withResolvers<void>();
  destination.on('close', () => closed.resolve());
  // Where the reader is gone, nothing is written any more, and nothing closed. The service goes on without a log.
  destination.on('error', () => closed.resolve());
  const finish = async () => {
    // Not flush(): called while something is written, it leaves up to minLength bytes in the buffer.
    destination.end();
    await Promise.race([closed.promise, sleep(LOG_FINISH_MS, undefined, { ref: false })]);
    // At the exit it would try for ever to write to a reader that is gone or stalls; and what is closed takes no lines.
    destination.flushSync = () => {};
    destination.write = () => true;
  };
  return { logger: pino({ level }, destination), finish };
}
