// The HTTP server: every hook and every route, in order. The endpoints are in routes/, their list in routes/table.ts.
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Identity } from '../domain/admin.ts';
import { AppError, ERRORS } from '../domain/errors.ts';
import type { Context } from '../usecases/context.ts';
import { Admission } from './admission/admission.ts';
import { cutOff } from './admission/connections.ts';
import { trustedProxies } from './admission/trusted-proxies.ts';
import { serveConsole } from './browser/console.ts';
import { addConsoleHeaders } from './browser/console-headers.ts';
import { allowOrigin, type CorsOrigins, isAdminPath } from './browser/cors.ts';
import { serveDocs } from './browser/docs.ts';
import { serveFront } from './browser/front.ts';
import { servePageFiles } from './browser/page-files.ts';
import { SIGN_IN_METHODS, serveSignIn } from './browser/sign-in.ts';
import { serveSiteFiles } from './browser/site-files.ts';
import { sendErrorOrPage } from './browser/unknown-page.ts';
import { NO_SCHEMAS, namedFieldsOf, parametersOf } from './endpoint.ts';
import type { ToolName } from './guide/mcp.ts';
import { serveGuide } from './guide/serve.ts';
import { READ_AHEAD_BYTES } from './listen.ts';
import { type ServeMcp, serveMcp } from './mcp.ts';
import { describeApi } from './openapi.ts';
import { authenticate, countFailedRegistration } from './request/authenticate.ts';
import { acceptJson, type BodyMeter, MAX_BODY_BYTES, unknownFields } from './request/body.ts';
import { isHealthPath } from './request/health-path.ts';
import { requireOneHost } from './request/host.ts';
import { isStrict, refuseUnknown } from './request/preferences.ts';
import { ParameterNames, parseQuery, type Query } from './request/query.ts';
import { findRequestId } from './request/request-id.ts';
import { accessLog, logOnClose, measured } from './response/access-log.ts';
import { Backlog } from './response/backlog.ts';
import { ResponseDeadline } from './response/deadline.ts';
import { MAX_URI_BYTES, sendSocketError, toAppError, URI_TOO_LONG } from './response/errors.ts';
import { faultLog, type LogFault } from './response/fault-log.ts';
import { addHeader, handOverHeaders, initHeaders } from './response/headers.ts';
import type { RequestMetrics } from './response/request-metrics.ts';
import { sendResponse } from './response/send.ts';
import { StaticDocument, StaticDocuments } from './response/static-document.ts';
import { isLoading, type Readiness, serveHealth, starting } from './routes/health.ts';
import { DESCRIBED_ROUTES, ROUTES, type Route } from './routes/table.ts';
import { refuseRoute, routeNotFound } from './routes/unknown-route.ts';
import type { Shutdown } from './shutdown.ts';

