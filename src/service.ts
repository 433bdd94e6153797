// The composition root: the one place that knows every engine and surface. main.ts and every end-to-end test start here.
import { randomFillSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { VerifyToken } from './domain/admin.ts';
import type { Clock, Random } from './domain/clock-and-random.ts';
import { StartError } from './domain/errors.ts';
import { newUlid } from './domain/ids.ts';
import { type ConsoleAccess, newSecret } from './domain/session.ts';
import type { BulkReader, BulkWriter, CopyControl, Store, StoreSummary } from './domain/store.ts';
import type { TransferStore } from './domain/transfer.ts';
import type { Readiness } from './http/readiness.ts';
import { buildServer } from './http/server.ts';
import { mcpHandler } from './mcp/handler.ts';
import { toolServer } from './mcp/server.ts';
import { TOOLS } from './mcp/tools.ts';
import { localVerifier, newSigningKey, SIGNING_KEY } from './oidc/local-issuer.ts';
import { peoplesPictures } from './oidc/picture.ts';
import { providerVerifier } from './oidc/provider.ts';
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
import { findStoredSetting } from './sqlite/reader.ts';
import { SqliteStore } from './sqlite/store.ts';
import { KeyedQueue } from './usecases/keyed-queue.ts';

const PACKAGE = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
export const VERSION = PACKAGE.version;

const CONSOLE_FOLDER = fileURLToPath(new URL('../web/dist/', import.meta.url));

/** Requests under way when the service closes get this long; then their connections are cut. */
const CLOSE_TIMEOUT_MS = 4_000;

export const systemClock: Clock = Date.now;

/** Small requests are met from a pool: asking the system costs far more than the bytes. */
export const systemRandom: Random = (bytes) => {
  if (bytes.length > POOL_BYTES) return randomFillSync(bytes);
  if (poolAt + bytes.length > POOL_BYTES) {
    randomFillSync(pool);
    poolAt = 0;
  }
  bytes.set(pool.subarray(poolAt, poolAt + bytes.length));
  pool.fill(0, poolAt, poolAt + bytes.length); // what becomes a key is not kept here
  poolAt += bytes.length;
  return bytes;
};

const POOL_BYTES = 4_096;
const pool = new Uint8Array(POOL_BYTES);
let poolAt = POOL_BYTES;

/** Told how many of the events are loaded while the service starts. */
export type OnProgress = (done: number, total: number) => void;

/** Opens the engine that the configuration names. Throws StartError. */
export async function openStore(
  config: Config,
  nowMs: number,
  onProgress: OnProgress = () => {},
): Promise<Store> {
  if (config.database) return PostgresStore.open(config.database);
  return SqliteStore.open({ folder: config.dataDir, cacheBytes: config.cacheBytes, nowMs, onProgress });
}

/** Opens the engine for bulk writing; no service may hold the embedded one. Throws StartError. */
export function openBulkWriter(config: Config): Promise<BulkWriter> {
  if (config.database) return PostgresBulkWriter.open(config.database);
  return SqliteBulkWriter.open(config.dataDir);
}

/** Opens the engine for bulk reading, beside a service or without one. Throws StartError. */
export async function openBulkReader(config: Config): Promise<BulkReader> {
  if (config.database) return PostgresBulkReader.open(config.database);
  return new SqliteBulkReader(config.dataDir);
}

/** Copies all data into a new file, beside a service or without one. Throws StartError, or AbortError if told to stop. */
export async function backupTo(config: Config, file: string, control: CopyControl): Promise<StoreSummary> {
  requireEmbedded(config);
  return backUp(config.dataDir, file, control);
}

/** Puts a backup where there is no data yet. Throws StartError, or AbortError if told to stop. */
export async function restoreFrom(config: Config, file: string, control: CopyControl): Promise<StoreSummary> {
  requireEmbedded(config);
  return restore(file, config.dataDir, control);
}

function requireEmbedded({ database }: Config): void {
  if (!database) return;
  throw new StartError(
    'This is for the embedded store, but DATABASE_URL is set: PostgreSQL is backed up with pg_dump, see docs/operations.md. ' +
      'Unset DATABASE_URL to work on DATA_DIR.',
  );
}

/** Opens one side of a move; no service may hold it. Throws StartError. */
export async function openTransfer(config: Config, side: 'source' | 'target'): Promise<TransferStore> {
  if (config.database) return PostgresTransfer.open(config.database, newUlid(systemClock(), systemRandom));
  return side === 'source'
    ? SqliteTransfer.openSource(config.dataDir)
    : SqliteTransfer.openTarget(config.dataDir);
}

/** The key of the service's own issuer. Where a running service holds the store, it is read beside it. Throws StartError. */
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
  /** Where it listens. */
  readonly url: string;
  readonly engine: Store['engine'];
  /** Finishes what is under way, then lets go of port and store. */
  close(): Promise<void>;
}

