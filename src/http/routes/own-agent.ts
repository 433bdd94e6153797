// Endpoints for an agent itself: registration, its summary, its events and its keys.
import { RegisterRequest, RegisterResponse, readRegistration } from '../../domain/agent.ts';
import { invalid, readTogether } from '../../domain/errors.ts';
import { encodePage } from '../../domain/events/event-page.ts';
import {
  addIncluded,
  addLocalTimes,
  INCLUDES,
  includeParameter,
  splitIncludes,
} from '../../domain/events/include.ts';
import {
  EmptyRequest,
  encodeOwnCursor,
  OwnAgentResponse,
  OwnEventsParameters,
  OwnEventsResponse,
  RotateRequest,
  readOwnEvents,
  readRotateRequest,
  requireEmptyBody,
} from '../../domain/own-agent.ts';
import Type from '../../domain/schema.ts';
import { reader } from '../../domain/shape.ts';
import * as own from '../../usecases/own-agent.ts';
import { register as registerAgent } from '../../usecases/own-agent.ts';
import { type Query, queryReader } from '../request/query.ts';
import { encodeItems } from '../response/formats.ts';
import { endpoint, type Route } from './endpoint.ts';

const register = endpoint({
  operationId: 'register',
  tag: 'Registration',
  summary: 'Register an agent',
  description:
    'Creates an agent and returns its API key. The key is only in this response: store it. One e-mail address may register any number of agents.',
  access: 'registration',
  body: RegisterRequest,
  response: RegisterResponse,
  read: ({ body }) => readRegistration(body),
  handle: ({ context, caller }, registration) => registerAgent(context, caller, registration),
});

const getOwnAgent = endpoint({
  operationId: 'getOwnAgent',
  tag: 'Agent',
  summary: 'Get your own agent, key and quota',
  description:
    'Returns the agent that owns the key, the key without its secret part, and the quota left after this request.',
  access: 'key',
  response: OwnAgentResponse,
  handle: ({ context, caller }) => own.getOwnAgent(context, caller),
});

const ListExtras = Type.Object({ include: includeParameter(INCLUDES) });
const readExtras = reader(ListExtras, 'query');

const readParameters = queryReader(
  Type.Object({ ...OwnEventsParameters.properties, ...ListExtras.properties }),
  (values) => {
    const [query, { include = [] }] = readTogether(
      () => readOwnEvents(values, 'query'),
      () => readExtras(splitIncludes(values)),
    );
    return { query, includes: include };
  },
);

const listOwnEvents = endpoint({
  operationId: 'listOwnEvents',
  tag: 'Agent',
  summary: 'List your own events',
  description:
    'Returns your events that have not ended, cancelled ones included, ordered by start, in pages, with the exact total. limit and include_ended may change between pages.',
  access: 'read',
  query: OwnEventsParameters,
  extras: ListExtras,
  response: OwnEventsResponse,
  read: ({ query }) => readParameters(query),
  isExpensive: () => true,
  handle: async ({ context, caller, client }, { query, includes }) => {
    const { items, total, next } = await own.findOwnEvents(context, caller, query);
    const stored = items.map(({ json, updatedMs }) => addIncluded(json, includes, updatedMs));
    const events = includes.includes('local') ? await encodeItems(stored, addLocalTimes, client) : stored;
    return encodePage(events, total, next && encodeOwnCursor(next));
  },
});

const rotateKey = endpoint({
  operationId: 'rotateKey',
  tag: 'Agent',
  summary: 'Replace the key you use with a new one',
  description:
    'Returns a new key, only in this response: store it. The key of this request keeps working for overlap_seconds, so if the response is lost, retry with it. All your other keys stop working at once. Clients that may act for you go on, unless end_grants is true.',
  access: 'key',
  body: RotateRequest,
  isBodyOptional: true,
  response: RegisterResponse,
  read: ({ body, query, isStrict }) => {
    if (!isStrict) refuseParameters(query, SEND_IN_BODY);
    return readRotateRequest(body);
  },
  handle: ({ context, caller }, rotation) => own.rotateKey(context, caller, rotation),
});

const revokeKey = endpoint({
  operationId: 'revokeKey',
  tag: 'Agent',
  summary: 'Revoke the key you use',
  description:
    'The key stops working at once, and so do the grants that were made with it. Works even when the quota is exhausted. An agent whose last key is revoked can do nothing more; its events stay, and only an administrator can delete them.',
  access: 'key',
  needsQuota: false,
  body: EmptyRequest,
  isBodyOptional: true,
  handle: async ({ context, caller, body, query }) => {
    refuseParameters(query, SEND_IN_BODY);
    requireEmptyBody(body);
    await own.revokeKey(context, caller);
    return undefined;
  },
});

/** An overlap_seconds in the URL would be ignored, and a key meant to end would stay valid. */
const SEND_IN_BODY = 'this request takes no query parameters; send overlap_seconds in the body';

/** Throws VALIDATION_ERROR with this message, as strict calls do for all endpoints. */
export function refuseParameters(query: Query, msg: string): void {
  if (query.unknown === undefined) return;
  throw invalid([{ loc: ['query'], msg, type: 'extra_forbidden' }]);
}

export const routes: readonly Route[] = [
  ['POST', '/v1/auth/register', register],
  ['POST', '/v1/auth/rotate', rotateKey],
  ['POST', '/v1/auth/revoke', revokeKey],
  ['GET', '/v1/agents/me', getOwnAgent],
  ['GET', '/v1/agents/me/events', listOwnEvents],
];
