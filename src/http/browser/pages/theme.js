// The theme, light or dark, by default as the system prefers. The choice is shared with the console. This script blocks the
// first paint, so that a chosen theme does not start with a flash of the other.
(() => {
  const THEMES = ['system', 'light', 'dark'];
  const root = document.documentElement;

  const stored = () => {
    try {
      return THEMES.find((theme) => theme === localStorage.getItem('theme')) ?? 'system';
    } catch {
      return 'system'; // storage may be denied
    }
  };

  let theme = stored();

  const apply = () => {
    if (theme === 'system') delete root.dataset.theme;
    else root.dataset.theme = theme;
  };

  apply();
  document.addEventListener('DOMContentLoaded', () => {
    const button = document.getElementById('theme');
    if (!button) return;
    const show = () => {
      const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
      button.title = `Theme: ${theme}`;
      button.setAttribute('aria-label', `Theme: ${theme}. Switch to ${next}.`);
      for (const icon of button.querySelectorAll('[data-theme-icon]')) {
        icon.toggleAttribute('hidden', icon.getAttribute('data-theme-icon') !== theme);
      }
      return next;
    };
    let next = show();
    button.hidden = false;
    button.addEventListener('click', () => {
      theme = next ?? 'system';
      apply();
      next = show();
      try {
        if (theme === 'system') localStorage.removeItem('theme');
        else localStorage.setItem('theme', theme);
      } catch {
        // Without storage, the choice lasts until the page is closed.
      }
    });
  });
})();
