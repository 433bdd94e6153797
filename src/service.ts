// Composition root of the service: connects an engine with all surfaces. `serve` and all end-to-end tests start here.
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { VerifyToken } from './domain/administration/admin.ts';
import type { Clock, Random, Uptime } from './domain/clock-and-random.ts';
import { AppError, SettingsError, StartError } from './domain/errors.ts';
import { newSecret, newUlid } from './domain/ids.ts';
import type { Store } from './domain/store.ts';
import { type OnProgress, openStore } from './engines.ts';
import { Admission } from './http/admission/admission.ts';
import { ResponseDeadline } from './http/admission/deadline.ts';
import { type Listener, listen } from './http/listen.ts';
import { RequestMetrics } from './http/log/request-metrics.ts';
import { type MetricsServer, serveMetrics } from './http/metrics-server.ts';
import { StaticDocuments } from './http/response/static-document.ts';
import type { Readiness } from './http/routes/health.ts';
import type { McpRead, ServeMcp } from './http/routes/mcp.ts';
import { buildServer } from './http/server.ts';
import { Shutdown } from './http/shutdown.ts';
import { TOOLS } from './mcp/tools.ts';
import { Metrics, measureProcess } from './metrics/metrics.ts';
import { ClientDocuments } from './oauth/client-documents.ts';
import { localVerifier, newSigningKey, SIGNING_KEY } from './oidc/local-issuer.ts';
import { profilePictures } from './oidc/picture.ts';
import { providerVerifier } from './oidc/provider.ts';
import { newSeal, SESSION_SECRET, sessionSeal } from './oidc/seal.ts';
import { providerSignIn } from './oidc/sign-in.ts';
import { Outbound } from './outbound/outbound.ts';
import { lazyPlaces } from './places/places.ts';
import { logFailure, storeLog } from './store-log.ts';
import { systemClock, systemRandom, systemUptime, VERSION } from './system.ts';
import { ClockTrust, describeDoubt } from './usecases/clock-trust.ts';
import { type Context, KeyedQueue } from './usecases/context.ts';
import { Retention } from './usecases/retention.ts';

const CONSOLE_FOLDER = fileURLToPath(new URL('../web/dist/', import.meta.url));

export interface Service {
  /** URL of the listening socket. */
  readonly url: string;
  readonly engine: Store['engine'];
  /** Undefined if they are not served. */
  readonly metricsUrl: string | undefined;
  /** Compresses the documents that never change, so that no visitor waits for it. */
  prepareDocuments(): Promise<void>;
  /** Finishes running requests, then closes port and store. With `drain`, a node of several first serves a moment longer. */
  close(options?: { drain: boolean }): Promise<void>;
}

export interface ServiceOptions {
  readonly logger: Logger;
  /** Number of log lines that were dropped. */
  readonly droppedLines?: () => number;
  readonly clock?: Clock;
  readonly uptime?: Uptime;
  readonly random?: Random;
  readonly onProgress?: OnProgress;
  /** Called if the service cannot go on, such as after a thread of the store has died. */
  readonly onFatal?: (error: Error) => void;
}

