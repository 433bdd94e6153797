// Assertion for an error response with only a code and a message.
import assert from 'node:assert/strict';
import { type Answer, assertError } from '../support/client.ts';

/** The envelope and nothing else, with the headers that every response has. */
export function assertPlainError(answer: Answer, status: number, code: string): void {
  assertError(answer, status, code);
  assert.deepEqual(Object.keys(answer.body), ['error']);
  assert.deepEqual(Object.keys(answer.body.error), ['code', 'message']);
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.match(answer.headers.get('x-request-id')!, /^[0-9A-Z]{8}-[0-9a-z]+$/);
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(answer.headers.get('cache-control'), 'no-store');
}
