// `Prefer: handling=strict` (RFC 7240): a request that wants to be refused for what is otherwise ignored.
import type { TObject } from 'typebox';
import { type Issue, readTogether, refuse } from '../../domain/errors.ts';
import { findUnknown } from '../../domain/shape.ts';
import type { Query } from './query.ts';

/**
 * One preference: a name, a value in quotes or not, and parameters, which have no meaning here. Quotes that nothing closes last
 * until the end, so that no part is read twice: otherwise the time is quadratic in the length of the header.
 */
const PREFERENCE = /(?:[^,"]|"(?:[^"\\]|\\.)*(?:"|\\?$))+/g;
const HANDLING = /^\s*handling\s*=\s*"?([a-z]+)"?\s*(?:;|$)/i;

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the client asked for strict handling. Set after the access check. */
    isStrict: boolean;
  }
}

/** Whether the header asks for strict handling. If a preference is repeated, the first one counts. */
export function isStrict(prefer: string | string[] | undefined): boolean {
  if (prefer === undefined) return false;
  for (const [preference] of String(prefer).matchAll(PREFERENCE)) {
    const value = HANDLING.exec(preference)?.[1];
    if (value !== undefined) return value.toLowerCase() === 'strict';
  }
  return false;
}

interface Known {
  readonly parameters: ReadonlySet<string>;
  readonly body?: TObject | undefined;
}

/** Throws VALIDATION_ERROR if the request has unknown parameters or fields. The error has what `check` throws, too. */
export function refuseUnknown(
  { query, body }: { readonly query: Query; readonly body: unknown },
  known: Known,
  check: () => unknown,
): void {
  const issues = [...unknownParameters(query.unknown, known.parameters), ...unknownFields(body, known.body)];
  if (issues.length > 0) readTogether(() => refuse(issues), check);
}

function unknownParameters(unknown: string | undefined, known: ReadonlySet<string>): Issue[] {
  if (unknown === undefined) return [];
  const takes = known.size > 0 ? `: ${[...known].join(', ')}` : ' none';
  const msg = `unknown parameter; this request takes${takes}`;
  return unknown.split(', ').map((name) => ({ loc: ['query', name], msg, type: 'extra_forbidden' }));
}

/** A shape without additional properties refuses them itself. */
function unknownFields(body: unknown, shape: TObject | undefined): Issue[] {
  if (
    !shape ||
    (shape as { additionalProperties?: boolean }).additionalProperties === false ||
    typeof body !== 'object' ||
    body === null ||
    Array.isArray(body)
  )
    return [];
  return findUnknown(body, new Set(Object.keys(shape.properties)), 'body');
}
