// Hook for signing out: runs once at a time, and reports a failure.
import { useState } from 'preact/hooks';
import type { ApiError } from './api.ts';
import { notify } from './toasts.ts';

export interface Leaving {
  readonly isLeaving: boolean;
  readonly leave: () => void;
}

export function useLeave(onLeave: () => Promise<void>): Leaving {
  const [isLeaving, setLeaving] = useState(false);
  const leave = () => {
    if (isLeaving) return;
    setLeaving(true);
    onLeave().catch((error: ApiError) => {
      setLeaving(false);
      notify('error', `You are still signed in. ${error.message}`);
    });
  };
  return { isLeaving, leave };
}
