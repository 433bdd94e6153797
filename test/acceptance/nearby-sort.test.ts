// The order by distance, with and without a radius, and its pages.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, newAgent } from './client.ts';
import { assertInvalid, HOUR_MS, iso, newEvent, ownDay, randomPlace, titles } from './samples.ts';

describe('sort=distance', () => {
  const centre = randomPlace();
  const { startMs, ...window } = ownDay();
  const NEAREST_FIRST = ['here', 'here, later', '1 mile', '2 miles', '3 miles', '50 miles', '1,000 miles'];
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
    const events: [title: string, degrees: number, hours: number][] = [
      ['1,000 miles', 14.5, 0],
      ['2 miles', 0.029, 1],
      ['here, later', 0, 9],
      ['50 miles', -0.72, 2],
      ['1 mile', -0.0145, 3],
      ['here', 0, 8],
      ['3 miles', 0.0435, 4],
    ];
    for (const [title, degrees, hours] of events) {
      const lat = centre.lat + degrees;
      await agent.create(newEvent({ title, lat, lng: centre.lng, start_at: iso(startMs + hours * HOUR_MS) }));
    }
  });
  const near = (parameters: Record<string, unknown>) =>
    agent.nearby({ ...centre, ...window, sort: 'distance', ...parameters });

  it('lists the nearest first, then by start, within a radius and without one', async () => {
    assert.deepEqual(titles(await near({})), NEAREST_FIRST);
    const within = await near({ radius: 10 });
    assert.deepEqual([titles(within), within.total], [NEAREST_FIRST.slice(0, 5), 5]);
    const { events } = await near({ include: 'distance' });
    const distances = events.map((event: { distance_miles: number }) => event.distance_miles);
    assert.deepEqual(
      distances,
      distances.toSorted((a: number, b: number) => a - b),
    );
  });

  for (const limit of [1, 2, 3, 7]) {
    it(`lists every event once, ${limit} at a time, with the same total`, async () => {
      const found: string[] = [];
      let cursor: string | null = null;
      do {
        const page: Awaited<ReturnType<typeof near>> = await near({
          limit,
          ...(cursor !== null && { cursor }),
        });
        found.push(...titles(page));
        assert.equal(page.total, NEAREST_FIRST.length);
        cursor = page.next_cursor;
      } while (cursor !== null);
      assert.deepEqual(found, NEAREST_FIRST);
    });
  }

  it('combines with filters', async () => {
    const found = await near({ starts_before: iso(startMs + 4 * HOUR_MS), event_type: 'talk' });
    assert.deepEqual(titles(found), ['1 mile', '2 miles', '50 miles', '1,000 miles']);
    const active = { active_after: iso(startMs + 8 * HOUR_MS), active_before: iso(startMs + 9 * HOUR_MS) };
    assert.deepEqual(titles(await near(active)), ['here']);
  });

  it('is another order than sort=start, the default', async () => {
    const byStart = titles(await agent.nearby({ ...centre, ...window }));
    assert.equal(byStart[0], '1,000 miles');
    assert.deepEqual(titles(await near({ sort: 'start' })), byStart);
  });

  it('refuses a cursor of another order or centre, and an unknown order', async () => {
    const refuse = async (parameters: Record<string, unknown>, issue: string) =>
      assertInvalid(await agent.get('/v1/events/nearby', { ...centre, ...window, limit: 2, ...parameters }), [
        issue,
      ]);
    const { next_cursor: byDistance } = await near({ limit: 2 });
    const { next_cursor: byStart } = await near({ limit: 2, sort: 'start' });
    await refuse({ cursor: byDistance }, 'query.cursor: value_error');
    await refuse({ sort: 'distance', cursor: byStart }, 'query.cursor: value_error');
    await refuse({ sort: 'distance', lat: 0, cursor: byDistance }, 'query.cursor: value_error');
    await refuse({ sort: 'title' }, 'query.sort: enum');
  });
});
