// View of one agent: its details, actions and events. One request loads them all.
import type { EventPage } from '../api.ts';
import { Active } from '../components/badges.tsx';
import { Icon } from '../components/icon.tsx';
import { Link } from '../components/link.tsx';
import { Text, visibleText } from '../components/text.tsx';
import { listState } from '../list-state.ts';
import { lastListUrl, type Place, returnToList } from '../router.ts';
import { useList } from '../use-list.ts';
import { useTitle } from '../use-title.ts';
import { AgentActions } from './agent-actions.tsx';
import { AgentEvents, type When, whenOf } from './agent-events.tsx';
import { AgentFacts } from './agent-facts.tsx';
import { EVENT_COLUMNS } from './event-table.tsx';
import { MissingView } from './missing.tsx';

/** Upcoming events: soonest first. Past events: latest first. */
const DEFAULT_SORTS: Record<When, string> = { upcoming: 'start_at', past: '-start_at', all: '-start_at' };

function Pending() {
  return (
    <>
      <span class="visually-hidden">Loading…</span>
      <span class="skeleton title" />
    </>
  );
}

const SORT_KEYS = EVENT_COLUMNS.map(({ key }) => key);

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function AgentView({ place, id }: { place: Place; id: string }) {
  if (!UUID.test(id)) return <MissingView what="There is no such agent: the ID in the URL is not valid." />;
  return <KnownAgent place={place} id={id.toLowerCase()} />;
}

function KnownAgent({ place, id }: { place: Place; id: string }) {
  const when = whenOf(place.query.get('when'));
  const list = listState(place, {
    defaultSort: DEFAULT_SORTS[when],
    sortKeys: SORT_KEYS,
    filters: { when },
  });
  const loaded = useList<EventPage>(`/agents/${id}/events`, list, ({ events }) => events.length);
  const { data: page, error, reload } = loaded;
  const agent = page?.agent;
  useTitle((agent && (visibleText(agent.agent_name) || agent.id)) ?? 'Agent');

  if (error?.status === 404) return <MissingView what="There is no such agent. It may have been deleted." />;
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
        {agent && <AgentActions agent={agent} onChanged={reload} />}
      </div>
      {(agent || !error) && <AgentFacts agent={agent} />}
      <AgentEvents place={place} list={list} when={when} loaded={loaded} />
    </>
  );
}
