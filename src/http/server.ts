// The HTTP server: every hook and every route, in order. The endpoints themselves are in routes/.
import type { Socket } from 'node:net';
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type HTTPMethods,
} from 'fastify';
import type { Logger } from 'pino';
import { AppError } from '../domain/errors.ts';
import type { Context } from '../usecases/context.ts';
import { Admission } from './admission/admission.ts';
import { trustedProxies } from './admission/trusted-proxies.ts';
import { serveConsole } from './browser/console.ts';
import { addConsoleHeaders } from './browser/console-headers.ts';
import { allowOrigin, type CorsOrigins, isAdminPath, sendPreflight } from './browser/cors.ts';
import { serveDocs } from './browser/docs.ts';
import { SIGN_IN_METHODS, serveSignIn } from './browser/sign-in.ts';
import { type Endpoint, parametersOf } from './endpoint.ts';
import type { ToolName } from './guide/mcp.ts';
import { serveGuide } from './guide/serve.ts';
import { MCP_PATH, mcp, type ServeMcp, serveMcp } from './mcp.ts';
import { type DescribedRoute, describeApi } from './openapi.ts';
import { authenticate, countFailedRegistration } from './request/authenticate.ts';
import { acceptJson, type BodyMeter, MAX_BODY_BYTES } from './request/body.ts';
import { parseQuery, type Query } from './request/query.ts';
import { accessLog, type WriteAccess } from './response/access-log.ts';
import { Backlog } from './response/backlog.ts';
import { MAX_URI_BYTES, sendError, sendSocketError, toAppError, URI_TOO_LONG } from './response/errors.ts';
import { addHeader, handOverHeaders, initHeaders } from './response/headers.ts';
import { sendResponse } from './response/send.ts';
import { StaticDocument } from './response/static-document.ts';
import * as admin from './routes/admin.ts';
import * as adminEvents from './routes/admin-events.ts';
import * as events from './routes/events.ts';
import { health, type Readiness, sendHealth, starting } from './routes/health.ts';
import * as ownAgent from './routes/own-agent.ts';
import { register } from './routes/registration.ts';

export interface ServerOptions {
  readonly version: string;
  readonly corsOrigins: CorsOrigins;
  readonly trustProxy: readonly string[];
  readonly logger: Logger;
  readonly newRequestId: () => string;
  readonly baseUrl: () => string;
  /** PUBLIC_URL, if the operator set it. */
  readonly publicUrl?: string | undefined;
  readonly readiness: () => Readiness;
  /** Folder with the console's build; without it, /admin says that the console is not built. */
  readonly consoleFolder?: string;
  /** Handler for /mcp; without it, there is no such route. */
  readonly mcp?: ServeMcp;
  /** Tools of /mcp, listed in the guide. */
  readonly tools?: readonly ToolName[];
  readonly admission?: Admission;
  readonly backlog?: Backlog;
  readonly bodyMeter?: BodyMeter;
  /** Timeout of a connection on which no data moves during a request. */
  readonly inactivityMs?: number;
}

type Route = readonly [method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, endpoint: Endpoint];

const ROUTES: readonly Route[] = [
  ['POST', '/v1/auth/register', register],
  ['POST', '/v1/auth/rotate', ownAgent.rotateKey],
  ['POST', '/v1/auth/revoke', ownAgent.revokeKey],
  ['GET', '/v1/agents/me', ownAgent.getOwnAgent],
  ['GET', '/v1/agents/me/events', ownAgent.listOwnEvents],
  ['GET', '/v1/events/nearby', events.nearby],
  ['POST', '/v1/events', events.createEvent],
  ['GET', '/v1/events/{event_id}', events.getEvent],
  ['PATCH', '/v1/events/{event_id}', events.updateEvent],
  ['DELETE', '/v1/events/{event_id}', events.deleteEvent],
  ['GET', '/v1/admin/me', admin.whoAmI],
  ['GET', '/v1/admin/stats', admin.getStats],
  ['GET', '/v1/admin/agents', admin.listAgents],
  ['PATCH', '/v1/admin/agents/{agent_id}', admin.updateAgent],
  ['DELETE', '/v1/admin/agents/{agent_id}', admin.deleteAgent],
  ['GET', '/v1/admin/agents/{agent_id}/events', adminEvents.listAgentEvents],
  ['DELETE', '/v1/admin/agents/{agent_id}/events', adminEvents.deleteAgentEvents],
  ['POST', '/v1/admin/agents/{agent_id}/events/delete', adminEvents.deleteSelectedEvents],
  ['DELETE', '/v1/admin/events/{event_id}', adminEvents.deleteAnyEvent],
  ['GET', '/v1/admin/audit', admin.listAudit],
];

