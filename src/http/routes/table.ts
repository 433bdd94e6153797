// All endpoints, in the order of the API description, and the other routes that it describes.
import type { DescribedRoute } from '../guide/description.ts';
import * as admin from './admin.ts';
import * as adminAgents from './admin-agents.ts';
import * as adminAudit from './admin-audit.ts';
import * as adminEvents from './admin-events.ts';
import type { Route } from './endpoint.ts';
import * as events from './events.ts';
import { health, live, ready } from './health.ts';
import { MCP_PATH, mcp } from './mcp.ts';
import * as ownAgent from './own-agent.ts';
import * as ownGrants from './own-grants.ts';
import * as places from './places.ts';

export const ROUTES: readonly Route[] = [
  ownAgent,
  ownGrants,
  events,
  places,
  admin,
  adminAgents,
  adminEvents,
  adminAudit,
].flatMap(({ routes }) => routes);

/** Routes in the API description. */
export const DESCRIBED_ROUTES: readonly DescribedRoute[] = [
  ...ROUTES.map(([method, path, endpoint]) => ({ method, path, endpoint, access: endpoint.access })),
  { method: 'POST', path: MCP_PATH, endpoint: mcp, access: 'mcp' },
  { method: 'GET', path: '/health', endpoint: health, access: 'open' },
  { method: 'GET', path: '/live', endpoint: live, access: 'open' },
  { method: 'GET', path: '/ready', endpoint: ready, access: 'open' },
];
