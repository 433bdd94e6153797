// Random text comes back byte for byte: from create, read, search, update and the administrators' lists, also after a restart. Samples of
// every kind are in test/acceptance/.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { anyText } from '../support/any-text.ts';
import { Client } from '../support/client.ts';
import { startTestService, type TestService } from '../support/service.ts';

const FIELDS = { title: 200, location_name: 200, description: 10_000, address: 500, url: 2_000, cost: 200 };

describe('text', () => {
  let service: TestService;
  let administrator: Client;
  let agentKey: string;
  const agent = () => new Client(service.url, { 'x-api-key': agentKey });
  before(async () => {
    service = await startTestService();
    administrator = await service.newAdministrator();
    agentKey = (await service.newAgent()).headers['x-api-key']!;
  });
  after(() => service.close());

  /** The text in every text field, cut to the maximum length of each. */
  function inEveryField(text: string): Record<string, string> {
    const cut = (max: number) => [...text].slice(0, max).join('');
    return Object.fromEntries(Object.entries(FIELDS).map(([field, max]) => [field, cut(max)]));
  }

  function assertFields(event: Record<string, unknown>, sent: Record<string, string>, where: string): void {
    for (const [field, text] of Object.entries(sent))
      assert.equal(event[field], text, `${field} in ${where}`);
  }

  /** Creates an event with the text, changes another to it, and reads both in every possible way. */
  async function assertKept(text: string): Promise<void> {
    const sent = inEveryField(text);
    const created = await agent().create(sent);
    assertFields(created, sent, 'the create');
    const plain = await agent().create();
    const path = `/v1/events/${plain.event_id}`;
    const changed = (await agent().patch(path, { ...sent, lat: -created.lat })).body;
    assertFields(changed, sent, 'the change');
    assert.deepEqual((await agent().get(path)).body, changed);

    const again = (await agent().get(`/v1/events/${created.event_id}`)).body;
    assertFields(again, sent, 'the read');
    const { events } = (await agent().nearby({ lat: created.lat, lng: created.lng, limit: 100 })).body;
    const found = events.filter((event: { event_id: string }) =>
      [created.event_id, changed.event_id].includes(event.event_id),
    );
    assert.equal(found.length, 2);
    for (const event of found) assertFields(event, sent, 'the search');

    const listed = (await administrator.get(`/v1/admin/agents/${created.agent_id}/events`)).body.events;
    const own = listed.find((event: { event_id: string }) => event.event_id === created.event_id);
    assertFields(own, sent, 'the list of the administrator');
    for (const { event_id } of [created, changed]) await agent().delete(`/v1/events/${event_id}`);
  }

  it('is kept up to 10,000 characters, and an astral character counts as one', async () => {
    await assertKept('😀'.repeat(10_000));
    await assertKept('a\u0301'.repeat(5_000));
    await assertKept(`${'"'.repeat(5_000)}${'\\'.repeat(5_000)}`);
    const answer = await agent().post('/v1/events', { description: '😀'.repeat(10_001) });
    assert.match(answer.text, /"description"\],"msg":"must have at most 10000 characters"/);
  });

  const any = anyText({ minLength: 1, maxLength: 300 }).map((text) => text.replaceAll('\0', '\u0001'));

  it('is kept, whatever it contains', async () => {
    await fc.assert(fc.asyncProperty(any, assertKept), { seed: 20_261_115, numRuns: 40 });
  });

  it('is kept across a restart', async () => {
    const events: { event_id: string }[] = [];
    for (const text of fc.sample(any, { seed: 20_261_116, numRuns: 20 }))
      events.push(await agent().create(inEveryField(text)));
    await service.close();
    service = await startTestService({ DATA_DIR: service.folder });
    for (const event of events) {
      assert.deepEqual((await agent().get(`/v1/events/${event.event_id}`)).body, event);
    }
  });
});
