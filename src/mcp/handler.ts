// Handles one HTTP request of the protocol; the library supports its revisions. There are no sessions, and nothing is kept
// between requests. Only old clients send batches; each message of a batch counts against the quota.
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server';
import type { McpCaller } from './server.ts';

interface McpCall extends McpCaller {
  readonly request: Request;
  readonly body: unknown;
  /** Counts `count` more messages. Throws RATE_LIMITED, and counts none, if the quota has fewer left. */
  spend(count: number): Promise<void>;
}

/** The only revision with batches. It is assumed if a request has no header with a revision. */
const BATCH_REVISION = '2025-03-26';
const MAX_BATCH = 10;
const ONE_BY_ONE = 'Send each message in a request of its own.';

/**
 * Throws RATE_LIMITED for a batch with more messages than the quota has left. The body must have a limited number of values:
 * the library's errors are about 100 times as long as their cause.
 */
export function mcpHandler(
  buildServer: (caller: McpCaller) => McpServer,
): (call: McpCall) => Promise<Response> {
  return async ({ request, body, spend, ...caller }) => {
    if (Array.isArray(body)) {
      const refusal = refuseBatch(body, request);
      if (refusal) return refusal;
      await spend(body.length - 1);
    }
    let reported = new Error('the library gave no reason');
    const handler = createMcpHandler(() => buildServer(caller), {
      keepAliveMs: 0, // responses are sent whole
      onerror: (error) => {
        reported = error;
      },
    });
    const response = await handler.fetch(request, { parsedBody: body });
    // Any other reported error is the client's fault, and the response says so.
    if (response.status >= 500) caller.onFault(reported);
    return response;
  };
}

function refuseBatch(batch: readonly unknown[], request: Request): Response | undefined {
  const revision = request.headers.get('mcp-protocol-version') ?? BATCH_REVISION;
  if (revision !== BATCH_REVISION) {
    return invalidRequest(`Only revision ${BATCH_REVISION} has batches. ${ONE_BY_ONE}`);
  }
  if (batch.length >= 1 && batch.length <= MAX_BATCH) return undefined;
  return invalidRequest(`A batch must have 1 to ${MAX_BATCH} messages. ${ONE_BY_ONE}`);
}

function invalidRequest(message: string): Response {
  const error = { code: -32_600, message };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 400 });
}
