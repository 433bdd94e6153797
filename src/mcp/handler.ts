// Handles one HTTP request of the protocol; the library supports its revisions. There are no sessions, and nothing is kept
// between requests. Only old clients send batches; each message of a batch is counted.
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server';
import type { McpCaller } from './server.ts';

interface McpCall extends McpCaller {
  readonly request: Request;
  readonly body: unknown;
  /** Counts messages that call no tool. Throws RATE_LIMITED if none is left. */
  spendMessages(count: number): Promise<void>;
}

/** The only revision with batches. It is assumed if a request has no header with a revision. */
const BATCH_REVISION = '2025-03-26';
const MAX_BATCH = 10;
const ONE_BY_ONE = 'Send each message in a request of its own.';

/**
 * Throws RATE_LIMITED if messages call no tool and none of these is left; a tool call without quota gets a tool error. The body must have a limited number of values:
 * the library's errors are about 100 times as long as their cause.
 */
export function mcpHandler(
  buildServer: (caller: McpCaller) => McpServer,
): (call: McpCall) => Promise<Response> {
  return async ({ request, body, spendMessages, ...caller }) => {
    const refusal = Array.isArray(body) ? refuseBatch(body, request) : undefined;
    const messages: readonly unknown[] = Array.isArray(body) && !refusal ? body : [body];
    const calls = messages.filter(isCall).length;
    if (calls < messages.length) await spendMessages(messages.length - calls);
    if (refusal) return refusal;
    let counted = 0;
    const spendCall = () => {
      counted++;
      return caller.spendCall();
    };
    let reported = new Error('the library gave no reason');
    const handler = createMcpHandler(() => buildServer({ ...caller, spendCall }), {
      keepAliveMs: 0, // responses are sent whole
      onerror: (error) => {
        reported = error;
      },
    });
    const response = await handler.fetch(request, { parsedBody: body });
    // Calls that reached no tool: an unknown name, or an invalid message. They are done, so nothing is left to refuse.
    if (counted < calls) await spendMessages(calls - counted).catch(() => {});
    // Any other reported error is the client's fault, and the response says so.
    if (response.status >= 500) caller.onFault(reported);
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
