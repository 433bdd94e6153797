// The end of a request: everything that was counted for it is released, also what is counted after the client has left.
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { it } from 'node:test';
import { Admission } from '../../../src/http/admission/admission.ts';
import { RequestClient } from '../../../src/http/admission/request-client.ts';

it('releases the request of an agent whose key was found after the client had left', () => {
  const admission = new Admission({ requestsPerAgent: 1 });
  for (let times = 0; times < 3; times++) {
    const client = new RequestClient('127.0.0.1', new Socket(), undefined);
    admission.enter(client);
    admission.leave(client, 0);
    admission.enterAgent(client, 'agent');
  }
  const client = new RequestClient('127.0.0.1', new Socket(), undefined);
  admission.enter(client);
  admission.enterAgent(client, 'agent');
  const next = new RequestClient('127.0.0.1', new Socket(), undefined);
  assert.throws(() => admission.enterAgent(next, 'agent'), { code: 'RATE_LIMITED' });
  admission.leave(next, 0);
  admission.leave(client, 0);
  admission.enterAgent(new RequestClient('127.0.0.1', new Socket(), undefined), 'agent');
});
