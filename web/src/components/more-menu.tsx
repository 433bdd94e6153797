// Button "…" with a menu of rare or dangerous actions.
import { useId } from 'preact/hooks';
import { Icon } from './icon.tsx';
import { useMenu } from './use-menu.ts';

interface MoreMenuProps {
  label: string;
  items: readonly { readonly label: string; readonly isDisabled?: boolean; readonly onChoose: () => void }[];
}

export function MoreMenu({ label, items }: MoreMenuProps) {
  const { isOpen, setOpen, root, button } = useMenu();
  const id = useId();
  return (
    <div class="more" ref={root}>
      <button
        ref={button}
        type="button"
        class="button icon-only"
        aria-expanded={isOpen}
        aria-controls={id}
        aria-label={label}
        title={label}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="more" />
      </button>
      <div id={id} class="menu" hidden={!isOpen}>
        {items.map(({ label: text, isDisabled = false, onChoose }) => (
          <button
            key={text}
            type="button"
            class="menu-item danger"
            disabled={isDisabled}
            onClick={() => {
              // The dialog that opens gives the focus back to this button, not to an item that is then hidden.
              button.current?.focus();
              setOpen(false);
              onChoose();
            }}
          >
            {text}
          </button>
        ))}
      </div>
    </div>
  );
}
