// Composition root: the only file that knows every engine and surface. main.ts and all end-to-end tests start here.
import { randomFillSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { VerifyToken } from './domain/admin.ts';
import type { Clock, Random } from './domain/clock-and-random.ts';
import { StartError } from './domain/errors.ts';
import { newUlid } from './domain/ids.ts';
import { type ConsoleAccess, newSecret } from './domain/session.ts';
import {
  type BulkReader,
  type BulkWriter,
  BYTES_PER_MB,
  type CopyControl,
  type Store,
  type StoreSummary,
} from './domain/store.ts';
import type { TransferStore } from './domain/transfer.ts';
import { Admission } from './http/admission/admission.ts';
import { type Listener, listen } from './http/listen.ts';
import type { Readiness } from './http/routes/health.ts';
import { buildServer } from './http/server.ts';
import { mcpHandler } from './mcp/handler.ts';
import { toolServer } from './mcp/server.ts';
import { TOOLS } from './mcp/tools.ts';
import { localVerifier, newSigningKey, SIGNING_KEY } from './oidc/local-issuer.ts';
import { profilePictures } from './oidc/picture.ts';
import { isGoogle, providerVerifier } from './oidc/provider.ts';
import { SESSION_SECRET } from './oidc/seal.ts';
import { sessionSeal } from './oidc/session.ts';
import { providerSignIn } from './oidc/sign-in.ts';
import { PostgresBulkReader, PostgresBulkWriter } from './postgres/bulk.ts';
import { PostgresStore } from './postgres/store.ts';
import { PostgresTransfer } from './postgres/transfer.ts';
import { backUp, restore } from './sqlite/files/backup.ts';
import { SqliteBulkReader, SqliteBulkWriter } from './sqlite/files/bulk.ts';
import { databasePath } from './sqlite/files/data-folder.ts';
import { SqliteTransfer } from './sqlite/files/transfer.ts';
import type { OnDiskChange } from './sqlite/free-disk.ts';
import { findStoredSetting } from './sqlite/reader.ts';
import { SqliteStore } from './sqlite/store.ts';
import type { Policy } from './usecases/context.ts';
import { KeyedQueue } from './usecases/keyed-queue.ts';
import { Retention } from './usecases/retention.ts';

const PACKAGE = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
export const VERSION = PACKAGE.version;

const CONSOLE_FOLDER = fileURLToPath(new URL('../web/dist/', import.meta.url));

/** Time for running requests to finish at shutdown; then their connections are closed. */
const CLOSE_TIMEOUT_MS = 4_000;

export const systemClock: Clock = Date.now;

/** Random bytes. Small requests use a pool, because a system call costs far more than the bytes. */
export const systemRandom: Random = (bytes) => {
  if (bytes.length > POOL_BYTES) return randomFillSync(bytes);
  if (poolAt + bytes.length > POOL_BYTES) {
    randomFillSync(pool);
    poolAt = 0;
  }
  bytes.set(pool.subarray(poolAt, poolAt + bytes.length));
  pool.fill(0, poolAt, poolAt + bytes.length); // do not keep bytes that may become a key
  poolAt += bytes.length;
  return bytes;
};

const POOL_BYTES = 4_096;
const pool = new Uint8Array(POOL_BYTES);
let poolAt = POOL_BYTES;

/** Called with the number of events loaded so far while the service starts. */
export type OnProgress = (done: number, total: number) => void;

/** Opens the engine selected by the configuration. Throws StartError. */
export async function openStore(
  config: Config,
  nowMs: number,
  onProgress: OnProgress = () => {},
  onDiskChange: OnDiskChange = () => {},
): Promise<Store> {
  if (config.database) return PostgresStore.open(config.database);
  const { dataDir: folder, cacheBytes, minFreeDiskBytes: minFreeBytes } = config;
  return SqliteStore.open({ folder, cacheBytes, minFreeBytes, nowMs, onProgress, onDiskChange });
}

/** Opens the engine for bulk writes. No service may use the same data folder. Throws StartError. */
export function openBulkWriter(config: Config): Promise<BulkWriter> {
  if (config.database) return PostgresBulkWriter.open(config.database);
  return SqliteBulkWriter.open(config.dataDir);
}

/** Opens the engine for bulk reads. A service may be running. Throws StartError. */
export async function openBulkReader(config: Config): Promise<BulkReader> {
  if (config.database) return PostgresBulkReader.open(config.database);
  return new SqliteBulkReader(config.dataDir);
}

/** Copies all data to a new file. A service may be running. Throws StartError, or AbortError if aborted. */
export async function backupTo(config: Config, file: string, control: CopyControl): Promise<StoreSummary> {
  requireEmbedded(config);
  return backUp(config.dataDir, file, control);
}

/** Restores a backup into an empty data folder. Throws StartError, or AbortError if aborted. */
export async function restoreFrom(config: Config, file: string, control: CopyControl): Promise<StoreSummary> {
  requireEmbedded(config);
  return restore(file, config.dataDir, control);
}

function requireEmbedded({ database }: Config): void {
  if (!database) return;
  throw new StartError(
    'This command is for the embedded engine, but DATABASE_URL is set. ' +
      'Back up PostgreSQL with pg_dump (see docs/operations.md), or unset DATABASE_URL to work on DATA_DIR.',
  );
}

/** Opens the source or the target of a move. No service may use it. Throws StartError. */
export async function openTransfer(config: Config, side: 'source' | 'target'): Promise<TransferStore> {
  if (config.database) return PostgresTransfer.open(config.database, newUlid(systemClock(), systemRandom));
  return side === 'source'
    ? SqliteTransfer.openSource(config.dataDir)
    : SqliteTransfer.openTarget(config.dataDir);
}

/** Signing key of the service's own tokens. Can be read while a service uses the store. Throws StartError. */
export async function getSigningKey(config: Config): Promise<string> {
  const found = config.database ? undefined : findStoredSetting(databasePath(config.dataDir), SIGNING_KEY);
  if (found !== undefined) return found;
  const store = await openStore(config, systemClock());
  try {
    return await store.getSetting(SIGNING_KEY, newSigningKey);
  } finally {
    await store.close();
  }
}

export interface Service {
  /** URL of the listening socket. */
  readonly url: string;
  readonly engine: Store['engine'];
  /** Finishes running requests, then closes port and store. */
  close(): Promise<void>;
}

export interface ServiceOptions {
  readonly logger: Logger;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly onProgress?: OnProgress;
}

/** Starts to listen before it opens the store, so that /health responds meanwhile. Throws StartError. */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const { logger, clock = systemClock, random = systemRandom } = options;
  let readiness: Readiness = { done: 0, total: 0 };
  let url = '';
  const app = buildServer({
    version: VERSION,
    corsOrigins: config.corsOrigins,
    trustProxy: config.trustProxy,
    logger,
    newRequestId: requestIds(clock, random),
    baseUrl: () => config.publicUrl ?? url,
    publicUrl: config.publicUrl,
    readiness: () => readiness,
    consoleFolder: CONSOLE_FOLDER,
    mcp: mcpHandler(toolServer(VERSION)),
    tools: TOOLS,
    admission: new Admission(config.clientLimits, config.database && 4 * config.database.poolSize),
  });
  const listener = await startListening(app, config);
  url = listener.url;
  try {
    const onProgress: OnProgress = (done, total) => {
      readiness = { done, total };
      options.onProgress?.(done, total);
    };
    const store = await openStore(config, clock(), onProgress, diskLog(logger));
    const access = await openAccess(config, store, clock, random).catch(async (error: unknown) => {
      await store.close();
      throw error;
    });
    const edits = new KeyedQueue();
    const retention = startRetention(config, store, clock, logger);
    readiness = { context: { store, clock, random, policy: policyOf(config), ...access, edits } };
    return {
      url,
      engine: store.engine,
      close: async () => {
        await closeServer(app, listener);
        await retention.close();
        await store.close();
      },
    };
  } catch (error) {
    await closeServer(app, listener);
    throw error;
  }
}

