// The frame of a list: its rows, or what stands in their place, and below them the ways to other pages.
import type { ComponentChildren } from 'preact';
import type { Page } from '../api.ts';
import type { ListState } from '../list-state.ts';
import type { Loaded } from '../use-load.ts';
import { Pager } from './pager.tsx';
import { Failure } from './states.tsx';

interface ListCardProps {
  list: ListState;
  loaded: Pick<Loaded<Page>, 'data' | 'error' | 'isLoading' | 'reload'>;
  /** How many rows are shown. */
  shown: number;
  /** In place of the rows where there is none. */
  empty: ComponentChildren;
  /** The rows. */
  children: ComponentChildren;
}

export function ListCard({ list, loaded, shown, empty, children }: ListCardProps) {
  const { data, error, isLoading, reload } = loaded;
  // What was searched for is refused: to ask the same again is no way out.
  const isSearchRefused = error?.status === 422 && list.q !== '';
  return (
    <>
      <div class="card" aria-busy={isLoading}>
        {error ? (
          <Failure
            error={error}
            wayOut={isSearchRefused ? 'Clear the search' : 'Try again'}
            onWayOut={isSearchRefused ? () => list.search('') : reload}
          />
        ) : data?.total === 0 ? (
          empty
        ) : (
          children
        )}
      </div>
      {data && !error && (
        <Pager list={list} shown={shown} total={data.total} next={data.next_cursor} isLoading={isLoading} />
      )}
    </>
  );
}
