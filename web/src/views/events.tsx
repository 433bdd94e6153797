// View of the events of all agents: search, filters, selection and details.
import { useMemo, useState } from 'preact/hooks';
import type { AllEventsPage, OwnedEvent } from '../api.ts';
import { Icon } from '../components/icon.tsx';
import { Link } from '../components/link.tsx';
import { ListCard, NoMatch } from '../components/list-card.tsx';
import { SortSelect, sortKeysOf } from '../components/list-table.tsx';
import { SearchField } from '../components/search-field.tsx';
import { Empty } from '../components/states.tsx';
import { TabPanel, Tabs } from '../components/tabs.tsx';
import { Text, visibleText } from '../components/text.tsx';
import { EventTime } from '../components/time.tsx';
import { countOf, formatExact, formatNumber, hasEnded } from '../format.ts';
import { type ListState, listState } from '../list-state.ts';
import { closeEvent } from '../opened-event.ts';
import { agentUrl, type Place } from '../router.ts';
import { withPrefix } from '../typed-search.ts';
import { useFocusReturn } from '../use-focus-return.ts';
import { useList } from '../use-list.ts';
import { useLoad } from '../use-load.ts';
import { useNow } from '../use-now.ts';
import { useSelection } from '../use-selection.ts';
import { useTitle } from '../use-title.ts';
import { DeleteEventsDialog, type Deletion } from './delete-events.tsx';
import { EventFilters, filterKey, filtersOf, isFiltered, WHENS, whenOf } from './event-filters.tsx';
import { EventPanel } from './event-panel.tsx';
import { type EventColumn, EventTable } from './event-table.tsx';
import { encodeNear } from './place-filter.tsx';

const COLUMNS: readonly EventColumn<OwnedEvent>[] = [
  {
    label: 'Title',
    class: 'column-title',
    isTitle: true,
    cell: (event, list) => (
      <>
        <span class="second cut">
          <Marks event={event} /> · <Text value={event.location_name} />
        </span>
        <span class="second until-medium">
          <span class="agent-cell">
            by <Owner event={event} list={list} />
          </span>
        </span>
        <span class="second until-large">
          starts <EventTime at={event.start_at} timezone={event.timezone} />
        </span>
        <span class="second until-medium">
          created <Created event={event} />
        </span>
      </>
    ),
  },
  {
    label: 'Agent',
    class: 'column-agent from-medium',
    cell: (event, list) => (
      <span class="agent-cell">
        <Owner event={event} list={list} />
      </span>
    ),
  },
  {
    key: 'start_at',
    label: 'Start',
    class: 'column-start from-large',
    cell: ({ start_at, timezone }) => <EventTime at={start_at} timezone={timezone} />,
  },
  {
    key: 'created_at',
    label: 'Created',
    class: 'column-created from-medium',
    isDescendingFirst: true,
    cell: (event) => <Created event={event} />,
  },
];

const SORT_KEYS = sortKeysOf(COLUMNS);

/** Radius of the filter that the panel of an event sets. */
const NEARBY_MILES = 1;

