// Request IDs of trusted proxies, and trace IDs in the log.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { type Answer, newEvent } from '../support/client.ts';
import { exchange, request } from '../support/raw-http.ts';
import { startTestService, type TestService, useTestService } from '../support/service.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const GENERATED = /^[0-9A-Z]{8}-[0-9a-z]+$/;

/** Waits for the access-log line of the request. */
async function lineOf(service: TestService, answer: Answer): Promise<Record<string, unknown>> {
  const requestId = answer.headers.get('x-request-id');
  for (;;) {
    const line = service.log.findLast((found) => found.requestId === requestId && found.msg === 'request');
    if (line) return line;
    await new Promise(setImmediate);
  }
}

describe('X-Request-Id', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService({ TRUST_PROXY: '127.0.0.1' });
  });
  after(() => service.close());

  for (const id of [
    'a',
    'c7a3f0a2-5a53-4b0e-8f57-1d3e1a5f5a11',
    'Root=1-67891233:abc/def+x@y_z.',
    'x'.repeat(128),
  ]) {
    it(`is taken over from a trusted proxy: ${id.slice(0, 40)}`, async () => {
      const answer = await exchange(service.url, request('GET', '/openapi.json', { 'X-Request-Id': id }));
      assert.equal(answer.headers.get('x-request-id'), id);
      assert.equal((await lineOf(service, answer)).requestId, id);
    });
  }

  for (const id of ['', 'x'.repeat(129), 'a b', 'a"b', 'a\\b', 'a,b', '{}', 'é', "a'b"]) {
    it(`is generated instead of ${JSON.stringify(id.slice(0, 40))}`, async () => {
      const answer = await exchange(service.url, request('GET', '/openapi.json', { 'X-Request-Id': id }));
      assert.match(answer.headers.get('x-request-id')!, GENERATED);
    });
  }

  it('is generated if the proxy sends several', async () => {
    const text = 'GET /health HTTP/1.1\r\nHost: a\r\nX-Request-Id: a\r\nX-Request-Id: b\r\n\r\n';
    assert.match((await exchange(service.url, text)).headers.get('x-request-id')!, GENERATED);
  });

  it('is also that of errors', async () => {
    const answer = await exchange(service.url, request('GET', '/v1/%zz', { 'X-Request-Id': 'mine' }));
    assert.equal(answer.status, 404);
    assert.equal(answer.headers.get('x-request-id'), 'mine');
  });

  it('is generated for everybody else, whatever they send', async (t) => {
    for (const TRUST_PROXY of ['', '10.0.0.0/8']) {
      const other = await startTestService({ TRUST_PROXY }, { until: t });
      const answer = await exchange(other.url, request('GET', '/health', { 'X-Request-Id': 'mine' }));
      assert.match(answer.headers.get('x-request-id')!, GENERATED);
    }
  });
});

describe('traceparent', () => {
  const service = useTestService();

  const send = async (traceparent: string) =>
    lineOf(service, await exchange(service.url, request('GET', '/nothing', { traceparent })));

  for (const valid of [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-00`, `cc-${TRACE}-${SPAN}-01-later`]) {
    it(`puts its trace ID into the line of the request: ${valid}`, async () => {
      assert.equal((await send(valid)).traceId, TRACE);
    });
  }

  for (const invalid of [
    '',
    TRACE,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-later`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    `00-"},{"${TRACE.slice(6)}-${SPAN}-01`,
  ]) {
    it(`is ignored if it is invalid: ${invalid}`, async () => {
      assert.ok(!('traceId' in (await send(invalid))));
    });
  }

  it('also puts it into the line with the cause of a fault', async (t) => {
    const broken = await startTestService({}, { until: t });
    const agent = await broken.newAgent();
    const database = new DatabaseSync(databasePath(broken.folder), { timeout: 5_000 });
    database.exec("CREATE TRIGGER rule BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no'); END");
    database.close();
    const answer = await agent.with({ traceparent: `00-${TRACE}-${SPAN}-01` }).post('/v1/events', newEvent());
    assert.equal(answer.status, 500);
    const fault = broken.log.find(({ level }) => level === 50);
    assert.equal(fault?.traceId, TRACE);
  });
});
