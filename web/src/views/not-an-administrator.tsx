// Page for a signed-in user who is not an administrator: shows the account, and how to make it an administrator.
import type { User } from '../api.ts';
import { Avatar } from '../components/avatar.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Text } from '../components/text.tsx';
import { useSignOut } from '../use-sign-out.ts';
import { useTitle } from '../use-title.ts';
import { loginUrl } from './sign-in.tsx';

interface NotAnAdministratorProps {
  user: User;
  provider: string | null;
  onSignOut: () => Promise<void>;
}

export function NotAnAdministratorView({ user, provider, onSignOut }: NotAnAdministratorProps) {
  useTitle('Not an administrator');
  const { isSigningOut, signOut } = useSignOut(onSignOut);
  return (
    <div class="gate">
      <Avatar user={user} />
      <h1>Not an administrator</h1>
      <p>
        You are signed in as{' '}
        <strong>
          <Text value={user.email || user.name} />
        </strong>
        . This account is not an administrator of this service. Ask an operator to add its subject to{' '}
        <code>ADMIN_SUBJECTS</code>, which always works. Its e-mail address in <code>ADMIN_EMAILS</code>{' '}
        counts only if the identity provider has verified it.
      </p>
      <dl class="identity">
        <dt>Subject</dt>
        <dd>
          <code>
            <Text value={user.subject} />
          </code>
          <CopyButton value={user.subject} what="subject" />
        </dd>
        <dt>E-mail</dt>
        <dd>{user.email ? <Text value={user.email} /> : <span class="faint">none sent</span>}</dd>
      </dl>
      {provider !== null && (
        <a class="button primary wide" href={loginUrl(true)}>
          Use another account
        </a>
      )}
      <button type="button" class="button wide" aria-disabled={isSigningOut} onClick={signOut}>
        {isSigningOut ? 'Signing out…' : 'Sign out'}
      </button>
    </div>
  );
}
