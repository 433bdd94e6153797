// Every endpoint with its method and path, and those that the API description has.
import type { DescribedRoute } from '../guide/description.ts';
import * as admin from './admin.ts';
import * as adminAgent from './admin-agent.ts';
import * as adminEvents from './admin-events.ts';
import type { Endpoint } from './endpoint.ts';
import * as events from './events.ts';
import { health, live, ready } from './health.ts';
import { MCP_PATH, mcp } from './mcp.ts';
import * as ownAgent from './own-agent.ts';

export type Route = readonly [method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, endpoint: Endpoint];

export const ROUTES: readonly Route[] = [
  ['POST', '/v1/auth/register', ownAgent.register],
  ['POST', '/v1/auth/rotate', ownAgent.rotateKey],
  ['POST', '/v1/auth/revoke', ownAgent.revokeKey],
  ['GET', '/v1/agents/me', ownAgent.getOwnAgent],
  ['GET', '/v1/agents/me/events', ownAgent.listOwnEvents],
  ['GET', '/v1/events/nearby', events.nearby],
  ['POST', '/v1/events', events.createEvent],
  ['GET', '/v1/events/{event_id}', events.getEvent],
  ['PATCH', '/v1/events/{event_id}', events.updateEvent],
  ['DELETE', '/v1/events/{event_id}', events.deleteEvent],
  ['GET', '/v1/admin/me', admin.whoAmI],
  ['GET', '/v1/admin/stats', admin.getStats],
  ['GET', '/v1/admin/activity', admin.getActivity],
  ['GET', '/v1/admin/agents', admin.listAgents],
  ['GET', '/v1/admin/agents/{agent_id}', adminAgent.getAgent],
  ['PATCH', '/v1/admin/agents/{agent_id}', admin.updateAgent],
  ['DELETE', '/v1/admin/agents/{agent_id}', admin.deleteAgent],
  ['POST', '/v1/admin/agents/{agent_id}/keys', adminAgent.replaceAgentKeys],
  ['DELETE', '/v1/admin/agents/{agent_id}/keys/{key_prefix}', adminAgent.revokeAgentKey],
  ['GET', '/v1/admin/agents/{agent_id}/events', adminEvents.listAgentEvents],
  ['DELETE', '/v1/admin/agents/{agent_id}/events', adminEvents.deleteAgentEvents],
  ['POST', '/v1/admin/agents/{agent_id}/events/delete', adminEvents.deleteSelectedEvents],
  ['GET', '/v1/admin/events', adminEvents.listAllEvents],
  ['GET', '/v1/admin/events/{event_id}', adminEvents.getAnyEvent],
  ['DELETE', '/v1/admin/events/{event_id}', adminEvents.deleteAnyEvent],
  ['POST', '/v1/admin/events/delete', adminEvents.deleteEvents],
  ['GET', '/v1/admin/audit', admin.listAudit],
  ['POST', '/v1/admin/audit/{audit_id}/restore', admin.undoDelete],
];

/** Routes in the API description. */
export const DESCRIBED_ROUTES: readonly DescribedRoute[] = [
  ...ROUTES.map(([method, path, endpoint]) => ({ method, path, endpoint, access: endpoint.access })),
  { method: 'POST', path: MCP_PATH, endpoint: mcp, access: 'mcp' },
  { method: 'GET', path: '/health', endpoint: health, access: 'open' },
  { method: 'GET', path: '/live', endpoint: live, access: 'open' },
  { method: 'GET', path: '/ready', endpoint: ready, access: 'open' },
];
