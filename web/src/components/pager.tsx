// Which part of a list is shown, and the ways to the others.
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
  // While another page is on its way, the one before is still shown.
  const shownPage = useRef(list.page);
  if (!isLoading) shownPage.current = list.page;
  const from = (shownPage.current - 1) * PAGE_SIZE;
  const whole = useRef<HTMLElement>(null);
  /** Another page begins at its top. */
  const go = (to: () => void) => () => {
    to();
    whole.current?.closest('section, main')?.scrollIntoView({ block: 'start' });
  };
  const goBack = list.page > 1 && !isLoading ? go(list.toPrevious) : undefined;
  const goOn = next && !isLoading ? go(() => list.toNext(next)) : undefined;
  return (
    <nav class="pager" aria-label="Pages" ref={whole}>
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

/** Without something to do it stays where it is, so that the focus does too. */
function PageButton(props: { onClick: (() => void) | undefined; children: ComponentChildren }) {
  const { onClick, children } = props;
  return (
    <button type="button" class="button" aria-disabled={!onClick} onClick={() => onClick?.()}>
      {children}
    </button>
  );
}
