// Ended events: in no search from that instant on, but still stored. Times are those of the service's clock, which is
// derived from created_at.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, administrator, newAgent, reader } from './client.ts';
import { assertInvalid, type Fields, HOUR_MS, iso, newEvent, randomPlace } from './samples.ts';

const THREE_HOURS_MS = 3 * HOUR_MS;

/** Time until the events below end: long enough to find them before, even on a busy machine. */
const SOON_MS = 2_000;

describe('events that have ended', { concurrency: true }, () => {
  let agent: Agent;
  /** Offset from this machine's clock to the service's, and its maximum error. */
  let skewMs: number;
  let marginMs: number;
  before(async () => {
    agent = await newAgent();
    const sentMs = Date.now();
    const { created_at } = await agent.create(newEvent());
    const answeredMs = Date.now();
    skewMs = Date.parse(created_at) - (sentMs + answeredMs) / 2;
    marginMs = (answeredMs - sentMs) / 2 + 5;
  });
  const nowMs = () => Date.now() + skewMs;

  /** Creates the event at a place that no other test uses; `isFound` searches there. */
  async function start(fields: Fields) {
    const place = randomPlace();
    const sent = newEvent({ ...place, ...fields });
    const event = await agent.create(sent);
    const isFound = async () => {
      const { total, count } = await reader.nearby({ ...place, radius: 0.1 });
      assert.equal(total, count);
      return total === 1;
    };
    return { sent, event, isFound, place };
  }

  /** Searches repeatedly: the event is found until `endMs` on the service's clock, and never after it. */
  async function watchEnd(isFound: () => Promise<boolean>, endMs: number) {
    let foundBefore = 0;
    for (;;) {
      const sentMs = nowMs();
      const found = await isFound();
      const answeredMs = nowMs();
      if (answeredMs < endMs - marginMs) {
        assert.ok(found, `gone ${endMs - answeredMs} ms early`);
        foundBefore++;
      }
      if (sentMs > endMs + marginMs) {
        assert.ok(!found, `still found ${sentMs - endMs} ms late`);
        assert.ok(foundBefore > 0, 'the event ended before it was searched for');
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  it('leave every search at the instant of their end_at, and stay readable', async () => {
    const endMs = Math.ceil(nowMs()) + SOON_MS;
    const { sent, event, isFound } = await start({ start_at: iso(endMs - HOUR_MS), end_at: iso(endMs) });
    await watchEnd(isFound, endMs);
    assert.deepEqual(await reader.read(event.event_id), event);
    assert.deepEqual(await agent.update(event.event_id, { cost: 'was free' }), {
      ...event,
      cost: 'was free',
    });
    assert.equal(await isFound(), false);
    // Validation comes before the tuple: repeated now, the same create has an end_at in the past.
    assertInvalid(await agent.post('/v1/events', sent), ['body.end_at: value_error']);
  });

  it('leave every search 3 hours after their start if they have no end_at', async () => {
    const endMs = Math.ceil(nowMs()) + SOON_MS;
    const { event, isFound } = await start({ start_at: iso(endMs - THREE_HOURS_MS) });
    await watchEnd(isFound, endMs);
    assert.deepEqual(await reader.read(event.event_id), event);
  });

  const past: [name: string, fields: () => Fields][] = [
    [
      'started 3 hours and a minute ago and has no end_at',
      () => ({ start_at: iso(nowMs() - THREE_HOURS_MS - 60_000) }),
    ],
    ['started long ago and has no end_at', () => ({ start_at: '1999-12-31T23:00:00Z' })],
  ];
  for (const [name, fields] of past) {
    it(`include one that ${name}`, async () => {
      assert.equal(await (await start(fields())).isFound(), false);
    });
  }

  const tomorrow = () => iso(nowMs() + 24 * HOUR_MS);
  const current: [name: string, fields: () => Fields][] = [
    [
      'started a minute short of 3 hours ago and has no end_at',
      () => ({ start_at: iso(nowMs() - THREE_HOURS_MS + 60_000) }),
    ],
    [
      'started long ago and ends in an hour',
      () => ({ start_at: '1999-12-31T23:00:00Z', end_at: iso(nowMs() + HOUR_MS) }),
    ],
    ['starts and ends tomorrow', () => ({ start_at: tomorrow(), end_at: iso(nowMs() + 25 * HOUR_MS) })],
    ['starts tomorrow and has no end_at', () => ({ start_at: tomorrow() })],
  ];
  for (const [name, fields] of current) {
    it(`do not include one that ${name}`, async () => {
      assert.equal(await (await start(fields())).isFound(), true);
    });
  }

  it('are left out whatever the filters are', async () => {
    const { place } = await start({ start_at: '1999-12-31T23:00:00Z', audience: 'kids', event_type: 'tour' });
    const window = { starts_after: '1999-01-01T00:00:00Z', starts_before: '2001-01-01T00:00:00Z' };
    for (const query of [window, { audience: 'kids' }, { event_type: 'tour' }]) {
      assert.equal((await reader.nearby({ ...place, radius: 0.1, ...query })).total, 0);
    }
  });

  it('are found again if their end moves into the future, and leave if it is cleared', async () => {
    const { event, isFound } = await start({ start_at: iso(nowMs() - 24 * HOUR_MS) });
    assert.equal(await isFound(), false);
    await agent.update(event.event_id, { end_at: iso(nowMs() + HOUR_MS) });
    assert.equal(await isFound(), true);
    await agent.update(event.event_id, { end_at: null });
    assert.equal(await isFound(), false);
    await agent.update(event.event_id, { start_at: iso(nowMs()) });
    assert.equal(await isFound(), true);
  });

  it('are in the list and in the count that administrators see', async () => {
    const owner = await newAgent();
    const event = await owner.create(newEvent({ start_at: '1999-12-31T23:00:00Z' }));
    const { agent: summary, events } = (
      await administrator.get(`/v1/admin/agents/${await owner.id()}/events`)
    ).body;
    assert.deepEqual(events, [event]);
    assert.equal(summary.event_count, 1);
  });
});
