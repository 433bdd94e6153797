// Every error code with its HTTP status and meaning: the one table behind responses, OpenAPI and docs/errors.md.
// Rendering is left to the surfaces.

export const ERRORS = {
  BAD_REQUEST: { status: 400, meaning: 'The request is not valid HTTP.' },
  MISSING_API_KEY: { status: 401, meaning: 'The X-API-Key header is absent or empty.' },
  INVALID_API_KEY: {
    status: 401,
    meaning: 'The key matches no active key: mistyped, replaced, revoked or deactivated.',
  },
  MISSING_TOKEN: {
    status: 401,
    meaning: 'There is no bearer token, and no session of the console that counts for this request.',
  },
  INVALID_TOKEN: {
    status: 401,
    meaning: 'The bearer token is forged, expired or meant for someone else, or the session is over.',
  },
  INSUFFICIENT_TIER: { status: 403, meaning: 'The tier of the key does not permit the operation.' },
  EVENT_LIMIT_REACHED: { status: 403, meaning: 'The agent already holds as many events as it may.' },
  NOT_AN_ADMIN: {
    status: 403,
    meaning: 'The token or session is genuine, its holder is not an administrator.',
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    meaning:
      'A page of an origin that may not call this address, or a host name that is not known to be ours.',
  },
  NOT_FOUND: {
    status: 404,
    meaning: 'No such route, event or agent, or (PATCH, DELETE) the event is not yours.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: 'The path exists, the method does not; Allow lists those that do.',
  },
  REQUEST_TIMEOUT: { status: 408, meaning: 'The request did not arrive completely in time.' },
  DUPLICATE_EVENT: { status: 409, meaning: 'The change would make two of your events the same.' },
  PRECONDITION_FAILED: { status: 412, meaning: 'The event changed since the version named in If-Match.' },
  PAYLOAD_TOO_LARGE: { status: 413, meaning: 'The body is larger than 1 MiB.' },
  URI_TOO_LONG: { status: 414, meaning: 'The address of the request is longer than 8 KiB.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The body is not application/json, or is compressed.' },
  VALIDATION_ERROR: {
    status: 422,
    meaning: 'Body, query or path fails validation; detail lists every reason.',
  },
  RATE_LIMITED: {
    status: 429,
    meaning: 'The hourly quota is used up; Retry-After says when it starts anew.',
  },
  HEADERS_TOO_LARGE: { status: 431, meaning: 'The headers of the request are larger than 16 KiB.' },
  INTERNAL_ERROR: { status: 500, meaning: 'A fault of the service; the log has it under the request id.' },
  UNAVAILABLE: {
    status: 503,
    meaning: 'The service is starting, or its store or identity provider does not answer.',
  },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** One reason why a request fails validation. */
export interface Issue {
  /** Where: `body`, `query`, `path` or `header`, then the field and, in a list, the index. */
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  /** A stable lower-case word in pydantic's vocabulary. */
  readonly type: string;
}

interface AppErrorOptions {
  readonly cause?: unknown;
  readonly issues?: readonly Issue[];
  readonly retryAfterSeconds?: number;
}

/** The only error that reaches a caller with its own words; anything else becomes INTERNAL_ERROR. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly issues: readonly Issue[] | undefined;
  /** After how long the same request may succeed, where that is known. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.issues = options.issues;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** The VALIDATION_ERROR for these issues; its message names each place and reason. */
export function invalid(issues: readonly Issue[]): AppError {
  const shown = issues.slice(0, 5).map((issue) => `${issue.loc.join('.')}: ${issue.msg}`);
  if (issues.length > shown.length) shown.push(`and ${issues.length - shown.length} more`);
  return new AppError('VALIDATION_ERROR', shown.join('; '), { issues });
}

/** Throws VALIDATION_ERROR unless there are no issues. */
export function refuse(issues: readonly Issue[]): void {
  if (issues.length > 0) throw invalid(issues);
}

/** The results of all readers; where some throw VALIDATION_ERROR, one that lists the issues of all of them. */
export function readTogether<T extends unknown[]>(...readers: { [K in keyof T]: () => T[K] }): T {
  const issues: Issue[] = [];
  const results = readers.map((read) => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof AppError) || !error.issues) throw error;
      issues.push(...error.issues);
      return undefined;
    }
  });
  refuse(issues);
  return results as T;
}

/** Why the service or a command cannot start; its message is shown to the operator as it is. */
export class StartError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StartError';
  }
}
