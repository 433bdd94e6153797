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
import { adminEndpoint, type Route } from './endpoint.ts';

const whoAmI = adminEndpoint({
  operationId: 'getAdministrator',
  summary: 'Get the signed-in administrator',
  description: 'Returns the caller’s identity from the verified token or session.',
  response: AdminUserResponse,
  isExpensive: () => false,
  handle: async ({ caller }) => describeAdministrator(caller),
});

const getStats = adminEndpoint({
  operationId: 'getStats',
  summary: 'Get statistics',
  description: 'Returns the number of agents and events, and how many of them are active or upcoming.',
  response: StatsResponse,
  handle: ({ context }) => lists.getStats(context),
});

const readActivityParameters = queryReader(ActivityParameters, readActivityDays);

const getActivity = adminEndpoint({
  operationId: 'getActivity',
  summary: 'Count what was created per day',
  description:
    'Returns how many events and agents were created on each of the last days, in UTC. What was deleted since does not count.',
  query: ActivityParameters,
  response: ActivityResponse,
  read: ({ query }) => readActivityParameters(query),
  handle: ({ context }, days) => lists.getActivity(context, days),
});

export const routes: readonly Route[] = [
  ['GET', '/v1/admin/me', whoAmI],
  ['GET', '/v1/admin/stats', getStats],
  ['GET', '/v1/admin/activity', getActivity],
];
