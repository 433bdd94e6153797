// Who is signed in, and what becomes of the page when that changes. The service decides; this only asks it.
import { useCallback, useEffect, useState } from 'preact/hooks';
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

  const ask = useCallback(async (reason: SignedOutReason) => {
    try {
      const { provider, user, is_administrator, expires_at } = await readSession();
      setExpiresAt(expires_at);
      if (!is_administrator) forget();
      if (!user) setSession({ kind: 'signed-out', provider, reason });
      else setSession({ kind: is_administrator ? 'administrator' : 'stranger', provider, user });
    } catch (error) {
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
