// Hook for the arrow keys in lists: up and down move between the rows, and from a search field into them.
import { useEffect } from 'preact/hooks';

const ROW = 'tbody .row-link';

export function useArrowKeys(): void {
  useEffect(() => {
    const move = (event: KeyboardEvent) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const { target } = event;
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
      if (step === undefined || !isPlain || event.defaultPrevented || !(target instanceof HTMLElement))
        return;
      const isInSearch = step > 0 && target.matches('main input[type=search]');
      const list = target.matches(ROW)
        ? target.closest('table')
        : isInSearch && document.querySelector('main table');
      if (!list) return;
      const rows = [...list.querySelectorAll<HTMLElement>(ROW)];
      const next = rows[rows.indexOf(target) + step];
      if (!next) return;
      event.preventDefault();
      next.focus();
    };
    document.addEventListener('keydown', move);
    return () => document.removeEventListener('keydown', move);
  }, []);
}
