// Changes that administrators made to an agent, its keys and its events.
import type { AuditPage } from '../api.ts';
import { ListCard } from '../components/list-card.tsx';
import { Empty } from '../components/states.tsx';
import { listState } from '../list-state.ts';
import type { Place } from '../router.ts';
import { useList } from '../use-list.ts';
import { AuditTable } from './audit.tsx';

export function AgentHistory({ place, id }: { place: Place; id: string }) {
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
