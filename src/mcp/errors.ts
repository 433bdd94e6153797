// Converts errors to tool results that a model can act on: the code, the reason and, for each failing argument, its name and
// what it must be. Unexpected errors reveal nothing of their cause.
import type { CallToolResult } from '@modelcontextprotocol/server';
import { AppError, type Issue, MAX_SHOWN_ISSUES } from '../domain/errors.ts';

/** `onFault` receives errors that are the fault of the service. */
export function toolFailure(error: unknown, onFault: (error: unknown) => void): CallToolResult {
  const known = error instanceof AppError ? error : undefined;
  if (!known || known.code === 'INTERNAL_ERROR' || known.code === 'UNAVAILABLE') onFault(error);
  const text = known ? describe(known) : 'INTERNAL_ERROR: Something went wrong on our side. Retry.';
  return { isError: true, content: [{ type: 'text', text }] };
}

function describe({ code, message, issues }: AppError): string {
  if (issues) return [`${code}: Fix these arguments and retry.`, ...describeIssues(issues)].join('\n');
  const hint = code === 'INSUFFICIENT_TIER' ? ` ${ASK_FOR_TIER}` : '';
  return `${code}: ${message}${hint}`;
}

const ASK_FOR_TIER =
  'An administrator of this service can change the tier. Your key can search and read events.';

function describeIssues(issues: readonly Issue[]): string[] {
  const shown = issues.slice(0, MAX_SHOWN_ISSUES).map(describeIssue);
  if (issues.length > MAX_SHOWN_ISSUES) shown.push(`and ${issues.length - MAX_SHOWN_ISSUES} more`);
  return shown;
}

/** Drops the first step of `loc`, which is a part of an HTTP request. */
function describeIssue({ loc, msg }: Issue): string {
  return `- ${loc.slice(1).join('.') || 'arguments'}: ${msg.replace(QUERY_HINT, '')}`;
}

/** Advice about writing a value in a URL. */
const QUERY_HINT = / \(in a query, [^)]*\)$/;
