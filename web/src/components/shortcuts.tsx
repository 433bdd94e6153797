// Keys of the console: Ctrl+K opens the palette, ? the list of all shortcuts.
import { useEffect, useId, useState } from 'preact/hooks';
import { CommandPalette } from './command-palette.tsx';
import { Icon } from './icon.tsx';
import { Modal } from './modal.tsx';

const isMac = /^(?:Mac|iP)/.test(navigator.platform);
const MAIN_KEY = isMac ? '⌘' : 'Ctrl';

const SHORTCUTS: readonly (readonly [keys: readonly string[], effect: string])[] = [
  [[MAIN_KEY, 'K'], 'Find a view, an agent or an event'],
  [['/'], 'Search in the list'],
  [['↓', '↑'], 'Next or previous row of a list'],
  [['Enter'], 'Open the row'],
  [['→', '←'], 'Next or previous event, while one is open'],
  [['Shift', 'click'], 'Select all rows in between'],
  [['Esc'], 'Close a dialog, or clear the search'],
  [['?'], 'This list'],
];

type Opened = 'palette' | 'shortcuts';

/** The button in the header, the keys, and what they open. */
export function Shortcuts() {
  const [opened, setOpened] = useState<Opened>();
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      const { target, key } = event;
      const isPalette =
        key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
      const isTyping = target instanceof Element && target.closest('input, textarea, select') !== null;
      const isHelp = key === '?' && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping;
      if (!isPalette && !isHelp) return;
      event.preventDefault();
      // A dialog asks for something first.
      if (!document.querySelector('dialog[open]')) setOpened(isPalette ? 'palette' : 'shortcuts');
    };
    document.addEventListener('keydown', open);
    return () => document.removeEventListener('keydown', open);
  }, []);
  const close = () => setOpened(undefined);
  return (
    <>
      <button
        type="button"
        class="icon-button find"
        data-keys={`${MAIN_KEY} K`}
        aria-label="Find"
        aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'}
        title={`Find (${MAIN_KEY}+K)`}
        onClick={() => setOpened('palette')}
      >
        <Icon name="search" />
      </button>
      {opened === 'palette' && <CommandPalette onClose={close} onShortcuts={() => setOpened('shortcuts')} />}
      {opened === 'shortcuts' && <ShortcutList onClose={close} />}
    </>
  );
}

function ShortcutList({ onClose }: { onClose: () => void }) {
  const id = useId();
  return (
    <Modal class="confirm" labelledBy={id} onClose={onClose}>
      <div class="shortcuts">
        <div class="shortcuts-head">
          <h2 id={id}>Keyboard shortcuts</h2>
          <button type="button" class="icon-button" aria-label="Close" title="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </div>
        <dl>
          {SHORTCUTS.map(([keys, effect]) => (
            <div key={effect}>
              <dt>
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{effect}</dd>
            </div>
          ))}
        </dl>
      </div>
    </Modal>
  );
}
