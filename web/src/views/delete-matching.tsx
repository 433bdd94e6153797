// Confirmation before events of any agents are deleted, and the deletion in slices: with progress, and it can be stopped.
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
  type AgentDetails,
  type AllEventsPage,
  ApiError,
  deleteAnyEvents,
  type OwnedEvent,
  readEvents,
} from '../api.ts';
import { DialogError } from '../components/dialog-error.tsx';
import { Modal } from '../components/modal.tsx';
import { Text } from '../components/text.tsx';
import { EventTime } from '../components/time.tsx';
import { countOf, formatNumber } from '../format.ts';
import { notify } from '../toasts.ts';
import { undo } from '../undo.ts';
import { useLoad } from '../use-load.ts';
import { AlsoDeactivate, useDeactivation } from './also-deactivate.tsx';
import { UndoChoice, useUndoChoice } from './undo-choice.tsx';

const MAX_LISTED = 5;

/** Events per slice: the most that one page of the API has. */
const SLICE = 100;

export type Doomed =
  /** At least one. */
  | { readonly kind: 'events'; readonly events: readonly OwnedEvent[] }
  /** All events that match the query of the API. */
  | { readonly kind: 'matching'; readonly query: string; readonly total: number };

interface DeleteMatchingProps {
  doomed: Doomed;
  /** Also called if it was stopped: some events may be deleted. */
  onDone: () => void;
  onClose: () => void;
}

/** How far the deletion is. Kept when it fails, so that it continues. */
interface Progress {
  deleted: number;
  /** Events that were in slices already deleted, whoever deleted them. */
  done: number;
  auditId: number | undefined;
  cursor: string | undefined;
  isOver: boolean;
}

export function DeleteMatchingDialog({ doomed, onDone, onClose }: DeleteMatchingProps) {
  const [phase, setPhase] = useState<'asking' | 'running' | 'stopping'>('asking');
  const [error, setError] = useState<ApiError>();
  const [done, setDone] = useState(0);
  const progress = useRef<Progress>({
    ...{ deleted: 0, done: 0, auditId: undefined },
    ...{ cursor: undefined, isOver: false },
  });
  const stop = useRef(false);
  const undoChoice = useUndoChoice();
  const agents = useAgents(doomed);
  const owner = useLoad<AgentDetails>(agents.only && `/agents/${agents.only.id}`).data;
  const deactivation = useDeactivation(owner?.is_active ? owner.id : undefined);
  const cancel = useRef<HTMLButtonElement>(null);
  const id = useId();
  useLayoutEffect(() => cancel.current?.focus(), []);
  // A page that is left stops after the current slice.
  useEffect(
    () => () => {
      stop.current = true;
    },
    [],
  );

  const total = doomed.kind === 'events' ? doomed.events.length : doomed.total;
  const only = doomed.kind === 'events' && total === 1 ? doomed.events[0] : undefined;
  const count = countOf(total, 'event');
  const finish = () => {
    const { deleted, isOver, auditId } = progress.current;
    const others = isOver && deleted < total ? ' Someone else had already deleted the others.' : '';
    const what = only && deleted === 1 ? `“${only.title}”` : countOf(deleted, 'event');
    const canUndo = auditId !== undefined && !undoChoice.isForGood && undoChoice.days !== 0;
    const deactivated = deactivation.isDone() && owner ? ` Deactivated ${owner.agent_name}.` : '';
    notify(
      deleted > 0 ? 'done' : 'info',
      `${isOver ? 'Deleted' : 'Stopped. Deleted'} ${what}.${others}${deactivated}`,
      canUndo
        ? { label: 'Undo', run: () => void undo(Promise.resolve(String(auditId)), deactivation.revert) }
        : undefined,
    );
    onDone();
  };
  const run = async () => {
    if (phase !== 'asking') return;
    setPhase('running');
    setError(undefined);
    try {
      await deactivation.run();
      while (!progress.current.isOver && !stop.current) {
        await deleteSlice(doomed, progress.current, undoChoice.isForGood);
        setDone(progress.current.done);
      }
      finish();
    } catch (caught) {
      setError(caught instanceof ApiError ? caught : new ApiError(0, 'FAULT', String(caught)));
      setPhase('asking');
    }
  };
  const leave = () => {
    if (phase === 'asking' && progress.current.deleted === 0) (deactivation.isDone() ? onDone : onClose)();
    else if (phase === 'asking') finish();
    else {
      stop.current = true;
      setPhase('stopping');
    }
  };
  const isRunning = phase !== 'asking';
  return (
    <Modal class="confirm" labelledBy={id} isLocked={isRunning} onClose={leave}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <h2 id={id}>{only ? 'Delete event' : 'Delete events'}</h2>
        <div class="confirm-body">
          {!only && (
            <p>
              {doomed.kind === 'matching' ? 'All events that match the search and the filters: ' : ''}
              <strong>{count}</strong> of <Owners agents={agents} /> will be deleted
              {doomed.kind === 'matching' ? '.' : ':'}
            </p>
          )}
          {doomed.kind === 'events' && <Listed events={doomed.events} />}
          {(isRunning || done > 0) && !only && (
            <label class="progress">
              <span role="status">
                {phase === 'stopping' ? 'Stopping… ' : ''}
                {formatNumber(done)} of {count} deleted
              </span>
              <progress max={Math.max(total, done)} value={done} />
            </label>
          )}
          {!isRunning && done === 0 && (
            <>
              {owner?.is_active && !only && <AlsoDeactivate deactivation={deactivation} />}
              <UndoChoice undoChoice={undoChoice} />
            </>
          )}
        </div>
        <DialogError error={error} />
        <div class="confirm-buttons">
          <button
            ref={cancel}
            type="button"
            class="button"
            aria-disabled={phase === 'stopping'}
            onClick={leave}
          >
            {isRunning ? 'Stop' : done > 0 ? 'Leave the rest' : 'Cancel'}
          </button>
          <button type="submit" class="button danger" aria-disabled={isRunning}>
            {isRunning
              ? 'Deleting…'
              : done > 0
                ? 'Continue'
                : only
                  ? 'Delete event'
                  : `Delete ${count}${deactivation.isChosen ? ' and deactivate' : ''}`}
          </button>
        </div>
      </form>
    </Modal>
  );
}

