// Undo: what administrators delete is kept for some days, and can be restored by the ID of its entry in the audit log. Has the shapes of
// undos and of deletes, the text of their entries, and the rules for both; the engines move the rows.
import type { Static } from 'typebox';
import { HOUR_MS } from '../clock-and-random.ts';
import { type Issue, invalid } from '../errors.ts';
import Type from '../schema.ts';
import { nullableInteger, nullableString, oneOf, reader } from '../shape.ts';
import type { AuditEntry, Keeping, UndoState } from './audit.ts';
import { decodeUndoCursor, type UndoPosition } from './cursor.ts';

/** Actor in the audit log for what the service removes by itself. */
export const RETENTION = 'retention';

/** Maximum number of titles in an entry of the audit log; also of event IDs and of agent IDs in an entry of `delete_events`. */
export const MAX_LISTED = 100;

/** Maximum number of skipped events that a response names. */
export const MAX_SHOWN_SKIPPED = 100;

/** Maximum number of events per step of an undo. */
export const EVENTS_PER_STEP = 250;

const SKIP_REASONS = ['duplicate', 'agent_deleted', 'exists'] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

const SkippedEvent = Type.Object({
  event_id: Type.String({ examples: ['01JZ9GX4T0QW3N1V8R5Y7K2MHD'] }),
  title: Type.String({ examples: ['Jazz in the park'] }),
  reason: oneOf(SKIP_REASONS, {
    description:
      'duplicate: the agent has another event with this title, start and place. agent_deleted: its agent does not exist any more. exists: an event with this ID exists.',
    examples: ['duplicate'],
  }),
});
export type SkippedEvent = Static<typeof SkippedEvent>;

export const UndoResponse = Type.Object({
  restored: Type.Integer({
    minimum: 0,
    description: 'Number of events that came back, with the same ID, version and content.',
    examples: [120],
  }),
  skipped: Type.Array(SkippedEvent, {
    description: `Events that could not come back, at most the first ${MAX_SHOWN_SKIPPED} of this request. They stay restorable.`,
    examples: [[]],
  }),
  skipped_count: Type.Integer({
    minimum: 0,
    description: 'Number of events that this request skipped.',
    examples: [0],
  }),
  next_cursor: nullableString({
    description: 'Null when all is done. Otherwise some events are left: send it as cursor to restore them.',
    examples: [null],
  }),
});

export const UndoParameters = Type.Object({
  cursor: Type.Optional(
    Type.String({
      description: 'next_cursor of your previous request, to continue a restore of many events.',
    }),
  ),
});

const readUndoParameters = reader(UndoParameters, 'query');

const WRONG_CURSOR: Issue = {
  loc: ['query', 'cursor'],
  msg: 'must be the next_cursor of a restore; leave it out to begin',
  type: 'value_error',
};

/** Throws VALIDATION_ERROR. */
export function readUndoPosition(parameters: object): UndoPosition {
  const { cursor } = readUndoParameters(parameters);
  if (cursor === undefined) return { after: '', into: undefined };
  const position = decodeUndoCursor(cursor);
  if (!position) throw invalid([WRONG_CURSOR]);
  return position;
}

/** One step of an undo. */
export interface UndoStep extends UndoPosition {
  readonly auditId: number;
  /** Deletes until then can no longer be undone. */
  readonly deletedAfterMs: number;
}

export type UndoOutcome =
  | {
      readonly kind: 'restored';
      readonly restored: number;
      readonly skipped: readonly SkippedEvent[];
      /** ID of the last event of this step, restored or skipped; undefined if none follow. */
      readonly last: string | undefined;
      /** `audit_id` of the undo's own entry; undefined while nothing was restored. */
      readonly into: number | undefined;
    }
  | { readonly kind: UndoRefusal };

/** `no-entry`: there is no such entry. `nothing`: it is not a delete, it deleted nothing, or undo was off. */
export type UndoRefusal = 'no-entry' | 'nothing' | 'for-good' | 'expired';

/** Why the delete cannot be undone; undefined if it can, or if it was undone completely. */
export function refusalOf(
  entry: { readonly undo: UndoState; readonly at_ms: number } | undefined,
  deletedAfterMs: number,
): UndoRefusal | undefined {
  if (!entry) return 'no-entry';
  if (entry.undo === 'restored') return undefined;
  if (entry.undo === 'for_good') return 'for-good';
  if (entry.undo === null) return 'nothing';
  return entry.undo === 'kept' && entry.at_ms > deletedAfterMs ? undefined : 'expired';
}

/** Schema of the field or parameter `for_good`. */
export function forGood(means: string) {
  return Type.Optional(Type.Boolean({ default: false, description: `Keep nothing: ${means}` }));
}

export const BulkDeletion = Type.Object({
  event_ids: Type.Array(Type.String(), {
    minItems: 1,
    maxItems: 1000,
    examples: [['01JZ9GX4T0QW3N1V8R5Y7K2MHD']],
  }),
  audit_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'audit_id of your previous request, to delete more events than fit in one: all of them become one entry of the audit log, and one restore.',
      examples: [42],
    }),
  ),
  for_good: forGood('the events cannot be restored.'),
});

