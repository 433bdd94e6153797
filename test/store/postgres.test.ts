// The store contract over PostgreSQL.
import { readConfig } from '../../src/config.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { newDatabase } from '../support/postgres.ts';
import { storeContract } from './contract.ts';

/** Some tests ask for thousands of things at once, which is nothing that a request would wait for. */
const PATIENT = { DATABASE_POOL_TIMEOUT_MS: '60000' };

storeContract('postgres', async () =>
  PostgresStore.open(readConfig({ DATABASE_URL: await newDatabase(), ...PATIENT }).database!),
);
