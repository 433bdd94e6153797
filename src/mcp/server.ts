// The MCP server for one request: the tools, bound to the caller. They are the same for all revisions of the protocol.
import {
  type CallToolResult,
  fromJsonSchema,
  type JsonSchemaType,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  McpServer,
  type McpServerOptions,
} from '@modelcontextprotocol/server';
import { AppError, type Issue, MAX_SHOWN_ISSUES } from '../domain/errors.ts';
import type { Searcher } from '../domain/store.ts';
import { type KeyHolder, requireWriter, type Spent } from '../usecases/access.ts';
import type { Context } from '../usecases/context.ts';
import type { Network } from '../usecases/stored-bytes.ts';
import { argumentReader } from './arguments.ts';
import { UNTRUSTED } from './text.ts';
import { TOOLS } from './tools.ts';

export interface McpCaller extends Pick<KeyHolder, 'agent' | 'keyHash'> {
  readonly context: Context;
  readonly network: Network;
  readonly searcher: Searcher;
  /** Counts a tool call. Throws RATE_LIMITED. */
  spendCall(): Promise<Spent | undefined>;
  /** Receives errors that are the fault of the service. */
  onFault(error: unknown): void;
  /** Receives every error of a tool. */
  onError?(error: unknown): void;
}

const INSTRUCTIONS = `In-person local events: search by place and time, read events, and publish your own. Distances are in miles. Results show local times. ${UNTRUSTED}`;

/** The library only publishes the schemas. Our own checks report every failing field and how to fix it. */
const unchecked: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (data) => ({ valid: true, data: data as T, errorMessage: undefined });
  },
};

const DEFINITIONS = TOOLS.map((tool) => {
  const { name, title, description, input, output, hints, run } = tool;
  const [readOnlyHint, destructiveHint, idempotentHint, openWorldHint] = hints;
  return {
    name,
    config: {
      title,
      description,
      inputSchema: fromJsonSchema(input as JsonSchemaType, unchecked),
      outputSchema: fromJsonSchema(output as JsonSchemaType, unchecked),
      annotations: { title, readOnlyHint, destructiveHint, idempotentHint, openWorldHint },
    },
    read: argumentReader(tool),
    run,
  };
});

/** Tools never change while the service runs, so clients may cache them. */
const OPTIONS: McpServerOptions = {
  capabilities: { tools: { listChanged: false } },
  instructions: INSTRUCTIONS,
  cacheHints: { 'tools/list': { ttlMs: 3_600_000, cacheScope: 'public' } },
  jsonSchemaValidator: unchecked,
};

export function toolServer(version: string): (caller: McpCaller) => McpServer {
  return ({ context, agent, keyHash, network, searcher, spendCall, onFault, onError }) => {
    const server = new McpServer({ name: 'local-events', version }, OPTIONS);
    for (const { name, config, read, run } of DEFINITIONS) {
      server.registerTool(name, config, async (args) => {
        try {
          const holder = { agent, keyHash, quota: await spendCall() };
          if (!config.annotations.readOnlyHint) requireWriter(agent);
          const input = read(args, context.clock());
          const { structured, text } = await run(context, holder, input, network, searcher);
          return {
            content: [{ type: 'text', text }],
            structuredContent: structured as Record<string, unknown>,
          };
        } catch (error) {
          onError?.(error);
          return toolFailure(error, onFault);
        }
      });
    }
    return server;
  };
}

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
