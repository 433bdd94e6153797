// The audit log: one record for each change by an administrator, and its shape in responses.
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

/** A requested change. The store adds what it found, in the same transaction as the change. */
export interface AuditEntry {
  readonly at_ms: number;
  readonly actor_subject: string;
  readonly actor_email: string;
  readonly action: AuditAction;
  /** The agent_id or event_id that was changed. */
  readonly target: string;
  /** What was set, as JSON; empty if there is nothing to add, or the store adds it. */
  readonly detail: string;
}

/** A completed change. */
export interface AuditRecord extends AuditEntry {
  readonly audit_id: number;
  /** Name of the agent or title of the event at that moment; empty in entries of versions that did not record it. */
  readonly target_name: string;
  /** Number of deleted events; 1 for update_agent. */
  readonly count: number;
}

/** `detail` for a deleted event: its owner. */
export function detailOfOwner({ agent_id, agent_name }: Pick<AgentRow, 'agent_id' | 'agent_name'>): string {
  return JSON.stringify({ agent_id, agent_name });
}

/** `detail` for deleted events: the IDs of those that existed. */
export function detailOfDeleted(eventIds: readonly string[]): string {
  return JSON.stringify({ event_ids: eventIds });
}

export const AuditLogEntry = Type.Object({
  id: Type.String({ examples: ['42'] }),
  at: Type.String({ format: 'date-time', examples: ['2026-11-15T10:02:11.000Z'] }),
  actor_email: Type.String({
    description: 'Empty if the provider sends no verified e-mail.',
    examples: ['ada@example.com'],
  }),
  actor_subject: Type.String({
    description: 'The ID of the administrator at the identity provider (`sub`).',
    examples: ['110248495921'],
  }),
  action: oneOf(AUDIT_ACTIONS, { examples: ['update_agent'] }),
  target: Type.String({
    description: 'ID of the agent or event.',
    examples: ['0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90'],
  }),
  target_name: Type.String({
    description:
      'Name of the agent or title of the event at that moment; empty in entries of older versions.',
    examples: ['City guide'],
  }),
  detail: Type.Unsafe<Readonly<Record<string, unknown>> | null>({
    type: ['object', 'null'],
    description:
      'update_agent: the fields that were set. delete_selected_events: event_ids. delete_event: agent_id and agent_name of the owner.',
    examples: [{ is_active: false }],
  }),
  count: Type.Integer({
    minimum: 0,
    description: 'Number of deleted events; 1 for update_agent.',
    examples: [1],
  }),
});

export const AuditLogResponse = Type.Object({
  entries: Type.Array(AuditLogEntry, { description: 'Newest first.' }),
  total: Type.Integer({ minimum: 0, description: 'Entries on all pages.', examples: [1] }),
  next_cursor: nullableString({
    description: 'Pass it as cursor for the next page; null on the last page.',
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
