// Hook for the selection of rows in a list: one by one, as a range with Shift, a whole page, or everything that matches.
import { useRef, useState } from 'preact/hooks';

interface Selection {
  /** What it belongs to: the query of the page, or of the whole list. */
  readonly of: string;
  readonly ids: ReadonlySet<string>;
  readonly isAll: boolean;
}

const NOTHING: Selection = { of: '', ids: new Set(), isAll: false };

export interface RowSelection {
  readonly ids: ReadonlySet<string>;
  /** Whether everything that matches is selected, on all pages. */
  readonly isAll: boolean;
  /** To call before `choose`: the change event of a checkbox does not tell whether Shift was pressed. */
  readonly press: (isShift: boolean) => void;
  readonly choose: (index: number, isChosen: boolean) => void;
  readonly choosePage: () => void;
  readonly chooseAll: () => void;
  readonly clear: () => void;
}

/**
 * `ids` are the rows of the page, `pageQuery` its query, `listQuery` the query without the page. Another page clears a selection of
 * rows, another search or filter that of everything.
 */
export function useSelection(ids: readonly string[], pageQuery: string, listQuery: string): RowSelection {
  const [selection, setSelection] = useState(NOTHING);
  const lastIndex = useRef(-1);
  const isShift = useRef(false);
  const isAll = selection.isAll && selection.of === listQuery;
  const isHere = !selection.isAll && selection.of === pageQuery;
  const chosen = new Set(isAll ? ids : isHere ? ids.filter((id) => selection.ids.has(id)) : []);
  const select = (next: Iterable<string>) =>
    setSelection({ of: pageQuery, ids: new Set(next), isAll: false });
  return {
    ids: chosen,
    isAll,
    press: (pressed) => {
      isShift.current = pressed;
    },
    choose: (index, isChosen) => {
      const from = isShift.current && lastIndex.current >= 0 ? lastIndex.current : index;
      const range = ids.slice(Math.min(from, index), Math.max(from, index) + 1);
      lastIndex.current = index;
      select(isChosen ? chosen.union(new Set(range)) : chosen.difference(new Set(range)));
    },
    choosePage: () => select(chosen.size === ids.length ? [] : ids),
    chooseAll: () => setSelection({ of: listQuery, ids: new Set(), isAll: true }),
    clear: () => setSelection(NOTHING),
  };
}
