// Administrators' endpoints for agents: the list, and one agent with its details, its keys and its grants; and parameters that they share with
// others: the agent's ID, and `for_good` of deletes.
import { AgentListResponse } from '../../domain/administration/admin.ts';
import { AgentDetailsResponse } from '../../domain/administration/agent-details.ts';
import { AgentListParameters, readAgentList } from '../../domain/administration/list.ts';
import { DeleteParameters, readForGood } from '../../domain/administration/undo.ts';
import { AgentSummary, AgentUpdate, RegisterResponse, readAgentUpdate } from '../../domain/agent.ts';
import { readTogether } from '../../domain/errors.ts';
import { GrantsResponse } from '../../domain/grants.ts';
import { EmptyRequest, requireEmptyBody } from '../../domain/own-agent.ts';
import Type from '../../domain/schema.ts';
import { reader } from '../../domain/shape.ts';
import * as admin from '../../usecases/admin.ts';
import * as lists from '../../usecases/admin-lists.ts';
import * as details from '../../usecases/agent-details.ts';
import * as grants from '../../usecases/grants.ts';
import { queryReader } from '../request/query.ts';
import { adminEndpoint, type Call, type Route } from './endpoint.ts';
import { GrantPath, grantIdOf } from './own-grants.ts';

export const AgentPath = Type.Object({
  agent_id: Type.String({
    format: 'uuid',
    description: 'ID of the agent, in upper or lower case.',
    examples: ['0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90'],
  }),
});
const readAgentPath = reader(AgentPath, 'path');

/** Returns the ID in lower case. Throws VALIDATION_ERROR. */
export function agentIdOf({ path }: Call): string {
  return readAgentPath(path).agent_id.toLowerCase();
}

export const forGoodIn = queryReader(DeleteParameters, readForGood);

/** Whose data is deleted, and whether for good. Throws VALIDATION_ERROR. */
export const readDeletion = (call: Call) =>
  readTogether(
    () => agentIdOf(call),
    () => forGoodIn(call.query),
  );

const readAgentParameters = queryReader(AgentListParameters, readAgentList);

const listAgents = adminEndpoint({
  operationId: 'listAgents',
  summary: 'List agents',
  description:
    'Without parameters, returns all agents in order of creation. With any parameter, returns a page of the agents that match, with next_cursor.',
  query: AgentListParameters,
  response: AgentListResponse,
  read: ({ query }) => readAgentParameters(query),
  handle: ({ context }, query) => lists.listAgents(context, query),
});

const getAgent = adminEndpoint({
  operationId: 'getAgent',
  summary: 'Get an agent, its quota and its keys',
  description:
    'Returns the agent as in the list of agents, how much of its limits it uses, and its keys without their secret parts.',
  path: AgentPath,
  response: AgentDetailsResponse,
  errors: ['NOT_FOUND'],
  read: agentIdOf,
  handle: ({ context }, agentId) => details.getAgentDetails(context, agentId),
});

const updateAgent = adminEndpoint({
  operationId: 'updateAgent',
  summary: 'Deactivate an agent or change its tier',
  description:
    'Changes only the fields that are present. The keys of a deactivated agent stop working at once; its events stay.',
  path: AgentPath,
  body: AgentUpdate,
  response: AgentSummary,
  errors: ['NOT_FOUND'],
  read: (call) =>
    readTogether(
      () => agentIdOf(call),
      () => readAgentUpdate(call.body),
    ),
  handle: ({ context, caller }, [agentId, update]) => admin.updateAgent(context, caller, agentId, update),
});

const deleteAgent = adminEndpoint({
  operationId: 'deleteAgent',
  summary: 'Delete an agent',
  description:
    'Deletes the agent, its keys, its grants and its events in one step. They can be restored for KEEP_DELETED_DAYS, unless for_good is true.',
  path: AgentPath,
  query: DeleteParameters,
  errors: ['NOT_FOUND'],
  read: readDeletion,
  handle: async ({ context, caller }, [agentId, forGood]) => {
    await admin.deleteAgent(context, caller, agentId, forGood);
    return undefined;
  },
});

const KeyPath = Type.Object({
  ...AgentPath.properties,
  key_prefix: Type.String({ description: 'The first 8 characters of the key.', examples: ['lev_4Zr8'] }),
});

const revokeAgentKey = adminEndpoint({
  operationId: 'revokeAgentKey',
  summary: 'Revoke a key of an agent',
  description:
    'The key and the grants that were made with it stop working at once, on other nodes within a second. Other keys of the agent and its events stay. An agent without a key can do nothing more. In the rare case that two keys of the agent have this prefix, both are revoked.',
  path: KeyPath,
  errors: ['NOT_FOUND'],
  read: agentIdOf,
  handle: async ({ context, caller, path }, agentId) => {
    await details.revokeAgentKey(context, caller, agentId, path.key_prefix!);
    return undefined;
  },
});

const replaceAgentKeys = adminEndpoint({
  operationId: 'replaceAgentKeys',
  summary: 'Give an agent a new key',
  description:
    'For an agent whose key is lost or leaked. Returns a new key, only in this response: pass it on. All other keys and all grants of the agent stop working at once, on other nodes within a second. If the response is lost, send the request again. The key of a deactivated agent works once the agent is activated again.',
  path: AgentPath,
  body: EmptyRequest,
  isBodyOptional: true,
  response: RegisterResponse,
  errors: ['NOT_FOUND'],
  read: (call) =>
    readTogether(
      () => agentIdOf(call),
      () => requireEmptyBody(call.body),
    ),
  handle: ({ context, caller }, [agentId]) => details.replaceAgentKeys(context, caller, agentId),
});

const listAgentGrants = adminEndpoint({
  operationId: 'listAgentGrants',
  summary: 'List the grants of an agent',
  description: 'Returns the clients that may act for the agent, as the agent itself sees them.',
  path: AgentPath,
  response: GrantsResponse,
  errors: ['NOT_FOUND'],
  read: agentIdOf,
  handle: ({ context }, agentId) => grants.listAgentGrants(context, agentId),
});

const endAgentGrant = adminEndpoint({
  operationId: 'endAgentGrant',
  summary: 'End a grant of an agent',
  description: 'The client can no longer act for the agent, at once; on other nodes within a second.',
  path: Type.Object({ ...AgentPath.properties, ...GrantPath.properties }),
  errors: ['NOT_FOUND'],
  read: (call) =>
    readTogether(
      () => agentIdOf(call),
      () => grantIdOf(call),
    ),
  handle: async ({ context, caller }, [agentId, grantId]) => {
    await grants.endAgentGrant(context, caller, agentId, grantId);
    return undefined;
  },
});

export const routes: readonly Route[] = [
  ['GET', '/v1/admin/agents', listAgents],
  ['GET', '/v1/admin/agents/{agent_id}', getAgent],
  ['PATCH', '/v1/admin/agents/{agent_id}', updateAgent],
  ['DELETE', '/v1/admin/agents/{agent_id}', deleteAgent],
  ['POST', '/v1/admin/agents/{agent_id}/keys', replaceAgentKeys],
  ['DELETE', '/v1/admin/agents/{agent_id}/keys/{key_prefix}', revokeAgentKey],
  ['GET', '/v1/admin/agents/{agent_id}/grants', listAgentGrants],
  ['DELETE', '/v1/admin/agents/{agent_id}/grants/{grant_id}', endAgentGrant],
];