export interface ServerOptions {
  readonly version: string;
  readonly corsOrigins: CorsOrigins;
  readonly trustProxy: readonly string[];
  readonly logger: Logger;
  /** Whether the lines of requests have the agent and the network of the client. */
  readonly logAgent?: boolean | undefined;
  readonly newRequestId: () => string;
  readonly baseUrl: () => string;
  /** A key for everybody who opens the front page. Default: none. */
  readonly visitorKey?: string | undefined;
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
  /** Tools of /mcp, listed in the guide. */
  readonly tools?: readonly ToolName[];
  readonly admission?: Admission;
  readonly backlog?: Backlog;
  readonly bodyMeter?: BodyMeter;
  readonly deadline?: ResponseDeadline;
  /** Gets the documents that never change, to prepare them. */
  readonly documents?: StaticDocuments;
  /** Timeout of a connection on which no data moves during a request. Default: that of the deadline. */
  readonly inactivityMs?: number;
}

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
  const { logger, readiness, admission = new Admission(), deadline = new ResponseDeadline() } = options;
  const { connections } = admission;
  const { backlog = new Backlog({ unreadBytes: admission.limits.unreadBytes }) } = options;
  const writeAccess = measured(accessLog(logger, options.logAgent), options.requestMetrics);
  const logFault = faultLog(logger);
  const refuseSocket = (error: Error, socket: Socket): void => {
    const requestId = options.newRequestId();
    const code = sendSocketError(error, socket, requestId);
    if (code === undefined) return;
    const { status } = ERRORS[code];
    options.requestMetrics?.countUnparsed(status);
    const network = options.logAgent ? connections.networkOf(socket) : undefined;
    logger.info({ requestId, status, code, ...(network !== undefined && { network }) }, 'request');
  };
  const isTrustedProxy = trustedProxies(options.trustProxy);
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    // The address is undefined if the client has left.
    trustProxy:
      options.trustProxy.length > 0 &&
      ((address: string | undefined) => address !== undefined && isTrustedProxy(address)),
    genReqId:
      options.trustProxy.length === 0
        ? options.newRequestId
        : (raw) => (connections.isFromProxy(raw) && findRequestId(raw)) || options.newRequestId(),
    // Close connections of slow senders: headers must arrive in 3 s (headersTimeout), the whole request in 5 s; checked
    // every second.
    requestTimeout: 5_000,
    // Close connections of clients that do not read. node:http checks twice, so this takes up to twice as long.
    connectionTimeout: options.inactivityMs ?? deadline.inactivityMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // A missing Host is refused below: node:http would send a response without a body.
    http: {
      headersTimeout: 3_000,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: MAX_HEADER_BYTES,
      requireHostHeader: false,
      keepAliveTimeoutBuffer: KEEP_ALIVE_MARGIN_MS,
      highWaterMark: READ_AHEAD_BYTES,
    },
    schemaController: { compilersFactory: NO_SCHEMAS },
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
      logOnClose(writeAccess, request, reply, performance.now());
      initHeaders(reply, request.id);
      addConsoleHeaders(pathOf(request), reply);
      allowOrigin(options.corsOrigins, pathOf(request), request, reply);
      handOverHeaders(reply);
      sendErrorOrPage(reply, routeNotFound());
    },
  });
  connections.watch(app.server, isTrustedProxy);
  app.decorateReply('waitingBytes', 0);
  app.decorateReply('closeTimer', undefined);
  app.decorateReply('pendingHeaders');
  app.decorateRequest('client');
  app.decorateRequest('caller', undefined);
  app.decorateRequest('parsedQuery');
  app.decorateRequest('isStrict', false);
  app.decorateRequest('pattern', undefined);
  app.decorateRequest('refusal', undefined);
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // node:http would close the connection of a CONNECT without a response.
  app.server.on('connect', (_request, socket) =>
    refuseSocket(new Error('CONNECT is not supported'), socket as Socket),
  );
  acceptJson(app, options.bodyMeter ?? admission.bodies);

  let kept: unknown[] | undefined = [];
  app.addHook('onRequest', (request, reply, done) => {
    if (options.shutdown?.turnsAway(request, isLoading(readiness()))) {
      cutOff(request.raw);
      return;
    }
    if (kept && kept.push([request.raw, reply.raw]) === KEPT_REQUESTS) kept = undefined;
    const client = connections.begin(request);
    request.client = client;
    const refusal = admission.enter(client);
    logOnClose(writeAccess, request, reply, client.arrivedMs, (nowMs) => {
      admission.leave(client, nowMs);
      if (request.refusal?.refusedBy && client.name !== '') {
        const { store, clock } = context();
        store.noteRefusal(client.name, clock());
      }
      backlog.remove(reply);
      deadline.forget(client);
    });
    const excess = admission.findExcess(client);
    if (excess) {
      request.refusal = excess;
      admission.refusals.count(excess);
      cutOff(request.raw);
      return;
    }
    initHeaders(reply, request.id);
    if (options.shutdown?.isStopping) addHeader(reply, 'connection', 'close');
    const path = pathOf(request);
    addConsoleHeaders(path, reply);
    allowOrigin(options.corsOrigins, path, request, reply);
    const isHealthCheck = isHealthPath(path);
    admission.takeTurn(request, isHealthCheck, (overloaded) => {
      try {
        // Health checks and administrators are refused last, so not here.
        const reason = refusal ?? overloaded;
        if ((reason || !hasCredentials(request)) && !isHealthCheck && !isAdminPath(path)) {
          if (reason) throw reason;
          backlog.requireRoom(client); // clients with a key are checked when their agent is known
        }
        if (request.raw.url!.length > MAX_URI_BYTES) throw new AppError(...URI_TOO_LONG);
        const now = readiness();
        if (!('context' in now) && !isHealthCheck) throw starting(now);
        requireOneHost(request);
        if (request.is404) refuseRoute(app, path, request, reply);
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
  app.setErrorHandler((error, request, reply) => {
    const shown = toAppError(error);
    admission.refusals.count(shown);
    const isFault = shown.code === 'INTERNAL_ERROR' || shown.code === 'UNAVAILABLE';
    if (isFault && 'context' in readiness()) {
      logFault(request, shown);
    }
    return sendErrorOrPage(reply, shown);
  });
  app.setNotFoundHandler((_request, reply) => sendErrorOrPage(reply, routeNotFound()));

  serveHealth(app, {
    version: options.version,
    readiness,
    isStopping: () => options.shutdown?.isStopping === true,
    onFault: logFault,
  });
  const { documents = new StaticDocuments() } = options;
  serveDescription(app, documents, options.baseUrl);
  servePageFiles(app, documents);
  serveSiteFiles(app, documents);
  serveFront(app, documents, options.baseUrl, options.visitorKey);
  const describe = () => describeApi(DESCRIBED_ROUTES, options.baseUrl());
  serveDocs(app, documents, describe);
  const context = () => (readiness() as { context: Context }).context;
  serveGuide(app, {
    describe,
    policy: () => context().policy,
    tools: options.tools ?? [],
    baseUrl: options.baseUrl,
    clock: () => context().clock(),
    documents,
  });
  serveSignIn(app, {
    publicUrl: options.publicUrl,
    context,
    onFault: logFault,
  });
  serveConsole(app, documents, options.consoleFolder, SIGN_IN_METHODS);
  if (options.mcp) {
    const { mcp: serve, publicUrl, corsOrigins } = options;
    const onFault = (request: FastifyRequest, error: unknown) => logFault(request, toAppError(error));
    serveMcp(app, { serve, context, admission, backlog, deadline, publicUrl, corsOrigins, onFault });
  }
  for (const route of ROUTES) bind(app, route, options, admission, backlog, deadline, logFault);
  return app;
}

function serveDescription(app: FastifyInstance, documents: StaticDocuments, baseUrl: () => string): void {
  const document = documents.add(
    () =>
      new StaticDocument(
        JSON.stringify(describeApi(DESCRIBED_ROUTES, baseUrl())),
        'application/json; charset=utf-8',
        // Browsers keep it, and ask each time whether it is still valid.
        { 'cache-control': 'no-cache' },
      ),
  );
  app.get('/openapi.json', (_request, reply) => document().send(reply));
}

function bind(
  app: FastifyInstance,
  [method, path, endpoint]: Route,
  { readiness, publicUrl }: ServerOptions,
  admission: Admission,
  backlog: Backlog,
  deadline: ResponseDeadline,
  logFault: LogFault,
): void {
  const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1');
  const parameters = new ParameterNames(parametersOf(endpoint));
  const fields = namedFieldsOf(endpoint);
  const { databaseWork } = admission;
  app.route({
    method,
    url: pattern,
    bodyLimit: endpoint.maxBodyBytes ?? MAX_BODY_BYTES,
    onRequest: (request, reply, done) => {
      request.pattern = pattern;
      const { context } = readiness() as { context: Context };
      const admit = () => authenticate(context, admission, endpoint, request, reply, publicUrl);
      const admitting = endpoint.access === 'administrator' ? admit() : admission.checkKey(request, admit);
      deadline.watch(reply);
      const prepare = (caller: unknown): Error | undefined => {
        request.caller = caller;
        try {
          if (endpoint.access !== 'administrator') backlog.requireRoom(request.client);
          const query = parseQuery(request.query as string, parameters);
          request.isStrict = isStrict(request.headers.prefer);
          if (request.isStrict) addHeader(reply, 'preference-applied', 'handling=strict');
          else if (query.unknown !== undefined) addHeader(reply, 'x-unknown-parameters', query.unknown);
          request.parsedQuery = query;
          return undefined;
        } catch (error) {
          return error as Error;
        }
      };
      const proceed = (error: Error | undefined) => {
        if (!request.client.isLate) done(error);
      };
      admitting.then((caller) => proceed(prepare(caller)), proceed);
    },
    handler: async (request, reply) => {
      const { context } = readiness() as { context: Context };
      const { client } = request;
      const isPrefix = endpoint.searchesPrefix?.(request.parsedQuery) === true;
      const call = {
        context,
        caller: request.caller as never,
        path: request.params as Record<string, string>,
        query: request.parsedQuery,
        headers: request.headers,
        body: request.body,
        client,
        isStrict: request.isStrict,
        expensively: isPrefix
          ? <T>(part: () => Promise<T>) => admission.agentWork.run(client, part)
          : <T>(part: () => Promise<T>) => part(),
      };
      if (call.isStrict) refuseUnknown(endpoint, call);
      const unknown = call.isStrict ? undefined : fields && unknownFields(request.body, fields);
      if (unknown !== undefined) addHeader(reply, 'x-unknown-fields', unknown);
      const queue = isPrefix
        ? admission.prefixSearches
        : endpoint.isExpensive?.(call)
          ? admission.workOf(endpoint.access)
          : databaseWork;
      const name = endpoint.access === 'administrator' ? (call.caller as Identity).subject : client.name;
      const work = queue ? queue.run(client, () => endpoint.handle(call), name) : endpoint.handle(call);
      const response = await work;
      if (client.isLate) return reply;
      const sending = sendResponse(reply, response, backlog, (error) => logFault(request, toAppError(error)));
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
  return upTo('#', upTo('?', target));
}

function upTo(mark: string, text: string): string {
  const end = text.indexOf(mark);
  return end < 0 ? text : text.slice(0, end);
}

function hasCredentials({ headers }: FastifyRequest): boolean {
  return headers['x-api-key'] !== undefined || headers.authorization !== undefined;
}
