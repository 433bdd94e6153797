// Undo of deletes: finds the entry of a delete in the audit log, restores it, and says what came back and what did not.
import { ApiError, type AuditPage, type AuditRecord, read, type UndoResult, undoDelete } from './api.ts';
import { countOf } from './format.ts';
import { notify } from './toasts.ts';

const listeners = new Set<() => void>();

/** Calls the listener when something was restored: what is shown may be outdated. Returns a function that ends this. */
export function listenForUndos(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The newest entry of this delete, if it can be restored. */
export async function findDeletion(
  action: AuditRecord['action'],
  target: string,
): Promise<string | undefined> {
  const { entries } = await read<AuditPage>('/audit?limit=50&include=details', new AbortController().signal);
  const newest = entries.find((entry) => entry.action === action && entry.target === target);
  // An older one may be somebody else's.
  return newest?.restorable_until ? newest.id : undefined;
}

/** Restores an entry of the audit log, and reports the result. Throws ApiError. */
export async function undoEntry(id: string): Promise<void> {
  let all: UndoResult = { restored: 0, skipped: [], skipped_count: 0, next_cursor: null };
  do {
    const step = await undoDelete(id, all.next_cursor);
    all = {
      restored: all.restored + step.restored,
      skipped: [...all.skipped, ...step.skipped],
      skipped_count: all.skipped_count + step.skipped_count,
      next_cursor: step.next_cursor,
    };
  } while (all.next_cursor !== null);
  notify(all.skipped_count > 0 ? 'info' : 'done', describeResult(all));
  for (const listener of listeners) listener();
}

/**
 * Undoes a delete whose entry may still be looked for, and reports the result or why that is not possible. `first` undoes what was
 * done with it.
 */
export async function undo(entry: Promise<string | undefined>, first?: () => Promise<void>): Promise<void> {
  try {
    const id = await entry;
    if (id === undefined) return notify('error', 'This can no longer be restored.');
    await first?.();
    await undoEntry(id);
  } catch (error) {
    const message = error instanceof ApiError ? error.message : String(error);
    notify('error', `Nothing was restored. ${message}`);
  }
}

const REASONS = {
  duplicate: 'created again by its agent',
  agent_deleted: 'its agent is deleted',
  exists: 'already there',
} as const;

const MAX_NAMED = 3;

function describeResult({ restored, skipped, skipped_count }: UndoResult): string {
  const done = `Restored ${countOf(restored, 'event')}.`;
  if (skipped_count === 0) return done;
  const named = skipped.slice(0, MAX_NAMED).map(({ title, reason }) => `“${title}” (${REASONS[reason]})`);
  const more = skipped_count - named.length;
  if (more > 0) named.push(countOf(more, 'more event'));
  return `${done} Skipped ${countOf(skipped_count, 'event')}: ${named.join(', ')}.`;
}
