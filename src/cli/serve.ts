// The `serve` command: runs the service until a signal stops it. Standard error gets the start message, standard output the log.
import { executionAsyncResource } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { describeData, readConfig } from '../config.ts';
import type { OnProgress } from '../engines.ts';
import { type Service, startService } from '../service.ts';
import { VERSION } from '../system.ts';
import { type Env, type Io, UsageError } from './command.ts';
import { openLog } from './log.ts';
import { grouped, Progress } from './progress.ts';
import { findProviderProblems } from './setting-problems.ts';

/** Time from the signal to the forced exit, whatever is still open. */
const EXIT_TIMEOUT_MS = 4_800;

/** Time from the signal to the log's last flush, even if the service is still closing. It takes at most LOG_FINISH_MS. */
const LOG_DEADLINE_MS = 4_400;

/** Time from the start to compressing documents: the first requests come first. */
const PREPARE_AFTER_MS = 5_000;

export async function serve(args: string[], env: Env, io: Io): Promise<number> {
  if (args.length > 0) throw new UsageError('serve takes no options. Use environment variables instead.');
  const config = readConfig(env);
  await keepNextTickFast();
  const { logger, droppedLines, finish } = openLog(config.logLevel, io.stdout);
  const progress = new Progress('events', io.stderr);
  // A supervisor starts a new process, which reads everything again.
  const onFatal = (error: Error) => {
    logger.fatal({ err: error }, 'The service cannot go on, and exits.');
    void finish().then(() => io.exit(1));
  };
  // As process 1 of a container, a process without a handler ignores signals.
  let service: Service | undefined;
  const stopped = stopOnSignal(() => service, logger, finish, io);
  const onProgress = showLoading(progress);
  service = await startService(config, { logger, droppedLines, onProgress, onFatal }).finally(() =>
    progress.clear(),
  );
  io.stderr.write(
    `${[
      `local-events ${VERSION} is ready`,
      `  url      ${config.publicUrl ?? service.url}`,
      `  docs     ${config.publicUrl ?? service.url}/docs`,
      `  console  ${config.publicUrl ?? service.url}/admin`,
      ...(service.metricsUrl === undefined ? [] : [`  metrics  ${service.metricsUrl}`]),
      `  engine   ${service.engine}`,
      `  data     ${describeData(config)}`,
    ].join('\n')}\n`,
  );
  const { prepareDocuments } = service;
  setTimeout(() => {
    // Whatever could not be compressed now is compressed by its first request.
    prepareDocuments().catch((error: unknown) => logger.warn({ err: error }, 'could not compress documents'));
  }, PREPARE_AFTER_MS).unref();
  for (const problem of findProviderProblems(config)) logger.warn(problem);
  return stopped;
}

/**
 * Closes the service on SIGTERM, SIGHUP or SIGINT; exits at once if it is still starting. Resolves with the exit code when everything is
 * closed.
 */
function stopOnSignal(
  find: () => Service | undefined,
  logger: Logger,
  finishLog: () => Promise<void>,
  io: Io,
): Promise<number> {
  const { promise: stopped, resolve } = Promise.withResolvers<number>();
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, 'stopping');
    const service = find();
    if (!service) {
      void finishLog().then(() => io.exit(0));
      return;
    }
    let code = 1; // until everything is closed
    setTimeout(() => io.exit(code), EXIT_TIMEOUT_MS).unref();
    // SIGTERM comes from supervisors, SIGHUP when a terminal is closed, SIGINT from somebody who waits at one.
    const closed = service.close({ drain: signal !== 'SIGINT' }).then(
      () => {
        logger.info('stopped');
        code = 0;
      },
      (error: unknown) => logger.error({ err: error }, 'could not stop cleanly'),
    );
    void closed.then(() => resolve(code));
    const late = sleep(LOG_DEADLINE_MS, undefined, { ref: false });
    void Promise.race([closed, late]).then(finishLog);
  };
  for (const name of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) io.on(name, stop);
  // bin/local-events.mjs keeps Node from opening its debugger.
  io.on('SIGUSR1', (signal) => logger.info({ signal }, 'This signal has no effect.'));
  return stopped;
}

let alive: object | undefined;

/**
 * Each call of process.nextTick creates an object of the same hidden class. V8 discards that class if none of these objects is alive during
 * a garbage collection, as is usual on a server, and from then on each call takes six times as long; Node makes several per request.
 * So one stays alive, with which the promise resolves.
 */
export function keepNextTickFast(): Promise<object> {
  return new Promise((resolve) => {
    process.nextTick(() => {
      alive ??= executionAsyncResource();
      resolve(alive);
    });
  });
}

/** Shows the events read, then a line: the store reports no progress of the index build, and a full bar would look stuck. */
export function showLoading(progress: Progress): OnProgress {
  let areEventsRead = false;
  return (done, total) => {
    if (areEventsRead) return;
    areEventsRead = done === total;
    if (areEventsRead) progress.milestone(`loaded ${grouped(total)} events, building the index`);
    else progress.update(done, done / total);
  };
}
