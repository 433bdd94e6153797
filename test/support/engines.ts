// Both storage engines, for tests of what is kept in them: where a service of each has its data.
import { newDatabase } from './postgres.ts';
import { temporaryFolder } from './service.ts';

export type Engine = 'sqlite' | 'postgres';

export const ENGINES: Readonly<Record<Engine, () => Promise<Record<string, string>>>> = {
  sqlite: async () => ({ DATA_DIR: temporaryFolder() }),
  postgres: async () => ({ DATABASE_URL: await newDatabase() }),
};
