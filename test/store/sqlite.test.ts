// The store contract over the embedded engine.
import { SqliteStore } from '../../src/sqlite/store.ts';
import { temporaryFolder } from '../support/service.ts';
import { storeContract } from './contract.ts';

storeContract('sqlite', () => SqliteStore.open({ folder: temporaryFolder(), cacheBytes: 1_000_000 }));
