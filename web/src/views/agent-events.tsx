// The events of an agent: upcoming, past or all of them, searched, sorted, selected, opened.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AgentEvent, EventPage } from '../api.ts';
import { Pager } from '../components/pager.tsx';
import { SearchField } from '../components/search-field.tsx';
import { SortSelect } from '../components/sort-header.tsx';
import { Empty, Failure } from '../components/states.tsx';
import { TabPanel, Tabs } from '../components/tabs.tsx';
import { Text } from '../components/text.tsx';
import { countOf, formatNumber } from '../format.ts';
import type { ListState } from '../list-state.ts';
import { navigate, type Place, withQuery } from '../router.ts';
import type { Loaded } from '../use-load.ts';
import { DeleteEventsDialog } from './delete-events.tsx';
import { EventPanel } from './event-panel.tsx';
import { EVENT_COLUMNS, EventTable } from './event-table.tsx';

const TABS = [
  ['upcoming', 'Upcoming'],
  ['past', 'Past'],
  ['all', 'All'],
] as const;
export type When = (typeof TABS)[number][0];

export function whenOf(text: string | null): When {
  return TABS.find(([value]) => value === text)?.[0] ?? 'upcoming';
}

interface AgentEventsProps {
  place: Place;
  list: ListState;
  when: When;
  /** Undefined: not there yet. */
  page: EventPage | undefined;
  loaded: Loaded<EventPage>;
}

export function AgentEvents({ place, list, when, page, loaded }: AgentEventsProps) {
  const [selection, setSelection] = useState<Selection>({ of: '', ids: new Set() });
  const [doomed, setDoomed] = useState<readonly AgentEvent[]>();
  const heading = useRef<HTMLHeadingElement>(null);
  const isFinished = useRef(false);
  const { error, isLoading, reload } = loaded;
  const events = page?.events ?? [];
  // Selected is only what is on the page: another search, order or page begins anew.
  const chosen =
    selection.of === list.apiQuery ? events.filter(({ event_id }) => selection.ids.has(event_id)) : [];
  const opened = events.find(({ event_id }) => event_id === place.query.get('event'));

  const finish = () => {
    setDoomed(undefined);
    if (opened) closeEvent(place);
    setSelection({ of: '', ids: new Set() });
    reload();
    isFinished.current = true;
  };
  // What had the focus may be gone with what was deleted.
  useEffect(() => {
    if (isLoading || !isFinished.current) return;
    isFinished.current = false;
    if (document.activeElement === document.body) heading.current?.focus();
  }, [isLoading]);
  return (
    <section aria-labelledby="events">
      <div class="section-head">
        <h2 id="events" tabIndex={-1} ref={heading}>
          Events
        </h2>
        <Tabs
          label="Which events"
          tabs={TABS}
          chosen={when}
          panelId="event-list"
          onChoose={(value) => list.filter('when', value === 'upcoming' ? undefined : value)}
        />
      </div>
      <div class="toolbar sticky">
        <SearchField
          label="Search events"
          placeholder="Search by title, place or id"
          value={list.q}
          onSearch={list.search}
        />
        <SortSelect columns={EVENT_COLUMNS} sort={list.sort} onSort={list.sortBy} />
        <button
          type="button"
          class="button risky"
          disabled={chosen.length === 0}
          onClick={() => setDoomed(chosen)}
        >
          Delete selected ({formatNumber(chosen.length)})
        </button>
      </div>
      <TabPanel id="event-list" chosen={when}>
        <div class="card" aria-busy={isLoading}>
          {error ? (
            <Failure error={error} onRetry={reload} />
          ) : page && page.total === 0 ? (
            <NoEvents page={page} list={list} when={when} />
          ) : (
            <EventTable
              events={page?.events}
              list={list}
              isLoading={isLoading}
              selected={new Set(chosen.map(({ event_id }) => event_id))}
              onSelect={(ids) => setSelection({ of: list.apiQuery, ids })}
              onOpen={(event) => openEvent(place, event)}
            />
          )}
        </div>
        {page && !error && (
          <Pager
            list={list}
            shown={events.length}
            total={page.total}
            next={page.next_cursor}
            isLoading={isLoading}
          />
        )}
      </TabPanel>
      {opened && (
        <EventPanel event={opened} onClose={() => closeEvent(place)} onDelete={() => setDoomed([opened])} />
      )}
      {doomed && page && (
        <DeleteEventsDialog
          agent={page.agent}
          events={doomed}
          onDone={finish}
          onGone={finish}
          onClose={() => setDoomed(undefined)}
        />
      )}
    </section>
  );
}

interface Selection {
  /** The query whose page it is of. */
  readonly of: string;
  readonly ids: ReadonlySet<string>;
}

function openEvent({ path, query, state }: Place, event: AgentEvent): void {
  const next = new URLSearchParams(query);
  next.set('event', event.event_id);
  navigate(path + withQuery(next), { state: { ...state, onTop: true } });
}

function closeEvent({ path, query, state }: Place): void {
  if (state.onTop) {
    history.back();
    return;
  }
  const next = new URLSearchParams(query);
  next.delete('event');
  navigate(path + withQuery(next), { replace: true, state });
}

function NoEvents({ page, list, when }: { page: EventPage; list: ListState; when: When }) {
  if (list.q !== '') {
    return (
      <Empty icon="search" title="No event matches">
        <p>
          None of {when === 'all' ? 'its events' : `its ${when} events`} has “<Text value={list.q} />” in its
          title, place, address or id.
        </p>
        <p>
          <button type="button" class="button" onClick={() => list.search('')}>
            Clear the search
          </button>
        </p>
      </Empty>
    );
  }
  const held = page.agent.event_count;
  return (
    <Empty icon="calendar" title={when === 'all' || held === 0 ? 'No events' : `No ${when} events`}>
      {held === 0 ? (
        <p>This agent holds no events.</p>
      ) : (
        <>
          <p>This agent holds {countOf(held, 'event')} in all.</p>
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
