// Arguments as models send them: an empty value for what they do not use, and one value where a list is expected. HTTP takes neither.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TOOLS } from '../../src/mcp/tools.ts';
import { assertError, type Client, newEvent } from '../support/client.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { McpClient } from './mcp-client.ts';

const PLACE = { lat: 52.52, lng: 13.405 };

describe('an argument of a tool', () => {
  let service: TestService;
  let agent: Client;
  let mcp: McpClient;
  before(async () => {
    service = await startTestService();
    agent = await service.newAgent();
    for (const event_type of ['talk', 'tour', 'game'])
      await agent.create(newEvent({ ...PLACE, event_type, title: event_type, description: 'Kept.' }));
    mcp = await McpClient.overHttp(service.url, agent.headers);
  });
  after(async () => {
    await mcp.close();
    await service.close();
  });

  const typesOf = async (args: Record<string, unknown>) => {
    const { events } = await mcp.get('search_events', { ...PLACE, ...args });
    return events.map(({ event_type }: { event_type: string }) => event_type).sort();
  };

  it('may be one value where a list is expected', async () => {
    assert.deepEqual(await typesOf({ event_type: 'talk' }), ['talk']);
    assert.deepEqual(await typesOf({ event_type: ['talk', 'game'], audience: 'all' }), ['game', 'talk']);
    assert.deepEqual(await typesOf({ audience: 'kids' }), []);
    assert.match(
      await mcp.refusal('search_events', { ...PLACE, event_type: 'party' }),
      /\n- event_type\.0: must be one of: workshop, /,
    );
  });

  for (const empty of ['', null, []]) {
    it(`counts as omitted if it is ${JSON.stringify(empty)}, in every search and list`, async () => {
      for (const name of ['search_events', 'list_my_events']) {
        const { properties } = TOOLS.find((tool) => tool.name === name)!.input;
        const optional = Object.keys(properties).filter((argument) => !(argument in PLACE));
        const page = await mcp.get(name, {
          ...(name === 'search_events' && PLACE),
          ...Object.fromEntries(optional.map((argument) => [argument, empty])),
        });
        assert.deepEqual([page.count, page.total], [3, 3]);
      }
    });
  }

  it('counts as omitted if it is empty, in a create', async () => {
    const made = await mcp.get('create_event', {
      ...newEvent({ ...PLACE, title: 'Spare' }),
      ...{ description: '', end_at: '', address: '', url: '', cost: '', audience: '' },
    });
    const { description, end_at, address, url, cost, audience, event_id } = made;
    assert.deepEqual(
      [description, end_at, address, url, cost, audience],
      [null, null, null, null, null, 'all'],
    );
    await mcp.get('delete_event', { event_id });
  });

  it('does not change a field if it is empty; null clears it', async () => {
    const { event_id } = (await mcp.get('search_events', { ...PLACE, event_type: 'talk' })).events[0];
    const kept = await mcp.get('update_event', { event_id, title: '', description: '', cost: '5 EUR' });
    assert.deepEqual([kept.title, kept.description, kept.cost], ['talk', 'Kept.', '5 EUR']);
    const { text } = await mcp.call('update_event', { event_id, description: '' });
    assert.match(text, /^Unchanged: no field to change was given\./);
    assert.equal((await mcp.get('update_event', { event_id, description: null })).description, null);
  });

  it('clears fields if it is named clear; a value that is also sent wins', async () => {
    const title = { ...PLACE, title: 'Cleared', description: 'Gone.', cost: '5 EUR', url: 'x' };
    const { event_id } = await mcp.get('create_event', newEvent(title));
    const one = await mcp.get('update_event', { event_id, clear: 'description' });
    assert.deepEqual([one.description, one.cost, one.url], [null, '5 EUR', 'x']);
    const two = await mcp.get('update_event', { event_id, clear: ['cost', 'url'], url: 'y' });
    assert.deepEqual([two.cost, two.url], [null, 'y']);
    assert.match(
      await mcp.refusal('update_event', { event_id, clear: ['title'], lat: 91 }),
      /\n- clear\.0: must be one of: description, end_at, address, url, cost\n- lat: must be 90 or less$/,
    );
    await mcp.get('delete_event', { event_id });
  });

  it('is required even so', async () => {
    for (const name of ['get_event', 'delete_event', 'update_event'])
      assert.match(await mcp.refusal(name, { event_id: '' }), /\n- event_id: is required/);
    assert.match(await mcp.refusal('search_events', { lat: '', lng: 0 }), /\n- lat: is required$/);
    assert.match(await mcp.refusal('create_event', newEvent({ title: '' })), /\n- title: is required$/);
  });

  it('is not taken as meant over HTTP', async () => {
    for (const name of ['starts_after', 'cursor', 'event_type', 'radius'])
      assertError(await agent.get('/v1/events/nearby', { ...PLACE, [name]: '' }), 422, 'VALIDATION_ERROR');
    const { status, body } = await agent.post(
      '/v1/events',
      newEvent({ ...PLACE, title: 'x', description: '' }),
    );
    assert.deepEqual([status, body.description], [200, '']);
    assertError(await agent.post('/v1/events', newEvent({ title: '' })), 422, 'VALIDATION_ERROR');
  });
});
