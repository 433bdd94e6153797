// What went wrong with a call, as a result that a model can act on: the code, the reason and, for each argument that fails,
// its name and what it must be. Nothing of an error that is not ours is shown.
import type { CallToolResult } from '@modelcontextprotocol/server';
import { AppError, type Issue } from '../domain/errors.ts';

/** `onFault` is told of what is our fault. */
export function toolFailure(error: unknown, onFault: (error: unknown) => void): CallToolResult {
  const known = error instanceof AppError ? error : undefined;
  if (!known || known.code === 'INTERNAL_ERROR' || known.code === 'UNAVAILABLE') onFault(error);
  const text = known ? describe(known) : 'INTERNAL_ERROR: Something went wrong on our side. Try again.';
  return { isError: true, content: [{ type: 'text', text }] };
}

function describe({ code, message, issues }: AppError): string {
  if (issues) return [`${code}: mend these arguments and call again.`, ...describeIssues(issues)].join('\n');
  const hint = code === 'INSUFFICIENT_TIER' ? ` ${ASK_FOR_TIER}` : '';
  return `${code}: ${message}${hint}`;
}

const ASK_FOR_TIER =
  'An administrator of this service can change it; searching and reading work with your key as it is.';

/** More would not be read. */
const MAX_SHOWN = 20;

function describeIssues(issues: readonly Issue[]): string[] {
  const shown = issues.slice(0, MAX_SHOWN).map(describeIssue);
  if (issues.length > MAX_SHOWN) shown.push(`and ${issues.length - MAX_SHOWN} more`);
  return shown;
}

/** The place without its first step, which says where an HTTP request would have it. */
function describeIssue({ loc, msg }: Issue): string {
  return `- ${loc.slice(1).join('.') || 'arguments'}: ${msg.replace(ABOUT_QUERIES, '')}`;
}

/** What says how to write something in an address. */
const ABOUT_QUERIES = / \(in a query, [^)]*\)$/;
