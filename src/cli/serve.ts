// Serves until it is told to stop. The start is announced on standard error; standard output is the log's.
import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import { describeData, readConfig } from '../config.ts';
import { type Service, startService, VERSION } from '../service.ts';
import { showLoading } from './loading.ts';
import { Progress } from './progress.ts';
import { UsageError } from './usage.ts';

/** What is still open after this is left behind. */
const EXIT_TIMEOUT_MS = 4_800;

export async function serve(args: string[]): Promise<void> {
  if (args.length > 0) throw new UsageError('serve takes no options; settings are environment variables.');
  const config = readConfig(process.env);
  const logger = createLogger(config.logLevel);
  const progress = new Progress('events', process.stderr);
  const service = await startService(config, { logger, onProgress: showLoading(progress) }).finally(() =>
    progress.clear(),
  );
  stopOnSignal(service, logger); // before anybody hears that it is ready
  console.error(
    [
      `local-events ${VERSION} is ready`,
      `  address  ${config.publicUrl ?? service.url}`,
      `  docs     ${config.publicUrl ?? service.url}/docs`,
      `  engine   ${service.engine}`,
      `  data     ${describeData(config)}`,
    ].join('\n'),
  );
  if (config.oidc && Object.values(config.administrators).every((list) => list.length === 0)) {
    logger.warn('Nobody is an administrator: set ADMIN_EMAILS, ADMIN_DOMAINS or ADMIN_SUBJECTS.');
  }
  if (config.oidc && !/^https:|^http:\/\/(?:localhost|127\.|\[::1\])/i.test(config.oidc.issuer)) {
    logger.warn('OIDC_ISSUER is not https: whoever is between here and there can forge tokens.');
  }
}

function stopOnSignal(service: Service, logger: Logger): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, 'stopping');
    process.exitCode = 1; // until all is closed
    setTimeout(() => process.exit(), EXIT_TIMEOUT_MS).unref();
    service.close().then(
      () => {
        logger.info('stopped');
        process.exitCode = 0;
      },
      (error: unknown) => logger.error({ err: error }, 'could not stop cleanly'),
    );
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}

/**
 * Lines are written together, half a second late at most: one at a time, each would cost a system call. All are out
 * before an exit. What a reader who stalls leaves behind is bounded; then lines are dropped.
 */
const LOG_BUFFER = { minLength: 4_096, periodicFlush: 500, maxLength: 16_777_216 };

/** Structured lines, or readable ones on a terminal. */
function createLogger(level: string): Logger {
  if (process.stdout.isTTY) {
    return pino({ level }, pretty({ sync: true, singleLine: true, ignore: 'pid,hostname' }));
  }
  return pino({ level }, pino.destination({ fd: 1, sync: false, ...LOG_BUFFER }));
}
