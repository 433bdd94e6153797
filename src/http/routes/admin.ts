// Administrators' endpoints for their own identity, agents, statistics and the audit log. Events are in admin-events.ts.
import {
  ActivityParameters,
  ActivityResponse,
  readActivityDays,
} from '../../domain/administration/activity.ts';
import {
  AdminUserResponse,
  AgentListResponse,
  describeAdministrator,
  StatsResponse,
} from '../../domain/administration/admin.ts';
import { AuditLogResponse } from '../../domain/administration/audit.ts';
import {
  AgentListParameters,
  AuditParameters,
  readAgentList,
  readAuditQuery,
} from '../../domain/administration/list.ts';
import {
  DeleteParameters,
  readUndoPosition,
  UndoParameters,
  UndoResponse,
} from '../../domain/administration/undo.ts';
import { AgentSummary, AgentUpdate, readAgentUpdate } from '../../domain/agent.ts';
import { invalid, readTogether } from '../../domain/errors.ts';
import Type from '../../domain/schema.ts';
import * as admin from '../../usecases/admin.ts';
import * as lists from '../../usecases/admin-lists.ts';
import { queryReader } from '../request/query.ts';
import { AgentPath, agentIdOf, readDeletion } from './admin-agent.ts';
import { type Call, endpoint } from './endpoint.ts';

export const whoAmI = endpoint({
  operationId: 'getAdministrator',
  tag: 'Administration',
  summary: 'Get the signed-in administrator',
  description: 'Returns the caller’s identity from the verified token or session.',
  access: 'administrator',
  response: AdminUserResponse,
  handle: async ({ caller }) => describeAdministrator(caller),
});

export const getStats = endpoint({
  operationId: 'getStats',
  tag: 'Administration',
  summary: 'Get statistics',
  description: 'Returns the number of agents and events, and how many of them are active or upcoming.',
  access: 'administrator',
  response: StatsResponse,
  isExpensive: () => true,
  handle: ({ context }) => lists.getStats(context),
});

const readActivityParameters = queryReader(ActivityParameters, readActivityDays);

export const getActivity = endpoint({
  operationId: 'getActivity',
  tag: 'Administration',
  summary: 'Count what was created per day',
  description:
    'Returns how many events and agents were created on each of the last days, in UTC. What was deleted since does not count.',
  access: 'administrator',
  query: ActivityParameters,
  response: ActivityResponse,
  read: ({ query }) => readActivityParameters(query),
  isExpensive: () => true,
  handle: ({ context }, days) => lists.getActivity(context, days),
});

const readAgentParameters = queryReader(AgentListParameters, readAgentList);

export const listAgents = endpoint({
  operationId: 'listAgents',
  tag: 'Administration',
  summary: 'List agents',
  description:
    'Without parameters, returns all agents in order of creation. With any parameter, returns a page of the agents that match, with next_cursor.',
  access: 'administrator',
  query: AgentListParameters,
  response: AgentListResponse,
  read: ({ query }) => readAgentParameters(query),
  isExpensive: () => true,
  handle: ({ context }, query) => lists.listAgents(context, query),
});

export const updateAgent = endpoint({
  operationId: 'updateAgent',
  tag: 'Administration',
  summary: 'Deactivate an agent or change its tier',
  description:
    'Changes only the fields that are present. The keys of a deactivated agent stop working at once; its events stay.',
  access: 'administrator',
  path: AgentPath,
  body: AgentUpdate,
  response: AgentSummary,
  errors: ['NOT_FOUND'],
  isExpensive: () => true,
  read: (call) =>
    readTogether(
      () => agentIdOf(call),
      () => readAgentUpdate(call.body),
    ),
  handle: ({ context, caller }, [agentId, update]) => admin.updateAgent(context, caller, agentId, update),
});

export const deleteAgent = endpoint({
  operationId: 'deleteAgent',
  tag: 'Administration',
  summary: 'Delete an agent',
  description:
    'Deletes the agent, its keys and its events in one step. They can be restored for KEEP_DELETED_DAYS, unless for_good is true.',
  access: 'administrator',
  path: AgentPath,
  query: DeleteParameters,
  errors: ['NOT_FOUND'],
  isExpensive: () => true,
  read: readDeletion,
  handle: async ({ context, caller }, [agentId, forGood]) => {
    await admin.deleteAgent(context, caller, agentId, forGood);
    return undefined;
  },
});

const readAuditParameters = queryReader(AuditParameters, readAuditQuery);

export const listAudit = endpoint({
  operationId: 'listAudit',
  tag: 'Administration',
  summary: 'Read the audit log',
  description:
    'Returns what administrators changed: who, what, when and how many. Newest first, in pages. An entry must match all filters; total counts the matches.',
  access: 'administrator',
  query: AuditParameters,
  response: AuditLogResponse,
  read: ({ query }) => readAuditParameters(query),
  isExpensive: () => true,
  handle: ({ context }, query) => lists.listAudit(context, query),
});

const AuditPath = Type.Object({
  audit_id: Type.String({ description: 'ID of an entry of the audit log.', examples: ['42'] }),
});

/** Throws VALIDATION_ERROR. */
function auditIdOf({ path }: Call): number {
  const id = path.audit_id!;
  if (/^[1-9]\d{0,14}$/.test(id)) return Number(id);
  throw invalid([
    { loc: ['path', 'audit_id'], msg: 'must be a whole number such as 42', type: 'int_parsing' },
  ]);
}

const readUndoParameters = queryReader(UndoParameters, readUndoPosition);

export const undoDelete = endpoint({
  operationId: 'restoreDeleted',
  tag: 'Administration',
  summary: 'Restore what was deleted',
  description:
    'Undoes the delete of this audit entry: events come back with the same ID, version and content, a deleted agent also with its keys. Events whose title, start and place their agent has used again are skipped, as are those of a deleted agent. What is already restored is not restored again, so a repeated request restores nothing more. Many events take several requests: repeat it with cursor until next_cursor is null. Possible for KEEP_DELETED_DAYS.',
  access: 'administrator',
  path: AuditPath,
  query: UndoParameters,
  response: UndoResponse,
  errors: ['NOT_FOUND', 'NOT_RESTORABLE'],
  isExpensive: () => true,
  read: (call) =>
    readTogether(
      () => auditIdOf(call),
      () => readUndoParameters(call.query),
    ),
  handle: ({ context, caller }, [auditId, position]) => admin.undoDelete(context, caller, auditId, position),
});
