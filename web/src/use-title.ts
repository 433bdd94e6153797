// The title of the browser's tab or window, at once with what the page shows.
import { useLayoutEffect } from 'preact/hooks';

export function useTitle(title: string): void {
  useLayoutEffect(() => {
    document.title = `${title} · local-events`;
  }, [title]);
}
