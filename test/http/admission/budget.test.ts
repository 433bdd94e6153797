// Budgets: a limit per client, and a shared one that refuses only those who use the most.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Budget, ClientBudget } from '../../../src/http/admission/budget.ts';
import type { RequestClient } from '../../../src/http/admission/request-client.ts';

describe('Budget', () => {
  it('refuses a client at its own limit, and nobody else', () => {
    const budget = new Budget({ perClient: 3, shared: 100 });
    budget.add('a', 2);
    assert.equal(budget.reached('a'), undefined);
    budget.add('a', 1);
    assert.equal(budget.reached('a'), 'perClient');
    assert.equal(budget.reached('b'), undefined);
    budget.add('a', -1);
    assert.equal(budget.reached('a'), undefined);
  });

  it('refuses at the shared limit those who use at least the average', () => {
    const budget = new Budget({ perClient: 100, shared: 12 });
    for (const [client, used] of [
      ['greedy', 9],
      ['polite', 1],
      ['average', 4],
    ] as const) {
      budget.add(client, used);
    }
    assert.equal(budget.reached('greedy'), 'shared');
    assert.equal(budget.reached('polite'), undefined);
    assert.equal(budget.reached('new'), undefined);
  });

  it('refuses everybody who uses something when all use the same', () => {
    const budget = new Budget({ perClient: 100, shared: 4 });
    for (const client of ['a', 'b', 'c', 'd']) budget.add(client, 1);
    assert.equal(budget.reached('a'), 'shared');
    assert.equal(budget.reached('new'), undefined);
  });

  it('forgets clients that use nothing', () => {
    const budget = new Budget({ perClient: 5, shared: 5 });
    budget.add('a', 5);
    budget.add('a', -5);
    assert.deepEqual([budget.total, budget.usedBy('a'), budget.greediest()], [0, 0, undefined]);
    budget.add('b', 2);
    budget.add('c', 3);
    assert.equal(budget.greediest(), 'c');
  });
});

describe('ClientBudget', () => {
  const agent = (network: string, name: string) => ({ network, name }) as RequestClient;

  it('admits an agent that uses nothing, although its network has used up its share', () => {
    const budget = new ClientBudget({ perClient: 10, shared: 100 });
    budget.add(agent('a', 'one'), 10);
    budget.add(agent('a', 'two'), 15);
    assert.equal(budget.reached(agent('a', 'one')), 'perClient');
    assert.equal(budget.reached(agent('a', 'three')), undefined);
  });

  it('lets new agents of one network not exceed what all clients share, and still admits other networks', () => {
    const budget = new ClientBudget({ perClient: 10, shared: 50 });
    for (let number = 0; number < 5; number++) budget.add(agent('a', `agent ${number}`), 10);
    assert.equal(budget.reached(agent('a', 'new')), 'shared');
    assert.equal(budget.reached(agent('b', 'new')), undefined);
  });
});
