// Sortable column headers, and a select with the same choices for narrow screens, where columns are hidden.
import { Icon } from './icon.tsx';

export interface Column {
  /** Name of the sort key in the API. */
  readonly key: string;
  readonly label: string;
  /** What the label stands for, if it is short. */
  readonly longLabel?: string;
  /** Whether the first click sorts in descending order (largest or latest first). */
  readonly isDescendingFirst?: boolean;
  /** CSS class of the header and the cells below it. */
  readonly class?: string;
}

interface SortProps {
  sort: string;
  onSort: (sort: string) => void;
}

export function SortHeader({ column, sort, onSort }: SortProps & { column: Column }) {
  const isDescending = sort === `-${column.key}`;
  const isActive = isDescending || sort === column.key;
  const first = column.isDescendingFirst ? `-${column.key}` : column.key;
  const other = isDescending ? column.key : `-${column.key}`;
  return (
    <th
      scope="col"
      class={column.class}
      aria-sort={isActive ? (isDescending ? 'descending' : 'ascending') : undefined}
    >
      <button
        type="button"
        class="sort"
        title={column.longLabel}
        onClick={() => onSort(isActive ? other : first)}
      >
        {column.label}
        <Icon name={isActive ? (isDescending ? 'down' : 'up') : 'updown'} />
      </button>
    </th>
  );
}

export function SortSelect({ columns, sort, onSort }: SortProps & { columns: readonly Column[] }) {
  return (
    <label class="sort-select">
      <span>Sort by</span>
      <select value={sort} onChange={(event) => onSort(event.currentTarget.value)}>
        {columns.flatMap(({ key, label, longLabel = label, isDescendingFirst = false }) =>
          [isDescendingFirst, !isDescendingFirst].map((isDescending) => (
            <option key={`${key}${isDescending}`} value={isDescending ? `-${key}` : key}>
              {longLabel} {isDescending ? '↓' : '↑'}
            </option>
          )),
        )}
      </select>
    </label>
  );
}
