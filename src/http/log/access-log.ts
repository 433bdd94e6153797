// The access log: one line per request, byte for byte what `logger.info({…}, 'request')` writes; `debug` for probes. The line is built by hand
// because pino's general serialisation takes a tenth of the time of a whole request.
import { performance } from 'node:perf_hooks'; // the global is a getter, which takes longer than the call
import type { FastifyReply } from 'fastify';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { AppError } from '../../domain/errors.ts';
import type { RequestClient } from '../admission/request-client.ts';
import { findTraceId, isHealthPath } from '../request/head.ts';
import type { RequestMetrics } from './request-metrics.ts';

const DEBUG = 20;
const INFO = 30;

/** What a line says about a request. */
export interface Access {
  readonly requestId: string;
  readonly method: string;
  /** The route's pattern, never the URL: parts of a URL may be secret or personal. */
  readonly route: string | undefined;
  readonly status: number;
  readonly ms: number;
  /** Of the trace that the request belongs to. */
  readonly traceId?: string | undefined;
  /** Why it was refused, if it was. */
  readonly refusal?: Refusal | undefined;
  readonly client?: Pick<RequestClient, 'agentId' | 'network'> | undefined;
}
type Refusal = Pick<AppError, 'code' | 'refusedBy' | 'part'>;

export type WriteAccess = (access: Access) => void;

/** `withAgents`: whether lines have the agent and the network of the client. */
export function accessLog(logger: Logger, withAgents = false): WriteAccess {
  if (!logger.isLevelEnabled('info')) return () => {};
  const { streamSym, chindingsSym, timeSym } = pino.symbols;
  const inner = logger as unknown as Record<symbol, unknown>;
  const stream = inner[streamSym] as DestinationStream;
  const bindings = inner[chindingsSym] as string;
  /** Returns the whole member with its leading comma: `,"time":…`. */
  const time = inner[timeSym] as () => string;
  const logsProbes = logger.isLevelEnabled('debug');
  // Only networks need escaping: IDs, methods and codes contain no quotes, and route patterns come from our own code.
  return ({ requestId, method, route, status, ms, traceId, refusal, client }) => {
    // They come every few seconds, from every load balancer and supervisor.
    const isProbe = route !== undefined && isHealthPath(route);
    if (isProbe && !logsProbes) return;
    const routeMember = route === undefined ? '' : `,"route":"${route}"`;
    const traceMember = traceId === undefined ? '' : `,"traceId":"${traceId}"`;
    const refusalMembers = refusal === undefined ? '' : describeRefusal(refusal);
    const clientMembers = withAgents && client ? describeClient(client) : '';
    stream.write(
      `{"level":${isProbe ? DEBUG : INFO}${time()}${bindings},"requestId":"${requestId}","method":"${method}"${routeMember},"status":${status},"ms":${inTenths(ms)}${traceMember}${refusalMembers}${clientMembers},"msg":"request"}\n`,
    );
  };
}

function describeRefusal({ code, refusedBy, part }: Refusal): string {
  const cause = refusedBy ?? part;
  return cause === undefined ? `,"code":"${code}"` : `,"code":"${code}","cause":"${cause}"`;
}

function describeClient({ agentId, network }: Pick<RequestClient, 'agentId' | 'network'>): string {
  // A trusted proxy may forward anything as the address of its client.
  const networkMember = `,"network":${JSON.stringify(network)}`;
  return agentId === undefined ? networkMember : `,"agent":"${agentId}"${networkMember}`;
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
  return (access) => {
    metrics.observe(access.method, access.route, access.status, access.ms);
    write(access);
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The error that it got instead of its response, or that a tool call got as its result. */
    refusal: AppError | undefined;
  }
}

/** Nginx's status for a client that closed the connection before the response was sent. */
const CLIENT_CLOSED_REQUEST = 499;

/** When the response is sent or its connection closes, calls `then` and writes the access-log line. */
export function logOnClose(
  writeAccess: WriteAccess,
  reply: FastifyReply,
  startMs: number,
  then: (nowMs: number) => void = () => {},
): void {
  const { request, raw: response } = reply;
  response.on('close', () => {
    const nowMs = performance.now();
    then(nowMs);
    const status = response.writableFinished ? response.statusCode : CLIENT_CLOSED_REQUEST;
    // request.routeOptions builds a new object on each access, so use it only without a pattern.
    const route = request.pattern ?? request.routeOptions.url;
    const { id: requestId, method, raw, refusal, client } = request;
    const ms = nowMs - startMs;
    const traceId = findTraceId(raw);
    writeAccess({ requestId, method, route, status, ms, traceId, refusal, client });
  });
}
