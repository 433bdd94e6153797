// Shows notifications at the edge of the page and announces them to screen readers. They disappear after a while, but not
// while hovered or focused; errors stay until dismissed.
import { useEffect, useState } from 'preact/hooks';
import { dismiss, listenForToasts, type Toast } from '../toasts.ts';
import { Icon } from './icon.tsx';
import { Text } from './text.tsx';

const SHOWN_MS = 10_000;

/** Longer, because it has something to do. */
const SHOWN_WITH_ACTION_MS = 20_000;

export function Toaster() {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  useEffect(() => listenForToasts(setToasts), []);
  return (
    <section class="toaster" aria-label="Notifications">
      <div role="status" aria-live="polite">
        {toasts.map((toast) => (
          <ToastBox key={toast.id} toast={toast} />
        ))}
      </div>
    </section>
  );
}

function ToastBox({ toast: { id, kind, message, action } }: { toast: Toast }) {
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld || kind === 'error') return;
    const timer = setTimeout(() => dismiss(id), action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, kind, action, isHeld]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only keeps it open
    <div
      class={`toast ${kind}`}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocusIn={() => setHeld(true)}
      onFocusOut={() => setHeld(false)}
    >
      <Icon name={kind === 'done' ? 'check' : 'warning'} />
      <p>
        <Text value={message} />
      </p>
      {action && (
        <button
          type="button"
          class="link-button"
          onClick={() => {
            dismiss(id);
            action.run();
          }}
        >
          {action.label}
        </button>
      )}
      <button type="button" class="icon-button small" aria-label="Dismiss" onClick={() => dismiss(id)}>
        <Icon name="close" />
      </button>
    </div>
  );
}
