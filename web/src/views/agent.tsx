// One agent: its facts, what can be done to it, and its events. One request brings them all.
import { useEffect } from 'preact/hooks';
import type { EventPage } from '../api.ts';
import { Active } from '../components/badges.tsx';
import { Icon } from '../components/icon.tsx';
import { Link } from '../components/link.tsx';
import { Failure } from '../components/states.tsx';
import { seenOf, Text } from '../components/text.tsx';
import { listState } from '../list-state.ts';
import { lastListAddress, type Place } from '../router.ts';
import { useLoad } from '../use-load.ts';
import { useTitle } from '../use-title.ts';
import { AgentActions } from './agent-actions.tsx';
import { AgentEvents, type When, whenOf } from './agent-events.tsx';
import { AgentFacts } from './agent-facts.tsx';
import { MissingView } from './missing.tsx';

/** What comes next first, what was last first. */
const DEFAULT_SORTS: Record<When, string> = { upcoming: 'start_at', past: '-start_at', all: '-start_at' };

function Pending() {
  return (
    <>
      <span class="visually-hidden">Loading…</span>
      <span class="skeleton title" />
    </>
  );
}

export function AgentView({ place, id }: { place: Place; id: string }) {
  const when = whenOf(place.query.get('when'));
  const list = listState(place, { defaultSort: DEFAULT_SORTS[when], filters: { when } });
  const loaded = useLoad<EventPage>(`/agents/${id}/events${list.apiQuery}`);
  const { data, error, isLoading, reload } = loaded;
  // Of another agent, until this one's answer comes.
  const page = data?.agent.id === id.toLowerCase() ? data : undefined;
  const agent = page?.agent;
  useTitle(agent ? seenOf(agent.agent_name) : 'Agent');

  const isLost = list.page > 1 && (error?.status === 422 || page?.events.length === 0) && !isLoading;
  useEffect(() => {
    if (isLost) list.toFirst(true);
  });

  if (error?.status === 404) return <MissingView what="There is no such agent. It may have been deleted." />;
  if (error?.status === 422 && list.page === 1) {
    return <MissingView what="There is no such agent: this is no identifier of one." />;
  }
  return (
    <>
      <nav class="crumbs" aria-label="Way back">
        <Link href={lastListAddress()}>
          <Icon name="left" />
          Agents
        </Link>
      </nav>
      {error && !isLost && !agent ? (
        <div class="card">
          <Failure error={error} onRetry={reload} />
        </div>
      ) : (
        <>
          <div class="agent-head">
            <div class="agent-name">
              <h1>{agent ? <Text value={agent.agent_name} /> : <Pending />}</h1>
              {agent && <Active isActive={agent.is_active} />}
            </div>
            {agent && <AgentActions agent={agent} onChanged={reload} />}
          </div>
          <AgentFacts agent={agent} />
          <AgentEvents place={place} list={list} when={when} page={page} loaded={loaded} />
        </>
      )}
    </>
  );
}
