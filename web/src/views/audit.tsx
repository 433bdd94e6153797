// View of the audit log: changes by administrators, newest first. What they deleted can be restored.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { AuditPage, AuditRecord } from '../api.ts';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { Link } from '../components/link.tsx';
import { ListCard } from '../components/list-card.tsx';
import { type Column, ListTable } from '../components/list-table.tsx';
import { Empty } from '../components/states.tsx';
import { Text } from '../components/text.tsx';
import { RelativeTime } from '../components/time.tsx';
import { countOf, formatFull, formatNumber } from '../format.ts';
import { listState } from '../list-state.ts';
import { agentUrl, type Place } from '../router.ts';
import { undoEntry } from '../undo.ts';
import { useList } from '../use-list.ts';
import { useTitle } from '../use-title.ts';
import { AuditFilters, auditParameters, hasAuditFilters } from './audit-filters.tsx';

const COLUMNS: readonly Column[] = [
  { label: 'When', class: 'column-when from-medium' },
  { label: 'Who', class: 'column-who from-medium' },
  { label: 'What', class: 'column-what' },
  { label: 'Count', class: 'column-count number' },
];

export function AuditView({ place }: { place: Place }) {
  useTitle('Audit log');
  const list = listState(place, { filters: { ...auditParameters(place), include: 'details' } });
  const loaded = useList<AuditPage>('/audit', list, ({ entries }) => entries.length);
  const entries = loaded.data?.entries;
  const empty = hasAuditFilters(place) ? <NoneFound /> : <NoEntries />;
  return (
    <>
      <h1>Audit log</h1>
      <p class="lead">All changes made by administrators, newest first.</p>
      <AuditFilters place={place} list={list} />
      <ListCard list={list} loaded={loaded} shown={entries?.length ?? 0} noun="change" empty={empty}>
        <AuditTable entries={entries} isLoading={loaded.isLoading} />
      </ListCard>
    </>
  );
}

interface AuditTableProps {
  /** Undefined while they load. */
  entries: readonly AuditRecord[] | undefined;
  isLoading: boolean;
}

/** What can be restored has a button, if the entries have details. */
export function AuditTable({ entries, isLoading }: AuditTableProps) {
  const [toUndo, setToUndo] = useState<AuditRecord>();
  return (
    <>
      <ListTable class="audit" caption="Audit log" columns={COLUMNS} rows={entries} isLoading={isLoading}>
        {(entry) => <AuditRow key={entry.id} entry={entry} onUndo={setToUndo} />}
      </ListTable>
      {toUndo && <UndoDialog entry={toUndo} onClose={() => setToUndo(undefined)} />}
    </>
  );
}

function NoneFound() {
  return (
    <Empty icon="search" title="No change matches">
      <p>No entry of the audit log matches all filters.</p>
      <p>
        <Link href="/admin/audit" class="button">
          Clear the filters
        </Link>
      </p>
    </Empty>
  );
}

function NoEntries() {
  return (
    <Empty icon="inbox" title="No entries yet">
      <p>When an administrator changes or deletes something, it is recorded here.</p>
    </Empty>
  );
}

interface AuditRowProps {
  entry: AuditRecord;
  onUndo: (entry: AuditRecord) => void;
}

function AuditRow({ entry, onUndo }: AuditRowProps) {
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
        <DeletedEvents entry={entry} />
        <Undo entry={entry} onUndo={onUndo} />
      </td>
      <td class="column-count number">{formatNumber(entry.count)}</td>
    </tr>
  );
}

/** What is known about events that were deleted together: the first titles, IDs, or both. A single event is named by the entry itself. */
function DeletedEvents({ entry: { action, titles = [], detail, count } }: { entry: AuditRecord }) {
  if (action === 'delete_event') return null;
  const ids: readonly unknown[] = Array.isArray(detail?.event_ids) ? detail.event_ids : [];
  const shown = Math.max(ids.length, titles.length);
  if (shown === 0) return null;
  return (
    <details class="event-ids">
      <summary>Events</summary>
      <ul>
        {Array.from({ length: shown }, (_, at) => (
          <li key={at}>
            {titles[at] !== undefined && <Text value={titles[at]} />}
            {ids[at] !== undefined && <code>{String(ids[at])}</code>}
          </li>
        ))}
        {count > shown && <li>and {countOf(count - shown, 'more event')}</li>}
      </ul>
    </details>
  );
}

/** Whether the delete can be undone, or was. */
function Undo({ entry, onUndo }: AuditRowProps) {
  const { restorable_until: until, restored_at: restoredAt } = entry;
  if (!until && !restoredAt) return null;
  return (
    <span class="undo">
      {until && (
        <button type="button" class="button" onClick={() => onUndo(entry)}>
          Restore
        </button>
      )}
      <span class="second">
        {restoredAt && (
          <>
            {until ? 'partly restored' : 'restored'} <RelativeTime at={restoredAt} />
          </>
        )}
        {until && restoredAt && ' · '}
        {until && <>until {formatFull(until)}</>}
      </span>
    </span>
  );
}

/** Asks, and restores what the entry says was deleted. */
export function UndoDialog({ entry, onClose }: { entry: AuditRecord; onClose: () => void }) {
  return (
    <ConfirmDialog
      title="Restore"
      confirm="Restore"
      pending="Restoring…"
      action={() => undoEntry(entry.id)}
      onDone={onClose}
      onGone={onClose}
      onClose={onClose}
    >
      <p>
        <Text value={entry.actor_email || entry.actor_subject} /> <span class="deed">{describe(entry)}</span>.
        All of it will come back as it was.
      </p>
      <p>Events that their agents have created again in the meantime are skipped.</p>
    </ConfirmDialog>
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
    case 'revoke_key':
      return (
        <>
          revoked the key <code>{String(detail?.key_prefix ?? '')}…</code> of {agent}
        </>
      );
    case 'new_key':
      return (
        <>
          gave {agent} the new key <code>{String(detail?.key_prefix ?? '')}…</code>
        </>
      );
    case 'end_grant':
      return <>ended a grant of {agent}</>;
    case 'delete_events':
      return (
        <>
          deleted {countOf(count, 'event')} of {target ? agent : 'several agents'}
        </>
      );
    case 'restore':
      return describeUndo(detail ?? {}, target, target_name, count);
    default:
      return (
        <>
          {action} {agent}
        </>
      );
  }
}

function describeUndo(
  detail: Readonly<Record<string, unknown>>,
  target: string,
  name: string,
  count: number,
): ComponentChildren {
  const { action, agent_id, agent_name } = detail;
  if (action === 'delete_agent')
    return (
      <>
        restored the agent <AgentName id={target} name={name} /> with its keys and {countOf(count, 'event')}
      </>
    );
  const isOne = action === 'delete_event' && typeof agent_id === 'string';
  const owner = isOne ? { id: agent_id, name: String(agent_name) } : { id: target, name };
  return (
    <>
      restored{' '}
      {isOne ? (
        <>
          the event{' '}
          <strong>
            <Text value={name || target} />
          </strong>
        </>
      ) : (
        countOf(count, 'event')
      )}{' '}
      of {owner.id ? <AgentName {...owner} /> : 'several agents'}
    </>
  );
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
