// Why the action of a dialog failed. Screen readers announce it when it appears.
import type { ApiError } from '../api.ts';
import { RequestId } from './states.tsx';

export function DialogError({ error }: { error: ApiError | undefined }) {
  return (
    <div role="alert">
      {error && (
        <div class="confirm-error">
          <p>{error.message}</p>
          {error.requestId && <RequestId id={error.requestId} />}
        </div>
      )}
    </div>
  );
}
