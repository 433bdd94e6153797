// Log lines about what the store does by itself: migrations, free disk space, the words of events, and where it searches and writes.
import type { Logger } from 'pino';
import { AppError } from './domain/errors.ts';
import { BYTES_PER_MB } from './domain/store.ts';
import type { StoreListeners } from './engines.ts';
import type { SearchChange } from './postgres/memory/node-events.ts';

export function storeLog(logger: Logger): Omit<StoreListeners, 'onFatal' | 'metrics' | 'clock'> {
  let primary: string | undefined;
  return {
    onMigrated: (migration, ms) => logger.info({ migration, ms: Math.round(ms) }, 'The schema was migrated.'),
    onDiskChange: (isLow, { freeBytes, reusableBytes }, floorBytes) => {
      const inMb = (bytes: number) => Math.floor(bytes / BYTES_PER_MB);
      if (isLow)
        logger.error(
          `The disk of DATA_DIR is nearly full: ${inMb(freeBytes)} MB are free, and ${inMb(reusableBytes)} MB in the database. ` +
            `Creates, changes and registrations are refused while that is less than ${inMb(floorBytes)} (MIN_FREE_DISK_MB).`,
        );
      else
        logger.info(
          `The disk of DATA_DIR has ${inMb(freeBytes)} MB free, and ${inMb(reusableBytes)} MB in the database. ` +
            'Creates, changes and registrations work again.',
        );
    },
    onWordsReady: (ms) =>
      logger.info({ ms: Math.round(ms) }, 'Searches by words are answered from memory: all words were read.'),
    onWordsProblem: (cause) => {
      if (cause === undefined)
        logger.error(
          'The words of events need more memory than INDEX_MAX_MB allows. Until the next start, searches with q use the database, or ' +
            'get a 503 on the embedded engine.',
        );
      else
        logFailure(
          logger,
          cause,
          'The words of events could not be read, so searches with q get a 503. It is tried again every second.',
        );
    },
    onSearchChange: (change) => {
      const [level, text] = describeSearchChange(change);
      if ('cause' in change) logFailure(logger, change.cause, text);
      else logger[level](text);
    },
    onPrimary: (address) => {
      if (address === primary) return; // a start connects several times
      if (address === undefined)
        logger.warn({ primary }, 'The primary does not respond, or accepts no writes. All hosts are asked.');
      else logger.info({ primary: address }, 'This primary is used now.');
      primary = address;
    },
  };
}

/** A store that does not respond is a state that the service knows and waits out: a warning with the reason, and no stack. */
export function logFailure(logger: Logger, error: unknown, text: string): void {
  if (!(error instanceof AppError && error.code === 'UNAVAILABLE')) logger.error({ err: error }, text);
  else logger.warn({ reason: (error.cause as Error | undefined)?.message ?? error.message }, text);
}

/** Level and text of the log line. */
function describeSearchChange(change: SearchChange): [level: 'info' | 'warn' | 'error', text: string] {
  if (change.by === 'memory') {
    const took = Math.ceil(change.tookMs);
    return ['info', `Searches are answered from memory: ${change.events} events, loaded in ${took} ms.`];
  }
  switch (change.reason) {
    case 'too large':
      return [
        'warn',
        `The index of ${change.events} events would be larger than INDEX_MAX_MB. Searches use the database and are slower.`,
      ];
    case 'pooler':
      return [
        'info',
        'DATABASE_URL leads to a pooler, so searches use the database. To search in memory, connect to PostgreSQL directly.',
      ];
    case 'reload':
      return ['info', 'All events are loaded again. Searches use the database until then.'];
    case 'failure':
      return ['error', 'The events could not be loaded into memory. Searches use the database.'];
  }
}
