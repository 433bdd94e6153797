// The title of the browser's tab or window.
import { useEffect } from 'preact/hooks';

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · local-events`;
  }, [title]);
}
