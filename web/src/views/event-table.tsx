// Table of events. Rows can be opened, and selected one by one or as a range.
import type { AgentEvent } from '../api.ts';
import { PageCheckCell, RowCheckCell } from '../components/selection-cells.tsx';
import { type Column, SortHeader } from '../components/sort-header.tsx';
import { SkeletonRows } from '../components/states.tsx';
import { Text } from '../components/text.tsx';
import { Day, EventTime } from '../components/time.tsx';
import type { ListState } from '../list-state.ts';
import { rowId } from '../opened-event.ts';
import type { RowSelection } from '../use-selection.ts';

export const EVENT_COLUMNS: readonly Column[] = [
  { key: 'start_at', label: 'Start', class: 'column-start from-medium' },
  { key: 'title', label: 'Title', class: 'column-title' },
  { key: 'event_type', label: 'Type', class: 'column-type from-medium' },
  { key: 'created_at', label: 'Created', class: 'column-created from-large', isDescendingFirst: true },
];

interface EventTableProps {
  /** Undefined while they load. */
  events: readonly AgentEvent[] | undefined;
  list: ListState;
  isLoading: boolean;
  selection: RowSelection;
  onOpen: (event: AgentEvent) => void;
}

export function EventTable({ events, list, isLoading, selection, onOpen }: EventTableProps) {
  return (
    <table class={events && isLoading ? 'list events waiting' : 'list events'}>
      <caption class="visually-hidden">Events</caption>
      <thead>
        <tr>
          <PageCheckCell selection={selection} count={events?.length ?? 0} />
          {EVENT_COLUMNS.map((column) => (
            <SortHeader key={column.key} column={column} sort={list.sort} onSort={list.sortBy} />
          ))}
        </tr>
      </thead>
      <tbody>
        {events ? (
          events.map((event, index) => (
            <EventRow
              key={event.event_id}
              event={event}
              index={index}
              selection={selection}
              onOpen={() => onOpen(event)}
            />
          ))
        ) : (
          <SkeletonRows columns={['column-check', ...EVENT_COLUMNS.map((column) => column.class)]} />
        )}
      </tbody>
    </table>
  );
}

interface EventRowProps {
  event: AgentEvent;
  index: number;
  selection: RowSelection;
  onOpen: () => void;
}

function EventRow({ event, index, selection, onOpen }: EventRowProps) {
  const { title, location_name, start_at, timezone, event_type, created_at } = event;
  const isSelected = selection.ids.has(event.event_id);
  return (
    <tr class={isSelected ? 'selected' : undefined}>
      <RowCheckCell title={title} index={index} isSelected={isSelected} selection={selection} />
      <td class="column-start from-medium">
        <EventTime at={start_at} timezone={timezone} />
      </td>
      <td class="column-title">
        <button
          id={rowId(event)}
          type="button"
          class="row-link clamp"
          aria-haspopup="dialog"
          onClick={onOpen}
        >
          <Text value={title} />
        </button>
        <span class="second cut">
          <Text value={location_name} />
        </span>
        <span class="second until-medium">
          <EventTime at={start_at} timezone={timezone} />
        </span>
      </td>
      <td class="column-type from-medium">{event_type}</td>
      <td class="column-created from-large">
        <Day at={created_at} />
      </td>
    </tr>
  );
}
