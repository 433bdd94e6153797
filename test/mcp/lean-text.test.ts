// The text of a search is short: 30 events of the benchmark's data take at most 6 KB, with everything that a choice needs.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { makeFacts, Texts } from '../../bench/events.ts';
import { formatInstant } from '../../src/domain/datetime.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { McpClient } from './mcp-client.ts';

const MAX_BYTES = 6_000;
const PAGE = 30;

describe('the text of a search in the data of the benchmark', () => {
  let service: TestService;
  let mcp: McpClient;
  let centre: { readonly lat: number; readonly lng: number };
  before(async () => {
    const facts = [...makeFacts(10_000, Date.now())];
    const inCities = [...Map.groupBy(facts, ({ city }) => city.name).values()];
    const largest = inCities.reduce((a, b) => (a.length < b.length ? b : a)).slice(0, PAGE + 1);
    assert.equal(largest.length, PAGE + 1);
    const { lat, lng } = largest[0]!.city;
    centre = { lat, lng };
    service = await startTestService();
    const agent = await service.newAgent();
    const texts = new Texts();
    for (const { city, start_ms, end_ms, lat, lng, event_type, audience } of [
      ...largest,
      ...facts.slice(0, PAGE + 1),
    ]) {
      const times = { start_at: formatInstant(start_ms), end_at: end_ms && formatInstant(end_ms) };
      await agent.create({ ...texts.of(city, event_type), ...times, lat, lng, event_type, audience });
    }
    mcp = await McpClient.overHttp(service.url, agent.headers);
  });
  after(async () => {
    await mcp.close();
    await service.close();
  });

  for (const [where, radius] of [
    ['near a city', 50],
    ['anywhere', undefined],
  ] as const) {
    it(`takes at most 6 KB for a page of 30 events ${where}`, async () => {
      const { text, structured } = await mcp.call('search_events', { ...centre, radius });
      assert.equal(structured.count, PAGE);
      assert.ok(Buffer.byteLength(text) <= MAX_BYTES, `${Buffer.byteLength(text)} bytes`);
      assert.doesNotMatch(text, new RegExp(structured.events[0].agent_id));
      const lines = text.split('\n').slice(1, PAGE + 1);
      for (const [at, event] of structured.events.entries()) {
        for (const field of ['event_id', 'title', 'location_name', 'event_type', 'cost']) {
          assert.ok(lines[at]!.includes(event[field] ?? ''), `${field} of ${lines[at]}`);
        }
        assert.match(lines[at]!, /: \w{3} \d+ \w{3} \d{4}, \d\d:\d\d.* UTC\S*, [\d.]+ mi, /);
        assert.doesNotMatch(lines[at]!, /agent_id|created_at/);
      }
    });
  }
});
