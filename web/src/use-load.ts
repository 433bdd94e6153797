// Hook that loads a path of the API, again when the path changes or on `reload`. Outdated responses are dropped. The old data
// stays until new data arrives, even after errors.
import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiError, read, recall } from './api.ts';
import { listenForUndos } from './undo.ts';

export interface Loaded<T> {
  /** The latest response, possibly of the previous path. */
  readonly data: T | undefined;
  /** Why this path could not be loaded. */
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

interface Result<T> {
  readonly path: string | undefined;
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
}

/** Without a path, it is loading until there is one. */
export function useLoad<T>(path: string | undefined): Loaded<T> {
  const [result, setResult] = useState<Result<T>>({
    path: undefined,
    data: path === undefined ? undefined : recall<T>(path),
    error: undefined,
  });
  const [round, setRound] = useState(0);
  const [doneRound, setDoneRound] = useState(-1);

  useEffect(() => {
    if (path === undefined) return;
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
        setResult(({ data }) => ({ path, data, error: shown }));
        setDoneRound(round);
      },
    );
    return () => controller.abort();
  }, [path, round]);

  const reload = useCallback(() => setRound((now) => now + 1), []);
  useEffect(() => listenForUndos(reload), [reload]);
  const isLoading = path === undefined || result.path !== path || doneRound !== round;
  return { data: result.data, error: isLoading ? undefined : result.error, isLoading, reload };
}
