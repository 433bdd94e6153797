// Menu with the signed-in user and the buttons to sign out.
import type { User } from '../api.ts';
import { useSignOut } from '../use-sign-out.ts';
import { Avatar } from './avatar.tsx';
import { Icon } from './icon.tsx';
import { Text } from './text.tsx';
import { useMenu } from './use-menu.ts';

interface AccountMenuProps {
  user: User;
  onSignOut: () => Promise<void>;
  /** Undefined for people who are not administrators. */
  onSignOutEverywhere: (() => Promise<void>) | undefined;
}

export function AccountMenu({ user, onSignOut, onSignOutEverywhere }: AccountMenuProps) {
  const { isOpen, setOpen, root, button } = useMenu();
  const { isSigningOut, signOut } = useSignOut(onSignOut);
  const everywhere = useSignOut(onSignOutEverywhere ?? onSignOut);

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
        <button type="button" class="menu-item" aria-disabled={isSigningOut} onClick={signOut}>
          {isSigningOut ? 'Signing out…' : 'Sign out'}
        </button>
        {onSignOutEverywhere && (
          <button
            type="button"
            class="menu-item"
            aria-disabled={everywhere.isSigningOut}
            onClick={everywhere.signOut}
          >
            {everywhere.isSigningOut ? 'Signing out…' : 'Sign out everywhere'}
            <small>Ends your sessions in all browsers.</small>
          </button>
        )}
      </div>
    </div>
  );
}
