// Side panel with all fields of one event. Its URL is shown as text, not as a link, because agents choose where it leads.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { AgentEvent, OwnedEvent } from '../api.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { Icon, type IconName } from '../components/icon.tsx';
import { Link } from '../components/link.tsx';
import { Modal } from '../components/modal.tsx';
import { Text } from '../components/text.tsx';
import { formatEventSpan, formatFull, hasEnded } from '../format.ts';
import { closeEvent, rowId, stepsFrom } from '../opened-event.ts';
import { agentUrl, type Place } from '../router.ts';
import { useNow } from '../use-now.ts';

interface EventPanelProps {
  /** If it has the name of its agent, the panel shows the agent, too. */
  event: AgentEvent | OwnedEvent;
  place: Place;
  /** The list in which it steps to the events before and after. */
  events?: readonly AgentEvent[];
  onDelete: () => void;
  /** Shows only events near this one. */
  onNear?: ((event: AgentEvent) => void) | undefined;
}

export function EventPanel({ event, place, events = [], onDelete, onNear }: EventPanelProps) {
  const { onPrevious, onNext } = stepsFrom(place, events, event);
  const onClose = () => closeEvent(place);
  const isOver = hasEnded(event, useNow());
  const body = useRef<HTMLDivElement>(null);
  // The steps from the event that is shown now: an effect would set them a moment too late for quick keys.
  const steps = useRef({ onPrevious, onNext });
  steps.current = { onPrevious, onNext };
  useLayoutEffect(() => {
    const step = (pressed: KeyboardEvent) => {
      const { key, target, ctrlKey, metaKey, altKey, shiftKey } = pressed;
      if (ctrlKey || metaKey || altKey || shiftKey || pressed.defaultPrevented) return;
      // Not if a dialog is open above the panel.
      if (!(target instanceof Element) || target.closest('dialog') !== body.current?.closest('dialog'))
        return;
      const { scrollHeight, clientHeight } = body.current!;
      // Within a long text, up and down scroll it.
      const isScrolling = scrollHeight > clientHeight && body.current!.contains(target);
      const isBack = key === 'ArrowLeft' || (key === 'ArrowUp' && !isScrolling);
      const isOn = key === 'ArrowRight' || (key === 'ArrowDown' && !isScrolling);
      if (!isBack && !isOn) return;
      pressed.preventDefault();
      steps.current[isBack ? 'onPrevious' : 'onNext']?.();
    };
    document.addEventListener('keydown', step);
    return () => document.removeEventListener('keydown', step);
  }, []);
  return (
    <Modal class="panel" labelledBy="event-title" focusAfter={rowId(event)} onClose={onClose}>
      <header class="panel-head">
        <p class="panel-kind">
          <span class="badge">{event.event_type}</span>
          {isOver && <span class="badge">ended</span>}
          {event.status === 'cancelled' && <span class="badge">cancelled</span>}
        </p>
        <StepButton label="Previous event" icon="left" onClick={onPrevious} />
        <StepButton label="Next event" icon="right" onClick={onNext} />
        <button type="button" class="icon-button" aria-label="Close" title="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div class="panel-body" ref={body}>
        <h2 id="event-title">
          <Text value={event.title} />
        </h2>
        <dl class="fields">
          {'agent_name' in event && (
            <Field label="Agent">
              <Link href={agentUrl(event.agent_id)}>
                <Text value={event.agent_name} />
              </Link>
            </Field>
          )}
          <Field label="When">
            <Span event={event} />
          </Field>
          <Field label="Timezone">
            <Text value={event.timezone} />
          </Field>
          <Field label="Place">
            <Text value={event.location_name} />
          </Field>
          <TextField label="Address" value={event.address} />
          <Field label="Coordinates">
            <span class="copyable">
              {event.lat}, {event.lng}
              {onNear && (
                <button
                  type="button"
                  class="icon-button small"
                  aria-label="Only events near here"
                  title="Only events near here"
                  onClick={() => onNear(event)}
                >
                  <Icon name="filter" />
                </button>
              )}
            </span>
          </Field>
          <Field label="Audience">{event.audience}</Field>
          <TextField label="Cost" value={event.cost} />
          <TextField label="URL" value={event.url} />
          <TextField label="Description" value={event.description} />
          <Field label="Created">{formatFull(event.created_at)}</Field>
          <Field label="ID">
            <span class="copyable">
              <code>{event.event_id}</code>
              <CopyButton value={event.event_id} what="ID" />
            </span>
          </Field>
        </dl>
      </div>
      <footer class="panel-foot">
        <button type="button" class="button risky" onClick={onDelete}>
          Delete event
        </button>
      </footer>
    </Modal>
  );
}

/** Without an action the button stays in place, disabled, so that it keeps the focus. */
function StepButton(props: { label: string; icon: IconName; onClick: (() => void) | undefined }) {
  const { label, icon, onClick } = props;
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      aria-disabled={!onClick}
      onClick={() => onClick?.()}
    >
      <Icon name={icon} />
    </button>
  );
}

function Field({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Shows a missing value as "not given". */
function TextField({ label, value }: { label: string; value: string | null | undefined }) {
  return <Field label={label}>{value ? <Text value={value} /> : <span class="faint">not given</span>}</Field>;
}

function Span({ event }: { event: AgentEvent }) {
  const { text, zone, local } = formatEventSpan(event);
  return (
    <>
      <time dateTime={event.start_at}>
        {text} <span class="zone">{zone}</span>
      </time>
      {local && <span class="second">Your time: {local}</span>}
      {!event.end_at && <span class="second">No end given: counts as ended 3 hours after its start.</span>}
    </>
  );
}
