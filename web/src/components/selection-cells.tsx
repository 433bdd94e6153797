// Table cells with the checkboxes of a selection.
import type { RowSelection } from '../use-selection.ts';
import { Text } from './text.tsx';

/** Header cell: selects all rows of the page, or none. */
export function PageCheckCell({ selection, count }: { selection: RowSelection; count: number }) {
  const isPage = count > 0 && selection.ids.size === count;
  return (
    <th scope="col" class="column-check">
      <label class="check">
        <span class="visually-hidden">Select all on this page</span>
        <input
          type="checkbox"
          checked={isPage}
          indeterminate={selection.ids.size > 0 && !isPage}
          disabled={count === 0}
          onChange={selection.choosePage}
        />
      </label>
    </th>
  );
}

interface RowCheckCellProps {
  title: string;
  index: number;
  isSelected: boolean;
  selection: RowSelection;
}

export function RowCheckCell({ title, index, isSelected, selection }: RowCheckCellProps) {
  return (
    <td class="column-check">
      <label class="check">
        <span class="visually-hidden">
          Select <Text value={title} />
        </span>
        <input
          type="checkbox"
          checked={isSelected}
          onClick={(click) => selection.press(click.shiftKey)}
          onChange={(change) => selection.choose(index, change.currentTarget.checked)}
        />
      </label>
    </td>
  );
}
