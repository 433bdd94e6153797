// The HTTP server: every hook and every route, in order. app.ts sets up Fastify; the endpoints are in routes/, their list in
// routes/table.ts.
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { Logger } from 'pino';
import { AppError, ERRORS } from '../domain/errors.ts';
import type { PublicReading } from '../domain/policy.ts';
import type { Context } from '../usecases/context.ts';
import { publicQuotas } from './access/public-quotas.ts';
import type { CorsOrigins } from './access/same-origin.ts';
import { Admission } from './admission/admission.ts';
import { Backlog } from './admission/backlog.ts';
import { cutOff } from './admission/connections.ts';
import { ResponseDeadline } from './admission/deadline.ts';
import { sendError } from './admission/unread-body.ts';
import { type AppOptions, newApp } from './app.ts';
import { addConsoleHeaders, serveConsole } from './browser/console.ts';
import { allowOrigin, isAdminPath, sendPreflight } from './browser/cors.ts';
import { asksForHtml, serveFront, serveGuide } from './browser/front.ts';
import { PAGE_HEADERS, readPage, servePageFiles } from './browser/page-files.ts';
import { serveDocs } from './browser/reference.ts';
import { serveSignIn } from './browser/sign-in.ts';
import { API_CATALOG_PATH, API_CATALOG_TYPE, apiCatalogLink, writeApiCatalog } from './guide/api-catalog.ts';
import type { ToolName } from './guide/mcp.ts';
import { type Operation, operationsOf } from './guide/operations.ts';
import { writeSkill } from './guide/skill.ts';
import { accessLog, logOnClose, measured, type WriteAccess } from './log/access-log.ts';
import { faultLog } from './log/fault-log.ts';
import type { RequestMetrics } from './log/request-metrics.ts';
import { describeApi } from './openapi.ts';
import { isHealthPath, pathOf, requireOneHost } from './request/head.ts';
import { MAX_URI_BYTES, sendSocketError, toAppError, URI_TOO_LONG } from './response/errors.ts';
import { addHeader, handOverHeaders, initHeaders } from './response/headers.ts';
import { StaticDocument, StaticDocuments } from './response/static-document.ts';
import { bind } from './routes/bind.ts';
import type { Service } from './routes/endpoint.ts';
import { isLoading, type Readiness, serveHealth, starting } from './routes/health.ts';
import { type McpRead, type ServeMcp, serveMcp } from './routes/mcp.ts';
import { type OAuthService, serveOAuth } from './routes/oauth.ts';
import { DESCRIBED_ROUTES, ROUTES } from './routes/table.ts';
import type { Shutdown } from './shutdown.ts';

export interface ServerOptions extends Pick<AppOptions, 'trustProxy' | 'newRequestId' | 'bodyMeter'> {
  readonly version: string;
  readonly corsOrigins: CorsOrigins;
  readonly logger: Logger;
  /** Whether the lines of requests have the agent and the network of the client. */
  readonly logAgent?: boolean | undefined;
  readonly baseUrl: () => string;
  /** Reading without a key. Default: not possible. */
  readonly publicReading?: PublicReading | undefined;
  /** PUBLIC_URL, if the operator set it. */
  readonly publicUrl?: string | undefined;
  readonly readiness: () => Readiness;
  readonly shutdown?: Shutdown;
  /** Measures requests; without it, they are not measured. */
  readonly requestMetrics?: RequestMetrics | undefined;
  /** Folder with the console's build; without it, /admin says that the console is not built. */
  readonly consoleFolder?: string;
  /** Handler for /mcp; without it, there is no such route. */
  readonly mcp?: ServeMcp;
  /** Handler for /mcp/public, if there is public reading. */
  readonly publicMcp?: ServeMcp<McpRead>;
  /** Tools of /mcp, listed in the guide. */
  readonly tools?: readonly ToolName[];
  /** Whether clients of /mcp/connect can sign in. */
  readonly hasOAuth?: boolean;
  readonly admission?: Admission;
  readonly backlog?: Backlog;
  readonly deadline?: ResponseDeadline;
  /** Gets the documents that never change, to prepare them. */
  readonly documents?: StaticDocuments;
  /** Timeout of a connection on which no data moves during a request. Default: that of the deadline. */
  readonly inactivityMs?: number;
}

