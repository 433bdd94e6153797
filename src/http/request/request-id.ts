// IDs that callers pass on, so that one request can be followed through several programs.
import type { IncomingMessage } from 'node:http';

/** Long enough for a UUID or a ULID with a prefix. Nothing that would need escaping in a log line. */
const REQUEST_ID = /^[\w.:+/=@-]{1,128}$/;

/** The request ID that the sender gave, if it is a plain one. To be used only if the sender is trusted. */
export function findRequestId({ headers }: IncomingMessage): string | undefined {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : undefined;
}

/** Version, trace ID, ID of the caller's step, flags; a later version may add more. */
const TRACE_PARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(-.*)?$/;

/** The trace ID of a valid `traceparent` (https://www.w3.org/TR/trace-context/). Anybody may send one. */
export function findTraceId({ headers }: IncomingMessage): string | undefined {
  const { traceparent } = headers;
  if (traceparent === undefined) return undefined;
  const [, traceId, more] = TRACE_PARENT.exec(String(traceparent)) ?? [];
  // Version 00 has exactly four parts.
  return more !== undefined && String(traceparent).startsWith('00') ? undefined : traceId;
}
