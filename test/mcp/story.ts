// One pass through every tool: what an agent does with its events over the Model Context Protocol, compared with HTTP.
import assert from 'node:assert/strict';
import { type Client, newEvent } from '../support/client.ts';
import type { McpClient } from './mcp-client.ts';

/** `agent` is the same agent over HTTP. It has no events before and after. */
export async function callEveryTool(mcp: McpClient, agent: Client): Promise<void> {
  const { tools } = await mcp.client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    [
      'search_events',
      'get_event',
      'find_places',
      'create_event',
      'update_event',
      'delete_event',
      'list_my_events',
      'get_my_agent',
    ],
  );
  const place = { lat: 52.5264, lng: 13.3955 };
  const fields = newEvent({
    ...place,
    title: 'Laternen\u2028\u2029🏮',
    start_at: '2031-05-01T18:00:00',
    cost: '5 EUR',
  });
  const made = await mcp.get('create_event', fields);
  assert.equal(made.start_at, '2031-05-01T16:00:00.000Z', 'local time of the timezone');
  assert.equal(made.title, fields.title);
  const { event_id } = made;
  assert.deepEqual(await mcp.get('create_event', fields), made, 'it is the same event');
  assert.deepEqual((await agent.get(`/v1/events/${event_id}`, { include: 'local' })).body, made);

  const search = {
    ...place,
    radius: 1,
    event_type: ['talk', 'tour'],
    starts_after: '2031-05-01T18:00:00+02:00',
  };
  const found = await mcp.get('search_events', search);
  const near = { ...made, distance_miles: 0 };
  assert.deepEqual(found, { events: [near], count: 1, total: 1, next_cursor: null });
  assert.deepEqual(
    (await agent.get('/v1/events/nearby', { ...search, include: 'distance,local' })).body,
    found,
  );
  assert.deepEqual(await mcp.get('search_events', { ...search, q: 'LATERNEN -jazz' }), found);
  assert.equal((await mcp.get('search_events', { ...search, q: 'jazz' })).total, 0);
  const during = {
    active_after: '2031-05-01T17:30:00Z',
    active_before: '2031-05-02T00:00:00Z',
    sort: 'distance',
  };
  assert.deepEqual(await mcp.get('search_events', { ...place, radius: 1, ...during }), found);
  assert.equal((await mcp.get('search_events', { ...place, radius: 1, when: 'tonight' })).total, 0);
  assert.match(
    await mcp.refusal('search_events', { ...place, ...during, when: 'now' }),
    /when: cannot be combined/,
  );
  const named = await mcp.get('search_events', { place: 'Mitte, Berlin', radius: 10 });
  assert.deepEqual([named.total, named.resolved_place], [1, 'Mitte, Berlin, DE; 52.52003,13.40489']);
  assert.match(await mcp.refusal('search_events', { place: 'Springfield' }), /"Springfield, Missouri, US"/);
  assert.match(await mcp.refusal('search_events', {}), /place: is required, or lat and lng instead/);
  const { places } = await mcp.get('find_places', { q: 'Мюнхен', limit: 1 });
  assert.deepEqual((await agent.get('/v1/places', { q: 'Мюнхен', limit: 1 })).body.places, places);
  assert.equal(places[0].name, 'Munich');
  const { structured } = await mcp.call('search_events', {
    ...search,
    starts_after: '2031-05-01T16:00:00.001',
  });
  assert.deepEqual(structured, { events: [], count: 0, total: 0, next_cursor: null });

  const changed = await mcp.get('update_event', { event_id, title: 'Lanterns', cost: null });
  assert.deepEqual(changed, { ...made, title: 'Lanterns', cost: null });
  assert.deepEqual(await mcp.get('get_event', { event_id }), changed);

  const over = await mcp.get('create_event', newEvent({ start_at: '2001-05-01T18:00:00Z' }));
  const later = await mcp.get('create_event', newEvent({ start_at: '2032-05-01T18:00:00Z' }));
  const first = await mcp.get('list_my_events', { limit: 1 });
  assert.deepEqual(first, { events: [changed], count: 1, total: 2, next_cursor: first.next_cursor });
  const second = await mcp.get('list_my_events', { limit: 1, cursor: first.next_cursor });
  assert.deepEqual(second, { events: [later], count: 1, total: 2, next_cursor: null });
  const all = await mcp.get('list_my_events', { include_ended: true });
  assert.deepEqual(all, { events: [over, changed, later], count: 3, total: 3, next_cursor: null });

  for (const { event_id } of all.events) {
    assert.deepEqual(await mcp.get('delete_event', { event_id }), { event_id, deleted: true });
    assert.match(await mcp.refusal('get_event', { event_id }), /^NOT_FOUND: There is no event/);
    assert.match(await mcp.refusal('delete_event', { event_id }), /^NOT_FOUND: You have no event/);
  }
  assert.equal((await mcp.get('list_my_events', { include_ended: true })).total, 0);

  const { agent: me, quota, limits } = await mcp.get('get_my_agent');
  const { body } = await agent.get('/v1/agents/me');
  assert.deepEqual([me.id, me.tier, quota.limit], [body.agent.id, 'readwrite', body.quota.limit]);
  assert.deepEqual([limits.events.used, limits.bytes.used], [0, 0]);
}
