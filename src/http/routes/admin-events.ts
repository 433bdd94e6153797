// Events over HTTP, for administrators.
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
    'All of them, ended ones included, ordered by start. With any of the parameters: a page of those that match, with total and next_cursor.',
  access: 'administrator',
  path: AgentPath,
  query: EventListParameters,
  answer: AgentEventsResponse,
  errors: ['NOT_FOUND'],
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

export const deleteSelectedEvents = endpoint({
  operationId: 'deleteSelectedEvents',
  tag: 'Administration',
  summary: 'Delete some events of an agent',
  description: 'Removes those of the events that are this agent’s, in one step. Others are left alone.',
  access: 'administrator',
  path: AgentPath,
  body: EventSelection,
  answer: DeletedResponse,
  errors: ['NOT_FOUND'],
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
  description: 'Removes the event of whichever agent.',
  access: 'administrator',
  path: EventPath,
  errors: ['NOT_FOUND'],
  handle: async ({ context, caller, path }) => {
    await admin.deleteAnyEvent(context, caller, path.event_id!);
    return undefined;
  },
});
