// Interface between a command and its process. Commands use streams, environment and signals only through it, so that tests
// can run them without a process of their own.
import type { Readable, Writable } from 'node:stream';

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
