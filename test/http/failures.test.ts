// What clients see while the service starts, when its store is gone, and after an unexpected failure.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { DESCRIBED_ROUTES } from '../../src/http/routes/table.ts';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { bareServer, listen } from '../support/bare-server.ts';
import { type Answer, assertError, Client, newEvent } from '../support/client.ts';
import { startTestService, type TestService, useTestService } from '../support/service.ts';
import { assertPlainError } from './plain-error.ts';

const REGISTRATION = { email: 'agent@example.com', agent_name: 'a name' };

/** The error lines and the access log lines of the request behind this response. */
function linesOf(service: TestService, answer: Answer) {
  const lines = service.log.filter((line) => line.requestId === answer.headers.get('x-request-id'));
  return {
    errors: lines.filter((line) => line.level === 50),
    requests: lines.filter((line) => line.level === 30),
  };
}

describe('while the service starts', () => {
  let progress = { done: 0, total: 0 };
  const app = bareServer({
    readiness: () => progress,
  });
  let client: Client;
  before(async () => {
    client = new Client(await listen(app));
  });
  after(() => app.close());

  it('refuses every route with a 503 that names the progress', async () => {
    progress = { done: 3, total: 10 };
    const routes = DESCRIBED_ROUTES.filter(({ path }) => !['/health', '/live', '/ready'].includes(path));
    assert.ok(routes.length >= 13);
    const others = ['/openapi.json', '/docs', '/', '/nothing'].map((path) => ({ method: 'GET', path }));
    for (const { method, path } of [...routes, ...others]) {
      const answer = await client.send(method, path);
      assertPlainError(answer, 503, 'UNAVAILABLE');
      assert.match(answer.body.error.message, /starting.*3 of 10 events/);
      assert.equal(answer.headers.get('retry-after'), '1', path);
    }
    assertPlainError(await client.send('PUT', '/v1/events'), 503, 'UNAVAILABLE');
  });

  it('responds to /health with a 503, "starting" and the progress', async () => {
    for (const now of [
      { done: 0, total: 0 },
      { done: 3, total: 10 },
    ]) {
      progress = now;
      const answer = await client.get('/health');
      assertError(answer, 503, 'UNAVAILABLE');
      const { error } = answer.body;
      assert.deepEqual(answer.body, { error, status: 'starting', progress: now });
      assert.equal(answer.headers.get('retry-after'), '1');
      assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
      assert.equal((await client.send('HEAD', '/health')).status, 503);
    }
  });
});

describe('when the writer of the store is gone', () => {
  let service: TestService;
  let agent: Client;
  let administrator: Client;
  let event: { event_id: string; agent_id: string };
  before(async () => {
    const writer = once(process, 'worker') as Promise<[Worker]>;
    service = await startTestService();
    agent = await service.newAgent();
    administrator = await service.newAdministrator();
    event = await agent.create();
    assert.equal((await service.client.get('/health')).status, 200);
    await (await writer)[0].terminate();
  });
  after(() => service.close());

  it('refuses every write with a 503 and Retry-After', async () => {
    const ofEvent = `/v1/events/${event.event_id}`;
    const ofAgent = `/v1/admin/agents/${event.agent_id}`;
    for (const answer of [
      await service.client.post('/v1/auth/register', REGISTRATION),
      await agent.post('/v1/events', newEvent()),
      await agent.patch(ofEvent, { title: 'new' }),
      await agent.delete(ofEvent),
      await administrator.patch(ofAgent, { is_active: false }),
      await administrator.delete(`${ofAgent}/events`),
      await administrator.delete(`/v1/admin${ofEvent.slice(3)}`),
      await administrator.delete(ofAgent),
    ]) {
      assertPlainError(answer, 503, 'UNAVAILABLE');
      assert.equal(answer.headers.get('retry-after'), '1');
      assert.doesNotMatch(answer.text, /thread|sqlite|\.ts|ERR_|at /i);
      const { errors, requests } = linesOf(service, answer);
      assert.equal(errors.length, 1, 'the cause is logged once');
      assert.match(JSON.stringify(errors[0]!.err), /writer thread/);
      assert.equal(requests.length, 1);
    }
  });

  it('has changed nothing', async () => {
    assert.deepEqual((await agent.get(`/v1/events/${event.event_id}`)).body, event);
  });

  it('responds to /health with a 503 and "unavailable"', async () => {
    const answer = await service.client.get('/health');
    assertError(answer, 503, 'UNAVAILABLE');
    assert.deepEqual(answer.body, { error: answer.body.error, status: 'unavailable' });
    assert.equal(answer.headers.get('retry-after'), '1');
  });
});

describe('after an unexpected failure', () => {
  const service = useTestService();
  let agent: Client;
  before(async () => {
    agent = await service.newAgent();
    const other = new DatabaseSync(databasePath(service.folder), { timeout: 5_000 });
    // A trigger that the service does not know.
    other.exec(
      "CREATE TRIGGER rule BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'SELECT secret FROM vault'); END",
    );
    other.close();
  });

  it('responds with a plain 500 that reveals nothing, and logs the cause once with the request ID', async () => {
    const answer = await agent.post('/v1/events', newEvent({ title: 'a title of ours' }));
    assertPlainError(answer, 500, 'INTERNAL_ERROR');
    assert.equal(
      answer.body.error.message,
      'Something went wrong on our side. Retry; if it persists, report the request ID.',
    );
    const { errors, requests } = linesOf(service, answer);
    assert.equal(errors.length, 1);
    const { err } = errors[0] as { err: { message: string; stack: string } };
    assert.equal(err.message, 'SELECT secret FROM vault');
    assert.match(err.stack, /\n\s+at /);
    assert.doesNotMatch(JSON.stringify(errors), /a title of ours/);
    assert.equal(requests.length, 1);
    assert.equal(requests[0]!.status, 500);
  });

  it('logs each further failure of the same kind in a short line, without the stack', async () => {
    for (const title of ['second', 'third']) {
      const answer = await agent.post('/v1/events', newEvent({ title }));
      assertPlainError(answer, 500, 'INTERNAL_ERROR');
      const { errors } = linesOf(service, answer);
      assert.deepEqual(
        errors.map(({ err }) => err),
        [{ type: 'Error', message: 'SELECT secret FROM vault' }],
      );
    }
  });

  it('keeps serving requests that do not fail', async () => {
    assert.equal((await service.client.post('/v1/auth/register', REGISTRATION)).status, 200);
    assert.equal((await service.client.get('/health')).status, 200);
  });
});
