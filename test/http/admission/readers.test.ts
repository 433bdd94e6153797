// Those who read without a key: all of them in one network may together have as much in progress as one agent.
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { Admission } from '../../../src/http/admission/admission.ts';
import { ClientBudget } from '../../../src/http/admission/budget.ts';
import { RequestClient } from '../../../src/http/admission/request-client.ts';

/** A client whose request has begun. */
function arrive(admission: Admission, network: string): RequestClient {
  const client = new RequestClient(network, new Socket(), undefined);
  assert.equal(admission.enter(client), undefined);
  return client;
}

describe('readers without a key', () => {
  it('share the limit of one agent with those of their network, and with nobody else', () => {
    const admission = new Admission({ requestsPerAgent: 2 });
    const [first, second, third] = [0, 1, 2].map(() => arrive(admission, '192.0.2.1')) as RequestClient[];
    admission.enterReader(first!);
    admission.enterReader(second!);
    assert.throws(() => admission.enterReader(third!), { code: 'RATE_LIMITED' });
    admission.enterReader(arrive(admission, '192.0.2.2'));
    admission.enterAgent(arrive(admission, '192.0.2.1'), 'agent');
    admission.leave(third!, 0);
    admission.leave(second!, 0);
    admission.enterReader(arrive(admission, '192.0.2.1'));
  });

  it('are no agent', () => {
    const admission = new Admission();
    const reader = arrive(admission, '192.0.2.1');
    admission.enterReader(reader);
    assert.equal(reader.agentId, undefined);
    const agent = arrive(admission, '192.0.2.1');
    admission.enterAgent(agent, 'agent');
    assert.equal(agent.agentId, 'agent');
  });

  it('that have left are not counted', () => {
    const admission = new Admission({ requestsPerAgent: 1 });
    const gone = arrive(admission, '192.0.2.1');
    admission.leave(gone, 0);
    admission.enterReader(gone);
    admission.enterReader(arrive(admission, '192.0.2.1'));
  });

  it('leave to agents of their network what these may leave unread', () => {
    const admission = new Admission();
    const [reader, agent] = [arrive(admission, '192.0.2.1'), arrive(admission, '192.0.2.1')];
    admission.enterReader(reader);
    admission.enterAgent(agent, 'agent');
    const budget = new ClientBudget({ perClient: 10, shared: 100 });
    budget.add(agent, 5);
    budget.add(reader, 10);
    assert.equal(budget.reached(reader), 'perClient');
    assert.equal(budget.reached(agent), undefined);
  });
});
