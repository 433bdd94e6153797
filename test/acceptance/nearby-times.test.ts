// Searches by when events are on: active_after, active_before and when. Timezones are chosen by the clock of this machine, so that it is
// about noon in them, and no day ends during a test.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, newAgent } from './client.ts';
import { assertInvalid, type Fields, HOUR_MS, iso, newEvent, randomPlace, titles } from './samples.ts';

const DAY_MS = 24 * HOUR_MS;

/** A timezone that is this many hours ahead of UTC; the sign in its name is the other way round. */
function zoneAhead(hours: number): string {
  return hours === 0 ? 'Etc/GMT' : `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}`;
}

let agent: Agent;
before(async () => {
  agent = await newAgent();
});

/** Creates these events at a place that no other test uses; the result searches there. */
async function publish(events: Record<string, Fields>) {
  const place = randomPlace();
  for (const [title, fields] of Object.entries(events))
    await agent.create(newEvent({ ...place, title, ...fields }));
  return async (parameters: Record<string, string>): Promise<string[]> => {
    const page = await agent.nearby({ ...place, radius: 0.1, ...parameters });
    assert.equal(page.total, page.count);
    const everywhere = await agent.nearby({ ...place, limit: 100, sort: 'distance', ...parameters });
    const shown = new Set(titles(page));
    assert.deepEqual(
      titles(everywhere).filter((title) => shown.has(title)).length,
      shown.size,
      'without a radius',
    );
    return titles(page);
  };
}

describe('active_after and active_before', () => {
  const T = Date.parse('2150-05-01T12:00:00Z');
  const at = (hours: number) => iso(T + hours * HOUR_MS);
  let find: Awaited<ReturnType<typeof publish>>;
  before(async () => {
    find = await publish({
      long: { start_at: at(-500), end_at: at(500) },
      'until T': { start_at: at(-5), end_at: at(0) },
      'no end': { start_at: at(-3) },
      'no end, a second later': { start_at: iso(T - 3 * HOUR_MS + 1_000) },
      moment: { start_at: at(0), end_at: at(0) },
      later: { start_at: at(10), end_at: at(12) },
    });
  });

  it('find events that are on at some moment in between, also those that began before', async () => {
    assert.deepEqual(await find({ active_after: at(0), active_before: at(10) }), [
      'long',
      'no end, a second later',
      'moment',
    ]);
    assert.deepEqual(await find({ active_after: at(-1), active_before: at(0) }), [
      'long',
      'until T',
      'no end',
      'no end, a second later',
    ]);
  });

  it('work alone', async () => {
    assert.deepEqual(await find({ active_after: at(11) }), ['long', 'later']);
    assert.deepEqual(await find({ active_before: at(-4) }), ['long', 'until T']);
  });

  it('include the begin of the interval for an event without length, and exclude its end', async () => {
    assert.ok((await find({ active_after: at(0), active_before: at(1) })).includes('moment'));
    assert.ok(!(await find({ active_after: at(-1), active_before: at(0) })).includes('moment'));
  });

  it('apply together with starts_after and starts_before', async () => {
    assert.deepEqual(await find({ active_after: at(0), active_before: at(11), starts_after: at(0) }), [
      'moment',
      'later',
    ]);
  });

  it('are read as UTC without an offset', async () => {
    const found = await find({
      active_after: '2150-05-01T23:00:00',
      active_before: '2150-05-02T00:30:00+00:00',
    });
    assert.deepEqual(found, ['long', 'later']);
  });
});

