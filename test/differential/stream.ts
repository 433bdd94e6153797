// Sends the same stream of operations to a service on each engine, one after the other; the responses must be equal. On
// PostgreSQL, searches are from memory, and if asked for also by SQL on another service.
import { newDatabase } from '../support/postgres.ts';
import { Engine } from './engine.ts';
import type { Answer, Operation } from './operation.ts';
import { Operations } from './operations.ts';

export const BEGINS_MS = Date.parse('2031-05-01T12:00:00Z');

/** Quotas small enough to be used up. From 400 on, PostgreSQL nodes take shares of a quota. */
export const LIMITS = {
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
  /** Whether a third service searches by SQL. */
  readonly withSql?: boolean;
  readonly onProgress?: (done: number) => void;
}

/** How often each operation had each outcome, by `name status CODE`. */
export type Outcomes = ReadonlyMap<string, number>;

/** Throws at the first difference, with the command that reproduces it. */
export async function runStream(options: StreamOptions): Promise<Outcomes> {
  let nowMs = BEGINS_MS;
  const clock = () => nowMs;
  const searches = options.withSql ? ['memory', 'database'] : ['memory'];
  const engines = await Promise.all([
    Engine.start(LIMITS, options.seed, clock),
    ...searches.map(async (SEARCH) =>
      Engine.start({ ...LIMITS, DATABASE_URL: await newDatabase(), SEARCH }, options.seed, clock),
    ),
  ]);
  const outcomes = new Map<string, number>();
  const operations = new Operations(options.seed, nowMs);
  try {
    for (let number = 1; number <= options.operations; number++) {
      const operation = operations.next();
      nowMs += operation.passMs;
      const [sqlite, ...others] = await Promise.all(
        engines.map((engine) => engine.ask(operation).catch(noAnswer)),
      );
      const different = others.find((other) => !isSame(sqlite!, other) || !isAnswer(sqlite!));
      if (different) {
        const faults = JSON.stringify(engines.map((engine) => engine.faults));
        throw new Error(
          `${describe(options.seed, number, nowMs, operation, [sqlite!, different])}\n${faults}`,
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