/** Routes in the API description. */
export const DESCRIBED_ROUTES: readonly DescribedRoute[] = [
  ...ROUTES.map(([method, path, endpoint]) => ({ method, path, endpoint, access: endpoint.access })),
  { method: 'POST', path: MCP_PATH, endpoint: mcp, access: 'mcp' },
  { method: 'GET', path: '/health', endpoint: health, access: 'open' },
];

/** Limit for the request line and the headers together. */
const MAX_HEADER_BYTES = 16_384;

/** How long a connection may be idle between two requests, as clients are told. */
const KEEP_ALIVE_MS = 20_000;

/** It is closed this much later: a client that sends just in time must not find it closed. */
const KEEP_ALIVE_MARGIN_MS = 5_000;

/**
 * Number of first requests to keep alive. V8 sizes the objects of a class by the shapes of its first eight instances,
 * counting only shapes that are still alive. A garbage collection in between (likely while events load and only /health is
 * requested) would leave the objects of node:http too small for good and make every request a third slower.
 */
const KEPT_REQUESTS = 16;

export function buildServer(options: ServerOptions): FastifyInstance {
  const { logger, readiness, admission = new Admission(), inactivityMs = 10_000 } = options;
  const { backlog = new Backlog({ unreadBytes: admission.limits.unreadBytes }) } = options;
  const writeAccess = accessLog(logger);
  const refuseSocket = (error: Error, socket: Socket): void => {
    const requestId = options.newRequestId();
    const status = sendSocketError(error, socket, requestId);
    if (status !== undefined) logger.info({ requestId, status }, 'request');
  };
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    trustProxy: options.trustProxy.length > 0 ? [...options.trustProxy] : false,
    genReqId: options.newRequestId,
    // Close connections of slow senders: headers must arrive in 3 s (headersTimeout), the whole request in 5 s; checked
    // every second.
    requestTimeout: 5_000,
    // Close connections of clients that do not read. node:http checks twice, so this takes up to twice as long.
    connectionTimeout: inactivityMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // A missing Host is refused below: node:http would send a response without a body.
    http: {
      headersTimeout: 3_000,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: MAX_HEADER_BYTES,
      requireHostHeader: false,
      keepAliveTimeoutBuffer: KEEP_ALIVE_MARGIN_MS,
    },
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: {
      // Longer than any parameter that can arrive: the router would treat a longer one as an unknown route.
      maxParamLength: MAX_HEADER_BYTES,
      // Keep the raw text: request/query.ts parses it.
      querystringParser: (text) => text as unknown as Record<string, unknown>,
    },
    clientErrorHandler: refuseSocket,
    // Called for an invalid escape in the path, the only possible error before routing. No hook runs for it.
    frameworkErrors: (_error, request, reply) => {
      logOnClose(writeAccess, request, reply);
      initHeaders(reply, request.id);
      addConsoleHeaders(pathOf(request), reply);
      allowOrigin(options.corsOrigins, pathOf(request), request, reply);
      handOverHeaders(reply);
      sendError(reply, routeNotFound());
    },
  });
  const { connections } = admission;
  connections.watch(app.server, trustedProxies(options.trustProxy));
  app.decorateReply('waitingBytes', 0);
  app.decorateReply('closeTimer', undefined);
  app.decorateReply('pendingHeaders');
  app.decorateRequest('client');
  app.decorateRequest('caller', undefined);
  app.decorateRequest('parsedQuery');
  app.decorateRequest('pattern', undefined);
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // node:http would close the connection of a CONNECT without a response.
  app.server.on('connect', (_request, socket) =>
    refuseSocket(new Error('CONNECT is not supported'), socket as Socket),
  );
  acceptJson(app, options.bodyMeter ?? admission.bodies);

  let kept: unknown[] | undefined = [];
  app.addHook('onRequest', (request, reply, done) => {
    if (kept && kept.push([request.raw, reply.raw]) === KEPT_REQUESTS) kept = undefined;
    const client = connections.begin(request);
    request.client = client;
    client.onEnd(() => backlog.remove(reply));
    logOnClose(writeAccess, request, reply, () => client.end());
    initHeaders(reply, request.id);
    const path = pathOf(request);
    addConsoleHeaders(path, reply);
    allowOrigin(options.corsOrigins, path, request, reply);
    const proceed = (refused: AppError | undefined) => {
      try {
        // Health checks and administrators are refused last, so not here.
        if (path !== '/health' && !isAdminPath(path)) {
          if (refused) throw refused;
          // Clients with a key are checked when their agent is known.
          if (!hasCredentials(request)) backlog.requireRoom(client);
        }
        if (request.raw.url!.length > MAX_URI_BYTES) throw new AppError(...URI_TOO_LONG);
        const now = readiness();
        if (!('context' in now) && path !== '/health') throw starting(now);
        if (request.headers.host === undefined && request.raw.httpVersion === '1.1') throw missingHost();
        if (request.is404) refuseRoute(app, path, request, reply);
        else done();
      } catch (error) {
        done(error as Error);
      }
    };
    if (path === '/health') admission.enterHealthCheck(request, () => proceed(undefined));
    else admission.enter(request, proceed);
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    handOverHeaders(reply);
    backlog.addPayload(reply, payload);
    done();
  });
  app.setErrorHandler((error, request, reply) => {
    const shown = toAppError(error);
    const isFault = shown.code === 'INTERNAL_ERROR' || shown.code === 'UNAVAILABLE';
    if (isFault && 'context' in readiness()) {
      logFault(logger, request, shown);
    }
    return sendError(reply, shown);
  });
  app.setNotFoundHandler((_request, reply) => sendError(reply, routeNotFound()));

  app.get('/health', (request, reply) =>
    sendHealth(readiness(), options.version, reply, (error) => logFault(logger, request, error)),
  );
  serveDescription(app, options.baseUrl);
  serveDocs(app);
  const context = () => (readiness() as { context: Context }).context;
  serveGuide(app, {
    describe: () => describeApi(DESCRIBED_ROUTES, options.baseUrl()),
    policy: () => context().policy,
    tools: options.tools ?? [],
    baseUrl: options.baseUrl,
  });
  serveSignIn(app, {
    publicUrl: options.publicUrl,
    context,
    onFault: (request, error) => logFault(logger, request, error),
  });
  serveConsole(app, options.consoleFolder, SIGN_IN_METHODS);
  if (options.mcp) {
    const { mcp: serve, publicUrl, corsOrigins } = options;
    const onFault = (request: FastifyRequest, error: unknown) => logFault(logger, request, toAppError(error));
    serveMcp(app, { serve, context, admission, backlog, publicUrl, corsOrigins, onFault });
  }
  for (const route of ROUTES) bind(app, route, options, admission, backlog);
  return app;
}

