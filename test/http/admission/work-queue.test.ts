// The queue for expensive work: a few at a time, in fair order, bounded, and nothing for clients that have left.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { AppError } from '../../../src/domain/errors.ts';
import { UNLIMITED, WorkQueue } from '../../../src/http/admission/work-queue.ts';

const LIMITS = { atOnce: 2, perTurn: 100, waitingPerClient: 3, waiting: 6, waitMs: 60_000 };

function client(network: string, name = '', isGone = () => false) {
  return { network, name, isGone };
}

/** Works that end when told to. */
class Works {
  readonly begun: string[] = [];
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();

  start(name: string): () => Promise<string> {
    const gate = Promise.withResolvers<void>();
    this.#gates.set(name, gate);
    return async () => {
      this.begun.push(name);
      await gate.promise;
      return name;
    };
  }

  async end(name: string): Promise<void> {
    this.#gates.get(name)!.resolve();
    await sleep(0);
  }
}

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'done',
    (error: AppError) => [error.code, error.retryAfterSeconds! > 0],
  );
}

describe('WorkQueue', () => {
  it('runs a few at a time and gives the next slot to the client whose turn it is', async () => {
    const queue = new WorkQueue(LIMITS);
    const works = new Works();
    const results = [
      queue.run(client('a'), works.start('a1')),
      queue.run(client('a'), works.start('a2')),
      queue.run(client('a'), works.start('a3')),
      queue.run(client('a'), works.start('a4')),
      queue.run(client('b'), works.start('b1')),
    ];
    assert.deepEqual(works.begun, ['a1', 'a2']);
    await works.end('a2');
    await works.end('a1');
    assert.deepEqual(works.begun, ['a1', 'a2', 'a3', 'b1']);
    for (const name of ['a3', 'b1', 'a4']) await works.end(name);
    assert.deepEqual(await Promise.all(results), ['a1', 'a2', 'a3', 'a4', 'b1']);
  });

  it('keeps a slot for others if a client may not have them all, and runs the rest of its works later', async () => {
    const queue = new WorkQueue({ ...LIMITS, atOnce: 3, atOncePerClient: 2, waitingPerClient: 4 });
    const works = new Works();
    const results = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6'].map((name) =>
      queue.run(client('n'), works.start(name), 'a'),
    );
    await nextTurn();
    assert.deepEqual(works.begun, ['a1', 'a2']);
    assert.deepEqual(await codeOf(queue.run(client('n'), works.start('a7'), 'a')), ['RATE_LIMITED', true]);
    results.push(queue.run(client('n'), works.start('b1'), 'b'));
    await nextTurn();
    assert.deepEqual(works.begun, ['a1', 'a2', 'b1']);
    for (const name of ['b1', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6']) await works.end(name);
    assert.deepEqual(works.begun, ['a1', 'a2', 'b1', 'a3', 'a4', 'a5', 'a6']);
    assert.deepEqual(await Promise.all(results), ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1']);
  });

  it('frees the slot of a work that fails', async () => {
    const queue = new WorkQueue({ ...LIMITS, atOnce: 1 });
    const failed = queue.run(client('a'), () => Promise.reject(new Error('boom')));
    const next = queue.run(client('a'), async () => 'fine');
    await assert.rejects(failed, /boom/);
    assert.equal(await next, 'fine');
  });

  it('refuses more than a client may have waiting with RATE_LIMITED, and still takes others', async () => {
    const queue = new WorkQueue({ ...LIMITS, atOnce: 1 });
    const works = new Works();
    const first = queue.run(client('a', 'x'), works.start('first'));
    const waiting = [1, 2, 3].map(() => queue.run(client('a', 'x'), async () => 'waited'));
    assert.deepEqual(await codeOf(queue.run(client('a', 'x'), async () => '')), ['RATE_LIMITED', true]);
    const others = [
      queue.run(client('a', 'y'), async () => 'y'),
      queue.run(client('b', 'x'), async () => 'b'),
    ];
    await works.end('first');
    assert.deepEqual(await Promise.all([first, ...waiting, ...others]), [
      'first',
      'waited',
      'waited',
      'waited',
      'y',
      'b',
    ]);
  });

  it('refuses the greedy with OVERLOADED when too much waits, and still takes those with less', async () => {
    const queue = new WorkQueue({ ...LIMITS, atOnce: 1, waiting: 4 });
    const works = new Works();
    const first = queue.run(client('z'), works.start('first'));
    const waiting = ['a', 'a', 'b', 'b'].map((network) => queue.run(client(network), async () => network));
    assert.deepEqual(await codeOf(queue.run(client('a'), async () => '')), ['OVERLOADED', true]);
    const newcomer = queue.run(client('c'), async () => 'c');
    await works.end('first');
    assert.deepEqual(await Promise.all([first, ...waiting, newcomer]), ['first', 'a', 'a', 'b', 'b', 'c']);
  });

  it('bounds what many clients of one network have waiting', async () => {
    const queue = new WorkQueue(LIMITS);
    const works = new Works();
    const outcomes: unknown[] = [];
    for (let at = 0; at < 40; at++) {
      codeOf(queue.run(client('a', `key ${at}`), works.start(`a${at}`))).then((outcome) =>
        outcomes.push(outcome),
      );
    }
    await sleep(0);
    assert.deepEqual(outcomes, Array(40 - LIMITS.atOnce - 2 * LIMITS.waiting).fill(['OVERLOADED', true]));
    codeOf(queue.run(client('b', 'key'), works.start('b')));
    await works.end('a0');
    await works.end('a1');
    assert.ok(works.begun.includes('b'));
  });

  it('takes several works of a client although another one of its network has used up the limit', async () => {
    const queue = new WorkQueue({ ...LIMITS, waitingPerClient: 100 });
    const works = new Works();
    const outcomes: unknown[] = [];
    for (let at = 0; at < 20; at++)
      void codeOf(queue.run(client('a', 'much'), works.start(`m${at}`))).then((outcome) =>
        outcomes.push(outcome),
      );
    await sleep(0);
    assert.equal(outcomes.length, 20 - LIMITS.atOnce - LIMITS.waiting);
    const results = ['l1', 'l2'].map((name) => queue.run(client('a', 'little'), works.start(name)));
    for (const name of ['m0', 'm1', 'l1', 'l2']) await works.end(name);
    assert.deepEqual(await Promise.all(results), ['l1', 'l2']);
  });

  it('refuses work that waited too long with OVERLOADED', async () => {
    const queue = new WorkQueue({ ...LIMITS, atOnce: 1, waitMs: 5 });
    const works = new Works();
    const first = queue.run(client('a'), works.start('first'));
    const late = codeOf(queue.run(client('b'), works.start('late')));
    await sleep(20);
    await works.end('first');
    assert.deepEqual(await late, ['OVERLOADED', true]);
    assert.equal(await first, 'first');
    assert.deepEqual(works.begun, ['first']);
  });

  it('refuses it in time although no work ends', async () => {
    const queue = new WorkQueue({ ...LIMITS, atOnce: 1, waitMs: 5 });
    const works = new Works();
    const endless = queue.run(client('a'), works.start('endless'));
    assert.deepEqual(await codeOf(queue.run(client('b'), works.start('late'))), ['OVERLOADED', true]);
    await works.end('endless');
    assert.equal(await endless, 'endless');
    assert.deepEqual(works.begun, ['endless']);
  });

  it('forgets waiting work of a client that has left although no work ends', async () => {
    const queue = new WorkQueue({ ...LIMITS, atOnce: 1, waitingPerClient: 1 });
    const works = new Works();
    let hasLeft = false;
    const endless = queue.run(client('z'), works.start('endless'));
    const left = queue.run(
      client('a', '', () => hasLeft),
      works.start('left'),
    );
    assert.deepEqual(await codeOf(queue.run(client('a'), works.start('more'))), ['RATE_LIMITED', true]);
    hasLeft = true;
    assert.deepEqual(await codeOf(left), ['OVERLOADED', true]);
    const next = queue.run(client('a'), works.start('next'));
    await works.end('endless');
    await works.end('next');
    assert.deepEqual([await endless, await next, works.begun], ['endless', 'next', ['endless', 'next']]);
  });

  it('gives the slot of a client that has left to others although its work has not ended, once', async () => {
    const queue = new WorkQueue({ ...LIMITS, atOnce: 1 });
    const works = new Works();
    let hasLeft = false;
    const leaving = () => client('a', '', () => hasLeft);
    const abandoned = queue.run(leaving(), works.start('abandoned'));
    const next = queue.run(leaving(), works.start('next'));
    const last = queue.run(client('b'), works.start('last'));
    hasLeft = true;
    assert.deepEqual(await codeOf(next), ['OVERLOADED', true]);
    await nextTurn();
    assert.deepEqual(works.begun, ['abandoned', 'last']);
    let hasBegun = false;
    const more = queue.run(client('b'), async () => {
      hasBegun = true;
    });
    await works.end('abandoned');
    assert.equal(hasBegun, false, 'one slot is still taken');
    await works.end('last');
    await Promise.all([abandoned, last, more]);
    assert.equal(hasBegun, true);
  });

  it('keeps slots for other networks if one may not have them all, however many clients it has', async () => {
    const queue = new WorkQueue({ ...LIMITS, atOnce: 3, atOncePerClient: 1, atOncePerNetwork: 2 });
    const works = new Works();
    const results = ['a1', 'a2', 'a3', 'a4'].map((name) => queue.run(client('n', name), works.start(name)));
    await nextTurn();
    assert.deepEqual(works.begun, ['a1', 'a2']);
    results.push(queue.run(client('m', 'b1'), works.start('b1')));
    assert.deepEqual(works.begun, ['a1', 'a2', 'b1']);
    for (const name of ['a1', 'a2', 'b1', 'a3', 'a4']) await works.end(name);
    assert.deepEqual(works.begun, ['a1', 'a2', 'b1', 'a3', 'a4']);
    assert.deepEqual(await Promise.all(results), ['a1', 'a2', 'a3', 'a4', 'b1']);
  });

  it('does not limit a trusted proxy, which speaks for many networks', async () => {
    const queue = new WorkQueue({ ...LIMITS, atOncePerNetwork: 1 });
    const works = new Works();
    const results = ['p1', 'p2'].map((name) => queue.run(client(UNLIMITED, name), works.start(name)));
    assert.deepEqual(works.begun, ['p1', 'p2']);
    for (const name of ['p1', 'p2']) await works.end(name);
    await Promise.all(results);
  });

  it('does not begin work of a client that has left', async () => {
    const queue = new WorkQueue({ ...LIMITS, atOnce: 1 });
    const works = new Works();
    let hasLeft = false;
    const first = queue.run(client('a'), works.start('first'));
    const left = codeOf(
      queue.run(
        client('b', '', () => hasLeft),
        works.start('left'),
      ),
    );
    const next = queue.run(client('c'), async () => 'next');
    hasLeft = true;
    await works.end('first');
    await left;
    assert.deepEqual([await first, await next, works.begun], ['first', 'next', ['first']]);
  });

  it('begins works in different turns, even if each of them ends at once', async () => {
    const queue = new WorkQueue({ ...LIMITS, perTurn: 1, waitingPerClient: 100, waiting: 100 });
    let done = 0;
    const all = Array.from({ length: 20 }, () => queue.run(client('a'), async () => done++));
    for (let turn = 0; done < 20; turn++) {
      const before = done;
      await new Promise(setImmediate);
      assert.ok(done - before <= 2, `${done - before} in turn ${turn}`);
    }
    await Promise.all(all);
  });

  it('leaves turns to others between two works', async () => {
    const queue = new WorkQueue({ ...LIMITS, perTurn: 1, pauseTurns: 3 });
    let turn = 0;
    const begun: number[] = [];
    const work = async () => {
      begun.push(turn);
    };
    const done = Promise.all([1, 2, 3].map(() => queue.run(client('a'), work)));
    for (; begun.length < 3; turn++) await nextTurn();
    await done;
    assert.ok(begun[1]! - begun[0]! >= 3 && begun[2]! - begun[1]! >= 3, `${begun}`);
  });
});
