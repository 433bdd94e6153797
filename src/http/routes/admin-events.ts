// Administrators' endpoints for events.
import {
  AgentEventsResponse,
  DeletedResponse,
  EventSelection,
  readEventSelection,
} from '../../domain/administration/admin.ts';
import {
  AllEventsParameters,
  AllEventsResponse,
  OwnedEvent,
  readAllEvents,
} from '../../domain/administration/event-list.ts';
import { EventListParameters, readEventList } from '../../domain/administration/list.ts';
import {
  BulkDeletedResponse,
  BulkDeletion,
  DeleteParameters,
  readBulkDeletion,
} from '../../domain/administration/undo.ts';
import { readTogether } from '../../domain/errors.ts';
import * as admin from '../../usecases/admin.ts';
import * as lists from '../../usecases/admin-lists.ts';
import { queryReader } from '../request/query.ts';
import { AgentPath, agentIdOf, forGoodIn, readDeletion } from './admin-agents.ts';
import { adminEndpoint, type Route } from './endpoint.ts';
import { EventPath } from './events.ts';

const readParameters = queryReader(EventListParameters, readEventList);

const listAgentEvents = adminEndpoint({
  operationId: 'listAgentEvents',
  summary: 'List the events of an agent',
  description:
    'Without parameters, returns all events of the agent, ended ones included, ordered by start. With any parameter, returns a page of the events that match, with total and next_cursor.',
  path: AgentPath,
  query: EventListParameters,
  response: AgentEventsResponse,
  errors: ['NOT_FOUND'],
  read: (call) =>
    readTogether(
      () => agentIdOf(call),
      () => readParameters(call.query),
    ),
  handle: async ({ context }, [agentId, query]) => lists.listAgentEvents(context, agentId, query),
});

const readAllParameters = queryReader(AllEventsParameters, readAllEvents);

const listAllEvents = adminEndpoint({
  operationId: 'listAllEvents',
  summary: 'List the events of all agents',
  description:
    'Returns a page of the events that match, each with the name of its agent. Ended and cancelled events are found, too. The search ends when the client closes the connection.',
  query: AllEventsParameters,
  response: AllEventsResponse,
  read: ({ query }) => readAllParameters(query),
  handle: async ({ context, client }, query) => lists.listAllEvents(context, query, client.signal),
});

const getAnyEvent = adminEndpoint({
  operationId: 'getAnyEvent',
  summary: 'Get any event',
  description: 'Returns the event with the name of its agent.',
  path: EventPath,
  response: OwnedEvent,
  errors: ['NOT_FOUND'],
  isExpensive: () => false,
  handle: async ({ context, path }) => lists.getAnyEvent(context, path.event_id!),
});

const deleteAgentEvents = adminEndpoint({
  operationId: 'deleteAgentEvents',
  summary: 'Delete all events of an agent',
  description:
    'Deletes all events of the agent. The agent and its keys stay. They can be restored for KEEP_DELETED_DAYS, unless for_good is true.',
  path: AgentPath,
  query: DeleteParameters,
  errors: ['NOT_FOUND'],
  read: readDeletion,
  handle: async ({ context, caller }, [agentId, forGood]) => {
    await admin.deleteAgentEvents(context, caller, agentId, forGood);
    return undefined;
  },
});

const deleteSelectedEvents = adminEndpoint({
  operationId: 'deleteSelectedEvents',
  summary: 'Delete some events of an agent',
  description:
    'Deletes the listed events in one step. Events of other agents are ignored. They can be restored for KEEP_DELETED_DAYS, unless for_good is true.',
  path: AgentPath,
  body: EventSelection,
  response: DeletedResponse,
  errors: ['NOT_FOUND'],
  read: (call) =>
    readTogether(
      () => agentIdOf(call),
      () => readEventSelection(call.body),
    ),
  handle: ({ context, caller }, [agentId, { event_ids, for_good }]) =>
    admin.deleteSelectedEvents(context, caller, agentId, event_ids, for_good),
});

const deleteAnyEvent = adminEndpoint({
  operationId: 'deleteAnyEvent',
  summary: 'Delete any event',
  description:
    'Deletes the event, whichever agent owns it. It can be restored for KEEP_DELETED_DAYS, unless for_good is true.',
  path: EventPath,
  query: DeleteParameters,
  errors: ['NOT_FOUND'],
  read: ({ query }) => forGoodIn(query),
  handle: async ({ context, caller, path }, forGood) => {
    await admin.deleteAnyEvent(context, caller, path.event_id!, forGood);
    return undefined;
  },
});

/** Room for 1,000 IDs, even if every character is escaped. */
const MAX_DELETION_BYTES = 262_144;

const deleteEvents = adminEndpoint({
  operationId: 'deleteEvents',
  summary: 'Delete events of any agents',
  description:
    'Deletes the listed events in one step and one entry of the audit log. To delete more than 1,000, send several requests, each with the audit_id of the first response: they become one entry, and can be restored together.',
  body: BulkDeletion,
  maxBodyBytes: MAX_DELETION_BYTES,
  response: BulkDeletedResponse,
  read: ({ body }) => readBulkDeletion(body),
  handle: ({ context, caller }, { event_ids, audit_id, for_good }) =>
    admin.deleteEvents(context, caller, event_ids, audit_id, for_good!),
});

export const routes: readonly Route[] = [
  ['GET', '/v1/admin/agents/{agent_id}/events', listAgentEvents],
  ['DELETE', '/v1/admin/agents/{agent_id}/events', deleteAgentEvents],
  ['POST', '/v1/admin/agents/{agent_id}/events/delete', deleteSelectedEvents],
  ['GET', '/v1/admin/events', listAllEvents],
  ['GET', '/v1/admin/events/{event_id}', getAnyEvent],
  ['DELETE', '/v1/admin/events/{event_id}', deleteAnyEvent],
  ['POST', '/v1/admin/events/delete', deleteEvents],
];