function serveDescription(app: FastifyInstance, baseUrl: () => string): void {
  let document: StaticDocument | undefined;
  app.get('/openapi.json', (_request, reply) => {
    document ??= new StaticDocument(
      JSON.stringify(describeApi(DESCRIBED_ROUTES, baseUrl())),
      'application/json; charset=utf-8',
    );
    return document.send(reply);
  });
}

function bind(
  app: FastifyInstance,
  [method, path, endpoint]: Route,
  { readiness, logger, publicUrl }: ServerOptions,
  admission: Admission,
  backlog: Backlog,
): void {
  const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1');
  const parameters = parametersOf(endpoint);
  const { keyWork, databaseWork } = admission;
  app.route({
    method,
    url: pattern,
    bodyLimit: endpoint.maxBodyBytes ?? MAX_BODY_BYTES,
    onRequest: (request, reply, done) => {
      request.pattern = pattern;
      const { context } = readiness() as { context: Context };
      const admit = () => authenticate(context, admission, endpoint, request, reply, publicUrl);
      const admitting = keyWork ? keyWork.run(request.client, admit) : admit();
      admitting
        .then((caller) => {
          request.caller = caller;
          if (endpoint.access !== 'administrator') backlog.requireRoom(request.client);
          const query = parseQuery(request.query as string, parameters);
          if (query.unknown !== undefined) addHeader(reply, 'x-unknown-parameters', query.unknown);
          request.parsedQuery = query;
          done();
        })
        .catch(done);
    },
    handler: async (request, reply) => {
      const { context } = readiness() as { context: Context };
      const { client } = request;
      const call = {
        context,
        caller: request.caller as never,
        path: request.params as Record<string, string>,
        query: request.parsedQuery,
        headers: request.headers,
        body: request.body,
        client,
      };
      const queue = endpoint.isExpensive?.(call) ? admission.workOf(endpoint.access) : databaseWork;
      const response = await (queue ? queue.run(client, () => endpoint.handle(call)) : endpoint.handle(call));
      const onFault = (error: unknown) => logFault(logger, request, toAppError(error));
      const sending = sendResponse(reply, response, backlog, onFault);
      if (sending) await sending;
      return reply;
    },
    ...(endpoint.access === 'registration' && {
      onSend: (request: FastifyRequest, reply: FastifyReply) => {
        const now = readiness();
        return 'context' in now ? countFailedRegistration(now.context, request, reply) : Promise.resolve();
      },
    }),
  });
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Route pattern for the access log; undefined for routes that are not endpoints, such as /docs. */
    pattern: string | undefined;
    /** Set by the access check. */
    caller: unknown;
    /** Set after the access check. */
    parsedQuery: Query;
  }
}

