// Prints what is on near a place this weekend: node script.ts "Kreuzberg, Berlin"
import { headersOf, LocalEvents, LocalEventsError } from 'local-events-client';

const baseUrl = process.env.LOCAL_EVENTS_URL ?? 'http://127.0.0.1:8080';
let apiKey = process.env.LOCAL_EVENTS_API_KEY;
if (!apiKey) {
  const registered = await new LocalEvents({ baseUrl }).register({
    email: 'you@example.com',
    agent_name: 'Weekend',
  });
  apiKey = registered.api_key;
  console.error(`The key of your new agent. Set it for the next run: LOCAL_EVENTS_API_KEY=${apiKey}`);
}
const events = new LocalEvents({ baseUrl, apiKey });

const place = process.argv[2] ?? 'Berlin';
// All pages together may take a minute.
const signal = AbortSignal.timeout(60_000);
let shown = 0;
try {
  const query = { place, when: 'this_weekend', include: ['local', 'distance'] } as const;
  for await (const page of events.searchPages(query, { signal })) {
    // The place that the name stands for.
    if (shown === 0) console.log(headersOf(page).get('resolved-place'));
    for (const { start_local, title, location_name, distance_miles, cost } of page.events) {
      const price = cost ? `, ${cost}` : '';
      console.log(
        `${start_local}  ${title} at ${location_name}, ${distance_miles!.toFixed(1)} miles${price}`,
      );
    }
    shown += page.count;
    // Enough for one screen: the next pages are never requested.
    if (shown >= 50) break;
  }
  if (shown === 0) console.log('Nothing is on.');
} catch (error) {
  if (!(error instanceof LocalEventsError)) throw error;
  // The message says what is wrong and what to do.
  console.error(`${error.code}: ${error.message}`);
  // A name that several places have.
  if (error.code === 'VALIDATION_ERROR')
    for (const candidate of error.body.candidates ?? []) console.error(`Is it "${candidate.place}"?`);
  process.exitCode = 1;
}
