// For someone who is signed in and is no administrator: who they are, and what would make them one.
import type { User } from '../api.ts';
import { Avatar } from '../components/avatar.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Text } from '../components/text.tsx';
import { useLeave } from '../use-leave.ts';
import { useTitle } from '../use-title.ts';
import { loginAddress } from './sign-in.tsx';

interface StrangerProps {
  user: User;
  provider: string | null;
  onLeave: () => Promise<void>;
}

export function StrangerView({ user, provider, onLeave }: StrangerProps) {
  useTitle('Not an administrator');
  const { isLeaving, leave } = useLeave(onLeave);
  return (
    <div class="gate">
      <Avatar user={user} />
      <h1>Not an administrator</h1>
      <p>
        You are signed in as{' '}
        <strong>
          <Text value={user.email || user.name} />
        </strong>
        , and this account may not administer this service. Ask an operator to add its subject to{' '}
        <code>ADMIN_SUBJECTS</code>, which always works. Its e-mail address in <code>ADMIN_EMAILS</code>{' '}
        counts only where the identity provider vouches for it.
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
        <a class="button primary wide" href={loginAddress(true)}>
          Use another account
        </a>
      )}
      <button type="button" class="button wide" aria-disabled={isLeaving} onClick={leave}>
        {isLeaving ? 'Signing out…' : 'Sign out'}
      </button>
    </div>
  );
}
