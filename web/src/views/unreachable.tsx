// Page shown while the service does not respond or is starting. Retries until it responds.
import { useEffect, useState } from 'preact/hooks';
import type { ApiError } from '../api.ts';
import { Icon } from '../components/icon.tsx';
import { RequestId } from '../components/states.tsx';
import { useTitle } from '../use-title.ts';

const RETRY_MS = 4_000;

export function UnreachableView({ error, onRetry }: { error: ApiError; onRetry: () => Promise<void> }) {
  useTitle('Not available');
  const [isRetrying, setRetrying] = useState(false);
  useEffect(() => {
    const timer = setInterval(() => void onRetry(), RETRY_MS);
    return () => clearInterval(timer);
  }, [onRetry]);
  const retry = async () => {
    setRetrying(true);
    await onRetry();
    setRetrying(false);
  };
  return (
    <div class="gate">
      <span class="gate-icon">
        <Icon name="warning" />
      </span>
      <h1>{error.status === 0 ? 'The service does not respond' : 'The service is not ready'}</h1>
      <p role="status">{error.message}</p>
      <p class="faint">This page retries automatically every few seconds.</p>
      <button
        type="button"
        class="button wide"
        aria-disabled={isRetrying}
        onClick={() => !isRetrying && void retry()}
      >
        {isRetrying ? 'Retrying…' : 'Try again now'}
      </button>
      {error.requestId && <RequestId id={error.requestId} />}
    </div>
  );
}
