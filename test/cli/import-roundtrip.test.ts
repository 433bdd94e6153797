// Responses in GeoJSON or iCalendar import back to equal events: any event in memory, and every edge case through a real
// service and the real command.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { EARLIEST_MS } from '../../src/domain/datetime.ts';
import { type Event, encodeEventCreate } from '../../src/domain/events/event.ts';
import { readEventCreate } from '../../src/domain/events/event-input.ts';
import { encodeFeature, joinFeatures } from '../../src/domain/events/formats/geojson.ts';
import { encodeComponent, joinCalendar } from '../../src/domain/events/formats/icalendar.ts';
import { fromWire, type Wire } from '../../src/domain/wire.ts';
import { anyEvent, EDGES, wireOf } from '../domain/formats/events.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { size } from '../support/sizes.ts';
import { importNew, summaryOf } from './bulk.ts';
import { readItems } from './item-reading.ts';

/** The fields of an event that an agent sets. */
function fieldsOf({ event_id, agent_id, created_at, ...fields }: Event): object {
  return fields;
}

const encoders: Record<'geojson' | 'ics', (events: readonly Wire[]) => Wire> = {
  geojson: (events) => joinFeatures(events.map(encodeFeature), events.length, undefined),
  ics: (events) => joinCalendar(events.map((event) => encodeComponent(event, { version: 1, updatedMs: 0 }))),
};

for (const format of ['geojson', 'ics'] as const) {
  describe(`events as ${format}`, () => {
    const assertSame = async (events: readonly Event[], chunkBytes: number) => {
      const content = fromWire(encoders[format](events.map(wireOf)));
      const items = await readItems(format, content, { chunkBytes });
      // The earliest possible time, so that no end is in the past.
      const read = items.map(([, body]) =>
        JSON.parse(encodeEventCreate(readEventCreate(body, EARLIEST_MS - 1))),
      );
      assert.deepEqual(read, events.map(fieldsOf));
    };

    it('are the same events when read back, in every edge case', () =>
      assertSame(Object.values(EDGES), 1_000));

    it('are the same events when read back, for any event', async () => {
      const events = fc.array(anyEvent, { minLength: 1, maxLength: 4 });
      await fc.assert(fc.asyncProperty(events, fc.integer({ min: 1, max: 500 }), assertSame), {
        seed: 20_261_115,
        numRuns: size(60, 300),
      });
    });

    it('are the same events when a search is saved and imported', async () => {
      const service = await startTestService();
      const agent = await service.client.register('Author');
      for (const [at, event] of Object.values(EDGES).entries()) {
        // Other coordinates for events that would otherwise be duplicates.
        const apart = event.lat === 52.5264 ? { lat: 52 + at / 1000 } : {};
        await agent.create({ ...fieldsOf(event), ...apart });
      }
      const search = { lat: 0, lng: 0, limit: 100, status: 'any' };
      const asked = new URLSearchParams({ lat: '0', lng: '0', limit: '100', status: 'any', format });
      asked.append('include', 'distance');
      const saved = await agent.get(`/v1/events/nearby?${asked}`);
      const before = (await agent.nearby(search)).body;
      await service.close();
      assert.equal(before.total, Object.keys(EDGES).length);

      const folder = join(temporaryFolder(), 'data');
      const ended = await importNew(saved.text, { DATA_DIR: folder }, { ending: format });
      assert.equal(ended.code, 0, ended.stderr);
      assert.equal(summaryOf(ended).imported, before.total);

      const other = await startTestService({ DATA_DIR: folder });
      const after = (await other.client.with({ 'x-api-key': ended.key }).nearby(search)).body;
      const inOrder = (events: Event[]) => events.map((event) => JSON.stringify(fieldsOf(event))).sort();
      assert.deepEqual(inOrder(after.events), inOrder(before.events));
      await other.close();
    });
  });
}
