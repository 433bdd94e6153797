// Many health checks at the same time cost the store no more than one.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { AppError } from '../../../src/domain/errors.ts';
import type { Context } from '../../../src/usecases/context.ts';
import { bareServer } from '../../support/bare-server.ts';

it('checks the store once for all requests that arrive during the check, and again for later ones', async () => {
  let gate = Promise.withResolvers<void>();
  let checks = 0;
  const check = () => {
    checks++;
    return gate.promise;
  };
  const context = { store: { engine: 'sqlite', check } } as unknown as Context;
  const app = bareServer({
    context,
  });
  const responses = Array.from({ length: 50 }, () => app.inject('/health'));
  while (checks === 0) await new Promise(setImmediate);
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  gate.resolve();
  for (const { statusCode } of await Promise.all(responses)) assert.equal(statusCode, 200);
  assert.equal(checks, 1);

  gate = Promise.withResolvers();
  gate.reject(new AppError('UNAVAILABLE', 'The store does not respond. Retry.'));
  assert.equal((await app.inject('/health')).statusCode, 503);
  gate = Promise.withResolvers();
  gate.resolve();
  assert.equal((await app.inject('/health')).statusCode, 200);
  assert.equal(checks, 3);
});
