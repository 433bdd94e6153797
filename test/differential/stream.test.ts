// A stream of operations, the same in every run: both engines must return equal responses, byte for byte.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { size } from '../support/sizes.ts';
import { runStream } from './stream.ts';

const SEED = 20_261_115;
const OPERATIONS = size(1_200, 20_000);

/** Outcomes that the stream must have met to prove anything; a short stream meets most of them. */
const EXPECTED = [
  'register 200',
  'register 429 RATE_LIMITED',
  'search 200',
  'search 401 INVALID_API_KEY',
  'search 422 VALIDATION_ERROR',
  'search 429 RATE_LIMITED',
  'next page 200',
  'next page 422 VALIDATION_ERROR',
  'get 200',
  'get 304',
  'get 404 NOT_FOUND',
  'get 422 VALIDATION_ERROR',
  'create 200',
  'create 403 EVENT_LIMIT_REACHED',
  'create 403 INSUFFICIENT_TIER',
  'create 422 VALIDATION_ERROR',
  'repeat 200',
  'repeat 403 EVENT_LIMIT_REACHED',
  'patch 200',
  'patch 404 NOT_FOUND',
  'patch 409 DUPLICATE_EVENT',
  'patch 412 PRECONDITION_FAILED',
  'patch 422 VALIDATION_ERROR',
  'delete 204',
  'delete 404 NOT_FOUND',
  'delete 412 PRECONDITION_FAILED',
  'list agents 200',
  'list events of agent 200',
  'update agent 200',
  'delete any event 204',
  'delete events of agent 204',
  'delete agent 204',
  'stats 200',
  'page of agents 200',
  'next page of agents 200',
  'page of events 200',
  'page of events 422 VALIDATION_ERROR',
  'next page of events 200',
  'audit 200',
  'next audit 200',
  'me 200',
  'me 401 INVALID_API_KEY',
  'own events 200',
  'own events 422 VALIDATION_ERROR',
  'next own events 200',
  'rotate 200',
  'rotate 401 INVALID_API_KEY',
  'rotate 422 VALIDATION_ERROR',
  'revoke 204',
  'revoke 401 INVALID_API_KEY',
  'delete selected 200',
  'delete selected 422 VALIDATION_ERROR',
];

const MIN_SHARE = size(0.9, 1);
const MIN_COUNT = size(1, 10);

describe(`one stream of ${OPERATIONS} operations`, () => {
  it('gets the same responses from both engines', async () => {
    const outcomes = await runStream({ seed: SEED, operations: OPERATIONS, withSql: size(false, true) });
    const rare = EXPECTED.filter((outcome) => (outcomes.get(outcome) ?? 0) < MIN_COUNT);
    assert.ok(
      rare.length <= EXPECTED.length * (1 - MIN_SHARE),
      `hardly any ${rare.join(', ')} in ${JSON.stringify([...outcomes])}`,
    );
  });
});
