// Administrators' endpoints for events.
import {
  AgentEventsResponse,
  DeletedResponse,
  EventSelection,
  readEventSelection,
} from '../../domain/admin.ts';
import { readTogether } from '../../domain/errors.ts';
import { EventListParameters, readEventList } from '../../domain/list.ts';
import * as admin from '../../usecases/admin.ts';
import * as lists from '../../usecases/admin-lists.ts';
import { endpoint } from '../endpoint.ts';
import { queryReader } from '../request/query.ts';
import { AgentPath, agentIdOf } from './agent-path.ts';
import { EventPath } from './events.ts';

const readParameters = queryReader(EventListParameters, readEventList);

export const listAgentEvents = endpoint({
  operationId: 'listAgentEvents',
  tag: 'Administration',
  summary: 'List the events of an agent',
  description:
    'Without parameters, returns all events of the agent, ended ones included, ordered by start. With any parameter, returns a page of the events that match, with total and next_cursor.',
  access: 'administrator',
  path: AgentPath,
  query: EventListParameters,
  response: AgentEventsResponse,
  errors: ['NOT_FOUND'],
  isExpensive: () => true,
  handle: async (call) => {
    const [agentId, query] = readTogether(
      () => agentIdOf(call),
      () => readParameters(call.query),
    );
    return lists.listAgentEvents(call.context, agentId, query);
  },
});

export const deleteAgentEvents = endpoint({
  operationId: 'deleteAgentEvents',
  tag: 'Administration',
  summary: 'Delete all events of an agent',
  description: 'Deletes all events of the agent. The agent and its keys stay.',
  access: 'administrator',
  path: AgentPath,
  errors: ['NOT_FOUND'],
  isExpensive: () => true,
  handle: async (call) => {
    await admin.deleteAgentEvents(call.context, call.caller, agentIdOf(call));
    return undefined;
  },
});

export const deleteSelectedEvents = endpoint({
  operationId: 'deleteSelectedEvents',
  tag: 'Administration',
  summary: 'Delete some events of an agent',
  description: 'Deletes the listed events in one step. Events of other agents are ignored.',
  access: 'administrator',
  path: AgentPath,
  body: EventSelection,
  response: DeletedResponse,
  errors: ['NOT_FOUND'],
  isExpensive: () => true,
  handle: async (call) => {
    const [agentId, { event_ids }] = readTogether(
      () => agentIdOf(call),
      () => readEventSelection(call.body),
    );
    return admin.deleteSelectedEvents(call.context, call.caller, agentId, event_ids);
  },
});

export const deleteAnyEvent = endpoint({
  operationId: 'deleteAnyEvent',
  tag: 'Administration',
  summary: 'Delete any event',
  description: 'Deletes the event, whichever agent owns it.',
  access: 'administrator',
  path: EventPath,
  errors: ['NOT_FOUND'],
  isExpensive: () => true,
  handle: async ({ context, caller, path }) => {
    await admin.deleteAnyEvent(context, caller, path.event_id!);
    return undefined;
  },
});
