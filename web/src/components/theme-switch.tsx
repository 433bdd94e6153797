// Button that cycles through the three themes.
import { THEMES, type Theme, useTheme } from '../theme.ts';
import { Icon, type IconName } from './icon.tsx';

const ICONS: Record<Theme, IconName> = { system: 'screen', light: 'sun', dark: 'moon' };

export function ThemeSwitch() {
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
      <Icon name={ICONS[theme]} />
    </button>
  );
}
