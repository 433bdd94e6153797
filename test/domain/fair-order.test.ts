// The fair order: networks take turns, their clients take turns, and each client's own work stays in order.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FairOrder } from '../../src/domain/fair-order.ts';

function drain<T>(order: FairOrder<T>): T[] {
  const items: T[] = [];
  for (let item = order.shift(); item !== undefined; item = order.shift()) items.push(item);
  return items;
}

describe('FairOrder', () => {
  it('serves networks in turn, however much one of them has', () => {
    const order = new FairOrder<string>();
    for (const item of ['a1', 'a2', 'a3', 'a4']) order.push('a', '', item);
    order.push('b', '', 'b1');
    order.push('c', '', 'c1');
    order.push('b', '', 'b2');
    assert.deepEqual(drain(order), ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  });

  it('serves the clients of a network in turn', () => {
    const order = new FairOrder<string>();
    for (const item of ['x1', 'x2', 'x3']) order.push('a', 'x', item);
    order.push('a', 'y', 'y1');
    order.push('b', 'z', 'z1');
    assert.deepEqual(drain(order), ['x1', 'z1', 'y1', 'x2', 'x3']);
  });

  it('lets somebody new wait for at most one item of each other network', () => {
    const order = new FairOrder<string>();
    for (let at = 0; at < 1_000; at++) order.push(`flood ${at % 3}`, `key ${at}`, 'flood');
    order.push('polite', 'key', 'polite');
    assert.ok(drain(order).indexOf('polite') <= 3);
  });

  it('serves networks with few waiting items first, and those with many every fourth time', () => {
    const order = new FairOrder<string>();
    for (let at = 0; at < 20; at++) order.push('much', '', 'm');
    for (const network of ['a', 'b', 'c', 'd', 'e']) order.push(network, '', network);
    assert.equal(drain(order).slice(0, 8).join(''), 'abcmdemm');
  });

  it('does the same between the clients of one network', () => {
    const order = new FairOrder<string>();
    for (let at = 0; at < 40; at++) order.push('a', `much ${at % 4}`, 'm');
    order.push('a', 'little', 'l');
    order.push('a', 'other', 'o');
    assert.equal(drain(order).slice(0, 3).join(''), 'lom');
  });

  it('passes over those who may have no turn, who keep their places', () => {
    const order = new FairOrder<string>();
    for (const item of ['x1', 'x2']) order.push('a', 'x', item);
    order.push('a', 'y', 'y1');
    order.push('b', 'z', 'z1');
    const notX = (network: string, client: string) => `${network}${client}` !== 'ax';
    assert.equal(order.shift(notX), 'y1');
    assert.equal(
      order.shift(() => false),
      undefined,
    );
    assert.equal(order.size, 3);
    assert.deepEqual(drain(order), ['z1', 'x1', 'x2']);
  });

  it('lets those with many have the turn if those with few may not, and the other way round', () => {
    const order = new FairOrder<string>();
    for (let at = 0; at < 20; at++) order.push('much', '', `m${at}`);
    order.push('little', '', 'l');
    assert.equal(
      order.shift((network) => network === 'much'),
      'm0',
    );
    for (let at = 0; at < 3; at++) order.push('other', '', 'o');
    for (let at = 0; at < 4; at++) order.shift((network) => network === 'other');
    assert.equal(
      order.shift((network) => network === 'little'),
      'l',
    );
  });

  it('removes items that are not wanted any more, and counts the others', () => {
    const order = new FairOrder<string>();
    for (let at = 0; at < 10; at++) order.push('a', 'x', `x${at}`);
    order.push('a', 'y', 'y0');
    order.push('b', 'z', 'z0');
    assert.deepEqual(order.remove((item) => item < 'x8' || item === 'z0').length, 9);
    assert.deepEqual([order.size, order.networks], [3, 1]);
    assert.deepEqual(order.countOf('a', 'x'), { own: 2, network: 3, clients: 2 });
    order.push('b', 'z', 'z1');
    assert.deepEqual(drain(order).sort(), ['x8', 'x9', 'y0', 'z1']);
    assert.equal(order.size, 0);
  });

  it('keeps every item once, in the order of its client, and counts what waits', () => {
    const item = fc.record({ network: fc.nat(3), client: fc.nat(3) });
    fc.assert(
      fc.property(fc.array(fc.oneof(item, fc.constant('shift' as const))), (steps) => {
        const order = new FairOrder<{ network: number; client: number; at: number }>();
        const waiting = new Map<string, number[]>();
        const take = () => {
          const next = order.shift();
          if (!next) return assert.equal([...waiting.values()].flat().length, 0);
          assert.equal(waiting.get(`${next.network} ${next.client}`)?.shift(), next.at);
        };
        for (const [at, step] of steps.entries()) {
          if (step === 'shift') take();
          else {
            order.push(String(step.network), String(step.client), { ...step, at });
            const key = `${step.network} ${step.client}`;
            waiting.set(key, [...(waiting.get(key) ?? []), at]);
            const own = waiting.get(key)!.length;
            const network = [...waiting]
              .filter(([name]) => name.startsWith(`${step.network} `))
              .reduce((sum, [, items]) => sum + items.length, 0);
            const clients = [...waiting].filter(
              ([name, items]) => name.startsWith(`${step.network} `) && items.length > 0,
            ).length;
            const counted = order.countOf(String(step.network), String(step.client));
            assert.deepEqual(counted, { own, network, clients });
          }
          assert.equal(order.size, [...waiting.values()].flat().length);
        }
        while (order.size > 0) take();
        assert.equal(order.networks, 0);
      }),
      { seed: 13 },
    );
  });
});
