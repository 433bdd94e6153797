// Logs faults of the service: a line for every request that meets one. Only the first line of a kind has the stack: during an outage
// thousands of requests per second meet the same fault.
import type { FastifyRequest } from 'fastify';
import { type Logger, pino } from 'pino';
import { findTraceId } from '../request/head.ts';
import { toAppError } from '../response/errors.ts';

/** Time after which a kind of fault is logged with its stack again. */
const WINDOW_MS = 60_000;

/** Maximum stacks per window, because messages may differ in every request. */
const MAX_STACKS = 20;

/** Logs a fault with its cause and the request ID, unless its cause is in the log already. */
export type LogFault = (request: FastifyRequest, error: unknown) => void;

/** `stopwatch` is in milliseconds. */
export function faultLog(logger: Logger, stopwatch: () => number = () => performance.now()): LogFault {
  // The default serializer changes everything that has a message.
  const err = (value: unknown) => (value instanceof Error ? pino.stdSerializers.err(value) : value);
  const faults = logger.child({}, { serializers: { err } });
  const seen = new Set<string>();
  let sinceMs = 0;
  return (request, thrown) => {
    const error = toAppError(thrown);
    if (error.isReported) return;
    const nowMs = stopwatch();
    if (nowMs - sinceMs > WINDOW_MS) {
      sinceMs = nowMs;
      seen.clear();
    }
    const cause = error.cause ?? error;
    const traceId = findTraceId(request.raw);
    const ids = { requestId: request.id, ...(traceId !== undefined && { traceId }) };
    // A state that the service knows, such as a deadline, and no error in it.
    if (error.code === 'UNAVAILABLE' && error.cause === undefined) {
      logger.warn(ids, error.message);
      return;
    }
    faults.error({ ...ids, err: isNew(seen, cause) ? cause : shorten(cause) }, error.message);
  };
}

function isNew(seen: Set<string>, cause: unknown): boolean {
  const kind = JSON.stringify(shorten(cause));
  if (seen.has(kind) || seen.size === MAX_STACKS) return false;
  seen.add(kind);
  return true;
}

/** What the logger makes of the cause, without its stack and the stacks of its own causes. */
function shorten(cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  const { type, message } = pino.stdSerializers.err(cause);
  const { code } = cause as Error & { code?: unknown };
  return { type, message, ...(code !== undefined && { code }) };
}
