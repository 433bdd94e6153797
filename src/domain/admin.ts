// Administrators: who is one, and the shapes of their answers. The record that their changes leave is in audit.ts.
import type { Static } from 'typebox';
import Type from 'typebox';
import { AgentSummary } from './agent.ts';
import { refuse } from './errors.ts';
import { Event } from './event.ts';
import { compile, nullableString } from './shape.ts';

export const AdminUserResponse = Type.Object({
  email: Type.String({ examples: ['ada@example.com'] }),
  name: Type.String({ description: 'The e-mail where the provider sends no name.', examples: ['Ada'] }),
  picture: Type.String({ description: 'Address of a picture, or the empty string.', examples: [''] }),
});

const next_cursor = Type.Optional(
  nullableString({
    description: 'Only of a page: pass it as cursor for the next one; null: there is none.',
    examples: [null],
  }),
);

export const AgentListResponse = Type.Object({
  agents: Type.Array(AgentSummary, {
    description: 'In the order of their creation, unless sort says otherwise.',
  }),
  total: Type.Integer({
    minimum: 0,
    description: 'Agents that match, on all pages together.',
    examples: [1],
  }),
  next_cursor,
});

export const AgentEventsResponse = Type.Object({
  agent: AgentSummary,
  events: Type.Array(Event, {
    description: 'Ordered by start_at, unless sort says otherwise; ended ones included, unless when does.',
  }),
  total: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Only of a page: events that match, on all pages together.',
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
  events: Type.Integer({ minimum: 0, description: 'Ended ones included.', examples: [3] }),
  events_upcoming: Type.Integer({ minimum: 0, description: 'Events that have not ended.', examples: [1] }),
});

export const EventSelection = Type.Object({
  event_ids: Type.Array(Type.String(), {
    minItems: 1,
    maxItems: 100,
    examples: [['01JZ9GX4T0QW3N1V8R5Y7K2MHD']],
  }),
});

export const DeletedResponse = Type.Object({
  deleted: Type.Integer({ minimum: 0, description: 'Those of the events that were there.', examples: [1] }),
});

const checkSelection = compile(EventSelection);

/** Throws VALIDATION_ERROR naming every failing field. */
export function readEventSelection(body: unknown): Static<typeof EventSelection> {
  const { value, issues } = checkSelection(body, 'body');
  refuse(issues);
  return value;
}

/** What a verified token says about its holder. */
export interface Identity {
  readonly subject: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  /** Google's hosted domain, where sent: the organisation that vouches for the e-mail. */
  readonly hostedDomain: string | undefined;
  readonly name: string | undefined;
  readonly picture: string | undefined;
  /** Whether the token is of this service's own issuer, where minting it was the authorisation. */
  readonly local: boolean;
}

/** A token that holds: whose it is, and until when. */
export interface Verified {
  readonly identity: Identity;
  readonly expiresMs: number;
}

/** Throws INVALID_TOKEN for a token that does not hold, UNAVAILABLE while the issuer does not answer. */
export type VerifyToken = (token: string) => Promise<Verified>;

/** Who is an administrator; e-mails and domains went through foldCase. */
export interface AllowList {
  readonly subjects: readonly string[];
  readonly emails: readonly string[];
  readonly domains: readonly string[];
}

export function isAdministrator(identity: Identity, allowed: AllowList): boolean {
  if (identity.local || allowed.subjects.includes(identity.subject)) return true;
  if (identity.email === undefined || !identity.emailVerified) return false;
  const email = foldCase(identity.email);
  if (allowed.emails.includes(email)) return true;
  const domain = /@([^@]+)$/.exec(email)?.[1];
  if (domain === undefined) return false;
  const vouched = identity.hostedDomain === undefined || foldCase(identity.hostedDomain) === domain;
  return vouched && allowed.domains.includes(domain);
}

/** ASCII letters only: by Unicode's rules the Kelvin sign becomes a k, and its holder someone else. */
export function foldCase(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

export function describeAdministrator(identity: Identity): Static<typeof AdminUserResponse> {
  const email = identity.email ?? '';
  return { email, name: identity.name ?? (email || identity.subject), picture: identity.picture ?? '' };
}
