// Loads what an address of the API answers, again whenever it changes or is asked to; an answer that is no longer wanted is
// dropped. What was there stays until the new answer comes.
import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiError, read, recall } from './api.ts';

export interface Loaded<T> {
  /** The last answer, perhaps of the address before. */
  readonly data: T | undefined;
  /** Why there is none for this address. */
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

interface Result<T> {
  readonly path: string | undefined;
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
}

export function useLoad<T>(path: string): Loaded<T> {
  const [result, setResult] = useState<Result<T>>({
    path: undefined,
    data: recall<T>(path),
    error: undefined,
  });
  const [round, setRound] = useState(0);
  const [doneRound, setDoneRound] = useState(-1);

  useEffect(() => {
    const controller = new AbortController();
    read<T>(path, controller.signal).then(
      (data) => {
        if (controller.signal.aborted) return;
        setResult({ path, data, error: undefined });
        setDoneRound(round);
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        const shown = error instanceof ApiError ? error : new ApiError(0, 'FAULT', String(error));
        setResult({ path, data: undefined, error: shown });
        setDoneRound(round);
      },
    );
    return () => controller.abort();
  }, [path, round]);

  const reload = useCallback(() => setRound((now) => now + 1), []);
  const isLoading = result.path !== path || doneRound !== round;
  return { data: result.data, error: isLoading ? undefined : result.error, isLoading, reload };
}