/**
 * Number of first requests to keep alive. V8 sizes the objects of a class by the shapes of its first eight instances,
 * counting only shapes that are still alive. A garbage collection in between (likely while events load and only /health is
 * requested) would leave the objects of node:http too small for good and make every request a third slower.
 */
const KEPT_REQUESTS = 16;

/** The options with their defaults, and what is made of them. */
type Server = ServerOptions &
  Service &
  Pick<OAuthService, 'noteError'> & {
    readonly documents: StaticDocuments;
    readonly writeAccess: WriteAccess;
    readonly operations: readonly Operation[];
  };

export function buildServer(options: ServerOptions): FastifyInstance {
  const { logger, readiness, admission = new Admission(), deadline = new ResponseDeadline() } = options;
  const { publicReading } = options;
  const { backlog = new Backlog({ unreadBytes: admission.limits.unreadBytes }) } = options;
  const onFault = faultLog(logger);
  const server: Server = {
    ...options,
    admission,
    backlog,
    deadline,
    documents: options.documents ?? new StaticDocuments(),
    writeAccess: measured(accessLog(logger, options.logAgent), options.requestMetrics),
    onFault,
    noteError: (request, error) => {
      const shown = toAppError(error);
      admission.refusals.count(shown);
      const isFault = shown.code === 'INTERNAL_ERROR' || shown.code === 'UNAVAILABLE';
      if (isFault && 'context' in readiness()) onFault(request, shown);
      request.refusal = shown;
      return shown;
    },
    context: () => (readiness() as { context: Context }).context,
    publicQuotaOf: publicReading && publicQuotas(publicReading),
    operations: operationsOf(DESCRIBED_ROUTES, publicReading !== undefined),
  };
  const app = newApp({
    ...server,
    inactivityMs: options.inactivityMs ?? deadline.inactivityMs,
    refuseSocket: (error, socket) => refuseSocket(server, error, socket),
    refusePath: (reply) => refusePath(server, reply),
  });
  addHooks(app, server);
  addRoutes(app, server);
  return app;
}

/** In the order in which a request meets them. Those of an endpoint, in routes/bind.ts, follow the first one. */
function addHooks(app: FastifyInstance, server: Server): void {
  const { admission, backlog, readiness, shutdown, writeAccess, corsOrigins } = server;
  let first: unknown[] | undefined = [];
  app.addHook('onRequest', (request, reply, done) => {
    if (shutdown?.sendsElsewhere(request, isLoading(readiness()))) return cutOff(request.raw);
    if (first && first.push([request.raw, reply.raw]) === KEPT_REQUESTS) first = undefined;
    const client = admission.connections.begin(request);
    request.client = client;
    const refusal = admission.enter(client);
    logOnClose(writeAccess, reply, client.arrivedMs, (nowMs) => leave(server, reply, nowMs));
    const excess = admission.findExcess(client);
    if (excess) {
      request.refusal = excess;
      admission.refusals.count(excess);
      return cutOff(request.raw);
    }
    initHeaders(reply, request.id);
    if (shutdown?.isStopping) addHeader(reply, 'connection', 'close');
    const path = pathOf(request);
    addConsoleHeaders(path, reply);
    allowOrigin(corsOrigins, path, reply);
    admission.startInOrder(request, isHealthPath(path), (overloaded) => {
      try {
        requireServable(server, request, path, refusal ?? overloaded);
        if (request.is404) refuseRoute(app, path, reply);
        else done();
      } catch (error) {
        done(error as Error);
      }
    });
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    handOverHeaders(reply);
    backlog.addPayload(reply, payload);
    done();
  });
  app.setErrorHandler((error, request, reply) => sendErrorOrPage(reply, server.noteError(request, error)));
  app.setNotFoundHandler((_request, reply) => sendErrorOrPage(reply, routeNotFound()));
}

function addRoutes(app: FastifyInstance, server: Server): void {
  serveHealth(app, server);
  serveDescription(app, server);
  servePageFiles(app, server.documents);
  serveFront(app, server);
  serveDocs(app, server);
  serveGuide(app, server);
  serveSignIn(app, server);
  serveConsole(app, server);
  if (server.mcp) serveMcp(app, { ...server, serve: server.mcp, servePublic: server.publicMcp });
  if (server.hasOAuth) serveOAuth(app, server);
  for (const route of ROUTES) bind(app, route, server);
}