export function EventsView({ place }: { place: Place }) {
  useTitle('Events');
  const { query } = place;
  const [loadedMs, setLoadedMs] = useState(() => Date.now());
  // Relative times are resolved once: otherwise every render would ask for another list.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the parameters stand for the query
  const filters = useMemo(() => filtersOf(query, loadedMs), [filterKey(query), loadedMs]);
  const list = listState(place, {
    defaultSort: '-created_at',
    sortKeys: SORT_KEYS,
    filters,
    toSearch: withPrefix,
  });
  const loaded = useList<AllEventsPage>('/events', list, ({ events }) => events.length);
  const { data: page, error, isLoading } = loaded;
  const events = page?.events ?? [];
  const ids = events.map(({ event_id }) => event_id);
  const listQuery = withoutPage(list.apiQuery);
  const selection = useSelection(ids, list.apiQuery, listQuery);
  const [toDelete, setToDelete] = useState<Deletion>();
  const { heading, expect } = useFocusReturn(isLoading);
  const openedId = query.get('event');
  const opened = events.find(({ event_id }) => event_id === openedId);
  const when = whenOf(query.get('when'));

  const reload = () => {
    setLoadedMs(Date.now());
    loaded.reload();
  };
  const finish = () => {
    setToDelete(undefined);
    if (openedId !== null) closeEvent(place);
    selection.clear();
    loaded.reload();
    expect();
  };
  const deleteSelected = () => {
    if (!page) return;
    const chosen = events.filter(({ event_id }) => selection.ids.has(event_id));
    setToDelete(
      selection.isAll
        ? { kind: 'matching', query: listQuery, total: page.total }
        : { kind: 'of-any', events: chosen },
    );
  };
  const canSelect = page && !error && !isLoading && page.total > 0;
  return (
    <section aria-labelledby="events">
      <div class="section-head top">
        <h1 id="events" tabIndex={-1} ref={heading}>
          Events
        </h1>
        <Tabs
          label="Events shown"
          tabs={WHENS}
          chosen={when}
          panelId="event-list"
          onChoose={(value) => list.filter('when', value === 'all' ? undefined : value)}
        />
      </div>
      <div class="toolbar">
        <SearchField
          label="Search events"
          placeholder="Search by words, place or ID"
          value={list.q}
          onSearch={list.search}
        />
        <SortSelect columns={COLUMNS} list={list} />
      </div>
      <EventFilters query={query} list={list} events={events} />
      <div class="toolbar totals">
        <p role="status">
          {page && !error && countOf(page.total, 'event')}
          {selection.isAll && ', all selected'}
        </p>
        {canSelect && !selection.isAll && (
          <button type="button" class="link-button" onClick={selection.chooseAll}>
            Select all {formatNumber(page.total)} that match
          </button>
        )}
        {selection.ids.size > 0 && (
          <button type="button" class="link-button" onClick={selection.clear}>
            Clear the selection
          </button>
        )}
        <button
          type="button"
          class="button risky"
          disabled={!canSelect || selection.ids.size === 0}
          onClick={deleteSelected}
        >
          Delete selected ({formatNumber(selection.isAll && page ? page.total : selection.ids.size)})
        </button>
      </div>
      <TabPanel id="event-list" chosen={when}>
        <ListCard
          list={list}
          loaded={{ ...loaded, reload }}
          shown={events.length}
          empty={<NoEvents list={list} isFiltered={isFiltered(query)} />}
        >
          <EventTable
            class="all-events"
            columns={COLUMNS}
            events={page?.events}
            list={list}
            isLoading={isLoading}
            selection={selection}
            place={place}
          />
        </ListCard>
      </TabPanel>
      {opened && (
        <EventPanel
          event={opened}
          place={place}
          events={events}
          onDelete={() => setToDelete({ kind: 'of-any', events: [opened] })}
          onNear={({ lat, lng }) => list.filter('near', encodeNear({ lat, lng, radius: NEARBY_MILES }))}
        />
      )}
      {openedId !== null && !opened && !isLoading && (
        <LinkedEvent
          id={openedId}
          place={place}
          onDelete={(event) => setToDelete({ kind: 'of-any', events: [event] })}
        />
      )}
      {toDelete && (
        <DeleteEventsDialog deletion={toDelete} onDone={finish} onClose={() => setToDelete(undefined)} />
      )}
    </section>
  );
}

/** Type, and whether it has ended or is cancelled. */
function Marks({ event }: { event: OwnedEvent }) {
  const isOver = hasEnded(event, useNow());
  const marks = [event.event_type, isOver && 'ended', event.status === 'cancelled' && 'cancelled'];
  return <>{marks.filter(Boolean).join(', ')}</>;
}

function Created({ event: { created_at } }: { event: OwnedEvent }) {
  return <time dateTime={created_at}>{formatExact(created_at)}</time>;
}

/** The agent of an event, and a button to show only its events. */
function Owner({ event: { agent_id, agent_name }, list }: { event: OwnedEvent; list: ListState }) {
  return (
    <>
      <Link href={agentUrl(agent_id)} class="cell-link">
        <Text value={agent_name} />
      </Link>
      <button
        type="button"
        class="icon-button small"
        aria-label={`Only events of ${visibleText(agent_name) || agent_id}`}
        title="Only events of this agent"
        onClick={() => list.filter('agent', agent_id)}
      >
        <Icon name="filter" />
      </button>
    </>
  );
}

/** The API query of the whole list, in the order in which new events come first. */
function withoutPage(apiQuery: string): string {
  const query = new URLSearchParams(apiQuery);
  for (const name of ['cursor', 'limit', 'sort']) query.delete(name);
  return query.toString();
}

interface LinkedEventProps {
  id: string;
  place: Place;
  onDelete: (event: OwnedEvent) => void;
}

/** An event that a link leads to, and that is not on the page. Nothing if it does not exist. */
function LinkedEvent({ id, place, onDelete }: LinkedEventProps) {
  const { data } = useLoad<OwnedEvent>(`/events/${encodeURIComponent(id)}`);
  return data?.event_id === id ? (
    <EventPanel event={data} place={place} onDelete={() => onDelete(data)} />
  ) : null;
}

function NoEvents({ list, isFiltered }: { list: ListState; isFiltered: boolean }) {
  if (list.q === '' && !isFiltered) {
    return (
      <Empty icon="calendar" title="No events yet">
        <p>Events appear here when agents create them.</p>
      </Empty>
    );
  }
  return (
    <NoMatch list={list} title="No event matches">
      {isFiltered && <p>The filters above leave out other events.</p>}
    </NoMatch>
  );
}
