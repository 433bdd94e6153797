// What becomes of deleted data: it can be restored for some days, unless it is deleted for good.
import { useState } from 'preact/hooks';
import type { AuditPage } from '../api.ts';
import { CheckChoice } from '../components/check-choice.tsx';
import { countOf } from '../format.ts';
import type { ToastAction } from '../toasts.ts';
import { undo } from '../undo.ts';
import { useLoad } from '../use-load.ts';

export interface UndoChoiceState {
  /** Days for which it can be restored; undefined while unknown. */
  readonly days: number | undefined;
  readonly isForGood: boolean;
  /** Whether nothing will be kept, by choice or because the service keeps nothing. Undefined while it is unknown. */
  readonly isFinal: boolean | undefined;
  readonly choose: (isForGood: boolean) => void;
  /**
   * The button of the notification after a delete; undefined if it cannot be undone. `find` returns the entry of the audit log; `first`
   * undoes what was done with the delete.
   */
  readonly undo: (
    find: () => Promise<string | undefined>,
    first?: () => Promise<void>,
  ) => ToastAction | undefined;
}

export function useUndoChoice(): UndoChoiceState {
  const { data, error } = useLoad<AuditPage>('/audit?limit=1&include=details');
  const [isForGood, choose] = useState(false);
  const days = data?.keep_deleted_days;
  return {
    days,
    isForGood,
    // If it cannot be known, it counts as final.
    isFinal: isForGood || (data || error ? !days : undefined),
    choose,
    undo: (find, first) => {
      // Also while it is unknown: whoever is quick may want to undo, too.
      if (days === 0 || isForGood) return undefined;
      const entry = find();
      entry.catch(() => {}); // reported when the button is pressed
      return { label: 'Undo', run: () => void undo(entry, first) };
    },
  };
}

export function UndoChoice({ undoChoice: { days, isForGood, choose } }: { undoChoice: UndoChoiceState }) {
  if (days === undefined) return <p>&nbsp;</p>;
  if (days === 0) return <p>This cannot be undone.</p>;
  const hint = isForGood
    ? 'Nothing is kept. This cannot be undone.'
    : `Otherwise it can be restored for ${countOf(days, 'day')}.`;
  return <CheckChoice label="Delete for good" hint={hint} isChosen={isForGood} onChoose={choose} />;
}
