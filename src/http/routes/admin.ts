// Administrators' endpoints for their own identity and statistics. Those for agents, events and the audit log have files of their own.
import {
  ActivityParameters,
  ActivityResponse,
  readActivityDays,
} from '../../domain/administration/activity.ts';
import {
  AdminUserResponse,
  describeAdministrator,
  StatsResponse,
} from '../../domain/administration/admin.ts';
import * as lists from '../../usecases/admin-lists.ts';
import { queryReader } from '../request/query.ts';
import { endpoint, type Route } from './endpoint.ts';

const whoAmI = endpoint({
  operationId: 'getAdministrator',
  tag: 'Administration',
  summary: 'Get the signed-in administrator',
  description: 'Returns the caller’s identity from the verified token or session.',
  access: 'administrator',
  response: AdminUserResponse,
  handle: async ({ caller }) => describeAdministrator(caller),
});

const getStats = endpoint({
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

const getActivity = endpoint({
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

export const routes: readonly Route[] = [
  ['GET', '/v1/admin/me', whoAmI],
  ['GET', '/v1/admin/stats', getStats],
  ['GET', '/v1/admin/activity', getActivity],
];
