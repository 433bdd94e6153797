// View of the audit log: changes by administrators, newest first.
import type { ComponentChildren } from 'preact';
import type { AuditPage, AuditRecord } from '../api.ts';
import { Link } from '../components/link.tsx';
import { ListCard } from '../components/list-card.tsx';
import { Empty, SkeletonRows } from '../components/states.tsx';
import { Text } from '../components/text.tsx';
import { RelativeTime } from '../components/time.tsx';
import { countOf, formatFull, formatNumber } from '../format.ts';
import { listState } from '../list-state.ts';
import { agentUrl, type Place } from '../router.ts';
import { useList } from '../use-list.ts';
import { useTitle } from '../use-title.ts';

const COLUMNS: readonly [label: string, className: string][] = [
  ['When', 'column-when from-medium'],
  ['Who', 'column-who from-medium'],
  ['What', 'column-what'],
  ['Count', 'column-count number'],
];

export function AuditView({ place }: { place: Place }) {
  useTitle('Audit log');
  const list = listState(place);
  const loaded = useList<AuditPage>('/audit', list, ({ entries }) => entries.length);
  const entries = loaded.data?.entries;
  return (
    <>
      <h1>Audit log</h1>
      <p class="lead">All changes made by administrators, newest first.</p>
      <ListCard list={list} loaded={loaded} shown={entries?.length ?? 0} empty={<NoEntries />}>
        <table class={entries && loaded.isLoading ? 'list audit waiting' : 'list audit'}>
          <caption class="visually-hidden">Audit log</caption>
          <thead>
            <tr>
              {COLUMNS.map(([label, className]) => (
                <th key={label} scope="col" class={className}>
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {entries ? (
              entries.map((entry) => <AuditRow key={entry.id} entry={entry} />)
            ) : (
              <SkeletonRows columns={COLUMNS.map(([, className]) => className)} />
            )}
          </tbody>
        </table>
      </ListCard>
    </>
  );
}

function NoEntries() {
  return (
    <Empty icon="inbox" title="No entries yet">
      <p>When an administrator changes or deletes something, it is recorded here.</p>
    </Empty>
  );
}

function AuditRow({ entry }: { entry: AuditRecord }) {
  const who = <Text value={entry.actor_email || entry.actor_subject} />;
  return (
    <tr>
      <td class="column-when from-medium">
        <RelativeTime at={entry.at} />
        <span class="second">{formatFull(entry.at)}</span>
      </td>
      <td class="column-who from-medium cut" title={`${entry.actor_email} (${entry.actor_subject})`}>
        {who}
      </td>
      <td class="column-what">
        <span class="second until-medium">
          <time dateTime={entry.at}>{formatFull(entry.at)}</time> · {who}
        </span>
        <span class="deed">{describe(entry)}</span>
        <EventIds detail={entry.detail} />
      </td>
      <td class="column-count number">{formatNumber(entry.count)}</td>
    </tr>
  );
}

/** IDs of events that were deleted together; their titles are not kept. */
function EventIds({ detail }: { detail: AuditRecord['detail'] }) {
  const ids: unknown = detail?.event_ids;
  if (!Array.isArray(ids)) return null;
  return (
    <details class="event-ids">
      <summary>Event IDs</summary>
      <ul>
        {ids.map((id: unknown) => (
          <li key={String(id)}>
            <code>{String(id)}</code>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Text of the action, as the end of a sentence that begins with the administrator's name. */
function describe({ action, target, target_name, detail, count }: AuditRecord): ComponentChildren {
  const agent = <AgentName id={target} name={target_name} />;
  switch (action) {
    case 'update_agent':
      return describeUpdate(detail ?? {}, agent);
    case 'delete_agent':
      return (
        <>
          deleted the agent{' '}
          <strong>
            <Text value={target_name || target} />
          </strong>{' '}
          with its keys and {countOf(count, 'event')}
        </>
      );
    case 'delete_agent_events':
      return (
        <>
          deleted all {countOf(count, 'event')} of {agent}
        </>
      );
    case 'delete_selected_events':
      return (
        <>
          deleted {countOf(count, 'selected event')} of {agent}
        </>
      );
    case 'delete_event': {
      const owner = typeof detail?.agent_id === 'string' ? detail.agent_id : undefined;
      const ownerName = typeof detail?.agent_name === 'string' ? detail.agent_name : '';
      return (
        <>
          deleted the event{' '}
          <strong>
            <Text value={target_name || target} />
          </strong>
          {owner && (
            <>
              {' '}
              of <AgentName id={owner} name={ownerName} />
            </>
          )}
        </>
      );
    }
    default:
      return (
        <>
          {action} {agent}
        </>
      );
  }
}

function describeUpdate(
  detail: Readonly<Record<string, unknown>>,
  agent: ComponentChildren,
): ComponentChildren {
  const { tier, is_active } = detail;
  if (typeof tier === 'string' && is_active === undefined) {
    return (
      <>
        set the tier of {agent} to <strong>{tier}</strong>
      </>
    );
  }
  return (
    <>
      {is_active ? 'reactivated' : 'deactivated'} {agent}
      {typeof tier === 'string' && (
        <>
          {' '}
          and set its tier to <strong>{tier}</strong>
        </>
      )}
    </>
  );
}

function AgentName({ id, name }: { id: string; name: string }) {
  return (
    <Link href={agentUrl(id)} class="name-link">
      <Text value={name || id} />
    </Link>
  );
}
