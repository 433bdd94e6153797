// Administration over HTTP.
import Type from 'typebox';
import {
  AdminUserResponse,
  AgentEventsResponse,
  AgentListResponse,
  describeAdministrator,
} from '../../domain/admin.ts';
import { AgentSummary, AgentUpdate, readAgentUpdate } from '../../domain/agent.ts';
import { readTogether, refuse } from '../../domain/errors.ts';
import { compile } from '../../domain/shape.ts';
import * as admin from '../../usecases/admin.ts';
import { type Call, endpoint } from '../endpoint.ts';
import { EventPath } from './events.ts';

const AgentPath = Type.Object({
  agent_id: Type.String({
    format: 'uuid',
    description: 'The id of the agent, in either case.',
    examples: ['0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90'],
  }),
});
const checkAgentPath = compile(AgentPath);

/** Throws VALIDATION_ERROR. */
function agentIdOf({ path }: Call): string {
  const { value, issues } = checkAgentPath(path, 'path');
  refuse(issues);
  return value.agent_id.toLowerCase();
}

export const whoAmI = endpoint({
  operationId: 'getAdministrator',
  tag: 'Administration',
  summary: 'Who is signed in',
  description: 'The caller as the verified token names them.',
  access: 'administrator',
  answer: AdminUserResponse,
  handle: async ({ caller }) => describeAdministrator(caller),
});

export const listAgents = endpoint({
  operationId: 'listAgents',
  tag: 'Administration',
  summary: 'List the agents',
  description: 'All of them, in the order of their creation.',
  access: 'administrator',
  answer: AgentListResponse,
  handle: ({ context }) => admin.listAgents(context),
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

export const listAgentEvents = endpoint({
  operationId: 'listAgentEvents',
  tag: 'Administration',
  summary: 'List the events of an agent',
  description: 'All of them, ended ones included, ordered by start.',
  access: 'administrator',
  path: AgentPath,
  answer: AgentEventsResponse,
  errors: ['NOT_FOUND'],
  handle: async (call) => admin.listAgentEvents(call.context, agentIdOf(call)),
});

export const deleteAgentEvents = endpoint({
  operationId: 'deleteAgentEvents',
  tag: 'Administration',
  summary: 'Delete the events of an agent',
  description: 'Removes all its events; the agent and its keys stay.',
  access: 'administrator',
  path: AgentPath,
  errors: ['NOT_FOUND'],
  handle: async (call) => {
    await admin.deleteAgentEvents(call.context, call.caller, agentIdOf(call));
    return undefined;
  },
});

export const deleteAnyEvent = endpoint({
  operationId: 'deleteAnyEvent',
  tag: 'Administration',
  summary: 'Delete any event',
  description: 'Removes the event of whichever agent.',
  access: 'administrator',
  path: EventPath,
  errors: ['NOT_FOUND'],
  handle: async ({ context, caller, path }) => {
    await admin.deleteAnyEvent(context, caller, path.event_id!);
    return undefined;
  },
});
