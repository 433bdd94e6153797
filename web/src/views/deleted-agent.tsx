// Page of an agent that an administrator deleted: who did it, and a button to restore the agent.
import { useState } from 'preact/hooks';
import type { AuditPage } from '../api.ts';
import { Icon } from '../components/icon.tsx';
import { Link } from '../components/link.tsx';
import { Text } from '../components/text.tsx';
import { RelativeTime } from '../components/time.tsx';
import { countOf, formatFull } from '../format.ts';
import { useLoad } from '../use-load.ts';
import { useTitle } from '../use-title.ts';
import { UndoDialog } from './audit.tsx';
import { MissingView } from './missing.tsx';
import { StartingView } from './starting.tsx';

/** The page of the agent loads again by itself once it is restored. */
export function DeletedAgent({ id }: { id: string }) {
  const deletion = `/audit?agent_id=${id}&action=delete_agent&limit=1&include=details`;
  const { data, error } = useLoad<AuditPage>(deletion);
  const [isAsking, setAsking] = useState(false);
  useTitle('Deleted agent');
  const entry = data?.entries[0];
  if (!data && !error) return <StartingView />;
  if (!entry) return <MissingView what="There is no such agent. It may have been deleted." />;
  const { actor_email, actor_subject, at, count, target_name, restorable_until: until } = entry;
  return (
    <div class="gate">
      <span class="gate-icon">
        <Icon name="trash" />
      </span>
      <h1>{target_name ? <Text value={target_name} /> : 'Deleted agent'}</h1>
      <p>
        This agent was deleted by <Text value={actor_email || actor_subject} /> <RelativeTime at={at} />, with
        its keys and {countOf(count, 'event')}.{' '}
        {until ? `It can be restored until ${formatFull(until)}.` : 'It can no longer be restored.'}
      </p>
      {until && (
        <button type="button" class="button primary wide" onClick={() => setAsking(true)}>
          Restore agent
        </button>
      )}
      <Link href="/admin" class="button wide">
        All agents
      </Link>
      {isAsking && <UndoDialog entry={entry} onClose={() => setAsking(false)} />}
    </div>
  );
}
