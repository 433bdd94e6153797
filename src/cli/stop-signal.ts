// A long command that is asked to stop finishes its step and says how far it came; asked twice, it ends at once.
import { constants } from 'node:os';

export interface Stop {
  /** Aborted by SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** What shells expect of a command that a signal ended; undefined if none did. */
  exitCode(): number | undefined;
}

export function onStopSignal(): Stop {
  const controller = new AbortController();
  let received: NodeJS.Signals | undefined;
  const stop = (signal: NodeJS.Signals) => {
    received = signal;
    process.off('SIGINT', stop).off('SIGTERM', stop);
    controller.abort();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return {
    signal: controller.signal,
    exitCode: () => received && 128 + constants.signals[received],
  };
}
