// The Model Context Protocol at /mcp: who may call, and how an answer is sent. What a message means is left to the handler
// that is passed in. Only POST: there are no sessions to end and no streams to open, so other methods are a 405.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { AgentRow } from '../domain/agent.ts';
import { AppError } from '../domain/errors.ts';
import { oneOf } from '../domain/shape.ts';
import { type KeyHolder, requireQuota } from '../usecases/access.ts';
import type { Context } from '../usecases/context.ts';
import { type AllowedHosts, requireAllowedHost } from './browser/dns-rebinding.ts';
import type { Description } from './endpoint.ts';
import { admitAgent, countRequest } from './request/authenticate.ts';
import type { Backlog } from './response/backlog.ts';
import { ErrorResponse } from './response/errors.ts';

export const MCP_PATH = '/mcp';

const JsonRpcMessage = Type.Object({
  jsonrpc: oneOf(['2.0'], { examples: ['2.0'] }),
  id: Type.Optional(Type.Unsafe<string | number>({ type: ['string', 'integer'], examples: [1] })),
  method: Type.String({ examples: ['tools/list'] }),
  params: Type.Optional(Type.Object({})),
});
const JsonRpcResponse = Type.Object({
  jsonrpc: oneOf(['2.0']),
  id: Type.Unsafe<string | number | null>({ type: ['string', 'integer', 'null'] }),
  result: Type.Optional(Type.Object({})),
  error: Type.Optional(Type.Object({ code: Type.Integer(), message: Type.String() })),
});

/** What the description of the API says of it. The protocol describes itself: tools/list has every schema. */
export const mcp: Description = {
  operationId: 'mcp',
  tag: 'Events',
  summary: 'Speak the Model Context Protocol',
  description:
    'Streamable HTTP without sessions: revision 2026-07-28 and those before it that use this transport. The key comes as `X-API-Key` or `Authorization: Bearer`; each request counts against the quota, of a batch (revision 2025-03-26, up to 10) each message. What is refused before the message is read has the envelope of every other error; what is wrong with the message is a JSON-RPC error; what is wrong with a call is a tool result with `isError`.',
  body: JsonRpcMessage,
  answer: JsonRpcResponse,
  others: {
    200: {
      description: 'The answer; to clients of older revisions as a stream that ends with it.',
      content: { 'application/json': JsonRpcResponse, 'text/event-stream': Type.String() },
    },
    202: { description: 'A notification was taken note of; there is nothing to say.' },
    400: {
      description: 'The message is not one of the protocol, or of a revision that is not spoken here.',
      content: { 'application/json': Type.Unsafe({ anyOf: [JsonRpcResponse, ErrorResponse] }) },
    },
    404: {
      description: 'There is no such method (revision 2026-07-28).',
      content: { 'application/json': JsonRpcResponse },
    },
    406: {
      description: 'Accept must name `application/json` and `text/event-stream`.',
      content: { 'application/json': JsonRpcResponse },
    },
  },
  errors: ['ORIGIN_NOT_ALLOWED'],
};

export interface McpCall {
  readonly context: Context;
  readonly agent: AgentRow;
  /** Without credentials, and without the body. */
  readonly request: Request;
  /** The parsed JSON; undefined where none was sent. */
  readonly body: unknown;
  /** Counts so many messages more than the request itself. Throws RATE_LIMITED, and takes none, where there are not enough left. */
  spend(count: number): Promise<void>;
  /** Told of what is our fault. */
  onFault(error: unknown): void;
}

/** Answers one message, or an old client's batch of them. */
export type ServeMcp = (call: McpCall) => Promise<Response>;

interface McpOptions extends AllowedHosts {
  readonly serve: ServeMcp;
  readonly context: () => Context;
  readonly backlog: Backlog;
  readonly onFault: (request: FastifyRequest, error: unknown) => void;
}

/** No answer about a single event is longer, so what is refused beyond it has changed nothing. */
const LONG = 262_144;

export function serveMcp(app: FastifyInstance, options: McpOptions): void {
  const { serve, context, backlog, onFault, ...names } = options;
  app.route({
    method: 'POST',
    url: MCP_PATH,
    onRequest: async (request, reply) => {
      request.pattern = MCP_PATH;
      requireAllowedHost(names, request);
      request.caller = await admit(context(), request, reply);
    },
    handler: async (request, reply) => {
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const { agent, quota } = request.caller as KeyHolder;
      const response = await serve({
        context: context(),
        agent,
        spend: async (count) => {
          if (quota && quota.remaining < count) requireQuota({ ...quota, allowed: false });
          for (let extra = 0; extra < count; extra++)
            requireQuota(await countRequest(context(), agent, reply));
        },
        request: toWebRequest(request, gone.signal),
        body: request.body,
        onFault: (error) => onFault(request, error),
      });
      // Whole, also where it is a stream of events: then it counts as any other answer, and nobody holds one open.
      const text = await response.text();
      if (text.length > LONG) backlog.requireRoom();
      const type = response.headers.get('content-type');
      if (type !== null) reply.header('content-type', type);
      return reply.code(response.status).send(text === '' ? undefined : text);
    },
  });
}

const CHALLENGE = 'ApiKey realm="local-events", header="X-API-Key", Bearer realm="local-events"';

/** Throws MISSING_API_KEY, INVALID_API_KEY or RATE_LIMITED. */
async function admit(context: Context, request: FastifyRequest, reply: FastifyReply): Promise<KeyHolder> {
  try {
    return await admitAgent(context, findKey(request), reply);
  } catch (error) {
    if (error instanceof AppError && error.code.endsWith('_API_KEY')) {
      reply.header('www-authenticate', CHALLENGE);
    }
    throw error;
  }
}

/** By X-API-Key or, since some clients can send nothing else, by Authorization. Throws MISSING_API_KEY. */
function findKey({ headers: { authorization = '', 'x-api-key': header } }: FastifyRequest): string {
  const key = header || /^bearer +(\S+)$/i.exec(authorization)?.[1];
  if (key !== undefined) return String(key);
  throw new AppError(
    'MISSING_API_KEY',
    'Send your key as "X-API-Key: …" or "Authorization: Bearer …". POST /v1/auth/register gives you one.',
  );
}

/** The headers of the protocol alone: a key has no business behind this point. */
function toWebRequest(request: FastifyRequest, signal: AbortSignal): Request {
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    typeof value === 'string' && /^(?:accept|content-type|mcp-.+)$/.test(name)
      ? [[name, value] as const]
      : [],
  );
  return new Request(`http://localhost${MCP_PATH}`, {
    method: 'POST',
    headers: headers as [string, string][],
    signal,
  });
}
