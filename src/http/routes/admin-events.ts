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
import { AgentPath, agentIdOf, forGoodIn } from './admin-agent.ts';
import { type Call, endpoint } from './endpoint.ts';
import { EventPath } from './events.ts';

const readParameters = queryReader(EventListParameters, readEventList);

const readListAgentEvents = (call: Call) =>
  readTogether(
    () => agentIdOf(call),
    () => readParameters(call.query),
  );

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
  check: readListAgentEvents,
  handle: async (call) => {
    const [agentId, query] = readListAgentEvents(call);
    return lists.listAgentEvents(call.context, agentId, query);
  },
});

const readAllParameters = queryReader(AllEventsParameters, readAllEvents);

export const listAllEvents = endpoint({
  operationId: 'listAllEvents',
  tag: 'Administration',
  summary: 'List the events of all agents',
  description:
    'Returns a page of the events that match, each with the name of its agent. Ended and cancelled events are found, too. The search ends when the client closes the connection.',
  access: 'administrator',
  query: AllEventsParameters,
  response: AllEventsResponse,
  check: ({ query }) => readAllParameters(query),
  isExpensive: () => true,
  handle: async ({ context, query, client }) =>
    lists.listAllEvents(context, readAllParameters(query), client.signal),
});

export const getAnyEvent = endpoint({
  operationId: 'getAnyEvent',
  tag: 'Administration',
  summary: 'Get any event',
  description: 'Returns the event with the name of its agent.',
  access: 'administrator',
  path: EventPath,
  response: OwnedEvent,
  errors: ['NOT_FOUND'],
  handle: async ({ context, path }) => lists.getAnyEvent(context, path.event_id!),
});

const readDeleteAgentEvents = (call: Call) =>
  readTogether(
    () => agentIdOf(call),
    () => forGoodIn(call.query),
  );

export const deleteAgentEvents = endpoint({
  operationId: 'deleteAgentEvents',
  tag: 'Administration',
  summary: 'Delete all events of an agent',
  description:
    'Deletes all events of the agent. The agent and its keys stay. They can be restored for KEEP_DELETED_DAYS, unless for_good is true.',
  access: 'administrator',
  path: AgentPath,
  query: DeleteParameters,
  errors: ['NOT_FOUND'],
  isExpensive: () => true,
  check: readDeleteAgentEvents,
  handle: async (call) => {
    const [agentId, forGood] = readDeleteAgentEvents(call);
    await admin.deleteAgentEvents(call.context, call.caller, agentId, forGood);
    return undefined;
  },
});

const readDeleteSelectedEvents = (call: Call) =>
  readTogether(
    () => agentIdOf(call),
    () => readEventSelection(call.body),
  );

export const deleteSelectedEvents = endpoint({
  operationId: 'deleteSelectedEvents',
  tag: 'Administration',
  summary: 'Delete some events of an agent',
  description:
    'Deletes the listed events in one step. Events of other agents are ignored. They can be restored for KEEP_DELETED_DAYS, unless for_good is true.',
  access: 'administrator',
  path: AgentPath,
  body: EventSelection,
  response: DeletedResponse,
  errors: ['NOT_FOUND'],
  isExpensive: () => true,
  check: readDeleteSelectedEvents,
  handle: async (call) => {
    const [agentId, { event_ids, for_good }] = readDeleteSelectedEvents(call);
    return admin.deleteSelectedEvents(call.context, call.caller, agentId, event_ids, for_good);
  },
});

export const deleteAnyEvent = endpoint({
  operationId: 'deleteAnyEvent',
  tag: 'Administration',
  summary: 'Delete any event',
  description:
    'Deletes the event, whichever agent owns it. It can be restored for KEEP_DELETED_DAYS, unless for_good is true.',
  access: 'administrator',
  path: EventPath,
  query: DeleteParameters,
  errors: ['NOT_FOUND'],
  check: ({ query }) => forGoodIn(query),
  isExpensive: () => true,
  handle: async ({ context, caller, path, query }) => {
    await admin.deleteAnyEvent(context, caller, path.event_id!, forGoodIn(query));
    return undefined;
  },
});

/** Room for 1,000 IDs, even if every character is escaped. */
const MAX_DELETION_BYTES = 262_144;

export const deleteEvents = endpoint({
  operationId: 'deleteEvents',
  tag: 'Administration',
  summary: 'Delete events of any agents',
  description:
    'Deletes the listed events in one step and one entry of the audit log. To delete more than 1,000, send several requests, each with the audit_id of the first response: they become one entry, and can be restored together.',
  access: 'administrator',
  body: BulkDeletion,
  maxBodyBytes: MAX_DELETION_BYTES,
  response: BulkDeletedResponse,
  check: ({ body }) => readBulkDeletion(body),
  isExpensive: () => true,
  handle: async ({ context, caller, body }) => {
    const { event_ids, audit_id, for_good } = readBulkDeletion(body);
    return admin.deleteEvents(context, caller, event_ids, audit_id, for_good!);
  },
});
