// What administrators did, newest first.
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { AuditPage, AuditRecord } from '../api.ts';
import { Link } from '../components/link.tsx';
import { Pager } from '../components/pager.tsx';
import { Empty, Failure, SkeletonRows } from '../components/states.tsx';
import { Text } from '../components/text.tsx';
import { RelativeTime } from '../components/time.tsx';
import { countOf, formatFull, formatNumber } from '../format.ts';
import { listState } from '../list-state.ts';
import { agentAddress, type Place } from '../router.ts';
import { useLoad } from '../use-load.ts';
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
  const { data, error, isLoading, reload } = useLoad<AuditPage>(`/audit${list.apiQuery}`);
  const isLost = list.page > 1 && (error?.status === 422 || data?.entries.length === 0) && !isLoading;
  useEffect(() => {
    if (isLost) list.toFirst(true);
  });
  return (
    <>
      <h1>Audit log</h1>
      <p class="lead">Every change that an administrator made, newest first.</p>
      <div class="card" aria-busy={isLoading}>
        {error && !isLost ? (
          <Failure error={error} onRetry={reload} />
        ) : data?.total === 0 ? (
          <Empty icon="inbox" title="Nothing yet">
            <p>When an administrator changes or deletes something, it is recorded here.</p>
          </Empty>
        ) : (
          <table class={data && isLoading ? 'list audit waiting' : 'list audit'}>
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
              {data ? (
                data.entries.map((entry) => <AuditRow key={entry.id} entry={entry} />)
              ) : (
                <SkeletonRows columns={COLUMNS.map(([, className]) => className)} />
              )}
            </tbody>
          </table>
        )}
      </div>
      {data && !error && (
        <Pager
          list={list}
          shown={data.entries.length}
          total={data.total}
          next={data.next_cursor}
          isLoading={isLoading}
        />
      )}
    </>
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
          <RelativeTime at={entry.at} /> · {who}
        </span>
        <span class="deed">{describe(entry)}</span>
      </td>
      <td class="column-count number">{formatNumber(entry.count)}</td>
    </tr>
  );
}

/** What was done, as the rest of a sentence that begins with who did it. */
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
    <Link href={agentAddress(id)} class="name-link">
      <Text value={name || id} />
    </Link>
  );
}