function startRetention(config: Config, store: Store, clock: Clock, logger: Logger): Retention {
  const { keepEndedDays, keepUnusedAgentsDays } = config;
  return new Retention({
    store,
    clock,
    keepEndedDays,
    keepUnusedAgentsDays,
    onRemoved: (count, what, days) =>
      logger.info(
        what === 'events'
          ? `Removed ${count} events that ended at least ${days} days ago (KEEP_ENDED_DAYS).`
          : `Removed ${count} agents that registered at least ${days} days ago and were never used (KEEP_UNUSED_AGENTS_DAYS).`,
      ),
    onFailure: (err) =>
      logger.error({ err }, 'Old data could not be removed. It is tried again in 10 minutes.'),
  });
}

function diskLog(logger: Logger): OnDiskChange {
  const inMb = (bytes: number) => Math.floor(bytes / BYTES_PER_MB);
  return (isLow, { freeBytes, reusableBytes }, floorBytes) => {
    if (isLow)
      logger.error(
        `The disk of DATA_DIR is nearly full: ${inMb(freeBytes)} MB are free, and ${inMb(reusableBytes)} MB in the database. ` +
          `Creates, changes and registrations are refused while that is less than ${inMb(floorBytes)} (MIN_FREE_DISK_MB).`,
      );
    else
      logger.info(
        `The disk of DATA_DIR has ${inMb(freeBytes)} MB free, and ${inMb(reusableBytes)} MB in the database. ` +
          'Creates, changes and registrations work again.',
      );
  };
}

