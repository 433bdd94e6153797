// Changes by administrators. Each leaves an entry in the audit log, written in the same transaction.

import type { Identity } from '../domain/administration/admin.ts';
import type { AuditEntry } from '../domain/administration/audit.ts';
import { encodeUndoCursor, type UndoPosition } from '../domain/administration/cursor.ts';
import {
  MAX_SHOWN_SKIPPED,
  type SkippedEvent,
  type UndoRefusal,
  WRONG_AUDIT_ID,
} from '../domain/administration/undo.ts';
import { type AgentUpdate, summarise } from '../domain/agent.ts';
import { DAY_MS } from '../domain/clock-and-random.ts';
import { AppError, invalid } from '../domain/errors.ts';
import { isUlid } from '../domain/ids.ts';
import type { BulkDeleted, DeleteOptions } from '../domain/store.ts';
import type { AgentContext, Context } from './context.ts';

/** Throws NOT_FOUND. */
export async function updateAgent(
  context: AgentContext,
  administrator: Identity,
  agentId: string,
  update: AgentUpdate,
) {
  const agent =
    Object.keys(update).length === 0
      ? (await context.store.findAgentDetails(agentId, context.clock()))?.agent
      : await context.store.updateAgent(
          agentId,
          update,
          auditEntry(context, administrator, 'update_agent', agentId, JSON.stringify(update)),
        );
  return agent ? summarise(agent) : agentNotFound(agentId);
}

/** Deletes the agent, its keys and its events, for all callers at once. Throws NOT_FOUND. */
export async function deleteAgent(
  context: AgentContext,
  administrator: Identity,
  agentId: string,
  forGood = false,
): Promise<void> {
  const audit = deletion(context, administrator, 'delete_agent', agentId, forGood);
  if (!(await context.store.deleteAll(agentId, audit, true))) agentNotFound(agentId);
}

/** Throws NOT_FOUND. */
export async function deleteAgentEvents(
  context: Context,
  administrator: Identity,
  agentId: string,
  forGood = false,
): Promise<void> {
  const audit = deletion(context, administrator, 'delete_agent_events', agentId, forGood);
  if (!(await context.store.deleteAll(agentId, audit, false))) agentNotFound(agentId);
}

/** Deletes the events that belong to the agent, and ignores other IDs. Throws NOT_FOUND if the agent does not exist. */
export async function deleteSelectedEvents(
  context: Context,
  administrator: Identity,
  agentId: string,
  eventIds: readonly string[],
  forGood = false,
): Promise<{ deleted: number }> {
  const audit = deletion(context, administrator, 'delete_selected_events', agentId, forGood);
  const { deleted } = await deleteFrom(context, eventIds, audit, { agentId });
  return { deleted };
}

/** Throws NOT_FOUND. */
export async function deleteAnyEvent(
  context: Context,
  administrator: Identity,
  eventId: string,
  forGood = false,
): Promise<void> {
  const audit = deletion(context, administrator, 'delete_event', eventId, forGood);
  if (isUlid(eventId) && (await deleteFrom(context, [eventId], audit)).deleted > 0) return;
  throw new AppError('NOT_FOUND', 'There is no event with this ID.');
}

/**
 * Deletes events of any agents, and ignores other IDs. With `into`, the events become part of that entry of the audit log, which must be
 * an earlier delete of the same administrator. Throws VALIDATION_ERROR.
 */
export function deleteEvents(
  context: Context,
  administrator: Identity,
  eventIds: readonly string[],
  into: number | undefined,
  forGood: boolean,
): Promise<BulkDeleted> {
  const audit = deletion(context, administrator, 'delete_events', '', forGood);
  return deleteFrom(context, eventIds, audit, { into });
}

async function deleteFrom(
  { store }: Context,
  eventIds: readonly string[],
  audit: AuditEntry,
  options: DeleteOptions = {},
): Promise<BulkDeleted> {
  const outcome = await store.deleteEvents(eventIds.filter(isUlid), audit, options);
  if (outcome === 'wrong-entry') throw invalid([WRONG_AUDIT_ID]);
  return outcome === 'no-agent' ? agentNotFound(options.agentId!) : outcome;
}

/** An undo that takes longer than this is continued by the next request: other administrators' requests come in between. */
const UNDO_MS = 1_000;

/** Undoes the delete of an entry of the audit log. Throws NOT_FOUND and NOT_RESTORABLE. */
export async function undoDelete(
  context: Context,
  administrator: Identity,
  auditId: number,
  position: UndoPosition,
) {
  const { store, clock, policy } = context;
  const audit = auditEntry(context, administrator, 'restore', '');
  const deletedAfterMs = clock() - policy.keepDeletedDays * DAY_MS;
  const startedMs = performance.now();
  const skipped: SkippedEvent[] = [];
  let [restored, skipped_count, { after, into }] = [0, 0, position];
  for (;;) {
    const outcome = await store.undoDelete({ auditId, deletedAfterMs, after, into }, audit);
    if (outcome.kind !== 'restored') throw notRestorable(outcome.kind, auditId, policy.keepDeletedDays);
    restored += outcome.restored;
    skipped_count += outcome.skipped.length;
    skipped.push(...outcome.skipped.slice(0, MAX_SHOWN_SKIPPED - skipped.length));
    if (outcome.last === undefined) return { restored, skipped, skipped_count, next_cursor: null };
    [after, into] = [outcome.last, outcome.into];
    if (performance.now() - startedMs > UNDO_MS)
      return { restored, skipped, skipped_count, next_cursor: encodeUndoCursor({ after, into }) };
  }
}

function notRestorable(why: UndoRefusal, auditId: number, days: number): AppError {
  if (why === 'no-entry') return new AppError('NOT_FOUND', `There is no audit entry ${auditId}.`);
  const reasons = {
    nothing: 'This entry keeps nothing: it deleted nothing, or was written while KEEP_DELETED_DAYS was 0.',
    'for-good': 'This was deleted for good, so it was not kept.',
    expired: `What this entry deleted was kept for ${days} days (KEEP_DELETED_DAYS), which are over.`,
  };
  return new AppError('NOT_RESTORABLE', `${reasons[why]} It cannot be restored.`);
}

/** The entry of a delete, which keeps what it deletes unless that is off or not wanted. */
function deletion(
  context: Pick<AgentContext, 'clock' | 'policy'>,
  administrator: Identity,
  action: AuditEntry['action'],
  target: string,
  forGood: boolean,
): AuditEntry {
  const audit = auditEntry(context, administrator, action, target);
  if (forGood) return { ...audit, undo: 'for_good' };
  return context.policy.keepDeletedDays > 0 ? { ...audit, undo: 'kept' } : audit;
}

/** The audit entry of a change by this administrator, now. */
export function auditEntry(
  { clock }: Pick<Context, 'clock'>,
  { subject, email = '', emailVerified }: Identity,
  action: AuditEntry['action'],
  target: string,
  detail = '',
): AuditEntry {
  // An unverified e-mail could be anybody's.
  const actor_email = emailVerified ? email : '';
  return { at_ms: clock(), actor_subject: subject, actor_email, action, target, detail };
}

/** Throws NOT_FOUND. */
export function agentNotFound(agentId: string): never {
  throw new AppError('NOT_FOUND', `There is no agent ${agentId}.`);
}
