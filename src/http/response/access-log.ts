// The access log: one line per request, byte for byte what `logger.info({…}, 'request')` writes. The line is built by hand
// because pino's general serialisation takes a tenth of the time of a whole request.
import { performance } from 'node:perf_hooks'; // the global is a getter, which takes longer than the call
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type DestinationStream, type Logger, pino } from 'pino';
import { findTraceId } from '../request/request-id.ts';
import type { RequestMetrics } from './request-metrics.ts';

const INFO = 30;

/** Writes one line. Takes the route's pattern, never the URL: parts of a URL may be secret or personal. */
export type WriteAccess = (
  requestId: string,
  method: string,
  route: string | undefined,
  status: number,
  ms: number,
  /** Of the trace that the request belongs to. */
  traceId?: string | undefined,
) => void;

export function accessLog(logger: Logger): WriteAccess {
  if (!logger.isLevelEnabled('info')) return () => {};
  const { streamSym, chindingsSym, timeSym } = pino.symbols;
  const inner = logger as unknown as Record<symbol, unknown>;
  const stream = inner[streamSym] as DestinationStream;
  const bindings = inner[chindingsSym] as string;
  /** Returns the whole member with its leading comma: `,"time":…`. */
  const time = inner[timeSym] as () => string;
  // No value needs escaping: IDs and methods contain no quotes, and route patterns come from our own code.
  return (requestId, method, route, status, ms, traceId) => {
    const routeMember = route === undefined ? '' : `,"route":"${route}"`;
    const traceMember = traceId === undefined ? '' : `,"traceId":"${traceId}"`;
    stream.write(
      `{"level":${INFO}${time()}${bindings},"requestId":"${requestId}","method":"${method}"${routeMember},"status":${status},"ms":${inTenths(ms)}${traceMember},"msg":"request"}\n`,
    );
  };
}

/** Up to a tenth of a second. To turn a fraction into text takes a quarter of the time of the whole line. */
const TENTHS: string[] = Array.from({ length: 1_000 }, (_, tenths) => String(tenths / 10));

/** Rounded to tenths. */
function inTenths(ms: number): string {
  const tenths = Math.round(ms * 10);
  return TENTHS[tenths] ?? String(tenths / 10);
}

/** Also measures each request, if requests are measured. */
export function measured(write: WriteAccess, metrics: RequestMetrics | undefined): WriteAccess {
  if (!metrics) return write;
  return (requestId, method, route, status, ms, traceId) => {
    metrics.observe(method, route, status, ms);
    write(requestId, method, route, status, ms, traceId);
  };
}

/** Nginx's status for a client that closed the connection before the response was sent. */
const CLIENT_CLOSED_REQUEST = 499;

/** When the response is sent or its connection closes, calls `then` and writes the access-log line. */
export function logOnClose(
  writeAccess: WriteAccess,
  request: FastifyRequest,
  reply: FastifyReply,
  startMs: number,
  then: (nowMs: number) => void = () => {},
): void {
  reply.raw.on('close', () => {
    const nowMs = performance.now();
    then(nowMs);
    const status = reply.raw.writableFinished ? reply.raw.statusCode : CLIENT_CLOSED_REQUEST;
    // request.routeOptions builds a new object on each access, so use it only without a pattern.
    const route = request.pattern ?? request.routeOptions.url;
    writeAccess(request.id, request.method, route, status, nowMs - startMs, findTraceId(request.raw));
  });
}
