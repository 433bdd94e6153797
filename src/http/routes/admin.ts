// Administration over HTTP: who is signed in, agents, the audit log and numbers. Events are in admin-events.ts.
import {
  AdminUserResponse,
  AgentListResponse,
  describeAdministrator,
  StatsResponse,
} from '../../domain/admin.ts';
import { AgentSummary, AgentUpdate, readAgentUpdate } from '../../domain/agent.ts';
import { AuditLogResponse } from '../../domain/audit.ts';
import { readTogether } from '../../domain/errors.ts';
import { AgentListParameters, AuditParameters, readAgentList, readAuditQuery } from '../../domain/list.ts';
import * as admin from '../../usecases/admin.ts';
import * as lists from '../../usecases/admin-lists.ts';
import { endpoint } from '../endpoint.ts';
import { queryReader } from '../request/query.ts';
import { AgentPath, agentIdOf } from './agent-path.ts';

export const whoAmI = endpoint({
  operationId: 'getAdministrator',
  tag: 'Administration',
  summary: 'Who is signed in',
  description: 'The caller as the verified token names them.',
  access: 'administrator',
  answer: AdminUserResponse,
  handle: async ({ caller }) => describeAdministrator(caller),
});

export const getStats = endpoint({
  operationId: 'getStats',
  tag: 'Administration',
  summary: 'How much there is',
  description: 'Agents and events, and how many of them are active or to come.',
  access: 'administrator',
  answer: StatsResponse,
  handle: ({ context }) => lists.getStats(context),
});

const readAgentParameters = queryReader(AgentListParameters, readAgentList);

export const listAgents = endpoint({
  operationId: 'listAgents',
  tag: 'Administration',
  summary: 'List the agents',
  description:
    'All of them, in the order of their creation. With any of the parameters: a page of those that match, with next_cursor.',
  access: 'administrator',
  query: AgentListParameters,
  answer: AgentListResponse,
  handle: async ({ context, query }) => lists.listAgents(context, readAgentParameters(query)),
});

export const updateAgent = endpoint({
  operationId: 'updateAgent',
  tag: 'Administration',
  summary: 'Deactivate an agent or change its tier',
  description:
    'Changes the fields that are present. The keys of a deactivated agent are refused at once; its events stay.',
  access: 'administrator',
  path: AgentPath,
  body: AgentUpdate,
  answer: AgentSummary,
  errors: ['NOT_FOUND'],
  handle: async (call) => {
    const [agentId, update] = readTogether(
      () => agentIdOf(call),
      () => readAgentUpdate(call.body),
    );
    return admin.updateAgent(call.context, call.caller, agentId, update);
  },
});

export const deleteAgent = endpoint({
  operationId: 'deleteAgent',
  tag: 'Administration',
  summary: 'Delete an agent',
  description: 'Removes the agent, its keys and its events in one step.',
  access: 'administrator',
  path: AgentPath,
  errors: ['NOT_FOUND'],
  handle: async (call) => {
    await admin.deleteAgent(call.context, call.caller, agentIdOf(call));
    return undefined;
  },
});

const readAuditParameters = queryReader(AuditParameters, readAuditQuery);

export const listAudit = endpoint({
  operationId: 'listAudit',
  tag: 'Administration',
  summary: 'Read the audit log',
  description: 'What administrators changed: who, what, when, how many. Newest first, in pages.',
  access: 'administrator',
  query: AuditParameters,
  answer: AuditLogResponse,
  handle: async ({ context, query }) => lists.listAudit(context, readAuditParameters(query)),
});
