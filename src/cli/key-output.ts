// Where a new key goes: to standard output, or to a new file that only its owner can read.
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { StartError } from '../domain/errors.ts';
import type { Io } from './command.ts';

export interface KeyOutput {
  /** Throws StartError if the file cannot be written. */
  write(key: string): void;
  /** Removes the file if it has no key. */
  discard(): void;
}

/** Creates the file before there is a key, so that no key is lost because of its name. Throws StartError. */
export function openKeyOutput(file: string | undefined, io: Io): KeyOutput {
  if (file === undefined) return { write: (key) => void io.stdout.write(`${key}\n`), discard: () => {} };
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'wx', 0o600);
  } catch (cause) {
    throw (cause as NodeJS.ErrnoException).code === 'EEXIST'
      ? new StartError(
          `${file} already exists. Choose another name for the key file, or remove the file first.`,
        )
      : unwritable(file, cause);
  }
  const close = () => {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };
  return {
    write: (key) => {
      try {
        writeSync(descriptor!, `${key}\n`);
        fsyncSync(descriptor!);
        close();
      } catch (cause) {
        throw unwritable(file, cause);
      }
    },
    discard: () => {
      if (descriptor === undefined) return;
      close();
      rmSync(file, { force: true });
    },
  };
}

function unwritable(file: string, cause: unknown): StartError {
  return new StartError(`The key file ${file} cannot be written: ${(cause as Error).message}`, { cause });
}
