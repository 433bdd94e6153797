// The audit log: the record that each change by an administrator leaves, and the shape in which it is read.
import type { Static } from 'typebox';
import Type from 'typebox';
import type { AgentRow } from './agent.ts';
import { formatInstant } from './datetime.ts';
import { nullableString, oneOf } from './shape.ts';

const AUDIT_ACTIONS = [
  'update_agent',
  'delete_agent',
  'delete_agent_events',
  'delete_selected_events',
  'delete_event',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** A change as it is asked for. What it found is added by the store, in the same step. */
export interface AuditEntry {
  readonly at_ms: number;
  readonly actor_subject: string;
  readonly actor_email: string;
  readonly action: AuditAction;
  /** The agent_id or event_id that was changed. */
  readonly target: string;
  /** What was set, as JSON; empty where there is nothing to say, or the store says it. */
  readonly detail: string;
}

/** A change as it was made. */
export interface AuditRecord extends AuditEntry {
  readonly audit_id: number;
  /** What the agent or event was called at that moment; empty in entries of versions that did not note it. */
  readonly target_name: string;
  /** How many events or agents it touched. */
  readonly count: number;
}

/** The detail of deleting an event: whose it was. */
export function detailOfOwner({ agent_id, agent_name }: Pick<AgentRow, 'agent_id' | 'agent_name'>): string {
  return JSON.stringify({ agent_id, agent_name });
}

/** The detail of deleting some events: those that there were. */
export function detailOfDeleted(eventIds: readonly string[]): string {
  return JSON.stringify({ event_ids: eventIds });
}

export const AuditLogEntry = Type.Object({
  id: Type.String({ examples: ['42'] }),
  at: Type.String({ format: 'date-time', examples: ['2026-11-15T10:02:11.000Z'] }),
  actor_email: Type.String({
    description: 'Empty where the provider sends none.',
    examples: ['ada@example.com'],
  }),
  actor_subject: Type.String({ description: 'Who the provider says it was.', examples: ['110248495921'] }),
  action: oneOf(AUDIT_ACTIONS, { examples: ['update_agent'] }),
  target: Type.String({
    description: 'The id of the agent, or the event_id.',
    examples: ['0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90'],
  }),
  target_name: Type.String({
    description:
      'The name of the agent or the title of the event at that moment; empty in entries of older versions.',
    examples: ['City guide'],
  }),
  detail: Type.Unsafe<Readonly<Record<string, unknown>> | null>({
    type: ['object', 'null'],
    description:
      'update_agent: what was set. delete_selected_events: event_ids. delete_event: agent_id and agent_name of its owner.',
    examples: [{ is_active: false }],
  }),
  count: Type.Integer({
    minimum: 0,
    description: 'How many events were deleted; 1 where an agent was changed.',
    examples: [1],
  }),
});

export const AuditLogResponse = Type.Object({
  entries: Type.Array(AuditLogEntry, { description: 'Newest first.' }),
  total: Type.Integer({ minimum: 0, description: 'Entries on all pages together.', examples: [1] }),
  next_cursor: nullableString({
    description: 'Pass it as cursor for the next page; null: there is none.',
    examples: [null],
  }),
});

export function describeAudit(record: AuditRecord): Static<typeof AuditLogEntry> {
  const { audit_id, at_ms, actor_email, actor_subject, action, target, target_name, detail, count } = record;
  return {
    id: String(audit_id),
    at: formatInstant(at_ms),
    actor_email,
    actor_subject,
    action,
    target,
    target_name,
    detail: detail === '' ? null : JSON.parse(detail),
    count,
  };
}
