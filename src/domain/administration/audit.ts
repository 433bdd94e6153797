// The audit log: one record for each change by an administrator, and its shape in responses.
import type { Static } from 'typebox';
import { formatInstant } from '../datetime.ts';
import { NEXT_CURSOR } from '../events/event-page.ts';
import Type, { nameShapes } from '../schema.ts';
import { nullableString, oneOf } from '../shape.ts';

export const AUDIT_ACTIONS = [
  'update_agent',
  'delete_agent',
  'delete_agent_events',
  'delete_selected_events',
  'delete_event',
  'revoke_key',
  'new_key',
  'delete_events',
  'restore',
  'end_grant',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Whether a delete can be undone; undefined: there is nothing to undo, or undo is off. */
export type Keeping = 'kept' | 'for_good' | undefined;

/** The same of an entry. `expiring`: what it deleted is being removed. Null: never. */
export type UndoState = 'kept' | 'for_good' | 'restored' | 'expiring' | 'expired' | null;

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
  readonly undo?: Keeping;
}

/** A completed change. */
export interface AuditRecord extends Omit<AuditEntry, 'undo'> {
  readonly audit_id: number;
  /** Name of the agent or title of the event at that moment; empty for several agents, and for what was deleted for good. */
  readonly target_name: string;
  /** Number of deleted or restored events; 1 for update_agent, revoke_key, new_key and end_grant. */
  readonly count: number;
  /** The first titles of deleted events, as JSON; null if none are kept. */
  readonly titles: string | null;
  readonly undo: UndoState;
  /** When something of it was last restored. */
  readonly restored_ms: number | null;
}

export const AuditLogEntry = Type.Object({
  id: Type.String({ examples: ['42'] }),
  at: Type.String({ format: 'date-time', examples: ['2026-11-15T10:02:11.000Z'] }),
  actor_email: Type.String({
    description: 'Empty if the provider sends no verified e-mail.',
    examples: ['ada@example.com'],
  }),
  actor_subject: Type.String({
    description:
      'The ID of the administrator at the identity provider (`sub`). `retention`: the service removed old data by itself.',
    examples: ['110248495921'],
  }),
  action: oneOf(AUDIT_ACTIONS, { examples: ['update_agent'] }),
  target: Type.String({
    description: 'ID of the agent or event; empty for deleted events of several agents.',
    examples: ['0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90'],
  }),
  target_name: Type.String({
    description:
      'Name of the agent or title of the event at that moment; empty in entries of several agents, and of an event that was deleted for good.',
    examples: ['City guide'],
  }),
  detail: Type.Unsafe<Readonly<Record<string, unknown>> | null>({
    type: ['object', 'null'],
    description:
      'update_agent: the fields that were set. delete_selected_events: event_ids. delete_event: agent_id and agent_name of the owner. delete_events: the first 100 event_ids and agent_ids. revoke_key: key_prefix of the key that ended. new_key: key_prefix of the new key. end_grant: its grant_id. restore: audit_id and action of the entry that was undone.',
    examples: [{ is_active: false }],
  }),
  count: Type.Integer({
    minimum: 0,
    description:
      'Number of deleted or restored events; 1 for update_agent, revoke_key, new_key and end_grant.',
    examples: [1],
  }),
  titles: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Only with include=details: the first 100 titles of the deleted events.',
      examples: [['Jazz in the park']],
    }),
  ),
  restorable_until: Type.Optional(
    nullableString({
      format: 'date-time',
      description: 'Only with include=details: until when it can be restored; null if it cannot.',
      examples: ['2026-11-22T10:02:11.000Z'],
    }),
  ),
  restored_at: Type.Optional(
    nullableString({
      format: 'date-time',
      description: 'Only with include=details: when it was last restored; null if it was not.',
      examples: [null],
    }),
  ),
});

export const AuditLogResponse = Type.Object({
  entries: Type.Array(AuditLogEntry, { description: 'Newest first.' }),
  total: Type.Integer({ minimum: 0, description: 'Entries on all pages.', examples: [1] }),
  next_cursor: NEXT_CURSOR,
  keep_deleted_days: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'Only with include=details: for how many days what administrators delete can be restored; 0: not at all.',
      examples: [7],
    }),
  ),
});

nameShapes({ AuditLogEntry, AuditLogResponse });

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

/** The same with include=details. `keepMs`: how long deleted rows are kept. */
export function describeAuditDetails(record: AuditRecord, nowMs: number, keepMs: number) {
  const { undo, at_ms, restored_ms } = record;
  const untilMs = at_ms + keepMs;
  return {
    ...describeAudit(record),
    titles: titlesIn(record),
    restorable_until: undo === 'kept' && untilMs > nowMs ? formatInstant(untilMs) : null,
    restored_at: restored_ms === null ? null : formatInstant(restored_ms),
  };
}

/** The entry of a single event has its title as the name only, which is empty if the title must not stay. */
function titlesIn({ action, target_name, titles }: AuditRecord): string[] {
  if (action === 'delete_event') return target_name === '' ? [] : [target_name];
  return titles === null ? [] : JSON.parse(titles);
}
