// The Model Context Protocol: at /mcp with keys, at /mcp/connect with access tokens, at /mcp/public without either. Access checks and
// sending of responses; the handlers that are passed in interpret the messages. Only POST: there are no sessions to end and no streams to
// open, so other methods get a 405.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../domain/errors.ts';
import { mayHavePrefix } from '../../domain/events/word-query.ts';
import type { Scope } from '../../domain/grants.ts';
import Type from '../../domain/schema.ts';
import { oneOf } from '../../domain/shape.ts';
import type { Searcher } from '../../domain/store.ts';
import { CONNECT_PATH, challenge } from '../../oauth/metadata.ts';
import {
  type AgentCaller,
  authenticateAgent,
  authenticateToken,
  requireMessages,
  requirePublicRead,
  requireQuota,
  type Spent,
  spendMessages,
  spendPublicMessages,
  spendPublicRead,
  spendRequest,
} from '../../usecases/access.ts';
import type { Context } from '../../usecases/context.ts';
import { setQuotaHeaders } from '../access/authenticate.ts';
import {
  type AllowedHosts,
  requireAllowedHost,
  requireServiceOrigin,
  serviceOrigin,
} from '../access/same-origin.ts';
import { findNetwork } from '../admission/request-client.ts';
import type { Description } from '../guide/description.ts';
import type { ToolName } from '../guide/mcp.ts';
import { MAX_EVENT_BODY_BYTES } from '../request/body.ts';
import { ErrorResponse, toAppError } from '../response/errors.ts';
import type { Service } from './endpoint.ts';

export const MCP_PATH = '/mcp';
export const PUBLIC_PATH = '/mcp/public';

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

/** The entry in the API description. It has no tool schemas: tools/list returns them. */
export const mcp: Description = {
  operationId: 'mcp',
  tag: 'Events',
  summary: 'Call the Model Context Protocol server',
  description:
    'Streamable HTTP without sessions: revision 2026-07-28 and the earlier ones that use this transport. Send the key as `X-API-Key` or `Authorization: Bearer`. Each tool call counts against the quota of requests; without quota left, it is a tool result with `isError` that says how long to wait. All other messages, and refused calls, count against a quota of their own, which is as large; when it is used up, every request is a 429 before its body is read. In a batch (revision 2025-03-26, up to 10 messages) each message counts. An error before the message is read has the same envelope as every other error. An error in the message is a JSON-RPC error. An error in a tool call is a tool result with `isError`.',
  body: JsonRpcMessage,
  maxBodyBytes: MAX_EVENT_BODY_BYTES,
  response: JsonRpcResponse,
  otherResponses: {
    200: {
      description: 'The response; for clients of older revisions as an event stream that ends with it.',
      content: { 'application/json': JsonRpcResponse, 'text/event-stream': Type.String() },
    },
    202: { description: 'The notification was accepted. No body.' },
    400: {
      description: 'The message is not a valid message of the protocol, or its revision is not supported.',
      content: { 'application/json': Type.Unsafe({ anyOf: [JsonRpcResponse, ErrorResponse] }) },
    },
    404: {
      description: 'The method does not exist (revision 2026-07-28).',
      content: { 'application/json': JsonRpcResponse },
    },
    406: {
      description: 'Accept must name `application/json` and `text/event-stream`.',
      content: { 'application/json': JsonRpcResponse },
    },
  },
  errors: ['ORIGIN_NOT_ALLOWED'],
};

export interface McpRead {
  readonly context: Context;
  /** Undefined if no limit per network applies. */
  readonly network: string | undefined;
  readonly searcher: Searcher;
  /** Has no credentials and no body. */
  readonly request: Request;
  /** Parsed JSON; undefined if no body was sent. */
  readonly body: unknown;
  /** Counts a tool call. Throws RATE_LIMITED if no request is left, and then counts a message instead. */
  spendCall(): Promise<Spent | undefined>;
  /** Counts messages that call no tool. Throws RATE_LIMITED if none is left. */
  spendMessages(count: number): Promise<void>;
  /** Called with errors that are the service's fault. */
  onFault(error: unknown): void;
  /** Called with every error of a tool. */
  onError(error: unknown): void;
}

export interface McpCall extends McpRead, Pick<AgentCaller, 'agent' | 'keyHash'> {}

/** Handles one message, or a batch of messages from a client of an older revision. */
export type ServeMcp<Call extends McpRead = McpCall> = (call: Call) => Promise<Response>;

interface McpService extends Service, AllowedHosts {
  readonly serve: ServeMcp;
  /** The same at /mcp/public; without it, there is no such route. */
  readonly servePublic?: ServeMcp<McpRead> | undefined;
  readonly tools?: readonly ToolName[];
  /** Whether clients can sign in. */
  readonly hasOAuth?: boolean;
}

