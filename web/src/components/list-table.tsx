// Table of a list: headers to sort by, and its rows, or placeholders while they load. A select with the same choices is for narrow
// screens, where columns are hidden.
import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';

export interface Column {
  readonly label: string;
  /** Name of the sort key in the API. Without one, the list cannot be sorted by this column. */
  readonly key?: string;
  /** What the label stands for, if it is short. */
  readonly longLabel?: string;
  /** Whether the first click sorts in descending order (largest or latest first). */
  readonly isDescendingFirst?: boolean;
  /** CSS class of the header and the cells below it. */
  readonly class: string;
  /** Content of the header instead of the label. */
  readonly header?: ComponentChildren;
}

interface Sorting {
  readonly sort: string;
  readonly sortBy: (sort: string) => void;
}

interface ListTableProps<Row> {
  /** CSS class. */
  class: string;
  caption: string;
  columns: readonly Column[];
  /** Undefined if no column has a sort key. */
  list?: Sorting;
  /** Undefined while they load. */
  rows: readonly Row[] | undefined;
  /** Whether other rows are to replace these. */
  isLoading: boolean;
  /** Number of placeholders. */
  placeholders?: number;
  /** Renders a row; its element has a key. */
  children: (row: Row, index: number) => ComponentChildren;
}

export function ListTable<Row>(props: ListTableProps<Row>) {
  const { class: className, caption, columns, list, rows, isLoading, placeholders = 12, children } = props;
  return (
    <table class={`list ${className}${rows && isLoading ? ' waiting' : ''}`}>
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <Header key={column.label} column={column} list={list} />
          ))}
        </tr>
      </thead>
      <tbody>
        {rows
          ? rows.map(children)
          : Array.from({ length: placeholders }, (_row, row) => (
              <tr key={row} class="skeleton-row">
                {columns.map((column) => (
                  <td key={column.label} class={column.class}>
                    <span class="skeleton" />
                  </td>
                ))}
              </tr>
            ))}
      </tbody>
    </table>
  );
}

function Header({ column, list }: { column: Column; list: Sorting | undefined }) {
  const { key, label, longLabel, header, isDescendingFirst = false } = column;
  if (key === undefined || !list) {
    return (
      <th scope="col" class={header ? column.class : `${column.class} plain`}>
        {header ?? label}
      </th>
    );
  }
  const isDescending = list.sort === `-${key}`;
  const isActive = isDescending || list.sort === key;
  const isNextDescending = isActive ? !isDescending : isDescendingFirst;
  return (
    <th
      scope="col"
      class={column.class}
      aria-sort={isActive ? (isDescending ? 'descending' : 'ascending') : undefined}
    >
      <button
        type="button"
        class="sort"
        title={longLabel}
        onClick={() => list.sortBy(isNextDescending ? `-${key}` : key)}
      >
        {label}
        <Icon name={isActive ? (isDescending ? 'down' : 'up') : 'updown'} />
      </button>
    </th>
  );
}

export function sortKeysOf(columns: readonly Column[]): string[] {
  return columns.flatMap(({ key }) => key ?? []);
}

export function SortSelect({ columns, list }: { columns: readonly Column[]; list: Sorting }) {
  return (
    <label class="sort-select">
      <span>Sort by</span>
      <select value={list.sort} onChange={(event) => list.sortBy(event.currentTarget.value)}>
        {columns.flatMap(({ key, label, longLabel = label, isDescendingFirst = false }) =>
          (key === undefined ? [] : [isDescendingFirst, !isDescendingFirst]).map((isDescending) => (
            <option key={`${key}${isDescending}`} value={isDescending ? `-${key}` : key}>
              {longLabel} {isDescending ? '↓' : '↑'}
            </option>
          )),
        )}
      </select>
    </label>
  );
}