export const BulkDeletedResponse = Type.Object({
  deleted: Type.Integer({
    minimum: 0,
    description: 'Number of deleted events. IDs of no event do not count.',
    examples: [1],
  }),
  audit_id: nullableInteger({
    description:
      'ID of the entry in the audit log; null if nothing was deleted. It continues a delete, and restores it.',
    examples: [42],
  }),
});

/** Throws VALIDATION_ERROR naming every failing field. */
export const readBulkDeletion = reader(BulkDeletion, 'body');

export const WRONG_AUDIT_ID: Issue = {
  loc: ['body', 'audit_id'],
  msg: 'must be the audit_id of your own delete within the last hour, with the same for_good, of which nothing was restored',
  type: 'value_error',
};

/** The parameter of deletes by administrators. */
export const DeleteParameters = Type.Object({
  for_good: forGood(
    'what is deleted cannot be restored. Titles of its events are not written to the audit log.',
  ),
});

const readDeleteParameters = reader(DeleteParameters, 'query');

/** Throws VALIDATION_ERROR. */
export function readForGood(parameters: object): boolean {
  return readDeleteParameters(parameters).for_good!;
}

/** An event that is being deleted. */
export interface DeletedEvent {
  readonly event_id: string;
  readonly agent_id: string;
  readonly agent_name: string;
  readonly title: string;
}

/** Columns of a delete's entry that depend on what was deleted. */
export interface DeletedWhat {
  readonly target: string;
  readonly target_name: string;
  readonly detail: string;
  readonly titles: string | null;
  readonly count: number;
}

/** Columns for these events, at least one. `earlier`: columns that the entry already has, from earlier requests or slices. */
export function describeDeleted(
  { action, target, actor_subject, undo }: AuditEntry,
  events: readonly DeletedEvent[],
  earlier?: DeletedWhat,
): DeletedWhat {
  const { agent_id, agent_name, title } = events[0]!;
  if (action === 'delete_event') {
    const detail = JSON.stringify({ agent_id, agent_name });
    return { target, target_name: undo === 'for_good' ? '' : title, detail, titles: null, count: 1 };
  }
  const eventIds = events.map(({ event_id }) => event_id);
  // The service can remove thousands of events of many agents: their first titles would say nothing.
  const titles = actor_subject === RETENTION ? [] : events.map((event) => event.title);
  if (action === 'delete_selected_events') {
    const detail = JSON.stringify({ event_ids: eventIds });
    return { target, target_name: agent_name, detail, titles: titlesOf(titles, undo), count: events.length };
  }
  const before = earlier ? JSON.parse(earlier.detail) : { event_ids: [], agent_ids: [] };
  const event_ids = [...before.event_ids, ...eventIds].slice(0, MAX_LISTED);
  const known = new Set<string>([...before.agent_ids, ...events.map((event) => event.agent_id)]);
  const agent_ids = [...known].slice(0, MAX_LISTED);
  return {
    // The agent is the target if it owns all events.
    ...(known.size === 1 ? { target: agent_id, target_name: agent_name } : { target: '', target_name: '' }),
    detail: JSON.stringify({ event_ids, agent_ids }),
    titles: titlesOf([...JSON.parse(earlier?.titles ?? '[]'), ...titles], undo),
    count: (earlier?.count ?? 0) + events.length,
  };
}

/** Columns for a delete of all events of an agent; `titles` are their first titles. If nothing was deleted, there is nothing to undo. */
export function describeAllDeleted(
  { target, detail, undo }: AuditEntry,
  agentName: string,
  titles: readonly string[],
  count: number,
  withAgent: boolean,
): DeletedWhat & { readonly undo: Keeping } {
  const what = { target, target_name: agentName, detail, titles: titlesOf(titles, undo), count };
  return { ...what, undo: count > 0 || withAgent ? undo : undefined };
}

/** The column `titles`; null if titles must not stay. */
function titlesOf(titles: readonly string[], undo: Keeping): string | null {
  return undo === 'for_good' ? null : JSON.stringify(titles.slice(0, MAX_LISTED));
}

interface DeletedEntry {
  readonly audit_id: number;
  readonly action: string;
  readonly detail: string;
}

/** `detail` of an undo: the ID and action of the delete's entry, and the owners that its `detail` names. */
export function detailOfUndo({ audit_id, action, detail }: DeletedEntry): string {
  const { agent_id, agent_name, agent_ids } = detail === '' ? {} : JSON.parse(detail);
  return JSON.stringify({ audit_id: String(audit_id), action, agent_id, agent_name, agent_ids });
}

/** Maximum age of an entry that is extended: added events count as deleted at its time, in the log and for `KEEP_DELETED_DAYS`. */
const MAX_EXTENDED_MS = HOUR_MS;

/** Whether a slice may be added to the entry: same actor, action and `undo`, at most an hour later, and nothing of it was restored. */
export function mayExtend(
  entry: {
    at_ms: number;
    actor_subject: string;
    action: string;
    undo: UndoState;
    restored_ms: number | null;
  },
  slice: { at_ms: number; actor_subject: string; action: string; undo?: Keeping },
): boolean {
  return (
    slice.at_ms - entry.at_ms <= MAX_EXTENDED_MS &&
    entry.actor_subject === slice.actor_subject &&
    entry.action === slice.action &&
    entry.undo === (slice.undo ?? null) &&
    entry.restored_ms === null
  );
}
