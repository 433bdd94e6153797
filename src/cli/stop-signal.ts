// A long command that is asked to stop finishes its step and says how far it came; asked twice, it ends at once.
import { constants } from 'node:os';
import type { Io } from './command.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export interface Stop {
  /** Aborted by SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** What shells expect of a command that a signal ended; undefined if none did. */
  exitCode(): number | undefined;
}

export function onStopSignal(io: Io): Stop {
  const controller = new AbortController();
  let received: NodeJS.Signals | undefined;
  const stop = (signal: NodeJS.Signals) => {
    received = signal;
    for (const name of SIGNALS) io.off(name, stop);
    controller.abort();
  };
  for (const name of SIGNALS) io.on(name, stop);
  return {
    signal: controller.signal,
    exitCode: () => received && 128 + constants.signals[received],
  };
}
