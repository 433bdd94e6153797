// Log lines about what the store does by itself: migrations, the words of events, and which primary it uses.
import type { Logger } from 'pino';
import type { StoreListeners } from './engines.ts';

export function storeLog(
  logger: Logger,
): Required<Pick<StoreListeners, 'onMigrated' | 'onWordsReady' | 'onPrimary'>> {
  let primary: string | undefined;
  return {
    onMigrated: (migration, ms) => logger.info({ migration, ms: Math.round(ms) }, 'The schema was migrated.'),
    onWordsReady: (ms) =>
      logger.info({ ms: Math.round(ms) }, 'Searches by words are answered from memory: all words were read.'),
    onPrimary: (address) => {
      if (address === primary) return; // a start connects several times
      if (address === undefined)
        logger.warn({ primary }, 'The primary does not respond, or accepts no writes. All hosts are asked.');
      else logger.info({ primary: address }, 'This primary is used now.');
      primary = address;
    },
  };
}
