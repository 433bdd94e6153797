// View of all agents, with search, sorting and pages.
import type { AgentPage, ListedAgent } from '../api.ts';
import { ActivityCharts } from '../components/activity-charts.tsx';
import { Active, Tier } from '../components/badges.tsx';
import { Link } from '../components/link.tsx';
import { ListCard, NoMatch } from '../components/list-card.tsx';
import { type Column, ListTable, SortSelect, sortKeysOf } from '../components/list-table.tsx';
import { SearchField } from '../components/search-field.tsx';
import { Empty } from '../components/states.tsx';
import { StatsStrip } from '../components/stats-strip.tsx';
import { Text } from '../components/text.tsx';
import { Day, RelativeTime } from '../components/time.tsx';
import { formatNumber } from '../format.ts';
import { type ListState, listState } from '../list-state.ts';
import { agentUrl, type Place } from '../router.ts';
import { useList } from '../use-list.ts';
import { useTitle } from '../use-title.ts';

const COLUMNS: readonly Column[] = [
  { key: 'agent_name', label: 'Name', class: 'column-name' },
  { key: 'email', label: 'E-mail', class: 'column-email from-large' },
  { key: 'tier', label: 'Tier', class: 'column-tier from-medium' },
  { key: 'is_active', label: 'Active', class: 'column-active from-medium', isDescendingFirst: true },
  { key: 'event_count', label: 'Events', class: 'column-events number', isDescendingFirst: true },
  {
    key: 'events_24h',
    label: '24 h',
    longLabel: 'Events in 24 hours',
    class: 'column-day number from-medium',
    isDescendingFirst: true,
  },
  {
    key: 'events_7d',
    label: '7 days',
    longLabel: 'Events in 7 days',
    class: 'column-week number from-medium',
    isDescendingFirst: true,
  },
  {
    key: 'requests_1h',
    label: 'Requests',
    longLabel: 'Requests in the last hour',
    class: 'column-requests number from-large',
    isDescendingFirst: true,
  },
  {
    key: 'refusals_1h',
    label: 'Refused',
    longLabel: 'Requests refused in the last hour',
    class: 'column-requests number from-large',
    isDescendingFirst: true,
  },
  { key: 'created_at', label: 'Created', class: 'column-created from-large', isDescendingFirst: true },
  { key: 'last_used_at', label: 'Last used', class: 'column-used from-medium', isDescendingFirst: true },
];

const SORT_KEYS = sortKeysOf(COLUMNS);

export function AgentsView({ place }: { place: Place }) {
  useTitle('Agents');
  const list = listState(place, {
    defaultSort: '-created_at',
    sortKeys: SORT_KEYS,
    filters: { include: 'activity,requests' },
  });
  const loaded = useList<AgentPage>('/agents', list, ({ agents }) => agents.length);
  const agents = loaded.data?.agents;
  return (
    <>
      <h1>Agents</h1>
      <StatsStrip />
      <ActivityCharts isWaiting={!loaded.data && !loaded.error} />
      <div class="toolbar">
        <SearchField
          label="Search agents"
          placeholder="Search by name, e-mail or ID"
          value={list.q}
          onSearch={list.search}
        />
        <SortSelect columns={COLUMNS} list={list} />
      </div>
      <ListCard
        list={list}
        loaded={loaded}
        shown={agents?.length ?? 0}
        noun="agent"
        empty={<NoAgents list={list} />}
      >
        <ListTable
          class="agents"
          caption="Agents"
          columns={COLUMNS}
          list={list}
          rows={agents}
          isLoading={loaded.isLoading}
        >
          {(agent) => <AgentRow key={agent.id} agent={agent} />}
        </ListTable>
      </ListCard>
    </>
  );
}

function NoAgents({ list }: { list: ListState }) {
  if (list.q === '') {
    return (
      <Empty icon="inbox" title="No agents yet">
        <p>
          An agent appears here when it registers itself with <code>POST /v1/auth/register</code>. The{' '}
          <a href="/docs">API description</a> shows how.
        </p>
      </Empty>
    );
  }
  return (
    <NoMatch list={list} title="No agent matches">
      <p>
        No agent has “<Text value={list.q} />” in its name, e-mail or ID.
      </p>
    </NoMatch>
  );
}

function AgentRow({ agent }: { agent: ListedAgent }) {
  const { id, agent_name, email, tier, is_active, event_count, created_at, last_used_at } = agent;
  const { events_24h = 0, events_7d = 0, requests_1h = 0, refusals_1h = 0 } = agent;
  return (
    <tr class={is_active ? undefined : 'inactive'}>
      <td class="column-name">
        <Link href={agentUrl(id)} class="row-link clamp">
          <Text value={agent_name} />
        </Link>
        <span class="second until-large cut">
          <Text value={email} />
        </span>
        <span class="second until-medium">
          {is_active ? '' : 'inactive · '}
          {tier} ·{' '}
          {last_used_at ? (
            <>
              used <RelativeTime at={last_used_at} />
            </>
          ) : (
            'never used'
          )}
        </span>
        {events_7d > 0 && (
          <span class="second until-medium">
            new: {formatNumber(events_24h)} in 24 h, {formatNumber(events_7d)} in 7 days
          </span>
        )}
        {requests_1h > 0 && (
          <span class="second until-large">
            {formatNumber(requests_1h)} requests in the last hour, {formatNumber(refusals_1h)} refused
          </span>
        )}
      </td>
      <td class="column-email from-large cut" title={email}>
        <Text value={email} />
      </td>
      <td class="column-tier from-medium">
        <Tier tier={tier} />
      </td>
      <td class="column-active from-medium">
        <Active isActive={is_active} />
      </td>
      <td class="column-events number">{formatNumber(event_count)}</td>
      <td class="column-day number from-medium">{formatNumber(events_24h)}</td>
      <td class="column-week number from-medium">{formatNumber(events_7d)}</td>
      <td class="column-requests number from-large">{formatNumber(requests_1h)}</td>
      <td class="column-requests number from-large">{formatNumber(refusals_1h)}</td>
      <td class="column-created from-large">
        <Day at={created_at} />
      </td>
      <td class="column-used from-medium">
        {last_used_at ? <RelativeTime at={last_used_at} /> : <span class="faint">never</span>}
      </td>
    </tr>
  );
}
