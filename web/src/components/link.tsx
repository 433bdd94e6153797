// Link within the console that does not reload the page.
import type { ComponentChildren } from 'preact';
import { navigate } from '../router.ts';

interface LinkProps {
  href: string;
  class?: string;
  current?: boolean;
  /** Replaces the plain navigation to `href`. */
  onFollow?: () => void;
  children: ComponentChildren;
}

export function Link({ href, current = false, onFollow, children, class: className }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (onFollow) onFollow();
    else navigate(href);
  };
  return (
    <a href={href} class={className} aria-current={current ? 'page' : undefined} onClick={follow}>
      {children}
    </a>
  );
}
