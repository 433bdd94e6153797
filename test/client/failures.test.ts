// The TypeScript client when requests, responses or the service fail: what it repeats, how long it waits, and what it leaves to the
// caller. A proxy before a real service breaks what the test names.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import { type Event, LocalEvents, type Settings } from '../../client/src/local-events.ts';
import { startTestService, useTestService } from '../support/service.ts';
import { type Fault, type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts';
import { failureOf, newEvent } from './samples.ts';

const AGENT = { email: 'agent@example.com', agent_name: 'test agent' };
const JSON_TYPE = { 'content-type': 'application/json' };
const UNAVAILABLE = { error: { code: 'UNAVAILABLE', message: 'The service is starting.' } };
const RATE_LIMITED = { error: { code: 'RATE_LIMITED', message: 'The quota is used up.' } };
const unavailable = (retryAfter?: string): Fault => ({
  status: 503,
  headers: { ...JSON_TYPE, ...(retryAfter !== undefined && { 'retry-after': retryAfter }) },
  body: JSON.stringify(UNAVAILABLE),
});
const limited = (retryAfter: string): Fault => ({
  status: 429,
  headers: { ...JSON_TYPE, 'retry-after': retryAfter },
  body: JSON.stringify(RATE_LIMITED),
});
const BROKEN_GATEWAY: Fault = { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>502</h1>' };
const LATE_GATEWAY: Fault = { status: 504, isDone: true };

const service = useTestService();

interface Scene {
  readonly client: LocalEvents;
  readonly proxy: FaultyProxy;
  /** An event of the client's agent, which it made without the proxy. */
  readonly event: Event;
  /** A client of the same key that does not use the proxy. */
  readonly direct: LocalEvents;
}

let scenes = 0;

async function prepare(
  t: TestContext,
  faults: (Fault | undefined)[] = [],
  settings: Partial<Settings> = {},
): Promise<Scene> {
  const proxy = await startFaultyProxy(t, service.url, faults);
  const { api_key: apiKey } = await new LocalEvents({ baseUrl: service.url }).register(AGENT);
  const direct = new LocalEvents({ baseUrl: service.url, apiKey });
  const event = await direct.createEvent(newEvent({ title: `Scene ${++scenes}` }));
  return { client: new LocalEvents({ baseUrl: proxy.url, apiKey, ...settings }), proxy, event, direct };
}

/** What each method does if the response to its first request is lost: it repeats the request and succeeds, or fails. */
const AFTER_A_LOST_RESPONSE: Record<string, (scene: Scene) => Promise<void>> = {
  'reads again': async ({ client, event }) => {
    assert.deepEqual(await client.getEvent(event.event_id), event);
  },
  'creates one event': async ({ client, direct }) => {
    const { event_id } = await client.createEvent(newEvent({ title: 'Once' }));
    const { events } = await direct.listOwnEvents();
    assert.deepEqual(
      events.filter(({ title }) => title === 'Once').map((each) => each.event_id),
      [event_id],
    );
  },
  'has deleted': async ({ client, event, direct }) => {
    assert.equal(await client.deleteEvent(event.event_id, { ifMatch: event }), undefined);
    assert.equal((await failureOf(direct.getEvent(event.event_id))).code, 'NOT_FOUND');
  },
  'has revoked the key': async ({ client, direct }) => {
    assert.equal(await client.revokeKey(), undefined);
    assert.equal((await failureOf(direct.getOwnAgent())).code, 'INVALID_API_KEY');
  },
  'gets another new key': async ({ client }) => {
    const { api_key: apiKey } = await client.rotateKey();
    await new LocalEvents({ baseUrl: service.url, apiKey }).getOwnAgent();
  },
  'does not know whether a change with ifMatch was made': async ({ client, event, direct }) => {
    const error = await failureOf(client.updateEvent(event.event_id, { cost: '5' }, { ifMatch: event }));
    assert.equal(error.code, 'PRECONDITION_FAILED');
    assert.ok(error.cause, 'the lost response is its cause');
    assert.equal((await direct.getEvent(event.event_id)).cost, '5');
  },
};

describe('after a lost response the client', { concurrency: 8 }, () => {
  for (const [what, act] of Object.entries(AFTER_A_LOST_RESPONSE)) {
    for (const fault of ['lose the response', 'cut the response', LATE_GATEWAY] satisfies Fault[]) {
      const name = typeof fault === 'string' ? fault : `status ${fault.status}`;
      it(`${what} (${name})`, async (t) => {
        const scene = await prepare(t, [fault]);
        await act(scene);
        assert.equal(scene.proxy.requests.length, 2);
      });
    }
  }

  it('has made an edit once', async (t) => {
    const { client, proxy, event } = await prepare(t, []);
    const edited = client.editEvent(event.event_id, ({ cost }) => {
      proxy.faults.push('lose the response');
      return { cost: `${Number(cost) + 1}`, address: null };
    });
    assert.equal((await edited).cost, '1');
    assert.deepEqual(
      proxy.requests.map(({ method }) => method),
      ['GET', 'PATCH', 'PATCH', 'GET'],
    );
  });

  it('leaves an edit to the caller if another followed', async (t) => {
    const { client, proxy, event, direct } = await prepare(t, []);
    const edited = client.editEvent(event.event_id, () => {
      proxy.faults.push({ status: 503, isDone: true, headers: { 'retry-after': '1' } });
      setTimeout(() => void direct.updateEvent(event.event_id, { cost: 'theirs' }), 500);
      return { cost: 'mine' };
    });
    const error = await failureOf(edited);
    assert.equal(error.code, 'PRECONDITION_FAILED');
    assert.ok(error.cause);
  });
});

/** What could be done twice, or undo what others did. */
const NEVER_REPEATED: Record<string, (scene: Scene) => Promise<unknown>> = {
  register: ({ client }) => client.register(AGENT),
  'updateEvent without ifMatch': ({ client, event }) => client.updateEvent(event.event_id, { cost: '5' }),
  'updateEvent of any version': ({ client, event }) =>
    client.updateEvent(event.event_id, { cost: '5' }, { ifMatch: '*' }),
  'rotateKey without an overlap': ({ client }) => client.rotateKey({ overlap_seconds: 0 }),
};

describe('what is not safe to repeat', { concurrency: 8 }, () => {
  for (const [name, act] of Object.entries(NEVER_REPEATED)) {
    it(`is sent once: ${name}`, async (t) => {
      const faults: readonly (readonly [Fault, string])[] = [
        ['lose the response', 'NETWORK_ERROR'],
        ['lose the request', 'NETWORK_ERROR'],
        [BROKEN_GATEWAY, 'UNEXPECTED_RESPONSE'],
        [unavailable('0'), 'UNAVAILABLE'],
      ];
      for (const [fault, code] of faults) {
        const scene = await prepare(t, [fault]);
        assert.equal((await failureOf(act(scene))).code, code);
        assert.equal(scene.proxy.requests.length, 1);
      }
    });

    it(`is repeated after a limit refused it: ${name}`, async (t) => {
      const scene = await prepare(t, [limited('0'), limited('0')]);
      await act(scene);
      assert.equal(scene.proxy.requests.length, 3);
    });
  }

  it('succeeds as a delete only if something may have been deleted', async (t) => {
    const { client, event, proxy } = await prepare(t, [limited('0')]);
    const other = await prepare(t);
    assert.equal((await failureOf(client.deleteEvent(other.event.event_id))).code, 'NOT_FOUND');
    assert.equal(proxy.requests.length, 2);
    await client.deleteEvent(event.event_id);
    assert.equal((await failureOf(client.deleteEvent(event.event_id))).code, 'NOT_FOUND');
  });
});

describe('what is safe to repeat', { concurrency: 8 }, () => {
  for (const [name, fault] of Object.entries({
    'a lost request': 'lose the request',
    'a 408': { status: 408 },
    'a 500': { status: 500 },
    'a 502 of a proxy': BROKEN_GATEWAY,
    'a 503': unavailable(),
  } satisfies Record<string, Fault>)) {
    it(`is repeated three times after ${name}, then fails`, async (t) => {
      const { client, proxy } = await prepare(t, [fault, fault, fault]);
      await client.getOwnAgent();
      assert.equal(proxy.requests.length, 4);
      proxy.faults.push(fault, fault, fault, fault);
      const { code, status } = await failureOf(client.getOwnAgent());
      assert.equal(proxy.requests.length, 8);
      assert.equal(status, typeof fault === 'string' ? undefined : fault.status);
      const expected = fault === 'lose the request' ? 'NETWORK_ERROR' : 'UNEXPECTED_RESPONSE';
      assert.equal(code, name === 'a 503' ? 'UNAVAILABLE' : expected);
    });
  }

  it('is never repeated with maxWaitMs 0, for one call or all', async (t) => {
    const { client, proxy } = await prepare(t, ['lose the request', limited('1')]);
    await failureOf(client.getOwnAgent({ maxWaitMs: 0 }));
    assert.equal((await failureOf(client.getOwnAgent({ maxWaitMs: 0 }))).code, 'RATE_LIMITED');
    const eager = await prepare(t, [unavailable('1')], { maxWaitMs: 0 });
    await failureOf(eager.client.getOwnAgent());
    assert.deepEqual([proxy.requests.length, eager.proxy.requests.length], [2, 1]);
  });
});

describe('a client that is asked to wait', { concurrency: 8 }, () => {
  for (const [what, refuse] of Object.entries({ 429: limited, 503: unavailable })) {
    it(`waits that long after a ${what}`, async (t) => {
      const { client, proxy } = await prepare(t, [refuse('1')]);
      const startMs = performance.now();
      await client.getOwnAgent();
      assert.ok(performance.now() - startMs >= 1_000);
      assert.equal(proxy.requests.length, 2);
    });
  }

  it('understands a date, as proxies may send', async (t) => {
    const at = new Date(Math.ceil(Date.now() / 1_000 + 1) * 1_000);
    const { client } = await prepare(t, [unavailable(at.toUTCString())]);
    await client.getOwnAgent();
    assert.ok(Date.now() >= at.getTime());
  });

  it('is not fooled by a wait of nothing: it ends at maxWaitMs', async (t) => {
    const { client, proxy } = await prepare(t, Array(50).fill(limited('0')), { maxWaitMs: 3_000 });
    assert.equal((await failureOf(client.getOwnAgent())).code, 'RATE_LIMITED');
    assert.equal(proxy.requests.length, 4);
  });

  it('fails at once if that is longer than maxWaitMs, and says how long', async (t) => {
    const { client, proxy } = await prepare(t, [limited('61')]);
    const { code, status, retryAfterSeconds } = await failureOf(client.getOwnAgent());
    assert.deepEqual([code, status, retryAfterSeconds], ['RATE_LIMITED', 429, 61]);
    assert.equal(proxy.requests.length, 1);
  });

  it('is served again when the quota of the service is', async (t) => {
    const limitedService = await startTestService({ RATE_LIMIT_READWRITE: '2' }, { until: t });
    const { api_key: apiKey } = await new LocalEvents({ baseUrl: limitedService.url }).register(AGENT);
    const client = new LocalEvents({ baseUrl: limitedService.url, apiKey });
    await client.getOwnAgent();
    const { quota } = await client.getOwnAgent();
    assert.equal(quota!.remaining, 0);
    const refused = await failureOf(client.getOwnAgent());
    assert.ok(refused.retryAfterSeconds! > 3_500);
    limitedService.clock.advance(refused.retryAfterSeconds! * 1_000 - 1_000);
    await client.getOwnAgent();
  });
});

describe('a signal', { concurrency: 8 }, () => {
  it('ends a call before, during and between its requests, with its reason, and is left as it was', async (t) => {
    const { client, proxy } = await prepare(t, ['hang', limited('30')]);
    const calls: [name: string, ms: number][] = [
      ['before', 0],
      ['during', 300],
      ['between', 300],
    ];
    for (const [name, ms] of calls) {
      const controller = new AbortController();
      const reason = new Error(name);
      if (ms === 0) controller.abort(reason);
      else setTimeout(() => controller.abort(reason), ms);
      await assert.rejects(client.getOwnAgent({ signal: controller.signal }), reason);
      assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
    }
    assert.equal(proxy.requests.length, 2);
  });

  it('ends a write that is not repeated, with its reason, too', async (t) => {
    const { client, event } = await prepare(t, ['hang']);
    const signal = AbortSignal.timeout(300);
    const change = client.updateEvent(event.event_id, { cost: '1' }, { signal });
    await assert.rejects(change, { name: 'TimeoutError' });
  });

  it('ends pages and edits', async (t) => {
    const { client, event } = await prepare(t, ['hang', 'hang', 'hang']);
    const signal = AbortSignal.timeout(300);
    const pages = client.searchPages({ lat: 0, lng: 0 }, { signal }).next();
    const edit = client.editEvent(event.event_id, () => ({ cost: '1' }), { signal });
    for (const call of [pages, edit]) await assert.rejects(call, { name: 'TimeoutError' });
  });

  it('of the settings counts for every call, and leaves no listeners', async (t) => {
    const controller = new AbortController();
    const { client } = await prepare(t, [limited('0')], { signal: controller.signal });
    for (let calls = 0; calls < 3; calls++) await client.getOwnAgent();
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
    controller.abort();
    await assert.rejects(client.getOwnAgent(), { name: 'AbortError' });
  });
});

describe('timeoutMs', { concurrency: 8 }, () => {
  it('ends an attempt, which is repeated if that is safe', async (t) => {
    const { client, proxy, event } = await prepare(t, ['hang', 'hang', undefined, 'hang'], {
      timeoutMs: 500,
    });
    await client.getOwnAgent();
    assert.equal(proxy.requests.length, 3);
    const { code, cause } = await failureOf(client.updateEvent(event.event_id, { cost: '1' }));
    assert.equal(code, 'NETWORK_ERROR');
    assert.match(String(cause), /500 ms/);
  });

  it('may be endless', async (t) => {
    const { client } = await prepare(t, [limited('0')], { timeoutMs: Infinity, maxWaitMs: Infinity });
    await client.getOwnAgent();
  });
});
