// Current number of an agent's events, for confirmation dialogs: the number on the page may be outdated.
import { useEffect } from 'preact/hooks';
import type { Agent, ApiError, EventPage } from '../api.ts';
import { RequestId, ShortFailure } from '../components/states.tsx';
import { countOf } from '../format.ts';
import { useLoad } from '../use-load.ts';

export interface Count {
  /** E.g. `5 events`; undefined while unknown. */
  readonly text: string | undefined;
  readonly error: ApiError | undefined;
  readonly retry: () => void;
}

export function useCurrentCount({ id }: Agent, onGone: () => void): Count {
  const { data, error, isLoading, reload } = useLoad<EventPage>(`/agents/${id}/events?limit=1`);
  const isGone = error?.status === 404;
  // biome-ignore lint/correctness/useExhaustiveDependencies: calls onGone once
  useEffect(() => {
    if (isGone) onGone();
  }, [isGone]);
  const isKnown = data && !error && !isLoading;
  return { text: isKnown ? countOf(data.agent.event_count, 'event') : undefined, error, retry: reload };
}

export function CurrentCount({ count: { text, error } }: { count: Count }) {
  if (text === undefined && !error) {
    return (
      <>
        <span class="skeleton count" />
        <span class="visually-hidden">events (counting…)</span>
      </>
    );
  }
  return <strong>{text ?? 'events'}</strong>;
}

/** Error if the events could not be counted. Deletion is not possible then. */
export function CountFailure({ count: { error, retry } }: { count: Count }) {
  return (
    <div role="alert">
      {error && error.status !== 404 && (
        <div class="confirm-error">
          <p>
            <ShortFailure what="Its events could not be counted." error={error} onRetry={retry} />
          </p>
          {error.requestId && <RequestId id={error.requestId} />}
        </div>
      )}
    </div>
  );
}
