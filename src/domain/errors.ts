// Every error code with its HTTP status and meaning: the single table behind responses, OpenAPI and docs/errors.md.
// The surfaces render the errors.

export const ERRORS = {
  BAD_REQUEST: { status: 400, meaning: 'The request is not valid HTTP.' },
  MISSING_API_KEY: { status: 401, meaning: 'The X-API-Key header is absent or empty.' },
  INVALID_API_KEY: {
    status: 401,
    meaning: 'The key matches no active key: mistyped, replaced, revoked or deactivated.',
  },
  MISSING_TOKEN: {
    status: 401,
    meaning: 'The request has no bearer token, and no console session that is valid for it.',
  },
  INVALID_TOKEN: {
    status: 401,
    meaning: 'The bearer token is forged, expired or issued for another service, or the session has ended.',
  },
  INSUFFICIENT_TIER: { status: 403, meaning: 'The tier of the key does not permit the operation.' },
  INSUFFICIENT_SCOPE: {
    status: 403,
    meaning: 'The access token may only read: the person allowed no more (only at /mcp/connect).',
  },
  EVENT_LIMIT_REACHED: {
    status: 403,
    meaning:
      'The agent already has its maximum number of events, this one exceeds their maximum total size, or memory for words is nearly full and the agent uses much of it.',
  },
  NOT_AN_ADMIN: {
    status: 403,
    meaning: 'The token or session is valid, but its holder is not an administrator.',
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    meaning: 'Pages of this origin may not call this URL, or the host name is not known to be this service.',
  },
  NOT_FOUND: {
    status: 404,
    meaning: 'No such route, event, agent or audit entry, or (PATCH, DELETE) the event is not yours.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: 'The path does not support this method; Allow lists the methods that it supports.',
  },
  REQUEST_TIMEOUT: { status: 408, meaning: 'The request did not arrive completely in time.' },
  DUPLICATE_EVENT: {
    status: 409,
    meaning: 'The change would give two of your events the same title, start and place.',
  },
  NOT_RESTORABLE: {
    status: 409,
    meaning: 'What this entry of the audit log deleted was not kept, or is no longer kept.',
  },
  PRECONDITION_FAILED: { status: 412, meaning: 'The event changed since the version named in If-Match.' },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    meaning:
      'The body is larger than 16 KiB (1 MiB for an event or an MCP message, 256 KiB for a list of events to delete), or has more than 2000 JSON values.',
  },
  URI_TOO_LONG: { status: 414, meaning: 'The URL of the request is longer than 8 KiB.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The body is not application/json, or is compressed.' },
  VALIDATION_ERROR: {
    status: 422,
    meaning: 'Body, query or path fails validation; detail lists the reasons, at most 20.',
  },
  RATE_LIMITED: {
    status: 429,
    meaning:
      'The client has used up a quota or a limit that its message names; Retry-After says when to retry.',
  },
  HEADERS_TOO_LARGE: { status: 431, meaning: 'The headers of the request are larger than 16 KiB.' },
  INTERNAL_ERROR: {
    status: 500,
    meaning: 'An internal error of the service; the log has its cause under the request ID.',
  },
  OVERLOADED: {
    status: 503,
    meaning: 'The service works, but has more to do than it can do in time; Retry-After says when to retry.',
  },
  UNAVAILABLE: {
    status: 503,
    meaning: 'The service is starting, or its store or identity provider does not respond.',
  },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** One reason why a request fails validation. */
export interface Issue {
  /** Location: `body`, `query`, `path`, `header` or `arguments`, then the field and, in a list, the index. */
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  /** A stable lower-case word in pydantic's vocabulary. */
  readonly type: string;
}

/** Limits and states that refuse a request which would be served at another time. Metrics count refusals by these names. */
export const LIMITS = [
  'connections',
  'connections_per_network',
  'requests',
  'requests_per_network',
  'requests_per_agent',
  'requests_per_connection',
  'turn',
  'queue',
  'queue_per_client',
  'queue_wait',
  'bodies',
  'bodies_per_client',
  'unread',
  'unread_per_client',
  'disk_space',
  'write_deadline',
  'database_connections',
  'starting',
] as const;

/** What clients may do per hour. */
export const QUOTAS = [
  'requests',
  'mcp_messages',
  'registrations',
  'failed_registrations',
  'client_registrations',
  'public_reads',
  'client_documents',
  'stored_bytes',
] as const;

export type RefusedBy = (typeof LIMITS)[number] | `quota ${(typeof QUOTAS)[number]}`;

/** Parts of the service that can keep it from serving. */
export const PARTS = [
  'startup',
  'memory',
  'shutdown',
  'store',
  'data_folder',
  'writer',
  'reader',
  'database',
] as const;
export type Part = (typeof PARTS)[number];

interface AppErrorOptions {
  readonly cause?: unknown;
  readonly issues?: readonly Issue[];
  readonly candidates?: readonly object[];
  readonly retryAfterSeconds?: number;
  readonly isReported?: boolean;
  readonly refusedBy?: RefusedBy;
  readonly part?: Part;
}

/** The only error whose message reaches a caller. Any other error becomes INTERNAL_ERROR. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly issues: readonly Issue[] | undefined;
  /** What the caller may have meant, to choose from. */
  readonly candidates: readonly object[] | undefined;
  /** When to retry the same request, if that is known. */
  readonly retryAfterSeconds: number | undefined;
  /** Whether the log already has the cause, so that the requests that meet it are not logged as faults. */
  readonly isReported: boolean;
  /** The limit or quota that refused the request, if one did. */
  readonly refusedBy: RefusedBy | undefined;
  /** The part of the service that cannot serve, if a check found one. */
  readonly part: Part | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.issues = options.issues;
    this.candidates = options.candidates;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.isReported = options.isReported ?? false;
    this.refusedBy = options.refusedBy;
    this.part = options.part;
  }
}

/** Maximum number of issues in a response. */
export const MAX_SHOWN_ISSUES = 20;

/** The VALIDATION_ERROR for these issues. Its message has location and reason of the first five, and the number of the others. */
export function invalid(issues: readonly Issue[]): AppError {
  const shown = issues.slice(0, 5).map((issue) => `${issue.loc.join('.')}: ${issue.msg}`);
  if (issues.length > shown.length) shown.push(`and ${issues.length - shown.length} more`);
  if (issues.length > MAX_SHOWN_ISSUES) shown.push(`detail lists the first ${MAX_SHOWN_ISSUES}`);
  return new AppError('VALIDATION_ERROR', shown.join('; '), { issues });
}

/** Throws VALIDATION_ERROR if there are issues. */
export function refuse(issues: readonly Issue[]): void {
  if (issues.length > 0) throw invalid(issues);
}

/** Returns the results of all readers. If some throw VALIDATION_ERROR, throws one with the issues of all of them. */
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

/** The service or a command cannot start. The operator sees the message unchanged. */
export class StartError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StartError';
  }
}

/** Another process, normally a running service, uses the data folder. */
export class FolderInUse extends StartError {}

/** A setting is wrong. Nothing but another value mends this, so the exit code is 2, after which supervisors do not try again. */
export class SettingsError extends StartError {}
