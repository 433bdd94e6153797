// Operations under way: closing waits for all of them, failed or not, and later ones are refused.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Operations } from '../../src/domain/operations.ts';

it('closes at once if nothing is under way, even twice', async () => {
  const operations = new Operations();
  assert.equal(await operations.run(async () => 1), 1);
  await operations.close();
  await operations.close();
});

it('closes when the last operation is done, whether it failed or not', async () => {
  const operations = new Operations();
  const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const running = [first, second].map(({ promise }) => operations.run(() => promise));
  let isClosed = false;
  const closing = operations.close().then(() => {
    isClosed = true;
  });
  first.reject(new Error('it failed'));
  await assert.rejects(running[0]!, /it failed/);
  assert.equal(isClosed, false);
  second.resolve('done');
  assert.equal(await running[1], 'done');
  await closing;
});

it('refuses an operation after closing, and does not start it', async () => {
  const operations = new Operations();
  await operations.close();
  const refused = operations.run(() => assert.fail('it was begun'));
  await assert.rejects(refused, { code: 'UNAVAILABLE' });
});
