// While the service does not answer, or is starting: it is asked again until it does.
import { useEffect, useState } from 'preact/hooks';
import type { ApiError } from '../api.ts';
import { Icon } from '../components/icon.tsx';
import { RequestId } from '../components/states.tsx';
import { useTitle } from '../use-title.ts';

const AGAIN_MS = 4_000;

export function UnreachableView({ error, onRetry }: { error: ApiError; onRetry: () => Promise<void> }) {
  useTitle('Not available');
  const [isAsking, setAsking] = useState(false);
  useEffect(() => {
    const timer = setInterval(() => void onRetry(), AGAIN_MS);
    return () => clearInterval(timer);
  }, [onRetry]);
  const retry = async () => {
    setAsking(true);
    await onRetry();
    setAsking(false);
  };
  return (
    <div class="gate">
      <span class="gate-icon">
        <Icon name="warning" />
      </span>
      <h1>{error.status === 0 ? 'The service does not answer' : 'The service is not ready'}</h1>
      <p role="status">{error.message}</p>
      <p class="faint">This page tries again by itself every few seconds.</p>
      <button
        type="button"
        class="button wide"
        aria-disabled={isAsking}
        onClick={() => !isAsking && void retry()}
      >
        {isAsking ? 'Asking…' : 'Try again now'}
      </button>
      {error.requestId && <RequestId id={error.requestId} />}
    </div>
  );
}
