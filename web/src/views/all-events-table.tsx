// Table of the events of all agents. Rows can be opened, and selected one by one, as a range, or all.
import type { OwnedEvent } from '../api.ts';
import { Icon } from '../components/icon.tsx';
import { Link } from '../components/link.tsx';
import { PageCheckCell, RowCheckCell } from '../components/selection-cells.tsx';
import { type Column, SortHeader } from '../components/sort-header.tsx';
import { SkeletonRows } from '../components/states.tsx';
import { Text, visibleText } from '../components/text.tsx';
import { EventTime } from '../components/time.tsx';
import { formatExact, hasEnded } from '../format.ts';
import type { ListState } from '../list-state.ts';
import { rowId } from '../opened-event.ts';
import { agentUrl } from '../router.ts';
import { useNow } from '../use-now.ts';
import type { RowSelection } from '../use-selection.ts';

export const ALL_EVENT_COLUMNS: readonly (Omit<Column, 'key'> & { sortKey?: string })[] = [
  { label: 'Title', class: 'column-title' },
  { label: 'Agent', class: 'column-agent from-medium' },
  { sortKey: 'start_at', label: 'Start', class: 'column-start from-large' },
  {
    sortKey: 'created_at',
    label: 'Created',
    class: 'column-created exact from-medium',
    isDescendingFirst: true,
  },
];

interface AllEventsTableProps {
  /** Undefined while they load. */
  events: readonly OwnedEvent[] | undefined;
  list: ListState;
  isLoading: boolean;
  selection: RowSelection;
  onOpen: (event: OwnedEvent) => void;
}

export function AllEventsTable({ events, list, isLoading, selection, onOpen }: AllEventsTableProps) {
  const nowMs = useNow();
  return (
    <table class={events && isLoading ? 'list events all-events waiting' : 'list events all-events'}>
      <caption class="visually-hidden">Events</caption>
      <thead>
        <tr>
          <PageCheckCell selection={selection} count={events?.length ?? 0} />
          {ALL_EVENT_COLUMNS.map(({ sortKey, ...column }) =>
            sortKey ? (
              <SortHeader
                key={sortKey}
                column={{ ...column, key: sortKey }}
                sort={list.sort}
                onSort={list.sortBy}
              />
            ) : (
              <th key={column.label} scope="col" class={`${column.class} plain`}>
                {column.label}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>
        {events ? (
          events.map((event, index) => (
            <EventRow
              key={event.event_id}
              event={event}
              index={index}
              hasEnded={hasEnded(event, nowMs)}
              selection={selection}
              onOpen={() => onOpen(event)}
              onFilter={() => list.filter('agent', event.agent_id)}
            />
          ))
        ) : (
          <SkeletonRows columns={['column-check', ...ALL_EVENT_COLUMNS.map((column) => column.class)]} />
        )}
      </tbody>
    </table>
  );
}

interface EventRowProps {
  event: OwnedEvent;
  index: number;
  hasEnded: boolean;
  selection: RowSelection;
  onOpen: () => void;
  /** Shows only events of its agent. */
  onFilter: () => void;
}

function EventRow(props: EventRowProps) {
  const { event, index, hasEnded, selection, onOpen, onFilter } = props;
  const { agent_id, agent_name, title, location_name, start_at, timezone, created_at, event_type } = event;
  const isSelected = selection.ids.has(event.event_id);
  const marks = [event_type, hasEnded && 'ended', event.status === 'cancelled' && 'cancelled'];
  const created = <time dateTime={created_at}>{formatExact(created_at)}</time>;
  const agent = (
    <Link href={agentUrl(agent_id)} class="cell-link">
      <Text value={agent_name} />
    </Link>
  );
  const filter = (
    <button
      type="button"
      class="icon-button small"
      aria-label={`Only events of ${visibleText(agent_name) || agent_id}`}
      title="Only events of this agent"
      onClick={onFilter}
    >
      <Icon name="filter" />
    </button>
  );
  return (
    <tr class={isSelected ? 'selected' : undefined}>
      <RowCheckCell title={title} index={index} isSelected={isSelected} selection={selection} />
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
          {marks.filter(Boolean).join(', ')} · <Text value={location_name} />
        </span>
        <span class="second until-medium">
          <span class="agent-cell">
            by {agent} {filter}
          </span>
        </span>
        <span class="second until-large">
          starts <EventTime at={start_at} timezone={timezone} />
        </span>
        <span class="second until-medium">created {created}</span>
      </td>
      <td class="column-agent from-medium">
        <span class="agent-cell">
          {agent}
          {filter}
        </span>
      </td>
      <td class="column-start from-large">
        <EventTime at={start_at} timezone={timezone} />
      </td>
      <td class="column-created exact from-medium">{created}</td>
    </tr>
  );
}
