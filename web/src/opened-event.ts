// The event whose panel is open, stored in the URL: opening and closing it, and stepping through a list.
import type { AgentEvent } from './api.ts';
import { navigate, type Place, withQuery } from './router.ts';

/** ID of the button in the event's row, which gets the focus when its panel is closed. */
export function rowId({ event_id }: AgentEvent): string {
  return `row-${event_id}`;
}

export function openEvent({ path, query, state }: Place, { event_id }: AgentEvent): void {
  const next = new URLSearchParams(query);
  next.set('event', event_id);
  navigate(path + withQuery(next), { state: { ...state, onTop: true } });
}

export function closeEvent({ path, query, state }: Place): void {
  if (state.onTop) {
    history.back();
    return;
  }
  const next = new URLSearchParams(query);
  next.delete('event');
  navigate(path + withQuery(next), { replace: true, state });
}

/** Leads to the events before and after this one; undefined at the ends. Steps are no entries of the browser's history. */
export function stepsFrom({ path, query, state }: Place, events: readonly AgentEvent[], opened: AgentEvent) {
  const at = events.findIndex(({ event_id }) => event_id === opened.event_id);
  const to = (event: AgentEvent | undefined) => {
    if (at < 0 || !event) return undefined;
    return () => {
      const next = new URLSearchParams(query);
      next.set('event', event.event_id);
      navigate(path + withQuery(next), { replace: true, state });
    };
  };
  return { onPrevious: to(events[at - 1]), onNext: to(events[at + 1]) };
}