describe('when', () => {
  const utc = new Date();
  const offset = 12 - utc.getUTCHours();
  const zone = zoneAhead(offset);
  /** In local time, written as if it were UTC. */
  const midnight = Math.floor((utc.getTime() + offset * HOUR_MS) / DAY_MS) * DAY_MS;
  const local = (day: number, hour: number) => iso(midnight + day * DAY_MS + hour * HOUR_MS).slice(0, 19);
  const weekday = new Date(midnight).getUTCDay();
  const saturday = weekday === 0 ? -1 : 6 - weekday;
  let find: Awaited<ReturnType<typeof publish>>;
  before(async () => {
    find = await publish({
      'on for weeks': { start_at: local(-20, 9), end_at: local(20, 9), timezone: zone },
      'this evening': { start_at: local(0, 20), timezone: zone },
      'after midnight': { start_at: local(1, 2), timezone: zone },
      'early tomorrow': { start_at: local(1, 5), timezone: zone },
      'late tomorrow': { start_at: local(1, 23), timezone: zone },
      'Monday at midnight': { start_at: local(saturday + 2, 0), timezone: zone },
      'Sunday, the last hour': { start_at: local(saturday + 1, 23), timezone: zone },
      'in eight days': { start_at: local(8, 13), timezone: zone },
    });
  });
  const among = async (when: string, names: readonly string[]) =>
    (await find({ when })).filter((title) => names.includes(title));
  const NAMES = [
    'on for weeks',
    'this evening',
    'after midnight',
    'early tomorrow',
    'late tomorrow',
    'in eight days',
  ];

  it('takes now, today, tonight, tomorrow and next_7_days', async () => {
    assert.deepEqual(await among('now', NAMES), ['on for weeks']);
    assert.deepEqual(await among('today', NAMES), ['on for weeks', 'this evening']);
    assert.deepEqual(await among('tonight', NAMES), ['on for weeks', 'this evening', 'after midnight']);
    assert.deepEqual(await among('tomorrow', NAMES), [
      'on for weeks',
      'after midnight',
      'early tomorrow',
      'late tomorrow',
    ]);
    assert.deepEqual(await among('next_7_days', NAMES), NAMES.slice(0, -1));
  });

  it('takes this_weekend: from Saturday to Sunday, the current one or the next', async () => {
    const found = await find({ when: 'this_weekend' });
    assert.ok(found.includes('on for weeks'));
    assert.ok(found.includes('Sunday, the last hour'));
    assert.ok(!found.includes('Monday at midnight'));
    assert.equal(found.includes('this evening'), weekday === 6 || weekday === 0);
    // Without an end it lasts for three hours: what begins late on a Friday is on when the weekend begins.
    assert.equal(found.includes('late tomorrow'), weekday >= 4);
  });

  it('is judged by the clock of each event', async () => {
    const other = zoneAhead(offset + 6 <= 14 ? offset + 6 : offset - 18);
    const start_at = iso(midnight - offset * HOUR_MS + 19 * HOUR_MS);
    const search = await publish({
      'here at 19:00': { start_at, timezone: zone },
      'there at 01:00': { start_at, timezone: other },
    });
    assert.deepEqual(await search({ when: 'today' }), ['here at 19:00']);
    assert.deepEqual(await search({ when: 'tomorrow' }), ['there at 01:00']);
    assert.deepEqual((await search({ when: 'tonight' })).sort(), ['here at 19:00', 'there at 01:00']);
  });

  it('follows a change of the timezone alone', async () => {
    const place = randomPlace();
    const start_at = iso(midnight - offset * HOUR_MS + 19 * HOUR_MS);
    const { event_id } = await agent.create(newEvent({ ...place, start_at, timezone: zone }));
    const isFound = async (when: string) => (await agent.nearby({ ...place, radius: 0.1, when })).total === 1;
    assert.deepEqual([await isFound('today'), await isFound('tomorrow')], [true, false]);
    const other = zoneAhead(offset + 6 <= 14 ? offset + 6 : offset - 18);
    await agent.patch(`/v1/events/${event_id}`, { timezone: other });
    assert.deepEqual([await isFound('today'), await isFound('tomorrow')], [false, true]);
  });
});

describe('these parameters', () => {
  const T = '2150-05-01T12:00:00Z';
  const refused: [what: string, parameters: Record<string, string>, issue: string][] = [
    ['an unknown word', { when: 'soon' }, 'query.when: enum'],
    ['when with active_after', { when: 'today', active_after: T }, 'query.when: value_error'],
    ['when with active_before', { when: 'today', active_before: T }, 'query.when: value_error'],
    [
      'active_before at active_after',
      { active_after: T, active_before: T },
      'query.active_before: value_error',
    ],
    [
      'active_before before active_after, by its offset',
      { active_after: T, active_before: '2150-05-01T13:59:59+02:00' },
      'query.active_before: value_error',
    ],
    ['a word in capitals', { when: 'Today' }, 'query.when: enum'],
    ['a date alone', { active_after: '2150-05-01' }, 'query.active_after: datetime_parsing'],
  ];
  for (const [what, parameters, issue] of refused) {
    it(`are 422 with ${what}`, async () => {
      const answer = await agent.get('/v1/events/nearby', { lat: 0, lng: 0, ...parameters });
      assertInvalid(answer, [issue]);
    });
  }
});