function serveDescription(app: FastifyInstance, server: Server): void {
  const { documents, operations, baseUrl, tools = [] } = server;
  const headers = { 'cache-control': 'no-cache' }; // browsers ask each time whether it is still valid
  documents.serve(app, '/openapi.json', () => {
    const json = JSON.stringify(describeApi(operations, baseUrl()));
    return new StaticDocument(json, 'application/json; charset=utf-8', headers);
  });
  documents.serve(
    app,
    '/SKILL.md',
    () => new StaticDocument(writeSkill(baseUrl(), tools, server), 'text/markdown; charset=utf-8', headers),
  );
  documents.serve(app, API_CATALOG_PATH, () => {
    const link = apiCatalogLink(baseUrl());
    return new StaticDocument(writeApiCatalog(baseUrl(), server), API_CATALOG_TYPE, { ...headers, link });
  });
}

/** Throws why the request cannot be served, whatever its route is; `reason` is that of the admission. */
function requireServable(
  { backlog, readiness }: Server,
  request: FastifyRequest,
  path: string,
  reason: AppError | undefined,
): void {
  const isHealthCheck = isHealthPath(path);
  // Health checks and administrators are refused last, so not here.
  if ((reason || !hasCredentials(request)) && !isHealthCheck && !isAdminPath(path)) {
    if (reason) throw reason;
    backlog.requireRoom(request.client); // clients with a key are checked when their agent is known
  }
  if (request.raw.url!.length > MAX_URI_BYTES) throw new AppError(...URI_TOO_LONG);
  const now = readiness();
  if (!('context' in now) && !isHealthCheck) throw starting(now);
  requireOneHost(request);
}

function hasCredentials({ headers }: FastifyRequest): boolean {
  return headers['x-api-key'] !== undefined || headers.authorization !== undefined;
}

/** The response was sent, or its connection is closed. */
function leave({ admission, backlog, deadline, context }: Server, reply: FastifyReply, nowMs: number): void {
  const { client, refusal } = reply.request;
  admission.leave(client, nowMs);
  if (refusal?.refusedBy && client.agentId !== undefined) {
    const { store, clock } = context();
    store.noteRefusal(client.agentId, clock());
  }
  backlog.remove(reply);
  deadline.forget(client);
}

function refuseSocket(server: Server, error: Error, socket: Socket): void {
  const requestId = server.newRequestId();
  const code = sendSocketError(error, socket, requestId);
  if (code === undefined) return;
  const { status } = ERRORS[code];
  server.requestMetrics?.countUnparsed(status);
  const network = server.logAgent ? server.admission.connections.networkOf(socket) : undefined;
  server.logger.info({ requestId, status, code, ...(network !== undefined && { network }) }, 'request');
}

function refusePath({ writeAccess, corsOrigins }: Server, reply: FastifyReply): void {
  const path = pathOf(reply.request);
  logOnClose(writeAccess, reply, performance.now());
  initHeaders(reply, reply.request.id);
  addConsoleHeaders(path, reply);
  allowOrigin(corsOrigins, path, reply);
  handOverHeaders(reply);
  sendErrorOrPage(reply, routeNotFound());
}

function routeNotFound(): AppError {
  return new AppError('NOT_FOUND', 'There is nothing at this URL. See /docs for the URLs that exist.');
}

/** Responds to a request that matches no route: 405 or a preflight response if the path has other methods, else 404. */
function refuseRoute(app: FastifyInstance, path: string, reply: FastifyReply): FastifyReply {
  const { request } = reply;
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

const API = /^\/(?:v1|\.well-known)(?:[/?]|$)/;

let unknownPage: string | undefined;

/**
 * Sends an error. A browser that opens a URL which does not exist gets a page; other clients get the error as JSON, and below /v1
 * and /.well-known all do.
 */
function sendErrorOrPage(reply: FastifyReply, error: AppError): FastifyReply {
  const { method, pattern, headers, raw } = reply.request;
  const isUnknown = error.code === 'NOT_FOUND' && pattern === undefined && !API.test(raw.url!);
  if (!isUnknown || !['GET', 'HEAD'].includes(method) || !asksForHtml(headers.accept))
    return sendError(reply, error);
  unknownPage ??= readPage('unknown.html');
  return sendError(reply.headers(PAGE_HEADERS), error, unknownPage);
}
