// Hook that gives the focus to a heading, or another element above a list, when the focused element has disappeared with the rows that were deleted.
import { useEffect, useRef } from 'preact/hooks';

/** `heading` is the ref of the heading. `expect` is to be called when the list is loaded again because of a delete. */
export function useFocusReturn<Heading extends HTMLElement = HTMLHeadingElement>(isLoading: boolean) {
  const heading = useRef<Heading>(null);
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
