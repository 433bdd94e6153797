// The store contract over PostgreSQL: searches from memory, and in the long run also by SQL.
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../src/config.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { newDatabase } from '../support/postgres.ts';
import { size } from '../support/sizes.ts';
import { storeContract } from './contract.ts';

/** Some tests queue thousands of operations at once, longer than any request would wait. */
const PATIENT = { DATABASE_POOL_TIMEOUT_MS: '60000' };

for (const search of size(['memory'] as const, ['memory', 'database'] as const)) {
  storeContract(`postgres (${search})`, async () => {
    const { database } = readConfig({ DATABASE_URL: await newDatabase(), ...PATIENT });
    const store = await PostgresStore.open({ ...database!, search, cacheBytes: 20_000 });
    // Until then, searches use SQL.
    while (search === 'memory' && store.eventsInMemory === undefined) await sleep(5);
    return store;
  });
}
