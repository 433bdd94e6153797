// View of one agent: its details, limits and actions, and tabs for its events, its keys, its grants and its history.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Agent, AgentDetails, AuditPage, GrantList } from '../api.ts';
import { Active, Tier } from '../components/badges.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Icon } from '../components/icon.tsx';
import { Link } from '../components/link.tsx';
import { ListCard } from '../components/list-card.tsx';
import { Empty, Failure } from '../components/states.tsx';
import { TabPanel, Tabs } from '../components/tabs.tsx';
import { Text, visibleText } from '../components/text.tsx';
import { Day, RelativeTime } from '../components/time.tsx';
import { formatNumber } from '../format.ts';
import { listState } from '../list-state.ts';
import { lastListUrl, navigate, type Place, returnToList } from '../router.ts';
import { useList } from '../use-list.ts';
import { useLoad } from '../use-load.ts';
import { useTitle } from '../use-title.ts';
import { AgentActions } from './agent-actions.tsx';
import { AgentEvents } from './agent-events.tsx';
import { AgentGrants } from './agent-grants.tsx';
import { AgentKeys } from './agent-keys.tsx';
import { AgentQuota } from './agent-quota.tsx';
import { AuditTable } from './audit.tsx';
import { DeletedAgent } from './deleted-agent.tsx';
import { MissingView } from './missing.tsx';

const TABS = ['events', 'keys', 'grants', 'history'] as const;
type Tab = (typeof TABS)[number];

function Pending() {
  return (
    <>
      <span class="visually-hidden">Loading…</span>
      <span class="skeleton title" />
    </>
  );
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function AgentView({ place, id }: { place: Place; id: string }) {
  if (!UUID.test(id)) return <MissingView what="There is no such agent: the ID in the URL is not valid." />;
  return <KnownAgent place={place} id={id.toLowerCase()} />;
}

function KnownAgent({ place, id }: { place: Place; id: string }) {
  const { data: agent, error, isLoading, reload } = useLoad<AgentDetails>(`/agents/${id}`);
  const history = useLoad<AuditPage>(`/audit?agent_id=${id}&limit=1`);
  const grants = useLoad<GrantList>(`/agents/${id}/grants`);
  const [round, setRound] = useState(0);
  const tab = TABS.find((name) => name === place.query.get('tab')) ?? 'events';
  useTitle((agent && (visibleText(agent.agent_name) || agent.id)) ?? 'Agent');

  if (error?.status === 404) return <DeletedAgent id={id} />;
  const refresh = () => {
    reload();
    grants.reload();
    history.reload();
  };
  /** The search and the page of one tab mean nothing to another. */
  const choose = (chosen: Tab) => navigate(place.path + (chosen === 'events' ? '' : `?tab=${chosen}`));
  return (
    <>
      <nav class="crumbs" aria-label="Breadcrumb">
        <Link href={lastListUrl()} onFollow={returnToList}>
          <Icon name="left" />
          Agents
        </Link>
      </nav>
      <div class="agent-head">
        <div class="agent-name">
          <h1>{agent ? <Text value={agent.agent_name} /> : error ? 'Agent' : <Pending />}</h1>
          {agent && <Active isActive={agent.is_active} />}
        </div>
        {agent && (
          <AgentActions
            agent={agent}
            onChanged={() => {
              refresh();
              setRound(round + 1);
            }}
          />
        )}
      </div>
      {error && !agent ? (
        <div class="card agent-failure">
          <Failure error={error} actionLabel="Try again" onAction={reload} />
        </div>
      ) : (
        <>
          <AgentFacts agent={agent} />
          <AgentQuota quota={agent?.quota} />
        </>
      )}
      <Tabs
        label="Views of the agent"
        look="views"
        tabs={[
          ['events', 'Events', agent?.event_count],
          ['keys', 'Keys', agent?.keys.length],
          ['grants', 'Grants', grants.data?.grants.length],
          ['history', 'History', history.data?.total],
        ]}
        chosen={tab}
        panelId="agent-view"
        onChoose={choose}
      />
      <TabPanel id="agent-view" chosen={tab}>
        {tab === 'events' && <AgentEvents place={place} id={id} round={round} onChanged={refresh} />}
        {tab === 'keys' && <AgentKeys agent={agent} isLoading={isLoading} onChanged={refresh} />}
        {tab === 'grants' && <AgentGrants agent={agent} loaded={grants} onChanged={refresh} />}
        {tab === 'history' && <AgentHistory key={round} place={place} id={id} />}
      </TabPanel>
    </>
  );
}

/** `agent` is undefined while it loads. */
function AgentFacts({ agent }: { agent: Agent | undefined }) {
  const fact = (label: string, value: (agent: Agent) => ComponentChildren) => (
    <div>
      <dt>{label}</dt>
      <dd>{agent ? value(agent) : <span class="skeleton" />}</dd>
    </div>
  );
  return (
    <dl class="facts card" aria-label="Details" aria-busy={!agent}>
      {fact('E-mail', ({ email }) => (
        <Text value={email} />
      ))}
      {fact('Tier', ({ tier }) => (
        <Tier tier={tier} />
      ))}
      {fact('Events', ({ event_count }) => formatNumber(event_count))}
      {fact('ID', ({ id }) => (
        <>
          <code>{id}</code>
          <CopyButton value={id} what="ID" />
        </>
      ))}
      {fact('Created', ({ created_at }) => (
        <Day at={created_at} />
      ))}
      {fact('Last used', ({ last_used_at }) =>
        last_used_at ? <RelativeTime at={last_used_at} /> : <span class="faint">never</span>,
      )}
    </dl>
  );
}

/** Changes that administrators made to an agent, its keys, its grants and its events. */
function AgentHistory({ place, id }: { place: Place; id: string }) {
  const list = listState(place, { filters: { agent_id: id, include: 'details' } });
  const loaded = useList<AuditPage>('/audit', list, ({ entries }) => entries.length);
  const entries = loaded.data?.entries;
  const empty = (
    <Empty icon="inbox" title="No changes yet">
      <p>When an administrator changes this agent or deletes its events, it is recorded here.</p>
    </Empty>
  );
  return (
    <ListCard list={list} loaded={loaded} shown={entries?.length ?? 0} noun="change" empty={empty}>
      <AuditTable entries={entries} isLoading={loaded.isLoading} />
    </ListCard>
  );
}
