// Classification of the driver's errors: which may be retried, and which message callers get.
import { AppError } from '../../domain/errors.ts';

/** Serialization failures and deadlocks. The transaction is rolled back completely. */
const CONFLICTS = new Set(['40001', '40P01']);

/**
 * The statement was not sent, or the server rejected it: it is starting, has no free connection, or is not the primary. A
 * standby does not support unlogged tables (0A000).
 */
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
  '0A000',
]);

/** The connection was lost while a statement was running. The statement may or may not have taken effect. */
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
  // 28, 3D: access denied; 53: out of disk, memory or connections; 57014: statement timeout; 58: system error.
  if (code === '57014' || code === 'XX001' || code === 'TLS_REFUSED' || /^(?:28|3D|53|58)/.test(code))
    return 'refused';
  return 'other';
}

/** The statement was not sent; the server rolls back earlier statements of its transaction. */
export class ConnectionClosed extends Error {
  readonly code = 'CONNECTION_NOT_OPEN';
}

/** Error code of PostgreSQL, the driver or the system; empty if there is none. */
export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Removes rows and parameters from the error: they contain personal data, and errors are logged. */
export function withoutData(error: unknown): unknown {
  if (error instanceof Error) for (const name of PERSONAL) Reflect.deleteProperty(error, name);
  return error;
}

const PERSONAL = ['detail', 'where', 'query', 'parameters', 'args', 'internal_query'];

export function unavailable(cause?: unknown): AppError {
  return new AppError('UNAVAILABLE', 'The database does not respond. Retry.', { cause, part: 'database' });
}
