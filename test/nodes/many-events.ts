// Many stored events, for tests of nodes that need some time to load them. The database copies one event, which is far quicker than
// storing each.
import { readConfig } from '../../src/config.ts';
import { encodeEvent } from '../../src/domain/events/event.ts';
import { PostgresBulkWriter } from '../../src/postgres/bulk.ts';
import { Side } from '../postgres/side.ts';
import { HOUR_MS, newAgentRow, newEventRow, newKey } from '../store/rows.ts';

const EVENTS_PER_STATEMENT = 10_000;

/** Creates the schema, and this many events of one agent, all over the world. */
export async function storeEvents(url: string, count: number): Promise<void> {
  const writer = await PostgresBulkWriter.open(readConfig({ DATABASE_URL: url }).database!);
  const agent = newAgentRow();
  await writer.addAgent(agent, newKey());
  const title = 'An evening of old songs and new friends in the park';
  const first = newEventRow(agent, { title, start_ms: Date.now() + 24 * HOUR_MS, lat: -80, lng: -170 });
  await writer.createEvents([first], 0);
  await writer.close();
  const side = new Side(url);
  for (let from = 1; from < count; from += EVENTS_PER_STATEMENT)
    await side.sql`
      INSERT INTO events (event_id, agent_id, version, title, start_ms, end_ms, lat, lng, audience, event_type, timezone, status, updated_ms,
        json, words, words_by)
      SELECT id, agent_id, version, title, start_ms, end_ms, north, east, audience, event_type, timezone, status, updated_ms,
        replace(replace(replace(json, event_id, id), '"lat":-80', '"lat":' || north), '"lng":-170', '"lng":' || east), words, words_by
      FROM (SELECT *, '01H' || lpad(at::text, 23, '0') AS id, at % 1601 * 0.1 - 80 AS north, at % 3407 * 0.1 - 170 AS east
        FROM events, generate_series(${from}::int, ${Math.min(count, from + EVENTS_PER_STATEMENT) - 1}::int) AS at
        WHERE event_id = ${first.event_id}) AS copied`;
  const bytes = Buffer.byteLength(encodeEvent(first)) * count;
  await side.sql`UPDATE agents SET event_count = ${count}, event_bytes = ${bytes} WHERE agent_id = ${agent.agent_id}`;
  await side.sql`VACUUM ANALYZE events`;
  await side.close();
}
