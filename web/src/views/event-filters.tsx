// Filters of the list of all events: type, status, place, agent, times of creation and of the last change. They are stored in the URL.
import type { Agent, AgentEvent, AgentPage, OwnedEvent } from '../api.ts';
import { SelectFilter } from '../components/filter-fields.tsx';
import { Icon } from '../components/icon.tsx';
import { Text } from '../components/text.tsx';
import type { ListState } from '../list-state.ts';
import { useLoad } from '../use-load.ts';
import { encodeNear, nearOf, PlaceFilter } from './place-filter.tsx';

export const WHENS = [
  ['all', 'All'],
  ['upcoming', 'Upcoming'],
  ['past', 'Ended'],
] as const;
type When = (typeof WHENS)[number][0];

export function whenOf(text: string | null): When {
  return WHENS.find(([value]) => value === text)?.[0] ?? 'all';
}

/** The type check fails if one is missing. */
const TYPES: Readonly<Record<AgentEvent['event_type'], true>> = {
  workshop: true,
  performance: true,
  festival: true,
  market: true,
  competition: true,
  game: true,
  social: true,
  meetup: true,
  club: true,
  support: true,
  talk: true,
  conference: true,
  exhibition: true,
  tour: true,
  ceremony: true,
};

const EVENT_TYPES: readonly string[] = Object.keys(TYPES);

const HOUR_MS = 3_600_000;
/** `ms` undefined: since the beginning of the viewer's day. */
const SINCE: readonly [value: string, label: string, ms: number | undefined][] = [
  ['today', 'Today', undefined],
  ['1h', 'Last hour', HOUR_MS],
  ['24h', 'Last 24 hours', 24 * HOUR_MS],
  ['7d', 'Last 7 days', 7 * 24 * HOUR_MS],
  ['30d', 'Last 30 days', 30 * 24 * HOUR_MS],
];

/** Choices for the times of creation and of the last change. */
const TIMES = [['', 'At any time'], ...SINCE.map(([value, label]) => [value, label] as const)] as const;

const STATUSES = ['scheduled', 'cancelled'] as const;

/** A choice whose label is its value. */
const asChoice = (value: string) => [value, value] as const;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Parameters of the API for the filters in the URL. Values that the API would refuse are left out. */
export function filtersOf(query: URLSearchParams, nowMs: number): Record<string, string> {
  const type = EVENT_TYPES.find((name) => name === query.get('type'));
  const agent = agentOf(query);
  const near = nearOf(query.get('near'));
  const status = STATUSES.find((name) => name === query.get('status'));
  const created = sinceOf(query.get('created'), nowMs);
  const updated = sinceOf(query.get('updated'), nowMs);
  return {
    when: whenOf(query.get('when')),
    ...(type && { event_type: type }),
    ...(agent !== undefined && { agent_id: agent }),
    ...(status && { status }),
    ...(near && { lat: String(near.lat), lng: String(near.lng), radius: String(near.radius) }),
    ...(created && { created_after: created }),
    ...(updated && { updated_after: updated }),
  };
}

function sinceOf(text: string | null, nowMs: number): string | undefined {
  const since = SINCE.find(([value]) => value === text);
  if (!since) return undefined;
  const [, , ms] = since;
  const from = new Date(ms === undefined ? nowMs : nowMs - ms);
  if (ms === undefined) from.setHours(0, 0, 0, 0);
  return from.toISOString();
}

/** Names in the URL. */
const FILTERS = ['when', 'type', 'status', 'near', 'agent', 'created', 'updated'] as const;

/** Changes with what the filters in the URL say. */
export function filterKey(query: URLSearchParams): string {
  return JSON.stringify(FILTERS.map((name) => query.get(name)));
}

export function isFiltered(query: URLSearchParams): boolean {
  return FILTERS.some((name) => query.has(name));
}

function agentOf(query: URLSearchParams): string | undefined {
  const id = query.get('agent') ?? '';
  return UUID.test(id) ? id.toLowerCase() : undefined;
}

interface EventFiltersProps {
  query: URLSearchParams;
  list: ListState;
  /** Events of the page: if there is one, it has the name of the agent. */
  events: readonly OwnedEvent[];
}

export function EventFilters({ query, list, events }: EventFiltersProps) {
  const agent = agentOf(query);
  const select = (name: string, label: string, options: readonly (readonly [string, string])[]) => (
    <SelectFilter
      label={label}
      value={query.get(name) ?? ''}
      options={options}
      onChoose={(value) => list.filter(name, value)}
    />
  );
  return (
    <div class="filters">
      {select('type', 'Type', [['', 'Any'], ...EVENT_TYPES.map(asChoice)])}
      {select('status', 'Status', [['', 'Any'], ...STATUSES.map(asChoice)])}
      <PlaceFilter
        near={nearOf(query.get('near'))}
        onChoose={(near) => list.filter('near', near && encodeNear(near))}
      />
      {select('created', 'Created', TIMES)}
      {select('updated', 'Updated', TIMES)}
      {agent !== undefined && (
        <p class="chip">
          Agent:{' '}
          <AgentName
            key={agent}
            id={agent}
            name={events.find(({ agent_id }) => agent_id === agent)?.agent_name}
          />
          <button
            type="button"
            class="icon-button small"
            aria-label="Show events of all agents"
            title="Show events of all agents"
            onClick={() => list.filter('agent', undefined)}
          >
            <Icon name="close" />
          </button>
        </p>
      )}
    </div>
  );
}

function AgentName({ id, name }: { id: string; name: string | undefined }) {
  return name === undefined ? <LoadedName id={id} /> : <Text value={name} />;
}

function LoadedName({ id }: { id: string }) {
  const { data } = useLoad<AgentPage>(`/agents?limit=1&q=${id}`);
  const agent: Agent | undefined = data?.agents[0];
  return agent ? <Text value={agent.agent_name} /> : <code>{id}</code>;
}
