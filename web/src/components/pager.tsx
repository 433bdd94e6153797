// Range of rows shown, and buttons for the previous and next page.
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { formatNumber } from '../format.ts';
import { type ListState, PAGE_SIZE } from '../list-state.ts';
import { Icon } from './icon.tsx';

interface PagerProps {
  list: ListState;
  shown: number;
  total: number;
  next: string | null;
  isLoading: boolean;
}

export function Pager({ list, shown, total, next, isLoading }: PagerProps) {
  // While the next page loads, the old one is still shown.
  const shownPage = useRef(list.page);
  if (!isLoading) shownPage.current = list.page;
  const from = (shownPage.current - 1) * PAGE_SIZE;
  const root = useRef<HTMLElement>(null);
  /** Changes the page and scrolls to the top of the list. */
  const go = (to: () => void) => () => {
    to();
    root.current?.closest('section, main')?.scrollIntoView({ block: 'start' });
  };
  const goBack = list.page > 1 && !isLoading ? go(list.toPrevious) : undefined;
  const goOn = next && !isLoading ? go(() => list.toNext(next)) : undefined;
  return (
    <nav class="pager" aria-label="Pages" ref={root}>
      <p role="status">
        {shown === 0 ? (
          <span class="visually-hidden">Nothing found.</span>
        ) : (
          <>
            {formatNumber(from + 1)}–{formatNumber(from + shown)} of{' '}
            {formatNumber(Math.max(total, from + shown))}
          </>
        )}
      </p>
      {shown > 0 && (
        <>
          <PageButton onClick={goBack}>
            <Icon name="left" />
            {list.knowsPrevious ? 'Previous' : 'First page'}
          </PageButton>
          <PageButton onClick={goOn}>
            Next
            <Icon name="right" />
          </PageButton>
        </>
      )}
    </nav>
  );
}

/** Without an action the button stays in place, disabled, so that it keeps the focus. */
function PageButton(props: { onClick: (() => void) | undefined; children: ComponentChildren }) {
  const { onClick, children } = props;
  return (
    <button type="button" class="button" aria-disabled={!onClick} onClick={() => onClick?.()}>
      {children}
    </button>
  );
}
