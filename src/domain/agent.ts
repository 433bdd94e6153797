// Agents and their tiers: the shapes on the wire and the stored rows.

import type { Static } from 'typebox';
import type { AgentActivity } from './administration/activity.ts';
import type { AgentRequests } from './administration/recent-requests.ts';
import { formatInstant } from './datetime.ts';
import Type, { nameShapes } from './schema.ts';
import { nullableString, oneOf, reader } from './shape.ts';

export const TIERS = ['read', 'readwrite', 'admin'] as const;
export type Tier = (typeof TIERS)[number];

/** Requests per hour of each tier; 0 means no limit. */
export type TierLimits = Readonly<Record<Tier, number>>;

export function mayWrite(tier: Tier): boolean {
  return tier !== 'read';
}

export const RegisterRequest = Type.Object({
  email: Type.String({ format: 'email', maxLength: 254, examples: ['you@example.com'] }),
  agent_name: Type.String({ minLength: 1, maxLength: 200, examples: ['City guide'] }),
});

export const RegisterResponse = Type.Object({
  api_key: Type.String({
    description: 'The full key. It is shown only once, in this response.',
    examples: ['lev_…'],
  }),
  key_prefix: Type.String({
    description: 'The first 8 characters of the key, for identification.',
    examples: ['lev_4Zr8'],
  }),
  tier: Type.String({ description: 'read, readwrite or admin.', examples: ['readwrite'] }),
  rate_limit: Type.Integer({
    minimum: 0,
    description: 'Requests per hour; 0: no limit.',
    examples: [10_000],
  }),
  created_at: Type.String({ format: 'date-time', examples: ['2026-11-15T09:30:00.000Z'] }),
});

export function describeNewKey(
  key: { readonly api_key: string; readonly key_prefix: string; readonly tier: Tier },
  tierLimits: TierLimits,
  createdMs: number,
): Static<typeof RegisterResponse> {
  return { ...key, rate_limit: tierLimits[key.tier], created_at: formatInstant(createdMs) };
}

export const AgentSummary = Type.Object({
  id: Type.String({ format: 'uuid', examples: ['0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90'] }),
  email: Type.String({ examples: ['you@example.com'] }),
  agent_name: Type.String({ examples: ['City guide'] }),
  tier: Type.String({ description: 'read, readwrite or admin.', examples: ['readwrite'] }),
  is_active: Type.Boolean({ examples: [true] }),
  created_at: Type.String({ format: 'date-time', examples: ['2026-11-15T09:30:00.000Z'] }),
  last_used_at: Type.Optional(
    nullableString({
      format: 'date-time',
      description: 'Time of the last request, accurate to 10 seconds.',
      examples: ['2026-11-15T10:02:11.000Z'],
    }),
  ),
  event_count: Type.Integer({
    minimum: 0,
    description: 'Number of its events, including ended ones.',
    examples: [1],
  }),
});

export const AgentUpdate = Type.Object({
  is_active: Type.Optional(
    Type.Boolean({
      examples: [false],
      description: 'false: the keys of the agent are refused at once; its events stay.',
    }),
  ),
  tier: Type.Optional(oneOf(TIERS, { examples: ['read'] })),
});

nameShapes({ RegisterRequest, RegisterResponse, AgentSummary, AgentUpdate });
export type AgentUpdate = Static<typeof AgentUpdate>;

/** An agent as both engines store it. */
export interface AgentRow {
  readonly agent_id: string;
  readonly email: string;
  readonly agent_name: string;
  readonly tier: Tier;
  readonly is_active: boolean;
  readonly created_ms: number;
}

/** An agent with its last use and its number of events. */
export interface AgentRecord extends AgentRow {
  readonly last_used_ms: number | null;
  readonly event_count: number;
  /** Only in a page of a query with `activity`. */
  readonly activity?: AgentActivity;
  /** Only in a page of a query with `requests`. */
  readonly requests?: AgentRequests;
}

export function summarise(
  agent: AgentRecord,
): Static<typeof AgentSummary> & Partial<AgentActivity & AgentRequests> {
  return {
    id: agent.agent_id,
    email: agent.email,
    agent_name: agent.agent_name,
    tier: agent.tier,
    is_active: agent.is_active,
    created_at: formatInstant(agent.created_ms),
    last_used_at: agent.last_used_ms === null ? null : formatInstant(agent.last_used_ms),
    event_count: agent.event_count,
    ...agent.activity,
    ...agent.requests,
  };
}

/** Throws VALIDATION_ERROR naming every failing field. */
export const readRegistration = reader(RegisterRequest, 'body');

/** Throws VALIDATION_ERROR naming every failing field. */
export const readAgentUpdate = reader(AgentUpdate, 'body');
