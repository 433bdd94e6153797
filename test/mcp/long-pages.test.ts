// A page of very long events ends early: no response is megabytes long, and every event is still found, page by page.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newEvent } from '../support/client.ts';
import { startTestService } from '../support/service.ts';
import { McpClient } from './mcp-client.ts';

/** Each character takes six bytes of JSON. */
const LONGEST = '\u0001'.repeat(10_000);

describe('a page of the longest events', () => {
  it('ends early, and the next page continues from there', async (test) => {
    const service = await startTestService({}, { until: test });
    const agent = await service.newAgent();
    const ids: string[] = [];
    for (let hour = 0; hour < 12; hour++) {
      const start_at = `2031-05-01T${10 + hour}:00:00Z`;
      ids.push((await agent.create(newEvent({ start_at, description: LONGEST }))).event_id);
    }
    const mcp = await McpClient.overHttp(service.url, agent.headers);
    test.after(() => mcp.close());
    for (const [tool, args] of [
      ['search_events', { lat: 0, lng: 0, limit: 10 }],
      ['list_my_events', { limit: 10 }],
    ] as const) {
      const found: string[] = [];
      let cursor: string | null = null;
      let pages = 0;
      do {
        const page: Page = await mcp.get(tool, { ...args, cursor });
        assert.ok(JSON.stringify(page).length < 300_000);
        assert.deepEqual([page.count, page.total], [page.events.length, 12]);
        found.push(...page.events.map(({ event_id }) => event_id));
        cursor = page.next_cursor;
        pages++;
      } while (cursor !== null);
      assert.deepEqual(found, ids, tool);
      assert.ok(pages > 2, `${pages} pages`);
    }
  });
});

interface Page {
  readonly events: { readonly event_id: string }[];
  readonly count: number;
  readonly total: number;
  readonly next_cursor: string | null;
}
