// Undo: what administrators delete is kept for some days, and can be restored by the ID of its entry in the audit log. The shapes of
// deletes of any events and of undos.
import type { Static } from 'typebox';
import { HOUR_MS } from '../clock-and-random.ts';
import { type Issue, invalid } from '../errors.ts';
import Type from '../schema.ts';
import { nullableInteger, nullableString, oneOf, reader } from '../shape.ts';
import { decodeUndoCursor, type UndoPosition } from './cursor.ts';

/** Actor of what the service removes by itself, in the audit log. */
export const RETENTION = 'retention';

/** Titles of deleted events that an entry of the audit log keeps, and IDs of events and agents that an entry of `delete_events` keeps. */
export const MAX_LISTED = 100;

/** Skipped events that a response names. */
export const MAX_SHOWN_SKIPPED = 100;

/** Events that one step of an undo takes. */
export const EVENTS_PER_STEP = 250;

/** Whether the change keeps what it deletes; undefined: there is nothing to keep, or keeping is off. */
export type Keeping = 'kept' | 'for_good' | undefined;

/** State of an entry. `expiring`: its rows are being removed. Null: nothing was kept. */
export type UndoState = 'kept' | 'for_good' | 'restored' | 'expiring' | 'expired' | null;

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
  /** Deletes up to then can no longer be undone. */
  readonly deletedAfterMs: number;
}

export type UndoOutcome =
  | {
      readonly kind: 'restored';
      readonly restored: number;
      readonly skipped: readonly SkippedEvent[];
      /** Event ID of the last one of this step; undefined if none follow. */
      readonly last: string | undefined;
      readonly into: number | undefined;
    }
  | { readonly kind: UndoRefusal };

/** `no-entry`: no such entry. `nothing`: it kept nothing. */
export type UndoRefusal = 'no-entry' | 'nothing' | 'for-good' | 'expired';

/** Why the delete cannot be undone; undefined if it can, or if all of it already was. */
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

/** The choice to keep nothing of what is deleted. */
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

/** Events that one request deleted. */
export interface DeletedSlice {
  readonly eventIds: readonly string[];
  readonly titles: readonly string[];
  /** Their agents. */
  readonly agents: readonly { readonly agent_id: string; readonly agent_name: string }[];
}

/** What the entry of a delete of any events says about them. */
export interface DeletedWhat {
  readonly target: string;
  readonly target_name: string;
  readonly detail: string;
  readonly titles: string | null;
  readonly count: number;
}

/** The entry after a slice. `earlier` is what it says about earlier slices. The target is the agent if all events have the same one. */
export function addSlice(
  earlier: DeletedWhat | undefined,
  { eventIds, titles, agents }: DeletedSlice,
  keeping: Keeping,
): DeletedWhat {
  const before = earlier ? JSON.parse(earlier.detail) : { event_ids: [], agent_ids: [] };
  const event_ids = [...before.event_ids, ...eventIds].slice(0, MAX_LISTED);
  const known = new Set<string>([...before.agent_ids, ...agents.map(({ agent_id }) => agent_id)]);
  const agent_ids = [...known].slice(0, MAX_LISTED);
  const only = known.size === 1 ? agents[0] : undefined;
  return {
    target: only?.agent_id ?? '',
    target_name: only?.agent_name ?? '',
    detail: JSON.stringify({ event_ids, agent_ids }),
    titles: titlesOf([...JSON.parse(earlier?.titles ?? '[]'), ...titles], keeping),
    count: (earlier?.count ?? 0) + eventIds.length,
  };
}

/** The column `titles`; null if titles must not stay. */
export function titlesOf(titles: readonly string[], keeping: Keeping): string | null {
  return keeping === 'for_good' ? null : JSON.stringify(titles.slice(0, MAX_LISTED));
}

interface DeletedEntry {
  readonly audit_id: number;
  readonly action: string;
  readonly detail: string;
}

/** `detail` of an undo: the entry whose deletes it undoes, the owner if it was a single event, and the owners if there were several. */
export function detailOfUndo({ audit_id, action, detail }: DeletedEntry): string {
  const { agent_id, agent_name, agent_ids } = detail === '' ? {} : JSON.parse(detail);
  return JSON.stringify({ audit_id: String(audit_id), action, agent_id, agent_name, agent_ids });
}

/** Slices of one delete follow each other closely: a later one must not look older than it is, nor be kept for a shorter time. */
const MAX_EXTENDED_MS = HOUR_MS;

/** Whether a slice may become part of the entry: it has the same actor and action, keeps as much, and nothing of it was restored. */
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