/** The settings that use cases need, without secrets. */
function policyOf(config: Config): Policy {
  return {
    registrationTier: config.registrationTier,
    tierLimits: config.tierLimits,
    registrationsPerHour: config.registrationsPerHour,
    failedRegistrationsPerHour: config.failedRegistrationsPerHour,
    maxEventsPerAgent: config.maxEventsPerAgent,
    maxBytesPerAgent: config.maxBytesPerAgent,
    maxBytesPerNetworkAndHour: config.maxBytesPerNetworkAndHour,
    administrators: {
      ...config.administrators,
      hostedDomainRequired: config.oidc !== undefined && isGoogle(config.oidc.issuer),
    },
  };
}

/** Authentication of administrators: a token with each request, or a session in the console. */
async function openAccess(
  config: Config,
  store: Store,
  clock: Clock,
  random: Random,
): Promise<{ verifyToken: VerifyToken; console: ConsoleAccess }> {
  const { oidc, sessionSecret } = config;
  const verifyToken = await chooseVerifier(config, store, clock);
  const secret = sessionSecret ?? (await store.getSetting(SESSION_SECRET, async () => newSecret(random)));
  const binding = oidc ? [oidc.issuer, oidc.clientId] : [];
  return {
    verifyToken,
    console: {
      signIn: oidc && (await providerSignIn({ ...oidc, secret, verifyToken, clock, random })),
      sessions: await sessionSeal({ secret, binding, clock }),
      pictures: profilePictures(oidc?.issuer),
    },
  };
}

async function chooseVerifier(config: Config, store: Store, clock: Clock): Promise<VerifyToken> {
  if (config.oidc) return providerVerifier({ ...config.oidc, clock });
  return localVerifier(await store.getSetting(SIGNING_KEY, newSigningKey), clock);
}

async function startListening(app: FastifyInstance, { host, port }: Config): Promise<Listener> {
  try {
    return await listen(app, host, port);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reasons: Record<string, string> = {
      EADDRINUSE: `Port ${port} on ${host} is in use. Stop the program that uses it, or set PORT to another port.`,
      EACCES: `This user may not use port ${port}. Set PORT to one above 1023.`,
      EADDRNOTAVAIL: `${host} is not an address of this machine. Set HOST to one that is.`,
      ENOTFOUND: `The host name ${host} cannot be resolved. Set HOST to another.`,
    };
    throw new StartError(reasons[code ?? ''] ?? `Cannot listen on ${host}:${port}: ${message}`, { cause });
  }
}

/** Generator of request IDs: a prefix unique to this process, and a counter. */
function requestIds(clock: Clock, random: Random): () => string {
  const prefix = newUlid(clock(), random).slice(-8);
  let count = 0;
  return () => `${prefix}-${(count++).toString(36)}`;
}

/** Closes keep-alive connections as soon as they are idle: otherwise they would keep the server open. */
async function closeServer(app: FastifyInstance, listener: Listener): Promise<void> {
  const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
  const deadline = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
  try {
    await Promise.all([app.close(), listener.stop()]);
  } finally {
    clearInterval(sweep);
    clearTimeout(deadline);
  }
}
