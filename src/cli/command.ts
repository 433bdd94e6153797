// What a command gets from the process it runs in, and what it gives back. Nothing else in this folder reads `process`'s
// streams, environment or signals, so that a command can also run inside another process.
import type { Readable, Writable } from 'node:stream';

/** The part of `process` that commands use. */
export interface Io {
  readonly stdin: Readable;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Adds a listener for a signal that asks the command to stop. */
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  /** Ends the process at once, whatever is still open. */
  exit(code: number): void;
}

type OutputStream = Writable & {
  readonly isTTY?: boolean;
  /** File descriptor, where the stream has one. */
  readonly fd?: number;
};

export type Env = Readonly<Record<string, string | undefined>>;

/** Runs a command to its end and resolves with the exit code. Throws UsageError and StartError. */
export type Command = (args: string[], env: Env, io: Io) => Promise<number>;
