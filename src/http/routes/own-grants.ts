// Endpoints for the grants of an agent: which clients may act for it. They exist even if nobody can sign in: grants may be left.
import { GrantsResponse } from '../../domain/grants.ts';
import { requireEmptyBody } from '../../domain/own-agent.ts';
import Type from '../../domain/schema.ts';
import { reader } from '../../domain/shape.ts';
import * as grants from '../../usecases/grants.ts';
import { type Call, endpoint, type Route } from './endpoint.ts';
import { refuseParameters } from './own-agent.ts';

export const GrantPath = Type.Object({
  grant_id: Type.String({
    format: 'uuid',
    description: 'ID of the grant, in upper or lower case.',
    examples: ['01a1e0e4-0920-789b-b1b7-7a66455e0008'],
  }),
});
const readGrantPath = reader(GrantPath, 'path');

/** Returns the ID in lower case. Throws VALIDATION_ERROR. */
export function grantIdOf({ path }: Call): string {
  return readGrantPath(path).grant_id.toLowerCase();
}

const listOwnGrants = endpoint({
  operationId: 'listOwnGrants',
  tag: 'Agent',
  summary: 'List your grants',
  description:
    'Returns the clients that may act for you, because a person has signed in with your key, with what they may do.',
  access: 'read',
  response: GrantsResponse,
  handle: ({ context, caller }) => grants.listGrants(context, caller.agent_id),
});

const endOwnGrant = endpoint({
  operationId: 'endOwnGrant',
  tag: 'Agent',
  summary: 'End a grant',
  description: 'The client can no longer act for you, at once; on other nodes within a second.',
  access: 'read',
  path: GrantPath,
  errors: ['NOT_FOUND'],
  read: grantIdOf,
  handle: async ({ context, caller }, grantId) => {
    await grants.endOwnGrant(context, caller, grantId);
    return undefined;
  },
});

const endOwnGrants = endpoint({
  operationId: 'endOwnGrants',
  tag: 'Agent',
  summary: 'End all grants',
  description: 'No client can act for you any longer, at once; on other nodes within a second.',
  access: 'read',
  handle: async ({ context, caller, body, query }) => {
    refuseParameters(query, 'this request takes no query parameters; it ends all grants');
    requireEmptyBody(body);
    await grants.endOwnGrants(context, caller);
    return undefined;
  },
});

export const routes: readonly Route[] = [
  ['GET', '/v1/agents/me/grants', listOwnGrants],
  ['DELETE', '/v1/agents/me/grants', endOwnGrants],
  ['DELETE', '/v1/agents/me/grants/{grant_id}', endOwnGrant],
];
