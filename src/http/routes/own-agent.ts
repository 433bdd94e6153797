// An agent's own affairs over HTTP: its summary, its events, its keys.
import { RegisterResponse } from '../../domain/agent.ts';
import { invalid } from '../../domain/errors.ts';
import { encodePage } from '../../domain/event-page.ts';
import {
  OwnAgentResponse,
  RevokeRequest,
  RotateRequest,
  readOverlapMs,
  requireEmptyBody,
} from '../../domain/own-agent.ts';
import {
  encodeOwnCursor,
  OwnEventsParameters,
  OwnEventsResponse,
  readOwnEvents,
} from '../../domain/own-events.ts';
import * as own from '../../usecases/own-agent.ts';
import { endpoint } from '../endpoint.ts';
import { type Query, queryReader } from '../request/query.ts';

export const getOwnAgent = endpoint({
  operationId: 'getOwnAgent',
  tag: 'Agent',
  summary: 'Who you are, which key you use, and what is left of your quota',
  description:
    'The agent that holds the key, the key without its secret part, and the quota after this request.',
  access: 'key',
  answer: OwnAgentResponse,
  handle: ({ context, caller }) => own.getOwnAgent(context, caller),
});

const readParameters = queryReader(OwnEventsParameters, (values) => readOwnEvents(values, 'query'));

export const listOwnEvents = endpoint({
  operationId: 'listOwnEvents',
  tag: 'Agent',
  summary: 'List your own events',
  description:
    'The events that you created and that are not over, ordered by start, in pages, with the exact total. limit and include_ended may change from page to page.',
  access: 'read',
  query: OwnEventsParameters,
  answer: OwnEventsResponse,
  handle: async ({ context, caller, query }) => {
    const { items, total, next } = await own.findOwnEvents(context, caller, readParameters(query));
    const events = items.map(({ json }) => json);
    return encodePage(events, total, next && encodeOwnCursor(next));
  },
});

export const rotateKey = endpoint({
  operationId: 'rotateKey',
  tag: 'Agent',
  summary: 'Get a new key in place of the one you use',
  description:
    'The new key is in this response and nowhere else, ever: keep it. The calling key works on for overlap_seconds, so if the response is lost, ask again with it. Any other key of yours ends at once.',
  access: 'key',
  body: RotateRequest,
  isBodyOptional: true,
  answer: RegisterResponse,
  handle: async ({ context, caller, body, query }) => {
    refuseParameters(query);
    return own.rotateKey(context, caller, readOverlapMs(body));
  },
});

export const revokeKey = endpoint({
  operationId: 'revokeKey',
  tag: 'Agent',
  summary: 'End the key you use',
  description:
    'The key is refused from now on, also where no quota is left. An agent whose last key is revoked can do nothing more; its events stay, and only an administrator can remove them.',
  access: 'key',
  needsQuota: false,
  body: RevokeRequest,
  isBodyOptional: true,
  handle: async ({ context, caller, body, query }) => {
    refuseParameters(query);
    requireEmptyBody(body);
    await own.revokeKey(context, caller);
    return undefined;
  },
});

/** An overlap in the address would be overlooked, and a key left alive that was meant to end. */
function refuseParameters(query: Query): void {
  if (query.unknown === undefined) return;
  const msg = 'there are no parameters here; overlap_seconds belongs into the body';
  throw invalid([{ loc: ['query'], msg, type: 'extra_forbidden' }]);
}
