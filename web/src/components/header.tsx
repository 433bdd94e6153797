// Header bar: product name, navigation, theme and account menu.
import type { User } from '../api.ts';
import { routeOf } from '../router.ts';
import { THEMES, type Theme, useTheme } from '../theme.ts';
import { AccountMenu } from './account-menu.tsx';
import { Icon, type IconName, Mark } from './icon.tsx';
import { Link } from './link.tsx';
import { Shortcuts } from './shortcuts.tsx';

interface HeaderProps {
  path: string;
  /** Undefined: nobody is signed in. */
  user: User | undefined;
  isAdministrator: boolean;
  /** Without the logo, because the page itself shows it. */
  isBare: boolean;
  onSignOut: () => Promise<void>;
  onSignOutEverywhere: () => Promise<void>;
}

export function Header({ path, user, isAdministrator, isBare, onSignOut, onSignOutEverywhere }: HeaderProps) {
  const { view } = routeOf(path);
  return (
    <header class={isBare ? 'header bare' : 'header'}>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <div class="header-inside">
        {!isBare && (
          <Link href="/admin" class="brand">
            <Mark />
            <span>local-events</span>
          </Link>
        )}
        {isAdministrator && (
          <nav class="nav" aria-label="Views">
            <Link href="/admin" current={view === 'agents' || view === 'agent'}>
              Agents
            </Link>
            <Link href="/admin/events" current={view === 'events'}>
              Events
            </Link>
            <Link href="/admin/audit" current={view === 'audit'}>
              Audit log
            </Link>
            <a href="/docs">API</a>
          </nav>
        )}
        <div class="header-end">
          {isAdministrator && <Shortcuts />}
          <ThemeSwitch />
          {user && (
            <AccountMenu
              user={user}
              onSignOut={onSignOut}
              onSignOutEverywhere={isAdministrator ? onSignOutEverywhere : undefined}
            />
          )}
        </div>
      </div>
    </header>
  );
}

const THEME_ICONS: Record<Theme, IconName> = { system: 'screen', light: 'sun', dark: 'moon' };

/** Button that cycles through the three themes. */
function ThemeSwitch() {
  const [theme, choose] = useTheme();
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={`Theme: ${theme}. Switch to ${next}.`}
      title={`Theme: ${theme}`}
      onClick={() => choose(next)}
    >
      <Icon name={THEME_ICONS[theme]} />
    </button>
  );
}
