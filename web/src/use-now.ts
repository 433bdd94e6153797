// The time, as often as texts like "5 min. ago" need it.
import { useEffect, useState } from 'preact/hooks';

const EVERY_MS = 20_000;

export function useNow(): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