/** One of the URLs, which differ in who may call them. */
interface Door {
  readonly path: string;
  /** Finds who is calling, and notes it for limits. Throws an error of usecases/access.ts, after setting its challenge. */
  enter(service: McpService, reply: FastifyReply): Promise<Visitor>;
}

/** Whoever is calling: what its messages cost, and who handles them. */
interface Visitor {
  /** What an access token allows; a key allows everything. */
  readonly scopes?: readonly Scope[] | undefined;
  /** Counts (1) or only reads (0) a tool call. */
  spendCall(cost: 0 | 1): Promise<Spent | undefined>;
  /** Throws RATE_LIMITED if no call was left. */
  requireCall(spent: Spent | undefined): void;
  /** Counts messages that call no tool. Cost 0 only reads. */
  spendMessages(cost: number): Promise<Spent | undefined>;
  serve(read: McpRead): Promise<Response>;
}

/**
 * A longer response is refused while the backlog is over its limit. No response about a single event is longer, so a
 * refused call has changed nothing.
 */
const LONG_RESPONSE_CHARS = 262_144;

export function serveMcp(app: FastifyInstance, service: McpService): void {
  serveDoor(app, service, KEYS);
  if (service.hasOAuth) serveDoor(app, service, TOKENS);
  if (service.servePublic && service.publicQuotaOf) serveDoor(app, service, READERS);
}

function serveDoor(app: FastifyInstance, service: McpService, door: Door): void {
  const { context, admission, backlog, deadline, onFault } = service;
  app.route({
    method: 'POST',
    url: door.path,
    bodyLimit: MAX_EVENT_BODY_BYTES,
    onRequest: async (request, reply) => {
      request.pattern = door.path;
      request.client.keepsBody = true;
      requireAllowedHost(service, request);
      const admitting = admission.checkKey(request, () => admit(service, door, reply));
      deadline.watch(reply);
      request.caller = await admitting;
      backlog.requireRoom(request.client);
    },
    // Whatever was refused before its messages could be counted is one.
    onSend: async ({ caller }) => {
      const admitted = caller as Admitted | undefined;
      if (admitted?.isCounted === false) await admitted.visitor.spendMessages(1).catch(() => {}); // as for failed registrations
    },
    handler: async (request, reply) => {
      const closed = new AbortController();
      reply.raw.once('close', () => closed.abort());
      const caller = request.caller as Admitted;
      const { visitor } = caller;
      requireScope(service, visitor, reply);
      const read: McpRead = {
        context: context(),
        network: findNetwork(request.client),
        searcher: request.client,
        spendCall: async () => {
          const spent = await visitor.spendCall(1);
          setQuotaHeaders(reply, spent);
          if (spent?.allowed === false) await visitor.spendMessages(1);
          visitor.requireCall(spent);
          return spent;
        },
        spendMessages: async (count) => requireMessages(await visitor.spendMessages(count)),
        request: toWebRequest(request, closed.signal),
        body: request.body,
        onFault: (error) => onFault(request, error),
        onError: (error) => {
          admission.refusals.count(error);
          request.refusal = toAppError(error);
        },
      };
      // Read event streams whole too: the backlog then counts them like any other response, and no client can hold one open.
      const queue = searchesPrefix(request.body) ? admission.prefixSearches : admission.agentWork;
      const work = queue.run(request.client, async () => {
        caller.isCounted = true;
        const response = await visitor.serve(read);
        return [response, await response.text()] as const;
      });
      const [response, text] = await work;
      if (request.client.isLate) return reply;
      if (text.length > LONG_RESPONSE_CHARS) backlog.requireRoom(request.client);
      const type = response.headers.get('content-type');
      if (type !== null) reply.header('content-type', type);
      return reply.code(response.status).send(text === '' ? undefined : text);
    },
  });
}

/** Whether a tool call among the messages searches for a prefix. */
function searchesPrefix(body: unknown): boolean {
  const calls = (Array.isArray(body) ? body : [body]) as ({
    params?: { arguments?: { q?: unknown } };
  } | null)[];
  return calls.some((call) => mayHavePrefix(call?.params?.arguments?.q));
}

/** Whoever sent a request that was admitted. */
interface Admitted {
  readonly visitor: Visitor;
  /** Whether the messages of the request are counted where they are handled. */
  isCounted: boolean;
}

/** Counts nothing yet: what a message costs is seen when it is read. Throws the errors of the door, or RATE_LIMITED. */
async function admit(service: McpService, door: Door, reply: FastifyReply): Promise<Admitted> {
  const visitor = await door.enter(service, reply);
  const [messages, calls] = await Promise.all([visitor.spendMessages(0), visitor.spendCall(0)]);
  if (messages?.allowed === false) setQuotaHeaders(reply, messages, 'mcp');
  requireMessages(messages);
  setQuotaHeaders(reply, calls);
  return { visitor, isCounted: false };
}

