// Sends the same stream of operations to a service on each engine, one after the other; the responses must be equal.
import { newDatabase } from '../support/postgres.ts';
import { Engine } from './engine.ts';
import type { Answer, Operation } from './operation.ts';
import { Operations } from './operations.ts';

const BEGINS_MS = Date.parse('2031-05-01T12:00:00Z');

/** Quotas small enough to be used up. From 400 on, PostgreSQL nodes take shares of a quota. */
const LIMITS = {
  RATE_LIMIT_READ: '40',
  RATE_LIMIT_READWRITE: '410',
  RATE_LIMIT_ADMIN: '600',
  REGISTRATIONS_PER_HOUR: '6',
  FAILED_REGISTRATIONS_PER_HOUR: '8',
  MAX_EVENTS_PER_AGENT: '60',
  LOG_LEVEL: 'warn',
};

export interface StreamOptions {
  readonly seed: number;
  readonly operations: number;
  readonly onProgress?: (done: number) => void;
}

/** How often each operation had each outcome, by `name status CODE`. */
export type Outcomes = ReadonlyMap<string, number>;

/** Throws at the first difference, with the command that reproduces it. */
export async function runStream(options: StreamOptions): Promise<Outcomes> {
  let nowMs = BEGINS_MS;
  const clock = () => nowMs;
  const engines = await Promise.all([
    Engine.start(LIMITS, options.seed, clock),
    Engine.start({ ...LIMITS, DATABASE_URL: await newDatabase() }, options.seed, clock),
  ]);
  const outcomes = new Map<string, number>();
  const operations = new Operations(options.seed, nowMs);
  try {
    for (let number = 1; number <= options.operations; number++) {
      const operation = operations.next();
      nowMs += operation.passMs;
      const [sqlite, postgres] = await Promise.all(
        engines.map((engine) => engine.ask(operation).catch(noAnswer)),
      );
      if (!isSame(sqlite!, postgres!) || !isAnswer(sqlite!)) {
        const faults = JSON.stringify(engines.map((engine) => engine.faults));
        throw new Error(
          `${describe(options.seed, number, nowMs, operation, [sqlite!, postgres!])}\n${faults}`,
        );
      }
      operations.learn(sqlite!);
      const outcome = `${operation.name} ${sqlite!.status} ${codeOf(sqlite!)}`.trim();
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      options.onProgress?.(number);
    }
    return outcomes;
  } finally {
    await Promise.all(engines.map((engine) => engine.close()));
  }
}

function noAnswer(error: Error): Answer {
  return { status: 0, headers: {}, text: error.message };
}

/** If both fail, that is not a response either. */
function isAnswer({ status }: Answer): boolean {
  return status > 0 && status < 500;
}

function isSame(a: Answer, b: Answer): boolean {
  return (
    a.status === b.status && a.text === b.text && JSON.stringify(a.headers) === JSON.stringify(b.headers)
  );
}

function codeOf({ status, text }: Answer): string {
  return status < 400 || text === '' ? '' : (JSON.parse(text) as { error: { code: string } }).error.code;
}

function describe(
  seed: number,
  number: number,
  nowMs: number,
  operation: Operation,
  [sqlite, postgres]: readonly [Answer, Answer],
): string {
  return [
    `operation ${number} of seed ${seed} has different responses at ${new Date(nowMs).toISOString()}`,
    `request:  ${JSON.stringify(operation)}`,
    `sqlite:   ${JSON.stringify(sqlite)}`,
    `postgres: ${JSON.stringify(postgres)}`,
    `repeat:   npm run test:differential -- --seed ${seed} --ops ${number}`,
  ].join('\n');
}
