// One HTTP request of the protocol: which revision it speaks is the library's work. There are no sessions, and nothing is
// kept between requests. Batches are an old client's; each of their messages counts against the quota.
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server';
import type { McpCaller } from './server.ts';

interface McpCall extends McpCaller {
  readonly request: Request;
  readonly body: unknown;
  /** Counts one message more. Throws RATE_LIMITED. */
  spend(): Promise<void>;
}

/** The only revision with batches; its clients name no revision in a header. */
const BATCH_REVISION = '2025-03-26';
const MAX_BATCH = 10;

/** Throws RATE_LIMITED for a batch with more messages than the quota has left. */
export function mcpHandler(
  buildServer: (caller: McpCaller) => McpServer,
): (call: McpCall) => Promise<Response> {
  return async ({ request, body, spend, ...caller }) => {
    if (Array.isArray(body)) {
      const refusal = refuseBatch(body, request);
      if (refusal) return refusal;
      for (let extra = 1; extra < body.length; extra++) await spend();
    }
    let reported = new Error('the library gave no reason');
    const handler = createMcpHandler(() => buildServer(caller), {
      keepAliveMs: 0, // answers are sent whole
      onerror: (error) => {
        reported = error;
      },
    });
    const response = await handler.fetch(request, { parsedBody: body });
    // What it reports otherwise is the client's fault, and the answer says so.
    if (response.status >= 500) caller.onFault(reported);
    return response;
  };
}

function refuseBatch(batch: readonly unknown[], request: Request): Response | undefined {
  const revision = request.headers.get('mcp-protocol-version') ?? BATCH_REVISION;
  if (revision !== BATCH_REVISION) return invalidRequest(`Revision ${BATCH_REVISION} alone has batches.`);
  if (batch.length >= 1 && batch.length <= MAX_BATCH) return undefined;
  return invalidRequest(`A batch has 1 to ${MAX_BATCH} messages.`);
}

function invalidRequest(message: string): Response {
  const error = { code: -32_600, message: `${message} Send each message in a request of its own.` };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 400 });
}
