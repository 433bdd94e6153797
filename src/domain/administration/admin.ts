// Administrators: who counts as one, and the shapes of their responses. The audit log of their changes is in audit.ts.
import type { Static } from 'typebox';
import { AgentSummary } from '../agent.ts';
import { Event } from '../events/event.ts';
import Type, { nameShapes } from '../schema.ts';
import { nullableString, reader } from '../shape.ts';
import { ACTIVITY_FIELDS } from './activity.ts';
import { REQUEST_FIELDS } from './recent-requests.ts';
import { forGood } from './undo.ts';

export const AdminUserResponse = Type.Object({
  email: Type.String({ examples: ['ada@example.com'] }),
  name: Type.String({
    description: 'Name from the identity provider; if it sends none, the e-mail.',
    examples: ['Ada'],
  }),
  picture: Type.String({ description: 'URL of a picture, or the empty string.', examples: [''] }),
});

const next_cursor = Type.Optional(
  nullableString({
    description: 'Only in a paged response. Pass it as cursor for the next page; null on the last page.',
    examples: [null],
  }),
);

const ListedAgent = Type.Object({ ...AgentSummary.properties, ...ACTIVITY_FIELDS, ...REQUEST_FIELDS });

export const AgentListResponse = Type.Object({
  agents: Type.Array(ListedAgent, {
    description: 'Ordered by created_at, unless sort says otherwise.',
  }),
  total: Type.Integer({
    minimum: 0,
    description: 'Matching agents on all pages.',
    examples: [1],
  }),
  next_cursor,
});

export const AgentEventsResponse = Type.Object({
  agent: AgentSummary,
  events: Type.Array(Event, {
    description:
      'Ordered by start_at, unless sort says otherwise. Includes ended events, unless when excludes them.',
  }),
  total: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Only in a paged response: matching events on all pages.',
      examples: [1],
    }),
  ),
  next_cursor,
});

export const StatsResponse = Type.Object({
  agents: Type.Integer({ minimum: 0, examples: [1] }),
  agents_active_today: Type.Integer({
    minimum: 0,
    description: 'Agents that made a request within the last 24 hours.',
    examples: [1],
  }),
  events: Type.Integer({ minimum: 0, description: 'Including ended events.', examples: [3] }),
  events_upcoming: Type.Integer({
    minimum: 0,
    description: 'Events that have not ended and are not cancelled.',
    examples: [1],
  }),
});

export const EventSelection = Type.Object({
  event_ids: Type.Array(Type.String(), {
    minItems: 1,
    maxItems: 100,
    examples: [['01JZ9GX4T0QW3N1V8R5Y7K2MHD']],
  }),
  for_good: forGood('the events cannot be restored.'),
});

export const DeletedResponse = Type.Object({
  deleted: Type.Integer({
    minimum: 0,
    description: 'Number of deleted events. IDs that are not of events of this agent do not count.',
    examples: [1],
  }),
});

nameShapes({
  AdminUserResponse,
  AgentListResponse,
  AgentEventsResponse,
  StatsResponse,
  EventSelection,
  DeletedResponse,
});

/** Throws VALIDATION_ERROR naming every failing field. */
export const readEventSelection = reader(EventSelection, 'body');

/** The claims of a verified token about its holder. */
export interface Identity {
  readonly subject: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  /** Google's hosted domain, if sent: the organisation that vouches for the e-mail. */
  readonly hostedDomain: string | undefined;
  readonly name: string | undefined;
  readonly picture: string | undefined;
  /** Whether this service issued the token. Its holder is an administrator: only the operator can issue one. */
  readonly local: boolean;
}

/** A valid token: the identity of its holder, and its expiry. */
export interface Verified {
  readonly identity: Identity;
  readonly expiresMs: number;
}

/** Throws INVALID_TOKEN for an invalid token, UNAVAILABLE if the issuer does not respond. */
export type VerifyToken = (token: string) => Promise<Verified>;

/** The configured administrators. foldCase has been applied to e-mails and domains. */
export interface AllowList {
  readonly subjects: readonly string[];
  readonly emails: readonly string[];
  readonly domains: readonly string[];
  /** Whether an e-mail of a listed domain counts only if the provider also names that domain as the holder's organisation. */
  readonly hostedDomainRequired: boolean;
}

export function isAdministrator(identity: Identity, allowed: AllowList): boolean {
  if (identity.local || allowed.subjects.includes(identity.subject)) return true;
  if (identity.email === undefined || !identity.emailVerified) return false;
  const email = foldCase(identity.email);
  if (allowed.emails.includes(email)) return true;
  const domain = /@([^@]+)$/.exec(email)?.[1];
  if (domain === undefined) return false;
  const { hostedDomain } = identity;
  const vouched =
    hostedDomain === undefined ? !allowed.hostedDomainRequired : foldCase(hostedDomain) === domain;
  return vouched && allowed.domains.includes(domain);
}

/** Google's accounts may have an e-mail of any domain; only `hd` tells that they belong to the domain's organisation. */
export function isGoogle(issuer: string): boolean {
  return /^(https:\/\/)?accounts\.google\.com$/.test(issuer);
}

/** Lowercases ASCII letters only. Unicode's rules turn the Kelvin sign into a k, which would match someone else's e-mail. */
export function foldCase(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

export function describeAdministrator(identity: Identity): Static<typeof AdminUserResponse> {
  const email = identity.email ?? '';
  return { email, name: identity.name ?? (email || identity.subject), picture: identity.picture ?? '' };
}
