// Administrators: who is one, the shapes of their answers, and the record that each of their changes leaves.
import type { Static } from 'typebox';
import Type from 'typebox';
import { AgentSummary } from './agent.ts';
import { Event } from './event.ts';

export const AdminUserResponse = Type.Object({
  email: Type.String({ examples: ['ada@example.com'] }),
  name: Type.String({ description: 'The e-mail where the provider sends no name.', examples: ['Ada'] }),
  picture: Type.String({ description: 'Address of a picture, or the empty string.', examples: [''] }),
});

export const AgentListResponse = Type.Object({
  agents: Type.Array(AgentSummary, { description: 'In the order of their creation.' }),
  total: Type.Integer({ minimum: 0, examples: [1] }),
});

export const AgentEventsResponse = Type.Object({
  agent: AgentSummary,
  events: Type.Array(Event, { description: 'Ordered by start_at, ended ones included.' }),
});

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

/** One administrative change. `count` is how many events or agents it touched, filled in by the store. */
export interface AuditEntry {
  readonly at_ms: number;
  readonly actor_subject: string;
  readonly actor_email: string;
  readonly action: 'update_agent' | 'delete_agent' | 'delete_agent_events' | 'delete_event';
  /** The agent_id or event_id that was changed. */
  readonly target: string;
  /** What was set, as JSON; empty where there is nothing to say. */
  readonly detail: string;
}
