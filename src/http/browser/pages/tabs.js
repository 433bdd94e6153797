// Tabs on the front page: one panel at a time, with the arrow keys between them. Without scripts, all panels are shown.

/** @param {HTMLElement} list Its tabs name their panels with aria-controls. */
export function wireTabs(list) {
  const tabs = /** @type {HTMLElement[]} */ ([...list.querySelectorAll('[role=tab]')]);
  /** @param {HTMLElement | undefined} chosen */
  const choose = (chosen) => {
    for (const tab of tabs) {
      tab.setAttribute('aria-selected', String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
      const panel = /** @type {HTMLElement} */ (
        document.getElementById(tab.getAttribute('aria-controls') ?? '')
      );
      panel.hidden = tab !== chosen;
      panel.setAttribute('role', 'tabpanel');
      panel.setAttribute('aria-labelledby', tab.id);
    }
  };
  for (const [at, tab] of tabs.entries()) {
    tab.addEventListener('click', () => choose(tab));
    tab.addEventListener('keydown', ({ key }) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
      if (step === undefined) return;
      const next = tabs[(at + step + tabs.length) % tabs.length];
      choose(next);
      next?.focus();
    });
  }
  list.hidden = false;
  choose(tabs[0]);
}
