// List of an agent's events: upcoming, ended or all, with search, sorting, selection and details.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AgentEvent, EventPage } from '../api.ts';
import { ListCard, NoMatch } from '../components/list-card.tsx';
import { SortSelect, sortKeysOf } from '../components/list-table.tsx';
import { SearchField } from '../components/search-field.tsx';
import { Empty } from '../components/states.tsx';
import { TabPanel, Tabs } from '../components/tabs.tsx';
import { Text } from '../components/text.tsx';
import { Day, EventTime } from '../components/time.tsx';
import { countOf, formatNumber } from '../format.ts';
import { type ListState, listState } from '../list-state.ts';
import { closeEvent } from '../opened-event.ts';
import type { Place } from '../router.ts';
import { useFocusReturn } from '../use-focus-return.ts';
import { useList } from '../use-list.ts';
import { useSelection } from '../use-selection.ts';
import { DeleteEventsDialog } from './delete-events.tsx';
import { EventPanel } from './event-panel.tsx';
import { type EventColumn, EventTable } from './event-table.tsx';

const TABS = [
  ['upcoming', 'Upcoming'],
  ['past', 'Ended'],
  ['all', 'All'],
] as const;
type When = (typeof TABS)[number][0];
const ADJECTIVES: Record<When, string> = { upcoming: 'upcoming', past: 'ended', all: '' };

function whenOf(text: string | null): When {
  return TABS.find(([value]) => value === text)?.[0] ?? 'upcoming';
}

/** Upcoming events: soonest first. Ended events: latest first. */
const DEFAULT_SORTS: Record<When, string> = { upcoming: 'start_at', past: '-start_at', all: '-start_at' };

const COLUMNS: readonly EventColumn<AgentEvent>[] = [
  {
    key: 'start_at',
    label: 'Start',
    class: 'column-start from-medium',
    cell: (event) => <Start event={event} />,
  },
  {
    key: 'title',
    label: 'Title',
    class: 'column-title',
    isTitle: true,
    cell: (event) => (
      <>
        <span class="second cut">
          <Text value={event.location_name} />
        </span>
        <span class="second until-medium">
          <Start event={event} />
        </span>
      </>
    ),
  },
  {
    key: 'event_type',
    label: 'Type',
    class: 'column-type from-medium',
    cell: ({ event_type }) => event_type,
  },
  {
    key: 'created_at',
    label: 'Created',
    class: 'column-created from-large',
    isDescendingFirst: true,
    cell: ({ created_at }) => <Day at={created_at} />,
  },
];

const SORT_KEYS = sortKeysOf(COLUMNS);

interface AgentEventsProps {
  place: Place;
  id: string;
  /** Changes when the events must be loaded again. */
  round: number;
  /** Called after events were deleted here. */
  onChanged: () => void;
}

export function AgentEvents({ place, id, round, onChanged }: AgentEventsProps) {
  const when = whenOf(place.query.get('when'));
  const list = listState(place, {
    defaultSort: DEFAULT_SORTS[when],
    sortKeys: SORT_KEYS,
    filters: { when },
  });
  const loaded = useList<EventPage>(`/agents/${id}/events`, list, ({ events }) => events.length);
  const shownRound = useRef(round);
  const [toDelete, setToDelete] = useState<readonly AgentEvent[]>();
  const { data: page, error, isLoading, reload } = loaded;
  const { heading, expect } = useFocusReturn(isLoading);
  const events = page?.events ?? [];
  const ids = events.map(({ event_id }) => event_id);
  const selection = useSelection(ids, list.apiQuery, list.apiQuery);
  const chosen = error ? [] : events.filter(({ event_id }) => selection.ids.has(event_id));
  const opened = events.find(({ event_id }) => event_id === place.query.get('event'));

  const finish = () => {
    setToDelete(undefined);
    if (opened) closeEvent(place);
    selection.clear();
    reload();
    onChanged();
    expect();
  };
  useEffect(() => {
    if (shownRound.current === round) return;
    shownRound.current = round;
    reload();
  }, [round, reload]);
  return (
    <section aria-labelledby="events">
      <div class="section-head">
        <h2 id="events" class="visually-hidden" tabIndex={-1} ref={heading}>
          Events
        </h2>
        <Tabs
          label="Events shown"
          tabs={TABS}
          chosen={when}
          panelId="event-list"
          onChoose={(value) => list.filter('when', value === 'upcoming' ? undefined : value)}
        />
      </div>
      <div class="toolbar sticky">
        <SearchField
          label="Search events"
          placeholder="Search by title, place or ID"
          value={list.q}
          onSearch={list.search}
        />
        <SortSelect columns={COLUMNS} list={list} />
        <button
          type="button"
          class="button risky"
          disabled={chosen.length === 0}
          onClick={() => setToDelete(chosen)}
        >
          Delete selected ({formatNumber(chosen.length)})
        </button>
      </div>
      <TabPanel id="event-list" chosen={when}>
        <ListCard
          list={list}
          loaded={loaded}
          shown={events.length}
          noun="event"
          empty={page && <NoEvents page={page} list={list} when={when} />}
        >
          <EventTable
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
        <EventPanel event={opened} place={place} events={events} onDelete={() => setToDelete([opened])} />
      )}
      {toDelete && page && (
        <DeleteEventsDialog
          deletion={{ kind: 'of-agent', agent: page.agent, events: toDelete }}
          onDone={finish}
          onClose={() => setToDelete(undefined)}
        />
      )}
    </section>
  );
}

function Start({ event: { start_at, timezone } }: { event: AgentEvent }) {
  return <EventTime at={start_at} timezone={timezone} />;
}

function NoEvents({ page, list, when }: { page: EventPage; list: ListState; when: When }) {
  if (list.q !== '') {
    return (
      <NoMatch list={list} title="No event matches">
        <p>
          None of {when === 'all' ? 'its events' : `its ${ADJECTIVES[when]} events`} has “
          <Text value={list.q} />” in its title, place, address or ID.
        </p>
      </NoMatch>
    );
  }
  const count = page.agent.event_count;
  return (
    <Empty
      icon="calendar"
      title={when === 'all' || count === 0 ? 'No events' : `No ${ADJECTIVES[when]} events`}
    >
      {count === 0 ? (
        <p>This agent has no events.</p>
      ) : (
        <>
          <p>This agent has {countOf(count, 'event')} in total.</p>
          {when !== 'all' && (
            <p>
              <button type="button" class="button" onClick={() => list.filter('when', 'all')}>
                Show all
              </button>
            </p>
          )}
        </>
      )}
    </Empty>
  );
}
