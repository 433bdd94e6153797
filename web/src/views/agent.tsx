// View of one agent: its details, limits and actions, and tabs for its events, its keys and its history.
import { useState } from 'preact/hooks';
import type { AgentDetails, AuditPage } from '../api.ts';
import { Active } from '../components/badges.tsx';
import { Icon } from '../components/icon.tsx';
import { Link } from '../components/link.tsx';
import { Failure } from '../components/states.tsx';
import { TabPanel, Tabs } from '../components/tabs.tsx';
import { Text, visibleText } from '../components/text.tsx';
import { lastListUrl, navigate, type Place, returnToList } from '../router.ts';
import { useLoad } from '../use-load.ts';
import { useTitle } from '../use-title.ts';
import { AgentActions } from './agent-actions.tsx';
import { AgentEvents } from './agent-events.tsx';
import { AgentFacts } from './agent-facts.tsx';
import { AgentHistory } from './agent-history.tsx';
import { AgentKeys } from './agent-keys.tsx';
import { AgentQuota } from './agent-quota.tsx';
import { DeletedAgent } from './deleted-agent.tsx';
import { MissingView } from './missing.tsx';

const TABS = ['events', 'keys', 'history'] as const;
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
  const { data: agent, error, reload } = useLoad<AgentDetails>(`/agents/${id}`);
  const history = useLoad<AuditPage>(`/audit?agent_id=${id}&limit=1`);
  const [round, setRound] = useState(0);
  const tab = TABS.find((name) => name === place.query.get('tab')) ?? 'events';
  useTitle((agent && (visibleText(agent.agent_name) || agent.id)) ?? 'Agent');

  if (error?.status === 404) return <DeletedAgent id={id} />;
  const refresh = () => {
    reload();
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
          ['history', 'History', history.data?.total],
        ]}
        chosen={tab}
        panelId="agent-view"
        onChoose={choose}
      />
      <TabPanel id="agent-view" chosen={tab}>
        {tab === 'events' && <AgentEvents place={place} id={id} round={round} onChanged={refresh} />}
        {tab === 'keys' && <AgentKeys agent={agent} onChanged={refresh} />}
        {tab === 'history' && <AgentHistory key={round} place={place} id={id} />}
      </TabPanel>
    </>
  );
}
