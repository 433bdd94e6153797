// Hook that loads the list page of the current URL. If that page no longer exists, because its cursor is invalid or all its
// rows were deleted, another page replaces it.
import { useEffect } from 'preact/hooks';
import type { Page } from './api.ts';
import type { ListState } from './list-state.ts';
import { type Loaded, useLoad } from './use-load.ts';

export function useList<T extends Page>(
  path: string,
  list: ListState,
  countRows: (data: T) => number,
): Loaded<T> {
  const loaded = useLoad<T>(path + list.apiQuery);
  const { data, error, isLoading } = loaded;
  const isLoaded = list.page > 1 && !isLoading;
  const isRefused = isLoaded && error?.status === 422;
  const isEmptied = isLoaded && !error && data !== undefined && countRows(data) === 0;
  useEffect(() => {
    if (isRefused) list.replaceByFirst();
    else if (isEmptied) list.replaceByPrevious();
  });
  return isRefused || isEmptied ? { ...loaded, error: undefined, isLoading: true } : loaded;
}
