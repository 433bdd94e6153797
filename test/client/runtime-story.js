// What an agent does with the packed client, in any runtime: the same file runs in Node and in Chromium. Returns what it saw.
import { headersOf, LocalEvents, LocalEventsError } from 'local-events-client';

/**
 * @param {string} baseUrl
 * @param {string} word Only events of this run have it.
 */
export async function run(baseUrl, word) {
  const { api_key: apiKey, tier } = await new LocalEvents({ baseUrl }).register({
    email: 'agent@example.com',
    agent_name: 'Story',
  });
  const client = new LocalEvents({ baseUrl, apiKey });
  const body = {
    title: 'Lantern workshop',
    event_type: /** @type {const} */ ('workshop'),
    start_at: '2031-05-01T18:00:00',
    timezone: 'Asia/Tokyo',
    location_name: `Kulturhaus ${word}`,
    lat: 52.5264,
    lng: 13.3955,
  };
  const created = await client.createEvent(body);
  for (const title of ['Second', 'Third']) await client.createEvent({ ...body, title });
  const id = created.event_id;
  const edited = await client.editEvent(id, ({ cost }) => ({ cost: `${cost ?? 'no'} EUR` }));
  const changed = await client.updateEvent(id, { address: 'Auguststr. 21' }, { ifMatch: edited });
  const unchanged = await client.getEvent(id, {}, { ifNoneMatch: changed });
  const pages = [];
  const query = {
    lat: 52.5,
    lng: 13.4,
    radius: 10,
    q: word,
    include: /** @type {const} */ (['distance']),
    limit: 2,
  };
  for await (const { events } of client.searchPages(query)) pages.push(events.map(({ title }) => title));
  const { features } = await client.searchNearby({ ...query, format: 'geojson' });
  const resolved = headersOf(await client.searchNearby({ place: 'Mitte, Berlin', q: word }));
  const calendar = await client.getEvent(id, { format: 'ics' });

  /** @param {Promise<unknown>} call */
  const failureOf = (call) =>
    call.then(
      () => 'success',
      (error) => error,
    );
  const invalid = await failureOf(client.createEvent({ ...body, title: '' }));
  const reason = new Error('stopped');
  const aborted = await failureOf(client.getOwnAgent({ signal: AbortSignal.abort(reason) }));
  const nowhere = await failureOf(
    new LocalEvents({ baseUrl: 'http://127.0.0.1:1', apiKey, maxWaitMs: 0 }).getOwnAgent(),
  );
  await client.deleteEvent(id, { ifMatch: changed });
  await client.revokeKey();
  const revoked = await failureOf(client.getOwnAgent());
  return {
    tier,
    warning: headersOf(created).get('event-warnings'),
    replayed: headersOf(created).get('idempotent-replayed'),
    cost: edited.cost,
    etag: headersOf(changed).get('etag'),
    unchanged: unchanged === undefined,
    pages,
    features: features.length,
    place: resolved.get('resolved-place'),
    calendar: calendar.slice(0, 15),
    invalid: [
      invalid instanceof LocalEventsError,
      invalid.code,
      invalid.status,
      invalid.detail[0].loc,
      typeof invalid.requestId,
    ],
    aborted: aborted === reason,
    nowhere: nowhere.code,
    revoked: revoked.code,
    leaks: [inspectable(client), ...[invalid, nowhere, revoked].map(inspectable)].join().includes(apiKey),
  };
}

/** @param {object} value */
function inspectable(value) {
  return JSON.stringify(value, Object.getOwnPropertyNames(value)) + String(value);
}