/**
 * The embedded engine listens before its store is open, so that /health responds meanwhile. A node of several listens when it is
 * ready: until then the others serve. Throws StartError.
 */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const { logger, clock = systemClock, random = systemRandom } = options;
  let readiness: Readiness = { done: 0, total: 0 };
  let url = '';
  const metrics = new Metrics();
  const shutdown = new Shutdown();
  const documents = new StaticDocuments();
  const deadline = new ResponseDeadline(config.database?.statementTimeoutMs);
  const app = buildServer({
    version: VERSION,
    corsOrigins: config.corsOrigins,
    trustProxy: config.trustProxy,
    logger,
    logAgent: config.logAgent,
    newRequestId: requestIds(clock, random),
    baseUrl: () => config.publicUrl ?? url,
    publicUrl: config.publicUrl,
    publicReading: config.policy.publicReading,
    readiness: () => readiness,
    shutdown,
    requestMetrics: config.metricsPort === undefined ? undefined : new RequestMetrics(metrics),
    consoleFolder: CONSOLE_FOLDER,
    mcp: async (call) => (await loadMcp()).serve(call),
    publicMcp: async (read) => (await loadMcp()).servePublic(read),
    tools: TOOLS,
    hasOAuth: config.oauth,
    admission: new Admission(config.clientLimits, config.database && 4 * config.database.poolSize, metrics),
    deadline,
    documents,
  });
  let listener = config.database ? undefined : await startListening(app, config);
  url = listener?.url ?? '';
  let served: MetricsServer | undefined;
  let store: Store | undefined;
  try {
    served = await startMetrics(metrics, config, options);
    const onProgress: OnProgress = (done, total) => {
      readiness = { done, total };
      options.onProgress?.(done, total);
    };
    const { onFatal } = options;
    store = await openStore(config, clock(), onProgress, {
      ...storeLog(logger),
      ...{ onFatal, metrics, clock },
    });
    if (config.oauthProblem !== undefined)
      logger.warn(`Chat clients cannot sign in (OAUTH is off): ${config.oauthProblem}.`);
    const outbound = new Outbound({ issuer: config.oidc?.issuer, allow: config.outboundAllow });
    const access = await openAccess(config, store, clock, random, outbound);
    const edits = new KeyedQueue();
    readiness = {
      context: { store, clock, random, policy: config.policy, ...access, edits, places: lazyPlaces() },
    };
    listener ??= await startListening(app, config);
    url = listener.url;
    const retention = startRetention(config, store, metrics, { ...options, clock });
    const opened = store;
    return {
      url,
      engine: opened.engine,
      metricsUrl: served?.url,
      prepareDocuments: () => documents.prepare(),
      close: async ({ drain } = { drain: false }) => {
        if (drain && config.database) await shutdown.drain();
        await shutdown.close(app, listener, deadline);
        await retention.close();
        await opened.close();
        await served?.close();
      },
    };
  } catch (error) {
    await served?.close();
    await shutdown.close(app, listener, deadline);
    await store?.close();
    throw startErrorOf(error);
  }
}

/** For an error of the store: StartError. Returns other errors unchanged. */
function startErrorOf(error: unknown): unknown {
  if (!(error instanceof AppError)) return error;
  const reason = error.cause instanceof Error ? error.cause.message : error.message;
  const advice = reason === 'database or disk is full' ? 'Free some space, and start again.' : 'Start again.';
  return new StartError(`The service cannot start, because its store failed: ${reason}. ${advice}`, {
    cause: error,
  });
}

interface Mcp {
  readonly serve: ServeMcp;
  readonly servePublic: ServeMcp<McpRead>;
}
let mcpLoading: Promise<Mcp> | undefined;

/** Loads the library of /mcp, once: it takes a fifth of the start, and many services never need it. */
function loadMcp(): Promise<Mcp> {
  mcpLoading ??= import('./mcp/server.ts').then(({ mcpHandler, publicToolServer, toolServer }) => ({
    serve: mcpHandler(toolServer(VERSION)),
    servePublic: mcpHandler(publicToolServer(VERSION)),
  }));
  return mcpLoading;
}

