// Hook that gives the focus to a heading when the focused element has disappeared with the rows that were deleted.
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface FocusReturn {
  readonly heading: RefObject<HTMLHeadingElement | null>;
  /** To call when the list is loaded again because of a delete. */
  readonly expect: () => void;
}

export function useFocusReturn(isLoading: boolean): FocusReturn {
  const heading = useRef<HTMLHeadingElement>(null);
  const isExpected = useRef(false);
  useEffect(() => {
    if (isLoading || !isExpected.current) return;
    isExpected.current = false;
    if (document.activeElement === document.body) heading.current?.focus();
  }, [isLoading]);
  return {
    heading,
    expect: () => {
      isExpected.current = true;
    },
  };
}