/** An agent as a visitor, after its key or token was checked. */
function asVisitor(
  { context, admission, serve }: McpService,
  { client }: FastifyRequest,
  { agent, keyHash }: Pick<AgentCaller, 'agent' | 'keyHash'>,
  scopes?: readonly Scope[],
): Visitor {
  admission.enterAgent(client, agent.agent_id);
  return {
    scopes,
    spendCall: (cost) => spendRequest(context(), agent, cost),
    requireCall: requireQuota,
    spendMessages: (cost) => spendMessages(context(), agent, cost),
    serve: (read) => serve({ ...read, agent, keyHash }),
  };
}

const CHALLENGE = 'ApiKey realm="local-events", header="X-API-Key", Bearer realm="local-events"';

/** Keys. Its challenge names no metadata: clients that find some ignore the key that they are configured with. */
const KEYS: Door = {
  path: MCP_PATH,
  enter: async (service, reply) => {
    const { context, hasOAuth } = service;
    try {
      const caller = await authenticateAgent(context(), findKey(reply.request));
      return asVisitor(service, reply.request, caller);
    } catch (error) {
      if (!(error instanceof AppError) || !error.code.endsWith('_API_KEY')) throw error;
      reply.header('www-authenticate', CHALLENGE);
      if (!hasOAuth) throw error;
      const advice = `The front page (/) gives you a key, too. Clients that sign in instead connect to ${CONNECT_PATH}.`;
      throw new AppError(error.code, `${error.message} ${advice}`);
    }
  },
};

/** Access tokens. Their challenge leads clients to the sign-in. */
const TOKENS: Door = {
  path: CONNECT_PATH,
  enter: async (service, reply) => {
    const { context, publicUrl } = service;
    const { authorization = '' } = reply.request.headers;
    try {
      const token = /^bearer +(\S+)$/i.exec(authorization)?.[1];
      const { agent, scopes } = await authenticateToken(context(), token);
      return asVisitor(service, reply.request, { agent, keyHash: undefined }, scopes);
    } catch (error) {
      const code = error instanceof AppError ? error.code : undefined;
      const reason = code === 'INVALID_TOKEN' ? 'invalid_token' : undefined;
      const base = serviceOrigin(publicUrl, reply.request);
      if (base !== undefined && (reason || code === 'MISSING_TOKEN'))
        reply.header('www-authenticate', challenge(base, reason));
      throw error;
    }
  },
};

/** Nobody in particular: only tools that read. Refuses our keys, so that nobody reads without one by mistake. */
const READERS: Door = {
  path: PUBLIC_PATH,
  enter: async ({ context, admission, publicQuotaOf, servePublic }, reply) => {
    const { client, ip, headers } = reply.request;
    if (headers['x-api-key'] !== undefined || /^bearer +lev_/i.test(headers.authorization ?? ''))
      throw new AppError(
        'INVALID_API_KEY',
        `This URL takes no key. Send it to ${MCP_PATH}, which has all tools.`,
      );
    admission.enterReader(client);
    const quota = publicQuotaOf!(ip);
    return {
      spendCall: (cost) => spendPublicRead(context(), quota, cost),
      requireCall: requirePublicRead,
      spendMessages: (cost) => spendPublicMessages(context(), quota, cost),
      serve: servePublic!,
    };
  },
};

/** Throws INSUFFICIENT_SCOPE if a message calls a tool that changes something, and the token may only read. */
function requireScope({ tools = [], publicUrl }: McpService, { scopes }: Visitor, reply: FastifyReply): void {
  if (scopes?.includes('publish') ?? true) return;
  const writers = new Set(tools.flatMap(({ name, hints: [isReadOnly] }) => (isReadOnly ? [] : [name])));
  const calls = [reply.request.body].flat() as ({ params?: { name?: string } } | null | undefined)[];
  if (!calls.some((call) => writers.has(call?.params?.name ?? ''))) return;
  reply.header(
    'www-authenticate',
    challenge(requireServiceOrigin(publicUrl, reply.request), 'insufficient_scope'),
  );
  throw new AppError(
    'INSUFFICIENT_SCOPE',
    'This sign-in may only read. Sign in again, and allow to publish.',
  );
}

/** Reads X-API-Key or Authorization; some clients can send only the latter. Throws MISSING_API_KEY. */
function findKey({ headers: { authorization = '', 'x-api-key': header } }: FastifyRequest): string {
  const key = header || /^bearer +(\S+)$/i.exec(authorization)?.[1];
  if (key !== undefined) return String(key);
  throw new AppError(
    'MISSING_API_KEY',
    'The API key is missing. Send it as "X-API-Key: …" or "Authorization: Bearer …". POST /v1/auth/register gives you one.',
  );
}

/** Copies only the headers of the protocol, so that no key gets past this point. */
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
