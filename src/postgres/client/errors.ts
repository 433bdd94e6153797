// The driver's errors in our terms: what may be tried again, and what callers are told.
import { AppError } from '../../domain/errors.ts';

/** A transaction that lost against another: undone as a whole. */
const CONFLICTS = new Set(['40001', '40P01']);

/** Nothing was sent, or the server refused to begin: it is starting, full, or no primary. */
const NOT_BEGUN = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'CONNECT_TIMEOUT',
  'CONNECTION_NOT_OPEN',
  '57P03',
  '53300',
  '25006',
]);

/** The connection went while something was under way: it may have happened or not. */
const LOST = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  '57P01',
  '57P02',
  '57P05',
]);

export type Failure = 'conflict' | 'not-begun' | 'lost' | 'refused' | 'other';

export function failureOf(error: unknown): Failure {
  const code = codeOf(error);
  if (CONFLICTS.has(code)) return 'conflict';
  if (NOT_BEGUN.has(code)) return 'not-begun';
  if (LOST.has(code) || code.startsWith('08')) return 'lost';
  // 28, 3D: not let in any more; 53: out of disk, memory or connections; 57014: longer than allowed; 58: the system failed.
  if (code === '57014' || code === 'XX001' || code === 'TLS_REFUSED' || /^(?:28|3D|53|58)/.test(code))
    return 'refused';
  return 'other';
}

/** The code of PostgreSQL, the driver or the system; empty where there is none. */
export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** The error without what it tells of rows and parameters, which are personal and may be logged with it. */
export function withoutData(error: unknown): unknown {
  if (error instanceof Error) for (const name of PERSONAL) Reflect.deleteProperty(error, name);
  return error;
}

const PERSONAL = ['detail', 'where', 'query', 'parameters', 'args', 'internal_query'];

export function unavailable(cause?: unknown): AppError {
  return new AppError('UNAVAILABLE', 'The database does not answer. Try again.', { cause });
}
