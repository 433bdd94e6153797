// Calling an event off with the tools: it leaves searches, and every result that shows it says so.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newEvent } from '../support/client.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { McpClient } from './mcp-client.ts';

describe('calling an event off', () => {
  let service: TestService;
  let mcp: McpClient;
  before(async () => {
    service = await startTestService();
    mcp = await McpClient.overHttp(service.url, (await service.newAgent()).headers);
  });
  after(async () => {
    await mcp.close();
    await service.close();
  });

  it('is an update, after which only searches that ask for it find the event', async () => {
    const body = newEvent();
    const event = await mcp.get('create_event', body);
    assert.equal(event.status, undefined);
    const { event_id, lat, lng } = event;
    const { text } = await mcp.call('update_event', { event_id, status: 'cancelled' });
    assert.match(text, /^Changed\. It is cancelled, so searches leave it out unless they ask for it\./);
    assert.equal((await mcp.get('search_events', { lat, lng })).total, 0);
    for (const status of ['any', 'cancelled']) {
      const found = await mcp.get('search_events', { lat, lng, status });
      assert.deepEqual([found.total, found.events[0].status], [1, 'cancelled']);
      assert.match((await mcp.call('search_events', { lat, lng, status })).text, /CANCELLED/);
    }
    assert.match((await mcp.call('get_event', { event_id })).text, /CANCELLED/);
    assert.match((await mcp.call('list_my_events')).text, /CANCELLED/);
    assert.match((await mcp.call('create_event', body)).text, /It is cancelled/);
    assert.equal((await mcp.get('update_event', { event_id, status: 'scheduled' })).status, undefined);
    assert.equal((await mcp.get('search_events', { lat, lng })).total, 1);
  });

  it('takes no other status, and null only as nothing said', async () => {
    const { text } = await mcp.call('search_events', { lat: 0, lng: 0, status: 'all' });
    assert.match(text, /^VALIDATION_ERROR: .*status: must be one of: scheduled, cancelled, any/s);
    assert.equal((await mcp.get('search_events', { lat: 0, lng: 0, status: null })).total, 1);
  });

  it('is what delete_event advises instead of deleting', async () => {
    const { tools } = await mcp.client.listTools();
    const { description } = tools.find(({ name }) => name === 'delete_event')!;
    assert.match(description!, /called off, do not delete it: use update_event with "status": "cancelled"/);
  });
});
