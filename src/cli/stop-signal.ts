// Stop signals for long commands. On the first SIGINT or SIGTERM a command finishes its current step and reports how far it
// got. The second one ends the process immediately.
import { constants } from 'node:os';
import type { Io } from './command.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export interface Stop {
  /** Aborted by SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Exit code that shells expect after a signal (128 + its number); undefined if there was none. */
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
