// Confirmation before events are deleted: those of one agent, of any agents, or all that match, in slices. That shows its progress,
// and can be stopped.
import { useEffect, useRef, useState } from 'preact/hooks';
import {
  type Agent,
  type AgentDetails,
  type AgentEvent,
  type AllEventsPage,
  deleteAnyEvents,
  deleteEvent,
  deleteEvents,
  type OwnedEvent,
  readEvents,
} from '../api.ts';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { Text } from '../components/text.tsx';
import { EventTime } from '../components/time.tsx';
import { countOf, formatNumber } from '../format.ts';
import { notify } from '../toasts.ts';
import { findDeletion } from '../undo.ts';
import { useLoad } from '../use-load.ts';
import { AlsoDeactivate, useDeactivation } from './also-deactivate.tsx';
import { UndoChoice, useUndoChoice } from './undo-choice.tsx';

const MAX_LISTED = 5;

/** Events per slice: the most that one page of the API has. */
const SLICE = 100;

/** What is to be deleted: at least one event. */
export type Deletion =
  | { readonly kind: 'of-agent'; readonly agent: Agent; readonly events: readonly AgentEvent[] }
  | { readonly kind: 'of-any'; readonly events: readonly OwnedEvent[] }
  /** All events that match the query of the API. */
  | { readonly kind: 'matching'; readonly query: string; readonly total: number };

interface DeleteEventsProps {
  deletion: Deletion;
  /** Also called if it was stopped: some events may be deleted. */
  onDone: () => void;
  onClose: () => void;
}

/** How far the deletion is. Kept when it fails, so that it continues. */
interface Progress {
  deleted: number;
  /** Events that were in slices already deleted, whoever deleted them. */
  done: number;
  /** Entry of the audit log, with all slices. */
  auditId: number | undefined;
  cursor: string | undefined;
  isOver: boolean;
}

export function DeleteEventsDialog({ deletion, onDone, onClose }: DeleteEventsProps) {
  const [phase, setPhase] = useState<'asking' | 'running' | 'stopping'>('asking');
  const [done, setDone] = useState(0);
  const progress = useRef<Progress>({
    ...{ deleted: 0, done: 0, auditId: undefined },
    ...{ cursor: undefined, isOver: false },
  });
  const stop = useRef(false);
  const undoChoice = useUndoChoice();
  const agents = useAgents(deletion);
  const owner = useLoad<AgentDetails>(agents.only && `/agents/${agents.only.id}`).data;
  const deactivation = useDeactivation(owner?.is_active ? owner.id : undefined);
  // A page that is left stops after the current slice.
  useEffect(
    () => () => {
      stop.current = true;
    },
    [],
  );

  const isMatching = deletion.kind === 'matching';
  const total = isMatching ? deletion.total : deletion.events.length;
  const only = !isMatching && total === 1 ? deletion.events[0] : undefined;
  const count = countOf(total, 'event');
  const report = () => {
    const { deleted, isOver } = progress.current;
    const what = only && deleted === 1 ? `“${only.title}”` : countOf(deleted, 'event');
    const whose = deletion.kind === 'of-agent' && !only ? ` of ${deletion.agent.agent_name}` : '';
    const others = isOver && deleted < total ? ' Someone else had already deleted the others.' : '';
    const deactivated = deactivation.isDone() && owner ? ` Deactivated ${owner.agent_name}.` : '';
    notify(
      deleted > 0 ? 'done' : 'info',
      `${isOver ? 'Deleted' : 'Stopped. Deleted'} ${what}${whose}.${others}${deactivated}`,
      deleted > 0
        ? undoChoice.undo(() => findEntry(deletion, progress.current), deactivation.revert)
        : undefined,
    );
  };
  const action = async () => {
    setPhase('running');
    try {
      await deactivation.run();
      while (!progress.current.isOver && !stop.current) {
        await deleteSlice(deletion, progress.current, undoChoice.isForGood);
        setDone(progress.current.done);
      }
    } catch (error) {
      setPhase('asking');
      throw error;
    }
    report();
  };
  const leave = () => {
    if (progress.current.deleted > 0) report();
    (progress.current.deleted > 0 || deactivation.isDone() ? onDone : onClose)();
  };
  const gone = () => {
    notify('info', `${only ? `“${only.title}”` : 'This'} was already deleted by someone else.`);
    onDone();
  };
  const isRunning = isMatching && phase !== 'asking';
  const confirm = only ? 'Delete event' : `Delete ${count}${deactivation.isChosen ? ' and deactivate' : ''}`;
  return (
    <ConfirmDialog
      title={only ? 'Delete event' : 'Delete events'}
      confirm={done > 0 ? 'Continue' : confirm}
      pending="Deleting…"
      cancel={isRunning ? 'Stop' : done > 0 ? 'Leave the rest' : 'Cancel'}
      isDanger
      action={action}
      onStop={
        isMatching && phase !== 'stopping'
          ? () => {
              stop.current = true;
              setPhase('stopping');
            }
          : undefined
      }
      onDone={onDone}
      onGone={gone}
      onClose={leave}
    >
      {!only && (
        <p>
          {isMatching && 'All events that match the search and the filters: '}
          <strong>{count}</strong> of <Owners agents={agents} /> will be deleted{isMatching ? '.' : ':'}
        </p>
      )}
      {!isMatching && <Listed events={deletion.events} />}
      {only && <p>This event will be deleted.</p>}
      {isRunning || done > 0 ? (
        <label class="progress">
          <span role="status">
            {phase === 'stopping' ? 'Stopping… ' : ''}
            {formatNumber(done)} of {count} deleted
          </span>
          <progress max={Math.max(total, done)} value={done} />
        </label>
      ) : (
        <>
          {deletion.kind !== 'of-agent' && owner?.is_active && !only && (
            <AlsoDeactivate deactivation={deactivation} />
          )}
          <UndoChoice undoChoice={undoChoice} />
        </>
      )}
    </ConfirmDialog>
  );
}

