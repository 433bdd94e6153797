// Card around a list: its rows, an error or the empty state, and the pager below.
import type { ComponentChildren } from 'preact';
import type { Page } from '../api.ts';
import { countOf } from '../format.ts';
import type { ListState } from '../list-state.ts';
import type { Loaded } from '../use-load.ts';
import { Pager } from './pager.tsx';
import { Empty, Failure } from './states.tsx';

interface ListCardProps {
  list: ListState;
  loaded: Pick<Loaded<Page>, 'data' | 'error' | 'isLoading' | 'reload'>;
  /** Number of rows shown. */
  shown: number;
  /** What is counted above the list. */
  noun?: string;
  /** Shown instead of the rows if there are none. */
  empty: ComponentChildren;
  /** The rows. */
  children: ComponentChildren;
}

export function ListCard({ list, loaded, shown, noun, empty, children }: ListCardProps) {
  const { data, error, isLoading, reload } = loaded;
  // The API rejected the search text, so retrying would not help.
  const isSearchRefused = error?.status === 422 && list.q !== '';
  return (
    <>
      {noun && <p class="list-total">{data && !error ? countOf(data.total, noun) : '\u00a0'}</p>}
      <div class="card" aria-busy={isLoading}>
        {error ? (
          <Failure
            error={error}
            actionLabel={isSearchRefused ? 'Clear the search' : 'Try again'}
            onAction={isSearchRefused ? () => list.search('') : reload}
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

interface NoMatchProps {
  list: ListState;
  title: string;
  children: ComponentChildren;
}

/** Empty state of a list whose search or filters leave everything out. */
export function NoMatch({ list, title, children }: NoMatchProps) {
  return (
    <Empty icon="search" title={title}>
      {children}
      {list.q !== '' && (
        <p>
          <button type="button" class="button" onClick={() => list.search('')}>
            Clear the search
          </button>
        </p>
      )}
    </Empty>
  );
}
