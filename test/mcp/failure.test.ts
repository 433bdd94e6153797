// Unexpected failures in a tool or in the creation of the server: clients get a plain message, the log gets the cause.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../src/domain/errors.ts';
import { mcpHandler, toolFailure } from '../../src/mcp/server.ts';
import { call, currentCall } from './messages.ts';

const SECRET = 'SELECT * FROM keys in /srv/data';

describe('a tool that fails', () => {
  const fail = (error: unknown) => {
    const faults: unknown[] = [];
    const { isError, content, structuredContent } = toolFailure(error, (fault) => faults.push(fault));
    assert.deepEqual([isError, content.length, structuredContent], [true, 1, undefined]);
    return { faults, text: (content[0] as { text: string }).text };
  };

  for (const error of [new Error(SECRET), new TypeError(SECRET), SECRET, undefined, null]) {
    it(`for an unexpected reason does not reveal it: ${error}`, () => {
      const { faults, text } = fail(error);
      assert.equal(text, 'INTERNAL_ERROR: Something went wrong on our side. Retry.');
      assert.deepEqual(faults, [error]);
    });
  }

  it('because the store does not respond says so, and reports a fault', () => {
    const error = new AppError('UNAVAILABLE', 'The store does not answer.', { cause: new Error(SECRET) });
    assert.deepEqual(fail(error), { faults: [error], text: 'UNAVAILABLE: The store does not answer.' });
  });

  it('because of its arguments reports no fault', () => {
    const error = new AppError('NOT_FOUND', 'There is no event.', { cause: new Error(SECRET) });
    assert.deepEqual(fail(error), { faults: [], text: 'NOT_FOUND: There is no event.' });
  });
});

describe('a server that cannot be created', () => {
  for (const { body, headers } of [
    currentCall('search_events'),
    { body: call('search_events'), headers: { accept: 'application/json, text/event-stream' } },
  ]) {
    it(`gives a 500 that does not reveal the reason (${Object.keys(headers).length} headers)`, async () => {
      const faults: unknown[] = [];
      const serve = mcpHandler(() => {
        throw new Error(SECRET);
      });
      const request = new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
      });
      const caller = {
        context: {},
        agent: {},
        spendMessages: async () => {},
        onFault: (fault: unknown) => faults.push(fault),
      };
      const response = await serve({ ...(caller as never as Parameters<typeof serve>[0]), request, body });
      assert.equal(response.status, 500);
      const { jsonrpc, error } = (await response.json()) as { jsonrpc: string; error: { code: number } };
      assert.deepEqual([jsonrpc, error.code], ['2.0', -32_603]);
      assert.doesNotMatch(JSON.stringify(error), /SELECT|srv/);
      assert.deepEqual(
        faults.map((fault) => (fault as Error).message),
        [SECRET],
      );
    });
  }
});
