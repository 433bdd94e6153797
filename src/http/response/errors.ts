// Error responses: every failure, whether ours, Fastify's or the socket's, has the same JSON envelope.
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { AppError, ERRORS, type ErrorCode, MAX_SHOWN_ISSUES } from '../../domain/errors.ts';
import { PlaceCandidate } from '../../domain/places.ts';
import Type, { nameShapes } from '../../domain/schema.ts';
import { oneOf } from '../../domain/shape.ts';

export const ErrorResponse = Type.Object({
  error: Type.Object({
    code: oneOf(Object.keys(ERRORS)),
    message: Type.String({ description: 'What is wrong and what to do.' }),
  }),
});

export const ValidationErrorResponse = Type.Object({
  error: Type.Object({ code: oneOf(['VALIDATION_ERROR']), message: Type.String() }),
  detail: Type.Array(
    Type.Object({
      loc: Type.Array(Type.Unsafe<string | number>({ type: ['string', 'integer'] }), {
        description: '`body`, `query`, `path` or `header`, then the field and, in a list, the index.',
      }),
      msg: Type.String(),
      type: Type.String({ description: 'A stable word, such as `missing` or `string_too_long`.' }),
    }),
    { maxItems: MAX_SHOWN_ISSUES, description: `The failing fields, at most ${MAX_SHOWN_ISSUES}.` },
  ),
  candidates: Type.Optional(
    Type.Array(PlaceCandidate, {
      description: 'Only if `place` could mean several places, or a small one: those that it could mean.',
    }),
  ),
});

nameShapes({ ErrorResponse, PlaceCandidate, ValidationErrorResponse });

/** The body of an error response. */
export function errorBody(error: AppError): object {
  const { code, message, issues, candidates } = error;
  return {
    error: { code, message },
    ...(issues && { detail: issues.slice(0, MAX_SHOWN_ISSUES) }),
    ...(candidates && { candidates }),
  };
}

export function statusOf(error: AppError): number {
  return ERRORS[error.code].status;
}

/**
 * Sets the status of the error and the headers that its code requires (WWW-Authenticate, Retry-After). Returns the text to send:
 * the page that says the error, if there is one. admission/unread-body.ts sends it.
 */
export function beginError(reply: FastifyReply, error: AppError, page?: string): string {
  reply.request.refusal = error;
  const challenge = CHALLENGES[error.code];
  if (challenge && !reply.hasHeader('www-authenticate')) reply.header('www-authenticate', challenge);
  const retryAfter = error.retryAfterSeconds ?? (error.code === 'UNAVAILABLE' ? 1 : undefined);
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  const type = page === undefined ? 'application/json' : 'text/html';
  reply.code(statusOf(error)).header('content-type', `${type}; charset=utf-8`);
  return page ?? JSON.stringify(errorBody(error));
}

const CHALLENGES: Partial<Record<ErrorCode, string>> = {
  MISSING_API_KEY: 'ApiKey realm="local-events", header="X-API-Key"',
  INVALID_API_KEY: 'ApiKey realm="local-events", header="X-API-Key"',
  MISSING_TOKEN: 'Bearer realm="local-events"',
  INVALID_TOKEN: 'Bearer realm="local-events", error="invalid_token"',
};

/** Replacements for Fastify's own errors, by the status that Fastify gives them. */
const FRAMEWORK_ERRORS: Record<number, readonly [ErrorCode, string]> = {
  400: ['BAD_REQUEST', 'The request is not valid HTTP.'],
  415: [
    'UNSUPPORTED_MEDIA_TYPE',
    'The body is not declared as JSON. Send JSON with the header "Content-Type: application/json".',
  ],
};

/** Converts any thrown value to an AppError. An unknown one becomes INTERNAL_ERROR and keeps its cause for the log. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { statusCode = 500 } = error as { statusCode?: number };
  const known = FRAMEWORK_ERRORS[statusCode];
  if (known) return new AppError(known[0], known[1], { cause: error });
  return new AppError(
    'INTERNAL_ERROR',
    'Something went wrong on our side. Retry; if it persists, report the request ID.',
    { cause: error },
  );
}

const SOCKET_ERRORS: Record<string, readonly [ErrorCode, string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request took too long to arrive. Retry.'],
  HPE_HEADER_OVERFLOW: [
    'HEADERS_TOO_LARGE',
    'The headers of the request are larger than 16 KiB. Send fewer or shorter ones.',
  ],
};

/** Copied from STATUS_CODES of node:http: importing that module takes a tenth of the start, because it also loads fetch. */
const REASON_PHRASES: Partial<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  414: 'URI Too Long',
  431: 'Request Header Fields Too Large',
};

/**
 * Sends an error on a socket, for requests that Fastify never sees: those that cannot be parsed, and CONNECT. Returns its code, or
 * undefined if the client is gone.
 */
export function sendSocketError(
  error: Error & { code?: string; rawPacket?: unknown },
  socket: Socket,
  requestId: string,
): ErrorCode | undefined {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  let [code, message] = SOCKET_ERRORS[error.code ?? ''] ?? ['BAD_REQUEST', 'The request is not valid HTTP.'];
  // The parser counts the request line as part of the headers.
  const packet = error.rawPacket;
  if (
    code === 'HEADERS_TOO_LARGE' &&
    Buffer.isBuffer(packet) &&
    LONG_REQUEST_LINE.test(packet.toString('latin1'))
  ) {
    [code, message] = URI_TOO_LONG;
  }
  const body = JSON.stringify(errorBody(new AppError(code, message)));
  const { status } = ERRORS[code];
  socket.end(
    `HTTP/1.1 ${status} ${REASON_PHRASES[status]}\r\n` +
      `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      'X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n' +
      `X-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
  );
  return code;
}

export const MAX_URI_BYTES = 8_192;
const LONG_REQUEST_LINE = new RegExp(`^[A-Z]+ \\S{${MAX_URI_BYTES}}`);
export const URI_TOO_LONG = [
  'URI_TOO_LONG',
  'The URL of the request is longer than 8 KiB. Send a shorter one.',
] as const;
