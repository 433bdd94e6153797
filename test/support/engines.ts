// The two storage engines, for tests that run on both: the environment of a service with a fresh store on each.
import { newDatabase } from './postgres.ts';
import { temporaryFolder } from './service.ts';

export type Engine = 'sqlite' | 'postgres';

export const ENGINES: Readonly<Record<Engine, () => Promise<Record<string, string>>>> = {
  sqlite: async () => ({ DATA_DIR: temporaryFolder() }),
  postgres: async () => ({ DATABASE_URL: await newDatabase() }),
};
