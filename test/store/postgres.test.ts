// The store contract over PostgreSQL: searches and the list of all events from memory; the list also by SQL, and in the long run the
// whole contract, and thousands of clients.
import { describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../src/config.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { newDatabase } from '../support/postgres.ts';
import { size } from '../support/sizes.ts';
import { type OpenStore, storeContract, useStore } from './contract.ts';
import { allEventsContract } from './contract-all-events.ts';
import { manyClientContract } from './contract-clients.ts';

/** Some tests queue thousands of operations at once, longer than any request would wait. */
const PATIENT = { DATABASE_POOL_TIMEOUT_MS: '60000' };

function openWith(search: 'memory' | 'database'): OpenStore {
  return async () => {
    const { database } = readConfig({ DATABASE_URL: await newDatabase(), ...PATIENT });
    const store = await PostgresStore.open({ ...database!, search, cacheBytes: 20_000 });
    // Until then, searches use SQL.
    while (search === 'memory' && store.eventsInMemory === undefined) await sleep(5);
    return store;
  };
}

storeContract('postgres (memory)', openWith('memory'));
if (size(false, true)) {
  storeContract('postgres (database)', openWith('database'));
  describe('many clients of the postgres store', () => manyClientContract(useStore(openWith('database'))));
} else
  describe('the list of all events of the postgres (database) store', () =>
    allEventsContract(useStore(openWith('database'))));
