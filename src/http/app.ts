// The Fastify application: limits and timeouts of connections, and refusals that need no route. server.ts adds hooks and routes.
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { clientNetwork, trustedProxies } from './access/client-network.ts';
import type { Admission } from './admission/admission.ts';
import { READ_AHEAD_BYTES } from './listen.ts';
import { acceptJson, type BodyMeter, MAX_BODY_BYTES } from './request/body.ts';
import { findRequestId } from './request/head.ts';

export interface AppOptions {
  readonly trustProxy: readonly string[];
  readonly newRequestId: () => string;
  readonly admission: Admission;
  readonly bodyMeter?: BodyMeter;
  /** Timeout of a connection on which no data moves during a request. */
  readonly inactivityMs: number;
  /** Called for requests that Fastify never sees: those that cannot be parsed, and CONNECT. */
  readonly refuseSocket: (error: Error, socket: Socket) => void;
  /** Called for an invalid escape in the path, the only possible error before routing. No hook runs for it. */
  readonly refusePath: (reply: FastifyReply) => void;
}

/** Limit for the request line and the headers together. */
const MAX_HEADER_BYTES = 16_384;

/** How long a connection may be idle between two requests: the `Keep-Alive` header says it. */
const KEEP_ALIVE_MS = 20_000;

/** An idle connection is closed this much later: a client that sends just in time must not find it closed. */
const KEEP_ALIVE_MARGIN_MS = 5_000;

/** The domain validates and JSON.stringify encodes. Without Ajv, which Fastify would load, a start takes a tenth less. */
const NO_SCHEMAS = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

function refuseSchema(): never {
  throw new Error('A route has a schema for Fastify, but the domain validates.');
}

export function newApp(options: AppOptions): FastifyInstance {
  const { trustProxy, newRequestId, admission, inactivityMs, refuseSocket, refusePath } = options;
  const { connections } = admission;
  const isTrustedProxy = trustedProxies(trustProxy);
  const hasProxies = trustProxy.length > 0;
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    // `address` is undefined if the client has left.
    trustProxy:
      hasProxies && ((address: string | undefined) => address !== undefined && isTrustedProxy(address)),
    genReqId: hasProxies
      ? (raw) => (connections.isFromProxy(raw) && findRequestId(raw)) || newRequestId()
      : newRequestId,
    // Close connections of slow senders: headers must arrive in 3 s (headersTimeout), the whole request in 5 s; checked
    // every second.
    requestTimeout: 5_000,
    // Close connections of clients that do not read. node:http checks twice, so this takes up to twice as long.
    connectionTimeout: inactivityMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // The service refuses a missing Host itself: node:http would send a response without a body.
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
    frameworkErrors: (_error, _request, reply) => refusePath(reply),
  });
  connections.watch(app.server, { isTrustedProxy, networkOf: clientNetwork });
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
  return app;
}