interface Agents {
  /** Undefined while it is unknown. */
  readonly count: number | undefined;
  /** The agent, if it is only one. */
  readonly only: { readonly id: string; readonly name: string } | undefined;
}

/** The agents of the events that are to be deleted. */
function useAgents(doomed: Doomed): Agents {
  const isMatching = doomed.kind === 'matching';
  const counted = useLoad<AllEventsPage>(
    isMatching ? `/events?${doomed.query}&limit=1&include=agent_count` : undefined,
  ).data;
  const events = isMatching ? counted?.events : doomed.events;
  const count = isMatching
    ? counted?.agent_count
    : new Set(doomed.events.map((event) => event.agent_id)).size;
  const first = events?.[0];
  return {
    count,
    only: count === 1 && first ? { id: first.agent_id, name: first.agent_name } : undefined,
  };
}

function Owners({ agents: { count, only } }: { agents: Agents }) {
  if (only)
    return (
      <strong>
        <Text value={only.name} />
      </strong>
    );
  if (count === undefined) return <span class="skeleton count" />;
  return <strong>{countOf(count, 'agent')}</strong>;
}

/** Deletes the next events. If it fails, it can be repeated: what was deleted does not count again. */
async function deleteSlice(doomed: Doomed, progress: Progress, isForGood: boolean): Promise<void> {
  let ids: readonly string[];
  let next: string | undefined;
  if (doomed.kind === 'events') ids = doomed.events.map(({ event_id }) => event_id);
  else {
    // Newest first, and on from there: events that are created meanwhile are not deleted.
    const query = new URLSearchParams(doomed.query);
    query.set('sort', '-created_at');
    query.set('limit', String(SLICE));
    if (progress.cursor !== undefined) query.set('cursor', progress.cursor);
    const page = await readEvents(`?${query}`, AbortSignal.timeout(60_000));
    ids = page.events.map(({ event_id }) => event_id);
    next = page.next_cursor ?? undefined;
  }
  if (ids.length > 0) {
    const { deleted, audit_id } = await deleteAnyEvents(ids, progress.auditId, isForGood);
    progress.deleted += deleted;
    progress.done += ids.length;
    progress.auditId = audit_id ?? progress.auditId; // null if nothing was deleted
  }
  progress.cursor = next;
  progress.isOver = next === undefined;
}

function Listed({ events }: { events: readonly OwnedEvent[] }) {
  return (
    <>
      <ul class="doomed">
        {events.slice(0, MAX_LISTED).map(({ event_id, title, agent_name, start_at, timezone }) => (
          <li key={event_id}>
            <strong class="clamp">
              <Text value={title} />
            </strong>
            <span>
              <Text value={agent_name} />, <EventTime at={start_at} timezone={timezone} />
            </span>
          </li>
        ))}
      </ul>
      {events.length > MAX_LISTED && <p>and {formatNumber(events.length - MAX_LISTED)} more</p>}
    </>
  );
}
