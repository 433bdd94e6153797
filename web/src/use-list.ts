// Loads the page of a list that the address names. A page that is no more, because its cursor does not hold or everything on
// it was deleted, gives way to another.
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
  const isAnswered = list.page > 1 && !isLoading;
  const isRefused = isAnswered && error?.status === 422;
  const isEmptied = isAnswered && !error && data !== undefined && countRows(data) === 0;
  useEffect(() => {
    if (isRefused) list.replaceByFirst();
    else if (isEmptied) list.replaceByPrevious();
  });
  return isRefused || isEmptied ? { ...loaded, error: undefined, isLoading: true } : loaded;
}
