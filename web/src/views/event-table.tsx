// Table of events, with the columns that a view asks for. Rows can be opened, and selected one by one, as a range, or all.
import type { ComponentChildren } from 'preact';
import type { AgentEvent } from '../api.ts';
import { type Column, ListTable } from '../components/list-table.tsx';
import { Text } from '../components/text.tsx';
import type { ListState } from '../list-state.ts';
import { openEvent, rowId } from '../opened-event.ts';
import type { Place } from '../router.ts';
import type { RowSelection } from '../use-selection.ts';

export interface EventColumn<Shown extends AgentEvent> extends Column {
  /** Whether its cells begin with the title, which opens the event. */
  readonly isTitle?: boolean;
  readonly cell: (event: Shown, list: ListState) => ComponentChildren;
}

interface EventTableProps<Shown extends AgentEvent> {
  columns: readonly EventColumn<Shown>[];
  /** CSS class beside `events`. */
  class?: string;
  /** Undefined while they load. */
  events: readonly Shown[] | undefined;
  list: ListState;
  isLoading: boolean;
  selection: RowSelection;
  place: Place;
}

export function EventTable<Shown extends AgentEvent>(props: EventTableProps<Shown>) {
  const { columns, events, list, isLoading, selection, place } = props;
  const checks: Column = {
    label: 'Select',
    class: 'column-check',
    header: <PageCheck selection={selection} count={events?.length ?? 0} />,
  };
  return (
    <ListTable
      class={props.class ? `events ${props.class}` : 'events'}
      caption="Events"
      columns={[checks, ...columns]}
      list={list}
      rows={events}
      isLoading={isLoading}
    >
      {(event, index) => (
        <tr key={event.event_id} class={selection.ids.has(event.event_id) ? 'selected' : undefined}>
          <td class={checks.class}>
            <RowCheck event={event} index={index} selection={selection} />
          </td>
          {columns.map(({ label, class: className, isTitle = false, cell }) => (
            <td key={label} class={className}>
              {isTitle && <Title event={event} onOpen={() => openEvent(place, event)} />}
              {cell(event, list)}
            </td>
          ))}
        </tr>
      )}
    </ListTable>
  );
}

function Title({ event, onOpen }: { event: AgentEvent; onOpen: () => void }) {
  return (
    <button id={rowId(event)} type="button" class="row-link clamp" aria-haspopup="dialog" onClick={onOpen}>
      <Text value={event.title} />
    </button>
  );
}

/** Selects all rows of the page, or none. */
function PageCheck({ selection, count }: { selection: RowSelection; count: number }) {
  const isPage = count > 0 && selection.ids.size === count;
  return (
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
  );
}

interface RowCheckProps {
  event: AgentEvent;
  index: number;
  selection: RowSelection;
}

function RowCheck({ event: { event_id, title }, index, selection }: RowCheckProps) {
  return (
    <label class="check">
      <span class="visually-hidden">
        Select <Text value={title} />
      </span>
      <input
        type="checkbox"
        checked={selection.ids.has(event_id)}
        onClick={(click) => selection.press(click.shiftKey)}
        onChange={(change) => selection.choose(index, change.currentTarget.checked)}
      />
    </label>
  );
}
