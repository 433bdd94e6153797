// A flood of searches over many connections, as a process of its own. Counts the responses of each status after a warm-up.
// Input and output are JSON. Its priority is low, because a real flood comes from other machines.
import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Attacker, type Seen } from '../test/attacks/attacker.ts';

export interface FloodInput {
  readonly url: string;
  readonly requestFile: string;
  readonly keys: readonly string[];
  readonly addresses: readonly string[];
  readonly connections: number;
  readonly warmSeconds: number;
  readonly seconds: number;
  /** Waits after a refusal as Retry-After says; otherwise sends the next request at once. */
  readonly isPatient: boolean;
}

export interface FloodOutput {
  /** Responses per second by status. */
  readonly perSecond: Seen;
}

if (import.meta.main) {
  setPriority(5);
  const { connections, requestFile, warmSeconds, isPatient, ...input } = JSON.parse(
    process.argv[2]!,
  ) as FloodInput;
  const paths = readFileSync(requestFile, 'utf8').trimEnd().split('\n');
  const seconds = warmSeconds + input.seconds;
  const attacker = new Attacker({ ...input, seconds: seconds + 1 });
  const pace = { perSecond: connections / 2, replacedPerSecond: connections / 20 };
  attacker.keepOpen(connections, pace, (number) => {
    let at = number;
    const next = () =>
      attacker.request('GET', paths[at++ % paths.length]!, input.keys[number % input.keys.length]);
    return {
      first: next(),
      onResponse: (socket, _name, retryAfterMs) => {
        if (!isPatient || retryAfterMs === 0) socket.write(next());
        else setTimeout(() => socket.write(next()), retryAfterMs);
      },
    };
  });
  await sleep(warmSeconds * 1000);
  const before = attacker.seen;
  const startedMs = performance.now();
  await sleep(input.seconds * 1000);
  const measuredSeconds = (performance.now() - startedMs) / 1000;
  const perSecond = Object.entries(attacker.seen)
    .map(([name, count]) => [name, (count - (before[name] ?? 0)) / measuredSeconds] as const)
    .filter(([, rate]) => rate > 0);
  console.log(JSON.stringify({ perSecond: Object.fromEntries(perSecond) } satisfies FloodOutput));
  process.exit();
}
