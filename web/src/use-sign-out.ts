// Hook for signing out: runs once at a time, and reports a failure.
import { useState } from 'preact/hooks';
import type { ApiError } from './api.ts';
import { notify } from './toasts.ts';

export interface SigningOut {
  readonly isSigningOut: boolean;
  readonly signOut: () => void;
}

export function useSignOut(onSignOut: () => Promise<void>): SigningOut {
  const [isSigningOut, setSigningOut] = useState(false);
  const signOut = () => {
    if (isSigningOut) return;
    setSigningOut(true);
    onSignOut().catch((error: ApiError) => {
      setSigningOut(false);
      notify('error', `You are still signed in. ${error.message}`);
    });
  };
  return { isSigningOut, signOut };
}
