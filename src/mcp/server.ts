// Handles one HTTP request of the protocol, whose revisions the library supports, with a server made for it: the tools, bound to the
// caller. There are no sessions, and nothing is kept between requests. Only old clients send batches; each message of a batch is counted.
import {
  type CallToolResult,
  createMcpHandler,
  fromJsonSchema,
  type JsonSchemaType,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  McpServer,
  type McpServerOptions,
} from '@modelcontextprotocol/server';
import { AppError, type Issue, MAX_SHOWN_ISSUES } from '../domain/errors.ts';
import type { Searcher } from '../domain/store.ts';
import { type AgentCaller, requireWriter, type Spent } from '../usecases/access.ts';
import type { Context } from '../usecases/context.ts';
import type { Network } from '../usecases/stored-bytes.ts';
import { argumentReader } from './schemas.ts';
import { UNTRUSTED } from './text.ts';
import { PUBLIC_TOOLS, TOOLS, type Tool } from './tools.ts';

/** What calls of tools need, whoever makes them. */
export interface McpReader {
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

export interface McpCaller extends McpReader, Pick<AgentCaller, 'agent' | 'keyHash'> {}

const INSTRUCTIONS = `In-person local events: search by the name of a place and time, read events, and publish your own. Distances are in miles. Results show local times. ${UNTRUSTED}`;

const PUBLIC_INSTRUCTIONS = `In-person local events: search by the name of a place and time, and read events. To publish, connect to /mcp with a key instead. Distances are in miles. Results show local times. ${UNTRUSTED}`;

/** The library only publishes the schemas. Our own checks report every failing field and how to fix it. */
const unchecked: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (data) => ({ valid: true, data: data as T, errorMessage: undefined });
  },
};

const DEFINITIONS = TOOLS.map(define);
const PUBLIC_DEFINITIONS = PUBLIC_TOOLS.map(define);

type Definition<Caller> = ReturnType<typeof define<Caller>>;

function define<Caller>(tool: Tool<unknown, Caller>) {
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
}

/** Tools never change while the service runs, so clients may cache them. */
const OPTIONS: McpServerOptions = {
  capabilities: { tools: { listChanged: false } },
  cacheHints: { 'tools/list': { ttlMs: 3_600_000, cacheScope: 'public' } },
  jsonSchemaValidator: unchecked,
};

export function toolServer(version: string): (caller: McpCaller) => McpServer {
  return (caller) => {
    const { agent, keyHash } = caller;
    const server = new McpServer(
      { name: 'local-events', version },
      { ...OPTIONS, instructions: INSTRUCTIONS },
    );
    addTools(server, DEFINITIONS, caller, (quota, isReadOnly) => {
      if (!isReadOnly) requireWriter(agent);
      return { agent, keyHash, quota };
    });
    return server;
  };
}

/** The server for whoever reads without a key: no tool of it needs an agent. */
export function publicToolServer(version: string): (reader: McpReader) => McpServer {
  return (reader) => {
    const options = { ...OPTIONS, instructions: PUBLIC_INSTRUCTIONS };
    const server = new McpServer({ name: 'local-events-public', version }, options);
    addTools(server, PUBLIC_DEFINITIONS, reader, () => undefined);
    return server;
  };
}

/** `callerOf` gets the quota after the call was counted. Throws INSUFFICIENT_TIER. */
function addTools<Caller>(
  server: McpServer,
  definitions: readonly Definition<Caller>[],
  { context, network, searcher, spendCall, onFault, onError }: McpReader,
  callerOf: (quota: Spent | undefined, isReadOnly: boolean) => Caller,
): void {
  for (const { name, config, read, run } of definitions) {
    server.registerTool(name, config, async (args) => {
      try {
        const caller = callerOf(await spendCall(), config.annotations.readOnlyHint);
        const input = read(args, context.clock());
        const { structured, text } = await run(context, caller, input, network, searcher);
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

/** A request of a caller. */
type McpCall<Caller> = Caller & {
  readonly request: Request;
  readonly body: unknown;
  /** Counts messages that call no tool. Throws RATE_LIMITED if none is left. */
  spendMessages(count: number): Promise<void>;
};

/** The only revision with batches. It is assumed if a request has no header with a revision. */
const BATCH_REVISION = '2025-03-26';
const MAX_BATCH = 10;
const ONE_BY_ONE = 'Send each message in a request of its own.';

/**
 * Throws RATE_LIMITED if messages call no tool and none of these is left; a tool call without quota gets a tool error. The body must have
 * a limited number of values: the library's errors are about 100 times as long as their cause.
 */
export function mcpHandler<Caller extends McpReader>(
  buildServer: (caller: Caller) => McpServer,
): (call: McpCall<Caller>) => Promise<Response> {
  return async (call) => {
    const { request, body, spendMessages } = call;
    const refusal = Array.isArray(body) ? refuseBatch(body, request) : undefined;
    const messages: readonly unknown[] = Array.isArray(body) && !refusal ? body : [body];
    const calls = messages.filter(isCall).length;
    if (calls < messages.length) await spendMessages(messages.length - calls);
    if (refusal) return refusal;
    let counted = 0;
    const spendCall = () => {
      counted++;
      return call.spendCall();
    };
    let reported = new Error('the library gave no reason');
    const handler = createMcpHandler(() => buildServer({ ...call, spendCall }), {
      keepAliveMs: 0, // responses are sent whole
      onerror: (error) => {
        reported = error;
      },
    });
    const response = await handler.fetch(request, { parsedBody: body });
    // Calls that reached no tool: an unknown name, or an invalid message. They are done, so nothing is left to refuse.
    if (counted < calls) await spendMessages(calls - counted).catch(() => {});
    // Any other reported error is the client's fault, and the response says so.
    if (response.status >= 500) call.onFault(reported);
    return response;
  };
}

function isCall(message: unknown): boolean {
  return Object(message).method === 'tools/call';
}

function refuseBatch(batch: readonly unknown[], request: Request): Response | undefined {
  const revision = request.headers.get('mcp-protocol-version') ?? BATCH_REVISION;
  if (revision !== BATCH_REVISION) {
    return invalidRequest(`Only revision ${BATCH_REVISION} has batches. ${ONE_BY_ONE}`);
  }
  if (batch.length < 1 || batch.length > MAX_BATCH) {
    return invalidRequest(`A batch must have 1 to ${MAX_BATCH} messages. ${ONE_BY_ONE}`);
  }
  // The library ends the response when each ID has one, and leaves other requests with that ID running.
  const ids = batch.map((message) => Object(message).id).filter((id) => id !== undefined);
  if (new Set(ids).size === ids.length) return undefined;
  return invalidRequest('Each request in a batch must have an ID of its own.');
}

function invalidRequest(message: string): Response {
  const error = { code: -32_600, message };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 400 });
}
