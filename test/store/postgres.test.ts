// The store contract over PostgreSQL.
import { readConfig } from '../../src/config.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { newDatabase } from '../support/postgres.ts';
import { storeContract } from './contract.ts';

/** Some tests queue thousands of operations at once, longer than any request would wait. */
const PATIENT = { DATABASE_POOL_TIMEOUT_MS: '60000' };

storeContract('postgres', async () =>
  PostgresStore.open(readConfig({ DATABASE_URL: await newDatabase(), ...PATIENT }).database!),
);
