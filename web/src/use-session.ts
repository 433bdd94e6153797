// Who is signed in, and what becomes of the page when that changes. The service decides; this only asks it.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, forget, listenForRefusals, readSession, signOut, type User } from './api.ts';

export type SessionState =
  | { readonly kind: 'asking' }
  | { readonly kind: 'unreachable'; readonly error: ApiError }
  | { readonly kind: 'signed-out'; readonly provider: string | null; readonly reason: SignedOutReason }
  | { readonly kind: 'stranger'; readonly provider: string | null; readonly user: User }
  | { readonly kind: 'administrator'; readonly provider: string | null; readonly user: User };

/** `new`: not signed in here yet; `ended`: the service no longer takes the session; `left`: signed out. */
export type SignedOutReason = 'new' | 'ended' | 'left';

export interface SessionControl {
  readonly session: SessionState;
  /** Asks the service again. */
  readonly refresh: () => Promise<void>;
  /** Throws ApiError. */
  readonly leave: () => Promise<void>;
}

export function useSession(): SessionControl {
  const [session, setSession] = useState<SessionState>({ kind: 'asking' });
  const [expiresAt, setExpiresAt] = useState<string | null>(null);

  const asked = useRef(0);

  /** Only the last question counts. One that nobody put changes nothing where nothing has changed, or where it fails. */
  const ask = useCallback(async (reason: SignedOutReason, isByItself = false) => {
    const number = ++asked.current;
    try {
      const { provider, user, is_administrator, expires_at } = await readSession();
      if (number !== asked.current) return;
      setExpiresAt(expires_at);
      if (!is_administrator) forget();
      if (user) setSession({ kind: is_administrator ? 'administrator' : 'stranger', provider, user });
      else {
        setSession((before) =>
          isByItself && before.kind === 'signed-out' ? before : { kind: 'signed-out', provider, reason },
        );
      }
    } catch (error) {
      if (number !== asked.current || isByItself) return;
      const shown = error instanceof ApiError ? error : new ApiError(0, 'FAULT', String(error));
      setSession({ kind: 'unreachable', error: shown });
    }
  }, []);

  useEffect(() => {
    void ask('new');
    let asking: Promise<void> | undefined;
    listenForRefusals(() => {
      asking ??= ask('ended').finally(() => {
        asking = undefined;
      });
      return asking;
    });
  }, [ask]);

  // In another tab somebody else may have signed in: the name shown is the one that would act.
  useEffect(() => {
    const askAgain = () => {
      if (document.visibilityState === 'visible') void ask('ended', true);
    };
    document.addEventListener('visibilitychange', askAgain);
    return () => document.removeEventListener('visibilitychange', askAgain);
  }, [ask]);

  // The page of a session that has ended does not stay open on a desk.
  useEffect(() => {
    if (expiresAt === null) return;
    const timer = setTimeout(
      () => void ask('ended'),
      Math.max(1_000, Date.parse(expiresAt) - Date.now() + 500),
    );
    return () => clearTimeout(timer);
  }, [expiresAt, ask]);

  const refresh = useCallback(() => ask('new'), [ask]);
  const leave = useCallback(async () => {
    await signOut();
    await ask('left');
  }, [ask]);
  return { session, refresh, leave };
}
