// Table of events. Rows can be opened, and selected one by one or as a range.
import { useRef } from 'preact/hooks';
import type { AgentEvent } from '../api.ts';
import { type Column, SortHeader } from '../components/sort-header.tsx';
import { SkeletonRows } from '../components/states.tsx';
import { Text } from '../components/text.tsx';
import { Day, EventTime } from '../components/time.tsx';
import type { ListState } from '../list-state.ts';

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
  selected: ReadonlySet<string>;
  onSelect: (ids: ReadonlySet<string>) => void;
  onOpen: (event: AgentEvent) => void;
}

export function EventTable({ events, list, isLoading, selected, onSelect, onOpen }: EventTableProps) {
  const lastIndex = useRef(-1);
  const shift = useRef(false);

  const select = (index: number, isChosen: boolean) => {
    const from = shift.current && lastIndex.current >= 0 ? lastIndex.current : index;
    const range = events!.slice(Math.min(from, index), Math.max(from, index) + 1);
    const next = new Set(selected);
    for (const { event_id } of range) {
      if (isChosen) next.add(event_id);
      else next.delete(event_id);
    }
    lastIndex.current = index;
    onSelect(next);
  };
  const count = events?.length ?? 0;
  const isAll = count > 0 && selected.size === count;
  return (
    <table class={events && isLoading ? 'list events waiting' : 'list events'}>
      <caption class="visually-hidden">Events</caption>
      <thead>
        <tr>
          <th scope="col" class="column-check">
            <label class="check">
              <span class="visually-hidden">Select all on this page</span>
              <input
                type="checkbox"
                checked={isAll}
                indeterminate={selected.size > 0 && !isAll}
                disabled={count === 0}
                onChange={() => onSelect(new Set(isAll ? [] : events?.map(({ event_id }) => event_id)))}
              />
            </label>
          </th>
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
              isSelected={selected.has(event.event_id)}
              onPress={(isShift) => {
                shift.current = isShift;
              }}
              onSelect={(isChosen) => select(index, isChosen)}
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
  isSelected: boolean;
  /** Called before onSelect, because the change event of a checkbox does not tell whether Shift was pressed. */
  onPress: (isShift: boolean) => void;
  onSelect: (isChosen: boolean) => void;
  onOpen: () => void;
}

function EventRow({ event, isSelected, onPress, onSelect, onOpen }: EventRowProps) {
  const { title, location_name, start_at, timezone, event_type, created_at } = event;
  return (
    <tr class={isSelected ? 'selected' : undefined}>
      <td class="column-check">
        <label class="check">
          <span class="visually-hidden">
            Select <Text value={title} />
          </span>
          <input
            type="checkbox"
            checked={isSelected}
            onClick={(click) => onPress(click.shiftKey)}
            onChange={(change) => onSelect(change.currentTarget.checked)}
          />
        </label>
      </td>
      <td class="column-start from-medium">
        <EventTime at={start_at} timezone={timezone} />
      </td>
      <td class="column-title">
        <button type="button" class="row-link clamp" aria-haspopup="dialog" onClick={onOpen}>
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
