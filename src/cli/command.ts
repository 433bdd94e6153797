// Interface between a command and its process. Commands use streams, environment and signals only through it, so that tests
// can run them without a process of their own.
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { type ParseArgsConfig, parseArgs } from 'node:util';

/** The part of `process` that commands use. */
export interface Io {
  readonly stdin: Readable;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Adds a listener for a signal that asks the command to stop. */
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  /** Ends the process immediately, even if something is still open. */
  exit(code: number): void;
}

type OutputStream = Writable & {
  readonly isTTY?: boolean;
  /** File descriptor, if the stream has one. */
  readonly fd?: number;
};

export type Env = Readonly<Record<string, string | undefined>>;

/** Runs a command to its end and resolves with the exit code. Throws UsageError and StartError. */
export type Command = (args: string[], env: Env, io: Io) => Promise<number>;

/** Error for an invalid command line. It is printed together with the help text; the exit code is 2. */
export class UsageError extends Error {}

/** Throws UsageError for options that the command does not have. */
export function readArguments<const C extends ParseArgsConfig>(config: C): ReturnType<typeof parseArgs<C>> {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** Longer than anybody reads in one line. */
const MAX_LENGTH = 1_000;

/** Untrusted text, safe to print on a terminal: without control, formatting and line-break characters, and not too long. */
export function printable(text: string): string {
  const shown = text.slice(0, MAX_LENGTH).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
  return text.length > MAX_LENGTH ? `${shown.toWellFormed()}…` : shown;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export interface Stop {
  /** Aborted by SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Exit code that shells expect after a signal (128 + its number); undefined if there was none. */
  exitCode(): number | undefined;
}

/** A long command finishes its current step on the first signal, and reports how far it got. The second ends the process at once. */
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
