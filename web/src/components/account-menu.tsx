// Menu with the signed-in user and the button to sign out.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { User } from '../api.ts';
import { useLeave } from '../use-leave.ts';
import { Avatar } from './avatar.tsx';
import { Icon } from './icon.tsx';
import { Text } from './text.tsx';

export function AccountMenu({ user, onLeave }: { user: User; onLeave: () => Promise<void> }) {
  const [isOpen, setOpen] = useState(false);
  const { isLeaving, leave } = useLeave(onLeave);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    if (!isOpen) return;
    const closeOutside = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    const closeByKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      setOpen(false);
      button.current?.focus();
    };
    document.addEventListener('pointerdown', closeOutside);
    document.addEventListener('focusin', closeOutside);
    document.addEventListener('keydown', closeByKey);
    return () => {
      document.removeEventListener('pointerdown', closeOutside);
      document.removeEventListener('focusin', closeOutside);
      document.removeEventListener('keydown', closeByKey);
    };
  }, [isOpen]);

  return (
    <div class="account" ref={root}>
      <button
        ref={button}
        type="button"
        class="account-button"
        aria-expanded={isOpen}
        aria-controls="account-menu"
        aria-label={`Account of ${user.name}`}
        onClick={() => setOpen(!isOpen)}
      >
        <Avatar user={user} />
        <span class="account-name">
          <Text value={user.name} />
        </span>
        <Icon name="down" />
      </button>
      <div id="account-menu" class="menu" hidden={!isOpen}>
        <p class="menu-who">
          <strong>
            <Text value={user.name} />
          </strong>
          {user.email && user.email !== user.name && (
            <span>
              <Text value={user.email} />
            </span>
          )}
        </p>
        <button type="button" class="menu-item" aria-disabled={isLeaving} onClick={leave}>
          {isLeaving ? 'Signing out…' : 'Sign out'}
        </button>
      </div>
    </div>
  );
}
