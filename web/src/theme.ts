// Light or dark: what the system prefers, unless someone chose. The choice is the only thing that the console stores.
import { useState } from 'preact/hooks';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'theme';

function storedTheme(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system';
  } catch {
    return 'system'; // storage may be denied
  }
}

function apply(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Before anything is drawn. */
export function applyStoredTheme(): void {
  apply(storedTheme());
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(storedTheme);
  const choose = (next: Theme) => {
    setTheme(next);
    apply(next);
    try {
      if (next === 'system') localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, next);
    } catch {
      // It holds until the page is closed.
    }
  };
  return [theme, choose];
}
