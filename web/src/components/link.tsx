// Links inside the console, which do not load the page again.
import type { ComponentChildren } from 'preact';
import { navigate } from '../router.ts';

interface LinkProps {
  href: string;
  class?: string;
  current?: boolean;
  children: ComponentChildren;
}

export function Link({ href, current = false, children, class: className }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(href);
  };
  return (
    <a href={href} class={className} aria-current={current ? 'page' : undefined} onClick={follow}>
      {children}
    </a>
  );
}