interface Agents {
  /** Undefined while it is unknown. */
  readonly count: number | undefined;
  /** The agent, if it is only one. */
  readonly only: { readonly id: string; readonly name: string } | undefined;
}

/** The agents of the events that are to be deleted. */
function useAgents(deletion: Deletion): Agents {
  const counted = useLoad<AllEventsPage>(
    deletion.kind === 'matching' ? `/events?${deletion.query}&limit=1&include=agent_count` : undefined,
  ).data;
  if (deletion.kind === 'of-agent') {
    const { id, agent_name: name } = deletion.agent;
    return { count: 1, only: { id, name } };
  }
  const events = deletion.kind === 'matching' ? counted?.events : deletion.events;
  const count =
    deletion.kind === 'matching'
      ? counted?.agent_count
      : new Set(deletion.events.map((event) => event.agent_id)).size;
  const first = events?.[0];
  return {
    count,
    only: count === 1 && first ? { id: first.agent_id, name: first.agent_name } : undefined,
  };
}

function Owners({ agents: { count, only } }: { agents: Agents }) {
  if (count === undefined) return <span class="skeleton count" />;
  return <strong>{only ? <Text value={only.name} /> : countOf(count, 'agent')}</strong>;
}

/** Deletes the next events. If it fails, it can be repeated: what was deleted does not count again. */
async function deleteSlice(deletion: Deletion, progress: Progress, isForGood: boolean): Promise<void> {
  if (deletion.kind === 'of-agent') {
    progress.deleted = await deleteOfAgent(deletion.agent, idsOf(deletion.events), isForGood);
    progress.isOver = true;
    return;
  }
  let { events }: { events: readonly OwnedEvent[] } = { events: [] };
  let next: string | undefined;
  if (deletion.kind === 'of-any') events = deletion.events;
  else {
    // Newest first, and on from there: events that are created meanwhile are not deleted.
    const query = new URLSearchParams(deletion.query);
    query.set('sort', '-created_at');
    query.set('limit', String(SLICE));
    if (progress.cursor !== undefined) query.set('cursor', progress.cursor);
    const page = await readEvents(`?${query}`, AbortSignal.timeout(60_000));
    events = page.events;
    next = page.next_cursor ?? undefined;
  }
  if (events.length > 0) {
    const { deleted, audit_id } = await deleteAnyEvents(idsOf(events), progress.auditId, isForGood);
    progress.deleted += deleted;
    progress.done += events.length;
    progress.auditId = audit_id ?? progress.auditId; // null if nothing was deleted
  }
  progress.cursor = next;
  progress.isOver = next === undefined;
}

/** Returns the number of events that it deleted. */
async function deleteOfAgent(agent: Agent, ids: readonly string[], isForGood: boolean): Promise<number> {
  if (ids.length > 1) return (await deleteEvents(agent.id, ids, isForGood)).deleted;
  await deleteEvent(ids[0]!, isForGood);
  return 1;
}

/** The entry of the audit log. */
async function findEntry(deletion: Deletion, { auditId }: Progress): Promise<string | undefined> {
  if (deletion.kind !== 'of-agent') return String(auditId);
  const { agent, events } = deletion;
  return events.length > 1
    ? findDeletion('delete_selected_events', agent.id)
    : findDeletion('delete_event', events[0]!.event_id);
}

function idsOf(events: readonly AgentEvent[]): string[] {
  return events.map(({ event_id }) => event_id);
}

function Listed({ events }: { events: readonly (AgentEvent | OwnedEvent)[] }) {
  return (
    <>
      <ul class="to-delete">
        {events.slice(0, MAX_LISTED).map((event) => {
          const start = <EventTime at={event.start_at} timezone={event.timezone} />;
          return (
            <li key={event.event_id}>
              <strong class="clamp">
                <Text value={event.title} />
              </strong>
              {'agent_name' in event ? (
                <span>
                  <Text value={event.agent_name} />, {start}
                </span>
              ) : (
                start
              )}
            </li>
          );
        })}
      </ul>
      {events.length > MAX_LISTED && <p>and {formatNumber(events.length - MAX_LISTED)} more</p>}
    </>
  );
}