export interface ServiceOptions {
  readonly logger: Logger;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly onProgress?: OnProgress;
}

/** Listens first, so that health can be asked while the store opens. Throws StartError. */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const { logger, clock = systemClock, random = systemRandom } = options;
  let readiness: Readiness = { done: 0, total: 0 };
  let url = '';
  const app = buildServer({
    version: VERSION,
    corsOrigins: config.corsOrigins,
    trustProxy: config.trustProxy,
    logger,
    newRequestId: requestNames(clock, random),
    baseUrl: () => config.publicUrl ?? url,
    publicUrl: config.publicUrl,
    readiness: () => readiness,
    consoleFolder: CONSOLE_FOLDER,
    mcp: mcpHandler(toolServer(VERSION)),
    tools: TOOLS,
  });
  url = await listen(app, config);
  try {
    const store = await openStore(config, clock(), (done, total) => {
      readiness = { done, total };
      options.onProgress?.(done, total);
    });
    const access = await openAccess(config, store, clock, random).catch(async (error: unknown) => {
      await store.close();
      throw error;
    });
    const { registrationTier, tierLimits, registrationsPerHour, maxEventsPerAgent, administrators } = config;
    const policy = { registrationTier, tierLimits, registrationsPerHour, maxEventsPerAgent, administrators };
    const edits = new KeyedQueue();
    readiness = { context: { store, clock, random, policy, ...access, edits } };
    return {
      url,
      engine: store.engine,
      close: async () => {
        await closeServer(app);
        await store.close();
      },
    };
  } catch (error) {
    await closeServer(app);
    throw error;
  }
}

/** How administrators show who they are: a token with each request, or a session in the console. */
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
      pictures: peoplesPictures(oidc?.issuer),
    },
  };
}

async function chooseVerifier(config: Config, store: Store, clock: Clock): Promise<VerifyToken> {
  if (config.oidc) return providerVerifier({ ...config.oidc, clock });
  return localVerifier(await store.getSetting(SIGNING_KEY, newSigningKey), clock);
}

async function listen(app: FastifyInstance, { host, port }: Config): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reasons: Record<string, string> = {
      EADDRINUSE: `Port ${port} on ${host} is taken. Stop what listens there, or set PORT to another.`,
      EACCES: `Port ${port} may not be used by this user. Set PORT to one above 1023.`,
      EADDRNOTAVAIL: `${host} is not an address of this machine. Set HOST to one that is.`,
      ENOTFOUND: `The name ${host} has no address. Set HOST to one that has.`,
    };
    throw new StartError(reasons[code ?? ''] ?? `Cannot listen on ${host}:${port}: ${message}`, { cause });
  }
  const { address, port: actual, family } = app.server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}`;
}

/** Names for requests: unique to this process by a prefix, in order by a counter. */
function requestNames(clock: Clock, random: Random): () => string {
  const prefix = newUlid(clock(), random).slice(-8);
  let count = 0;
  return () => `${prefix}-${(count++).toString(36)}`;
}

/** A connection that is kept alive would hold the server open: each is closed as soon as it is idle. */
async function closeServer(app: FastifyInstance): Promise<void> {
  const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
  const cut = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
  try {
    await app.close();
  } finally {
    clearInterval(sweep);
    clearTimeout(cut);
  }
}
