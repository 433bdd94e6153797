// Sends the stream of operations of another checkout to its service and to this one, on the embedded engine, and counts what differs
// by kind. Its operations know nothing of what is new here, so a difference is a change that clients can see.
import { pathToFileURL } from 'node:url';
import { Engine } from './engine.ts';
import type { Answer } from './operation.ts';
import type { Operations } from './operations.ts';
import { BEGINS_MS, LIMITS } from './stream.ts';

export interface Difference {
  count: number;
  /** Of the first one: the request, and the texts around the place where they differ. */
  readonly example: string;
}

export interface AgainstOptions {
  /** The folder of the other checkout, with its node_modules. */
  readonly root: string;
  readonly seed: number;
  readonly operations: number;
}

export async function compareWith({
  root,
  seed,
  operations,
}: AgainstOptions): Promise<Map<string, Difference>> {
  const load = (path: string) => import(pathToFileURL(`${root}/test/differential/${path}`).href);
  const other = (await load('engine.ts')) as { Engine: typeof Engine };
  const stream = (await load('operations.ts')) as { Operations: typeof Operations };
  let nowMs = BEGINS_MS;
  const clock = () => nowMs;
  const engines = [
    await other.Engine.start(LIMITS, seed, clock),
    await Engine.start(LIMITS, seed, clock),
  ] as const;
  const differences = new Map<string, Difference>();
  try {
    const sent = new stream.Operations(seed, nowMs);
    for (let number = 0; number < operations; number++) {
      const operation = sent.next();
      nowMs += operation.passMs;
      const [before, now] = await Promise.all([engines[0].ask(operation), engines[1].ask(operation)]);
      sent.learn(before);
      for (const [kind, texts] of differencesOf(before, now)) {
        const name = `${operation.name} ${before.status}: ${kind}`;
        const known = differences.get(name);
        if (known) known.count++;
        else differences.set(name, { count: 1, example: `${operation.method} ${operation.path}\n${texts}` });
      }
    }
    return differences;
  } finally {
    await Promise.all(engines.map((engine) => engine.close()));
  }
}

function* differencesOf(before: Answer, now: Answer): Generator<[kind: string, texts: string]> {
  if (before.status !== now.status) yield [`status ${now.status}`, `${before.text}\n${now.text}`];
  else if (before.text !== now.text)
    yield [`body as ${now.headers['content-type']}`, around(before.text, now.text)];
  const names = new Set([...Object.keys(before.headers), ...Object.keys(now.headers)]);
  for (const name of names) {
    const [from, to] = [before.headers[name], now.headers[name]];
    if (from !== to && name !== 'content-length') yield [`header ${name}`, `${from}\n${to}`];
  }
}

/** Both texts around the first place where they differ. */
function around(before: string, now: string): string {
  let at = 0;
  while (before[at] === now[at]) at++;
  return [before, now].map((text) => `… ${text.slice(Math.max(0, at - 60), at + 100)} …`).join('\n');
}
