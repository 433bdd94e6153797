// The log of faults: how many stacks an outage, or a client that causes ever new messages, can write.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { AppError } from '../../src/domain/errors.ts';
import { faultLog } from '../../src/http/log/fault-log.ts';

interface Line {
  readonly requestId: string;
  readonly msg: string;
  readonly err: { readonly message: string; readonly stack?: string };
}

function newLog() {
  const lines: Line[] = [];
  const clock = { nowMs: 1_000_000 };
  const log = faultLog(
    pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    () => clock.nowMs,
  );
  let id = 0;
  const fail = (cause?: unknown) => {
    log(
      { id: String(++id), raw: { headers: {} } } as FastifyRequest,
      new AppError('UNAVAILABLE', 'No.', { cause }),
    );
    return lines.at(-1)!;
  };
  return { fail, lines, clock };
}

describe('the log of faults', () => {
  it('has a line for every request, and one stack per kind and minute', () => {
    const { fail, lines, clock } = newLog();
    const reset = () => new Error('connection reset', { cause: new Error('by peer') });
    assert.match(fail(reset()).err.stack!, /\n\s+at /);
    for (let at = 0; at < 100; at++)
      assert.deepEqual(fail(reset()).err, { type: 'Error', message: 'connection reset: by peer' });
    assert.match(fail(new Error('disk full')).err.stack!, /\n\s+at /);
    const known = fail() as Line & { level: number }; // without a cause, it is a state and no error
    assert.deepEqual([known.level, known.msg, known.err], [40, 'No.', undefined]);
    assert.deepEqual(fail('a text').err, 'a text');
    assert.equal(new Set(lines.map(({ requestId }) => requestId)).size, 104);

    clock.nowMs += 59_000;
    assert.equal(fail(reset()).err.stack, undefined);
    clock.nowMs += 2_000;
    assert.ok(fail(reset()).err.stack);
  });

  it('has at most 20 stacks per minute if every message is new', () => {
    const { fail, lines } = newLog();
    for (let at = 0; at < 1_000; at++) fail(new Error(`number ${at}`));
    assert.equal(lines.filter(({ err }) => err.stack).length, 20);
    assert.equal(lines.at(-1)!.err.message, 'number 999');
  });
});
