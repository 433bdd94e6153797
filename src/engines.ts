// The engine that the configuration selects: for the service, for bulk work, and for copies. Only that engine is loaded.
import type { Config } from './config.ts';
import { StartError } from './domain/errors.ts';
import type { Finding, TimeSource } from './domain/finding.ts';
import { newUlid } from './domain/ids.ts';
import type { BulkReader, BulkWriter, CopyControl, Store, StoreSummary } from './domain/store.ts';
import type { TransferStore } from './domain/transfer.ts';
import { newSigningKey, SIGNING_KEY } from './oidc/local-issuer.ts';
import type { OnPrimary } from './postgres/client/primary.ts';
import type { SearchChange } from './postgres/memory/node-events.ts';
import { databasePath } from './sqlite/files/data-folder.ts';
import type { SqliteOptions } from './sqlite/options.ts';
import { systemClock, systemRandom } from './system.ts';

/** Called with the number of events loaded so far while the service starts. */
export type OnProgress = (done: number, total: number) => void;

export interface StoreListeners
  extends Pick<
    SqliteOptions,
    'onDiskChange' | 'onFatal' | 'onWordsProblem' | 'onWordsReady' | 'onMigrated' | 'metrics' | 'clock'
  > {
  readonly onSearchChange?: (change: SearchChange) => void;
  readonly onPrimary?: OnPrimary;
}

/** Opens the engine selected by the configuration. Throws StartError. */
export async function openStore(
  config: Config,
  nowMs: number,
  onProgress: OnProgress = () => {},
  listeners: StoreListeners = {},
): Promise<Store> {
  const { dataDir: folder, cacheBytes, indexMaxBytes, minFreeDiskBytes: minFreeBytes } = config;
  const hashSeed = new DataView(systemRandom(new Uint8Array(4)).buffer).getInt32(0);
  const shared = { ...listeners, cacheBytes, indexMaxBytes, nowMs, hashSeed };
  if (config.database) {
    const { PostgresStore } = await import('./postgres/store.ts');
    return PostgresStore.open({ ...config.database, ...shared, onChange: listeners.onSearchChange });
  }
  const { SqliteStore } = await import('./sqlite/store.ts');
  return SqliteStore.open({ ...shared, folder, minFreeBytes, onProgress });
}

/** Opens the engine for bulk writes. No service may use the same data folder. Throws StartError. */
export async function openBulkWriter(config: Config): Promise<BulkWriter> {
  if (config.database) return (await import('./postgres/bulk.ts')).PostgresBulkWriter.open(config.database);
  const { SqliteBulkWriter } = await import('./sqlite/files/bulk.ts');
  return SqliteBulkWriter.open(config.dataDir, config.minFreeDiskBytes);
}

/**
 * Opens the engine for bulk reads, or for a look at agents, which migrates nothing, and whose statements are short: so it also works for a role
 * that may only read, and behind a pooler with a timeout. A service may be running. Throws StartError.
 */
export async function openBulkReader(config: Config, purpose: 'export' | 'agents'): Promise<BulkReader> {
  if (config.database) {
    const { PostgresBulkReader } = await import('./postgres/bulk.ts');
    return purpose === 'export'
      ? PostgresBulkReader.openExport(config.database)
      : PostgresBulkReader.openAgents(config.database);
  }
  const { SqliteBulkReader } = await import('./sqlite/files/bulk.ts');
  return new SqliteBulkReader(config.dataDir);
}

/** What a start would find in the data. Changes nothing. `checkClock` returns what is wrong with the clock. */
export async function inspectData(
  { database, dataDir, minFreeDiskBytes }: Config,
  checkClock: (source: TimeSource) => Promise<string | undefined>,
): Promise<Finding[]> {
  if (database) return (await import('./postgres/inspect.ts')).inspectDatabase(database, checkClock);
  const { inspectFolder } = await import('./sqlite/files/inspect.ts');
  return inspectFolder(dataDir, minFreeDiskBytes, checkClock);
}

/** Copies all data to a new file. A service may be running. Throws StartError, or AbortError if aborted. */
export async function backupTo(config: Config, file: string, control: CopyControl): Promise<StoreSummary> {
  requireEmbedded(config);
  const { backUp } = await import('./sqlite/files/backup.ts');
  return backUp(config.dataDir, file, control);
}

/** Notes for the metrics when the last backup began. Throws the system's error. */
export async function noteBackup({ dataDir }: Config, beganMs: number): Promise<void> {
  const { writeLastBackup } = await import('./sqlite/files/backup.ts');
  writeLastBackup(dataDir, beganMs);
}

/** Restores a backup into an empty data folder. Throws StartError, or AbortError if aborted. */
export async function restoreFrom(config: Config, file: string, control: CopyControl): Promise<StoreSummary> {
  requireEmbedded(config);
  const { restore } = await import('./sqlite/files/backup.ts');
  return restore(file, config.dataDir, control);
}

/** Throws StartError if the data is in PostgreSQL. */
export function requireEmbedded({ database }: Config): void {
  if (!database) return;
  throw new StartError(
    'This command is for the embedded engine, but DATABASE_URL is set. ' +
      'Back up PostgreSQL with pg_dump (see docs/operations.md), or unset DATABASE_URL to work on DATA_DIR.',
  );
}

/** Opens the source or the target of a move. No service may use it. Throws StartError. */
export async function openTransfer(config: Config, side: 'source' | 'target'): Promise<TransferStore> {
  if (config.database) {
    const { PostgresTransfer } = await import('./postgres/transfer.ts');
    return PostgresTransfer.open(config.database, newUlid(systemClock(), systemRandom));
  }
  const { SqliteTransfer } = await import('./sqlite/files/transfer.ts');
  return side === 'source'
    ? SqliteTransfer.openSource(config.dataDir)
    : SqliteTransfer.openTarget(config.dataDir);
}

/** Signing key of the service's own tokens. Can be read while a service uses the store. Throws StartError. */
export async function getSigningKey(config: Config): Promise<string> {
  const found = config.database ? undefined : await findInFile(config.dataDir);
  if (found !== undefined) return found;
  const database = config.database && ({ ...config.database, search: 'database' } as const);
  const store = await openStore({ ...config, database }, systemClock());
  try {
    return await store.getSetting(SIGNING_KEY, newSigningKey);
  } finally {
    await store.close();
  }
}

async function findInFile(dataDir: string): Promise<string | undefined> {
  const { findStoredSetting } = await import('./sqlite/reader.ts');
  return findStoredSetting(databasePath(dataDir), SIGNING_KEY);
}
