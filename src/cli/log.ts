// The log on standard output: JSON lines, buffered, and flushed completely before the process exits.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import type { Io } from './command.ts';

/** Time limit for the last flush if the reader stalls. */
const LOG_FINISH_MS = 300;

/**
 * Log lines are buffered for at most half a second, to save a system call per line. If the reader stalls, the buffer grows to
 * `maxLength`; then lines are dropped.
 */
const LOG_BUFFER = { minLength: 4_096, periodicFlush: 500, maxLength: 16_777_216 };

/** `destroyed` is missing in its types. */
type Destination = ReturnType<typeof pino.destination> & { readonly destroyed?: boolean };

interface Log {
  readonly logger: Logger;
  /** Lines that were dropped so far because nobody reads the log. */
  droppedLines(): number;
  /** Flushes the buffer and closes the log. Gives up after LOG_FINISH_MS if nobody reads it. */
  finish(): Promise<void>;
}

/** JSON lines, or human-readable lines on a terminal. */
export function openLog(level: string, stdout: Io['stdout']): Log {
  if (stdout.isTTY) {
    const logger = pino({ level }, pretty({ sync: true, singleLine: true, ignore: 'pid,hostname' }));
    return { logger, droppedLines: () => 0, finish: async () => {} };
  }
  if (stdout.fd === undefined)
    return { logger: pino({ level }, stdout), droppedLines: () => 0, finish: async () => {} };
  const destination = pino.destination({ fd: stdout.fd, sync: false, ...LOG_BUFFER });
  joinLines(destination);
  let droppedLines = 0;
  destination.on('drop', (lines: string) => {
    droppedLines += lines.split('\n').length - 1;
  });
  const closed = Promise.withResolvers<void>();
  destination.on('close', () => closed.resolve());
  // After the reader closes its end, the destination emits errors and never closes. The service continues without a log.
  destination.on('error', () => closed.resolve());
  const finish = async () => {
    // Not flush(): called during a write, it leaves up to minLength bytes in the buffer.
    destination.end();
    await Promise.race([closed.promise, sleep(LOG_FINISH_MS, undefined, { ref: false })]);
    // pino flushes again on exit. If the reader stalls or has closed its end, that would retry forever. A closed log takes no lines.
    destination.flushSync = () => {};
    destination.write = () => true;
  };
  return { logger: pino({ level }, destination), droppedLines: () => droppedLines, finish };
}

/** Passes many lines on at once: for each call, the destination measures all that it holds. */
function joinLines(destination: Destination): void {
  let lines = '';
  const write = destination.write.bind(destination);
  const passOn = () => {
    const passed = lines;
    lines = '';
    return passed === '' || write(passed);
  };
  destination.write = (line) => {
    lines += line;
    return lines.length < LOG_BUFFER.minLength || passOn();
  };
  const flush = destination.flush.bind(destination);
  destination.flush = (done) => {
    passOn();
    flush(done);
  };
  const flushSync = destination.flushSync.bind(destination);
  destination.flushSync = () => {
    passOn();
    flushSync();
  };
  const end = destination.end.bind(destination);
  destination.end = () => {
    passOn();
    // What comes from now on is written before the end, unless that has begun: then the destination would throw.
    destination.write = (line) => destination.destroyed === true || write(line);
    end();
  };
}
