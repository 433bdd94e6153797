// Hook that sets the document title together with the page's content.
import { useLayoutEffect } from 'preact/hooks';

export function useTitle(title: string): void {
  useLayoutEffect(() => {
    document.title = `${title} · local-events`;
  }, [title]);
}