function startRetention(
  config: Config,
  store: Store,
  metrics: Metrics,
  { logger, clock, uptime = systemUptime }: ServiceOptions & { clock: Clock },
): Retention {
  const retention = new Retention({
    store,
    clock,
    trust: new ClockTrust({ store, clock, uptime, confirmedDate: config.clockConfirmed }),
    onDoubt: (doubt) => {
      if (doubt) logger.warn(describeDoubt(doubt));
      else logger.info('The clock of this machine is trusted. Old data is removed again.');
    },
    policy: config.policy,
    onRemoved: (count, what, days) =>
      logger.info(
        {
          events: `Removed ${count} events that ended at least ${days} days ago (KEEP_ENDED_DAYS).`,
          agents: `Removed ${count} agents that registered at least ${days} days ago and were never used (KEEP_UNUSED_AGENTS_DAYS).`,
          deleted: `Removed ${count} events that administrators deleted at least ${days} days ago (KEEP_DELETED_DAYS).`,
          grants: `Removed ${count} grants that were not used for ${days} days.`,
        }[what],
      ),
    onFailure: (error) =>
      logFailure(logger, error, 'Old data could not be removed. It is tried again in 10 minutes.'),
  });
  metrics.gauge(
    'local_events_retention_stopped',
    '1 while old data is not removed, because the clock may be wrong.',
    () => Number(retention.isStopped),
  );
  return retention;
}

/** Authentication of administrators: a token with each request, or a session in the console. */
async function openAccess(
  config: Config,
  store: Store,
  clock: Clock,
  random: Random,
  outbound: Outbound,
): Promise<Pick<Context, 'verifyToken' | 'console' | 'oauth'>> {
  const { oidc, sessionSecret } = config;
  const verifyToken = await chooseVerifier(config, store, clock);
  const secret = sessionSecret ?? (await store.getSetting(SESSION_SECRET, async () => newSecret(random)));
  const binding = oidc ? [oidc.issuer, oidc.clientId] : [];
  return {
    verifyToken,
    console: {
      signIn: oidc && (await providerSignIn({ ...oidc, secret, verifyToken, clock, random })),
      sessions: await sessionSeal({ secret, binding, clock }),
      pictures: profilePictures(outbound),
    },
    oauth: config.oauth
      ? {
          pages: await newSeal({ secret, purpose: 'consent 1', binding: [], clock }),
          remembered: await newSeal({ secret, purpose: 'agent 1', binding: [], clock }),
          documents: new ClientDocuments({ outbound, store, clock }),
        }
      : undefined,
  };
}

async function chooseVerifier(config: Config, store: Store, clock: Clock): Promise<VerifyToken> {
  if (config.oidc) return providerVerifier({ ...config.oidc, clock });
  return localVerifier(await store.getSetting(SIGNING_KEY, newSigningKey), clock);
}

function startListening(app: FastifyInstance, { host, port }: Config): Promise<Listener> {
  return explainListening(listen(app, host, port), 'PORT', host, port);
}

/** Serves the metrics, if METRICS_PORT is set. */
async function startMetrics(
  metrics: Metrics,
  { host, metricsPort: port, database }: Config,
  { droppedLines = () => 0 }: ServiceOptions,
): Promise<MetricsServer | undefined> {
  if (port === undefined) return undefined;
  const { url, close } = await explainListening(
    serveMetrics(metrics, host, port),
    'METRICS_PORT',
    host,
    port,
  );
  metrics.total('local_events_log_lines_dropped_total', 'Log lines that were dropped.', droppedLines);
  const labels = { version: VERSION, engine: database ? 'postgres' : 'sqlite', node: process.versions.node };
  metrics.gauge('local_events_build_info', 'Version, engine and Node; always 1.', () => 1, labels);
  const stop = measureProcess(metrics);
  return {
    url,
    close: () => {
      stop();
      return close();
    },
  };
}

/** Throws StartError that says what to do if the port cannot be used; SettingsError if it never can. */
async function explainListening<T>(
  listening: Promise<T>,
  variable: string,
  host: string,
  port: number,
): Promise<T> {
  try {
    return await listening;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EACCES')
      throw new SettingsError(`This user may not use port ${port}. Set ${variable} to one above 1023.`, {
        cause,
      });
    const reasons: Record<string, string> = {
      EADDRINUSE: `Port ${port} on ${host} is in use. Stop the program that uses it, or set ${variable} to another port.`,
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
