// One HTTP request of the protocol: which revision it speaks is the library's work. There are no sessions, and nothing is
// kept between requests. Batches are an old client's; each of their messages counts against the quota.
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server';
import type { McpCaller } from './server.ts';

interface McpCall extends McpCaller {
  readonly request: Request;
  readonly body: unknown;
  /** Counts so many messages more. Throws RATE_LIMITED, and takes none, where there are not enough left. */
  spend(count: number): Promise<void>;
}

/** The only revision with batches; its clients name no revision in a header. */
const BATCH_REVISION = '2025-03-26';
const MAX_BATCH = 10;
const ONE_BY_ONE = 'Send each message in a request of its own.';

/** Ten times what a batch of creates has. What the library says of a message is some hundred times as long as what is wrong. */
const MAX_VALUES = 2_000;

/** Throws RATE_LIMITED for a batch with more messages than the quota has left. */
export function mcpHandler(
  buildServer: (caller: McpCaller) => McpServer,
): (call: McpCall) => Promise<Response> {
  return async ({ request, body, spend, ...caller }) => {
    if (!isWithin(body, MAX_VALUES)) {
      return invalidRequest(`A request has at most ${MAX_VALUES} members and entries.`);
    }
    if (Array.isArray(body)) {
      const refusal = refuseBatch(body, request);
      if (refusal) return refusal;
      await spend(body.length - 1);
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

/** Whether there are no more values than this in it, at any depth. */
function isWithin(body: unknown, most: number): boolean {
  const left = [body];
  for (let count = 0; left.length > 0; count++) {
    if (count > most) return false;
    const value = left.pop();
    if (typeof value !== 'object' || value === null) continue;
    const members = Object.values(value);
    if (members.length > most) return false;
    left.push(...members);
  }
  return true;
}

function refuseBatch(batch: readonly unknown[], request: Request): Response | undefined {
  const revision = request.headers.get('mcp-protocol-version') ?? BATCH_REVISION;
  if (revision !== BATCH_REVISION) {
    return invalidRequest(`Revision ${BATCH_REVISION} alone has batches. ${ONE_BY_ONE}`);
  }
  if (batch.length >= 1 && batch.length <= MAX_BATCH) return undefined;
  return invalidRequest(`A batch has 1 to ${MAX_BATCH} messages. ${ONE_BY_ONE}`);
}

function invalidRequest(message: string): Response {
  const error = { code: -32_600, message };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 400 });
}
