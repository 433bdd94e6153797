// Hook for the current time, updated often enough for texts like "5 min. ago". All users share one timer.
import { useEffect, useState } from 'preact/hooks';

const EVERY_MS = 20_000;

const listeners = new Set<(nowMs: number) => void>();
let timer: ReturnType<typeof setInterval> | undefined;

export function useNow(): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    listeners.add(setNowMs);
    timer ??= setInterval(() => {
      for (const listener of listeners) listener(Date.now());
    }, EVERY_MS);
    return () => {
      listeners.delete(setNowMs);
      if (listeners.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  return nowMs;
}
