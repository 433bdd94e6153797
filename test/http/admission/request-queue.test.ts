// The queue of requests: a flood is spread over turns of the event loop, and others come in between.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RequestQueue } from '../../../src/http/admission/request-queue.ts';

function enter(
  queue: RequestQueue,
  network: string,
  client: string,
  start: (waitedMs: number) => void,
): void {
  const nowMs = performance.now();
  if (queue.mayStart(nowMs)) start(0);
  else {
    queue.wait(network, client, nowMs, (waitedMs) => {
      start(waitedMs);
      return true;
    });
  }
}

describe('RequestQueue', () => {
  it('starts a few requests at once, without waiting', () => {
    const queue = new RequestQueue();
    const waits: number[] = [];
    for (let at = 0; at < 10; at++) enter(queue, 'a', '', (waitedMs) => waits.push(waitedMs));
    assert.deepEqual(waits, Array(10).fill(0));
  });

  it('starts the rest of a flood in later turns, in order', async () => {
    const queue = new RequestQueue();
    const started: number[] = [];
    for (let at = 0; at < 100; at++) enter(queue, 'a', '', () => started.push(at));
    assert.equal(started.length, 16);
    for (let turn = 0; turn < 40; turn++) await nextTurn();
    assert.deepEqual(started, [...Array(100).keys()]);
  });

  it('starts as few in a turn if each takes long', async () => {
    const queue = new RequestQueue();
    let started = 0;
    const flood = () => {
      for (let at = 0; at < 60; at++) {
        enter(queue, 'a', '', () => started++);
        for (const untilMs = performance.now() + 0.5; performance.now() < untilMs; );
      }
    };
    flood();
    assert.equal(started, 16);
    for (let turn = 0; turn < 40; turn++) await nextTurn();
    assert.equal(started, 60);
    // After a pause, all 16 are free again.
    flood();
    assert.equal(started, 76);
  });

  it('serves a client that arrives during a flood in the next turn', async () => {
    const queue = new RequestQueue();
    let flood = 0;
    for (let at = 0; at < 1_000; at++) enter(queue, 'flood', 'key', () => flood++);
    const atOnce = flood;
    const polite = new Promise<number>((resolve) => enter(queue, 'polite', 'key', () => resolve(flood)));
    const other = new Promise<number>((resolve) => enter(queue, 'flood', 'other key', () => resolve(flood)));
    assert.ok((await polite) <= atOnce + 2);
    assert.ok((await other) <= atOnce + 3);
    while (flood < 1_000) await nextTurn();
  });

  it('spends no turn on clients that have left', async () => {
    const queue = new RequestQueue();
    let asked = 0;
    for (let at = 0; at < 5_000; at++) {
      if (!queue.mayStart(performance.now()))
        queue.wait('flood', 'key', performance.now(), () => ++asked < 0);
    }
    const started = new Promise<void>((resolve) => enter(queue, 'flood', 'key', () => resolve()));
    await nextTurn();
    await started;
    assert.ok(asked > 1_000, `${asked}`);
  });

  it('says how long a request waited', async () => {
    const queue = new RequestQueue();
    const waits: number[] = [];
    for (let at = 0; at < 40; at++) enter(queue, 'a', '', (waitedMs) => waits.push(waitedMs));
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    assert.ok(waits.at(-1)! > 0);
  });
});
