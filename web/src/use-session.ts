// Hook for the session: who is signed in, and whether as administrator. The service decides; this only asks it.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import {
  ApiError,
  endAllSessions,
  endSession,
  forget,
  listenForRefusals,
  readSession,
  type User,
} from './api.ts';

export type SessionState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'unreachable'; readonly error: ApiError }
  | { readonly kind: 'signed-out'; readonly provider: string | null; readonly reason: SignedOutReason }
  | { readonly kind: 'not-an-administrator'; readonly provider: string | null; readonly user: User }
  | { readonly kind: 'administrator'; readonly provider: string | null; readonly user: User };

/** `new`: not yet signed in; `ended`: the service no longer accepts the session; `left`: signed out by the user. */
export type SignedOutReason = 'new' | 'ended' | 'left';

export interface SessionControl {
  readonly session: SessionState;
  /** Loads the session again. */
  readonly refresh: () => Promise<void>;
  /** Signs out. Throws ApiError. */
  readonly signOut: () => Promise<void>;
  /** Ends all sessions of the administrator. Throws ApiError. */
  readonly signOutEverywhere: () => Promise<void>;
}

export function useSession(): SessionControl {
  const [session, setSession] = useState<SessionState>({ kind: 'loading' });
  const [expiresAt, setExpiresAt] = useState<string | null>(null);

  const latest = useRef(0);

  /**
   * Loads the session. Only the latest call takes effect. A background check keeps the state if it fails, or if the user is
   * still signed out.
   */
  const loadSession = useCallback(async (reason: SignedOutReason, isBackground = false) => {
    const number = ++latest.current;
    try {
      const { provider, user, is_administrator, expires_at } = await readSession();
      if (number !== latest.current) return;
      setExpiresAt(expires_at);
      if (!is_administrator) forget();
      if (user)
        setSession({ kind: is_administrator ? 'administrator' : 'not-an-administrator', provider, user });
      else {
        setSession((before) =>
          isBackground && before.kind === 'signed-out' ? before : { kind: 'signed-out', provider, reason },
        );
      }
    } catch (error) {
      if (number !== latest.current || isBackground) return;
      const shown = error instanceof ApiError ? error : new ApiError(0, 'FAULT', String(error));
      setSession({ kind: 'unreachable', error: shown });
    }
  }, []);

  useEffect(() => {
    void loadSession('new');
    let loading: Promise<void> | undefined;
    listenForRefusals(() => {
      loading ??= loadSession('ended').finally(() => {
        loading = undefined;
      });
      return loading;
    });
  }, [loadSession]);

  // Another user may have signed in in another tab: show the user whose session would be used.
  useEffect(() => {
    const recheck = () => {
      if (document.visibilityState === 'visible') void loadSession('ended', true);
    };
    document.addEventListener('visibilitychange', recheck);
    return () => document.removeEventListener('visibilitychange', recheck);
  }, [loadSession]);

  // When the session expires, its data must not stay on the screen.
  useEffect(() => {
    if (expiresAt === null) return;
    const timer = setTimeout(
      () => void loadSession('ended'),
      Math.max(1_000, Date.parse(expiresAt) - Date.now() + 500),
    );
    return () => clearTimeout(timer);
  }, [expiresAt, loadSession]);

  const refresh = useCallback(() => loadSession('new'), [loadSession]);
  const signOut = useCallback(async () => {
    await endSession();
    await loadSession('left');
  }, [loadSession]);
  const signOutEverywhere = useCallback(async () => {
    await endAllSessions();
    await loadSession('left');
  }, [loadSession]);
  return { session, refresh, signOut, signOutEverywhere };
}
