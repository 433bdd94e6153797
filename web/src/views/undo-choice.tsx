// What becomes of deleted data: it can be restored for some days, unless it is deleted for good.
import { useId, useState } from 'preact/hooks';
import type { AuditPage, AuditRecord } from '../api.ts';
import { countOf } from '../format.ts';
import type { ToastAction } from '../toasts.ts';
import { findDeletion, undo } from '../undo.ts';
import { useLoad } from '../use-load.ts';

export interface UndoChoiceState {
  /** Days for which it can be restored; undefined while unknown. */
  readonly days: number | undefined;
  readonly isForGood: boolean;
  /** Whether nothing will be kept, by choice or because the service keeps nothing. Undefined while it is unknown. */
  readonly isFinal: boolean | undefined;
  readonly choose: (isForGood: boolean) => void;
  /** The button of the notification after a delete; undefined if it cannot be undone. */
  readonly undo: (
    action: AuditRecord['action'],
    target: string,
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
    undo: (action, target, first) => {
      // Also while it is unknown: whoever is quick may want to undo, too.
      if (days === 0 || isForGood) return undefined;
      const entry = findDeletion(action, target);
      entry.catch(() => {}); // reported when the button is pressed
      return { label: 'Undo', run: () => void undo(entry, first) };
    },
  };
}

export function UndoChoice({ undoChoice: { days, isForGood, choose } }: { undoChoice: UndoChoiceState }) {
  const id = useId();
  if (days === undefined) return <p>&nbsp;</p>;
  if (days === 0) return <p>This cannot be undone.</p>;
  return (
    <label class="undo-choice" for={id}>
      <input
        id={id}
        type="checkbox"
        checked={isForGood}
        onChange={(event) => choose(event.currentTarget.checked)}
      />
      <span>
        Delete for good
        <small>
          {isForGood
            ? 'Nothing is kept. This cannot be undone.'
            : `Otherwise it can be restored for ${countOf(days, 'day')}.`}
        </small>
      </span>
    </label>
  );
}