/** Returns the path without the query. The request line may have an absolute URL. */
function pathOf(request: FastifyRequest): string {
  const url = request.raw.url!;
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '');
  const end = target.search(/[?#]/);
  return end < 0 ? target : target.slice(0, end);
}

function hasCredentials({ headers }: FastifyRequest): boolean {
  return headers['x-api-key'] !== undefined || headers.authorization !== undefined;
}

function missingHost(): AppError {
  return new AppError('BAD_REQUEST', 'The request is not valid HTTP: it has no Host header.');
}

function routeNotFound(): AppError {
  return new AppError('NOT_FOUND', 'There is nothing at this URL. See /docs for the URLs that exist.');
}

/** Responds to a request that matches no route: 405 or a preflight response if the path has other methods, else 404. */
function refuseRoute(
  app: FastifyInstance,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const methods = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'].filter((method) => matches(app, method, path));
  if (methods.length === 0) throw routeNotFound();
  const cors = !isAdminPath(path);
  const allow = [...methods, ...(cors ? ['OPTIONS'] : [])].join(', ');
  if (request.method === 'OPTIONS' && cors) return sendPreflight(reply, path, allow);
  reply.header('allow', allow);
  throw new AppError('METHOD_NOT_ALLOWED', `This URL supports ${allow}, not ${request.method}.`);
}

function matches(app: FastifyInstance, method: string, path: string): boolean {
  return app.findRoute({ method: method as HTTPMethods, url: path }) !== null;
}

/** Nginx's status for a client that closed the connection before the response was sent. */
const CLIENT_CLOSED_REQUEST = 499;

/** Logs a fault of the service with its cause and the request ID, unless its cause is in the log already. */
function logFault(logger: Logger, request: FastifyRequest, error: AppError): void {
  if (error.isReported) return;
  logger.error({ requestId: request.id, err: error.cause ?? error }, error.message);
}

/** When the response is sent or its connection closes, calls `then` and writes the access-log line. */
function logOnClose(
  writeAccess: WriteAccess,
  request: FastifyRequest,
  reply: FastifyReply,
  then: () => void = () => {},
): void {
  const startMs = performance.now();
  reply.raw.on('close', () => {
    then();
    const status = reply.raw.writableFinished ? reply.raw.statusCode : CLIENT_CLOSED_REQUEST;
    // request.routeOptions builds a new object on each access, so use it only without a pattern.
    const route = request.pattern ?? request.routeOptions.url;
    writeAccess(request.id, request.method, route, status, performance.now() - startMs);
  });
}
