// The store contract over the embedded engine.
import { describe } from 'node:test';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { temporaryFolder } from '../support/service.ts';
import { storeContract, useStore } from './contract.ts';
import { manyClientContract } from './contract-clients.ts';

const open = () => SqliteStore.open({ folder: temporaryFolder(), cacheBytes: 1_000_000 });

storeContract('sqlite', open);
describe('many clients of the sqlite store', () => manyClientContract(useStore(open)));
