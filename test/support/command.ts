// Runs a command of the command line inside this process. Exit code and output are those of a real process, at a hundredth
// of the cost. Tests of signals, memory limits and locks between processes need a real one: see process.ts.
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { run } from '../../src/cli/run.ts';
import type { Ended } from './process.ts';

export interface RunningCommand {
  /** Stays open until the test ends it. */
  readonly stdin: PassThrough;
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  /** Acts as if the process received this signal. */
  signal(name: 'SIGINT' | 'SIGTERM'): void;
  readonly ended: Promise<Ended>;
}

/** Starts a command; `env` is its whole environment. */
export function startHere(args: readonly string[], env: Record<string, string> = {}): RunningCommand {
  const stdin = new PassThrough();
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = { stdout: '', stderr: '' };
  for (const [name, stream] of Object.entries({ stdout, stderr })) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed[name as keyof typeof printed] += text;
    });
  }
  const signals = new EventEmitter();
  const { promise: left, resolve: exit } = Promise.withResolvers<number>();
  const io = Object.assign(signals, { stdin, stdout, stderr, exit });
  const ended = Promise.race([run(args, env, io), left]).then(async (code) => {
    await new Promise(setImmediate); // until the last output is read
    return { code, signal: null, ...printed };
  });
  return { stdin, stdout, stderr, signal: (name) => signals.emit(name, name), ended };
}

/** Runs a command to its end, with `input` on standard input. */
export function runHere(
  args: readonly string[],
  env: Record<string, string> = {},
  input: string | Buffer = '',
): Promise<Ended> {
  const { stdin, ended } = startHere(args, env);
  stdin.end(input);
  return ended;
}
