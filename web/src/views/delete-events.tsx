// Confirmation before events are deleted. Shows one event with title and start, several with their number and first titles.
import { type Agent, type AgentEvent, deleteEvent, deleteEvents } from '../api.ts';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { Text } from '../components/text.tsx';
import { EventTime } from '../components/time.tsx';
import { countOf } from '../format.ts';
import { notify } from '../toasts.ts';
import { UndoChoice, useUndoChoice } from './undo-choice.tsx';

const MAX_LISTED = 5;

interface DeleteEventsProps {
  agent: Agent;
  /** At least one. */
  events: readonly AgentEvent[];
  onDone: () => void;
  onGone: () => void;
  onClose: () => void;
}

export function DeleteEventsDialog({ agent, events, onGone, ...rest }: DeleteEventsProps) {
  const only = events.length === 1 ? events[0] : undefined;
  const count = countOf(events.length, 'event');
  const undoChoice = useUndoChoice();
  const action = async () => {
    if (only) {
      await deleteEvent(only.event_id, undoChoice.isForGood);
      notify('done', `Deleted “${only.title}”.`, undoChoice.undo('delete_event', only.event_id));
      return;
    }
    const { deleted } = await deleteEvents(
      agent.id,
      events.map(({ event_id }) => event_id),
      undoChoice.isForGood,
    );
    const others = deleted < events.length ? ' Someone else had already deleted the others.' : '';
    notify(
      deleted > 0 ? 'done' : 'info',
      `Deleted ${countOf(deleted, 'event')} of ${agent.agent_name}.${others}`,
      deleted > 0 ? undoChoice.undo('delete_selected_events', agent.id) : undefined,
    );
  };
  const gone = () => {
    notify('info', `${only ? `“${only.title}”` : 'This'} was already deleted by someone else.`);
    onGone();
  };
  return (
    <ConfirmDialog
      title={only ? 'Delete event' : 'Delete selected events'}
      confirm={only ? 'Delete event' : `Delete ${count}`}
      pending="Deleting…"
      isDanger
      action={action}
      onGone={gone}
      {...rest}
    >
      {!only && (
        <p>
          <strong>{count}</strong> of{' '}
          <strong>
            <Text value={agent.agent_name} />
          </strong>{' '}
          will be deleted:
        </p>
      )}
      <ul class="doomed">
        {events.slice(0, MAX_LISTED).map(({ event_id, title, start_at, timezone }) => (
          <li key={event_id}>
            <strong>
              <Text value={title} />
            </strong>
            <EventTime at={start_at} timezone={timezone} />
          </li>
        ))}
        {events.length > MAX_LISTED && <li>and {countOf(events.length - MAX_LISTED, 'more event')}</li>}
      </ul>
      {only && <p>This event will be deleted.</p>}
      <UndoChoice undoChoice={undoChoice} />
    </ConfirmDialog>
  );
}
