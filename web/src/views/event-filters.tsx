// Filters of the list of all events: type, agent, time of creation. They are stored in the URL.
import type { Agent, AgentPage, OwnedEvent } from '../api.ts';
import { Icon } from '../components/icon.tsx';
import { Text } from '../components/text.tsx';
import { EVENT_TYPES } from '../event-types.ts';
import type { ListState } from '../list-state.ts';
import { useLoad } from '../use-load.ts';

export const WHENS = [
  ['all', 'All'],
  ['upcoming', 'Upcoming'],
  ['past', 'Ended'],
] as const;
type When = (typeof WHENS)[number][0];

export function whenOf(text: string | null): When {
  return WHENS.find(([value]) => value === text)?.[0] ?? 'all';
}

const HOUR_MS = 3_600_000;
const SINCE: readonly [value: string, label: string, ms: number][] = [
  ['1h', 'Last hour', HOUR_MS],
  ['24h', 'Last 24 hours', 24 * HOUR_MS],
  ['7d', 'Last 7 days', 7 * 24 * HOUR_MS],
  ['30d', 'Last 30 days', 30 * 24 * HOUR_MS],
];

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Parameters of the API for the filters in the URL. Values that the API would refuse are left out. */
export function filtersOf(query: URLSearchParams, nowMs: number): Record<string, string> {
  const type = EVENT_TYPES.find((name) => name === query.get('type'));
  const agent = agentOf(query);
  const since = SINCE.find(([value]) => value === query.get('created'));
  return {
    when: whenOf(query.get('when')),
    ...(type && { event_type: type }),
    ...(agent !== undefined && { agent_id: agent }),
    ...(since && { created_after: new Date(nowMs - since[2]).toISOString() }),
  };
}

export function isFiltered(query: URLSearchParams): boolean {
  return ['when', 'type', 'agent', 'created'].some((name) => query.has(name));
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
  const choose = (name: string) => (event: { currentTarget: HTMLSelectElement }) =>
    list.filter(name, event.currentTarget.value || undefined);
  return (
    <div class="filters">
      <label>
        <span>Type</span>
        <select value={query.get('type') ?? ''} onChange={choose('type')}>
          <option value="">Any</option>
          {EVENT_TYPES.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Created</span>
        <select value={query.get('created') ?? ''} onChange={choose('created')}>
          <option value="">At any time</option>
          {SINCE.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {agent !== undefined && (
        <p class="chip">
          Agent:{' '}
          <AgentName
            key={agent}
            id={agent}
            known={events.find(({ agent_id }) => agent_id === agent)?.agent_name}
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

function AgentName({ id, known }: { id: string; known: string | undefined }) {
  return known === undefined ? <LoadedName id={id} /> : <Text value={known} />;
}

function LoadedName({ id }: { id: string }) {
  const { data } = useLoad<AgentPage>(`/agents?limit=1&q=${id}`);
  const agent: Agent | undefined = data?.agents[0];
  return agent ? <Text value={agent.agent_name} /> : <code>{id}</code>;
}
