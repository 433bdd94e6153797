// Sign-in page: with the identity provider, or with a token if no provider is configured.
import { useId, useState } from 'preact/hooks';
import { ApiError, signInWithToken } from '../api.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { Mark } from '../components/icon.tsx';
import { currentUrl } from '../router.ts';
import type { SignedOutReason } from '../use-session.ts';
import { useTitle } from '../use-title.ts';

const PROBLEMS = new Map(
  Object.entries({
    state:
      'That sign-in could not be completed: it was not started in this browser, or it took longer than 10 minutes. Please try again.',
    denied: 'The identity provider says that access was denied. Try again, or choose another account.',
    provider:
      'The identity provider did not respond, or its response was not valid. Try again in a moment. If the problem persists, see the log of the service.',
    often: 'There were too many sign-ins from your network. Please try again in an hour.',
  }),
);

const REASONS: Record<SignedOutReason, string | undefined> = {
  new: undefined,
  ended: 'Your session has ended. Sign in again to return to this page.',
  left: 'You are signed out.',
};

interface SignInProps {
  provider: string | null;
  reason: SignedOutReason;
  problem: string | null;
  /** Called when there is a session. */
  onSignedIn: () => Promise<void>;
}

export function SignInView({ provider, reason, problem, onSignedIn }: SignInProps) {
  useTitle('Sign in');
  const message =
    problem !== null && (PROBLEMS.get(problem) ?? 'The sign-in did not succeed. Please try again.');
  return (
    <div class="gate">
      <Mark />
      <h1>local-events console</h1>
      {message ? (
        <p class="notice problem" role="alert">
          {message}
        </p>
      ) : (
        REASONS[reason] && (
          <p class="notice" role="status">
            {REASONS[reason]}
          </p>
        )
      )}
      {provider === null ? (
        <TokenForm onSignedIn={onSignedIn} />
      ) : (
        <>
          <p>Sign in to see agents, their events and the audit log.</p>
          <a class="button primary wide" href={loginUrl()}>
            Sign in with {provider}
          </a>
        </>
      )}
    </div>
  );
}

/** URL that starts the sign-in; the user returns to the current page. */
export function loginUrl(choose = false): string {
  const query = new URLSearchParams({ ...(choose && { account: 'choose' }), return: currentUrl() });
  return `/admin/login?${query}`;
}

const COMMAND = 'npm run -s cli -- admin-token --email you@example.com';

function TokenForm({ onSignedIn }: { onSignedIn: () => Promise<void> }) {
  const [token, setToken] = useState('');
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<string>();
  const id = useId();

  const submit = async (event: Event) => {
    event.preventDefault();
    if (isPending || token.trim() === '') return;
    setPending(true);
    setError(undefined);
    try {
      await signInWithToken(token.trim());
      await onSignedIn();
    } catch (caught) {
      setError(caught instanceof ApiError ? caught.message : String(caught));
    }
    setPending(false);
  };
  return (
    <>
      <form class="stack" onSubmit={submit}>
        <p id={`${id}-how`}>
          No identity provider is configured, so sign in with a token. Create one on the machine that runs the
          service:
        </p>
        <p class="command">
          <code>{COMMAND}</code>
          <CopyButton value={COMMAND} what="command" />
        </p>
        <label for={id}>Token</label>
        <input
          id={id}
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          aria-describedby={`${id}-how ${id}-error`}
          aria-invalid={error !== undefined}
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <p id={`${id}-error`} class="field-error" role="alert">
          {error}
        </p>
        <button type="submit" class="button primary wide" aria-disabled={isPending}>
          {isPending ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
      <details class="explanation">
        <summary>Use an identity provider instead</summary>
        <p>
          Set these variables and restart the service. Any OpenID Connect provider works, such as Google,
          Keycloak, Auth0 or Microsoft Entra.
        </p>
        <dl>
          <dt>
            <code>OIDC_ISSUER</code>
          </dt>
          <dd>the URL of the provider</dd>
          <dt>
            <code>OIDC_CLIENT_ID</code>, <code>OIDC_CLIENT_SECRET</code>
          </dt>
          <dd>
            the credentials of this service at the provider; its redirect URL is{' '}
            <code>{location.origin}/admin/callback</code>
          </dd>
          <dt>
            <code>ADMIN_EMAILS</code>, <code>ADMIN_DOMAINS</code> or <code>ADMIN_SUBJECTS</code>
          </dt>
          <dd>who is an administrator</dd>
        </dl>
      </details>
    </>
  );
}
