// Baseline: Fastify over PostGIS with a pool of 8. A search is a count and a page; a response schema serialises the rows. It
// checks no key and no quota, which is in its favour.
import fastify from 'fastify';
import postgres from 'postgres';
import type { SearchParameters } from '../cases.ts';

const { PORT, DATABASE } = process.env;
const METRES_PER_MILE = 1609.344;
const PAGE = 30;

const text = { type: 'string' };
const nullable = { type: ['string', 'null'] };
const date = { type: 'string', format: 'date-time' };
const properties = {
  event_id: text,
  agent_id: text,
  title: text,
  description: nullable,
  start_at: date,
  end_at: { ...date, nullable: true },
  timezone: text,
  location_name: text,
  address: nullable,
  lat: { type: 'number' },
  lng: { type: 'number' },
  url: nullable,
  cost: nullable,
  audience: text,
  event_type: text,
  created_at: date,
};
const whole = { type: 'integer' };
const querystring = {
  type: 'object',
  required: ['lat', 'lng'],
  properties: {
    lat: { type: 'number' },
    lng: { type: 'number' },
    radius: { type: 'number' },
    event_type: { type: 'array', items: text },
    audience: { type: 'array', items: text },
    starts_after: date,
    starts_before: date,
    limit: whole,
  },
};
const responseSchema = {
  type: 'object',
  properties: {
    events: { type: 'array', items: { type: 'object', properties } },
    count: whole,
    total: whole,
    next_cursor: nullable,
  },
};

const sql = postgres(DATABASE!, { max: 8, onnotice: () => {} });
const columns = sql(Object.keys(properties));
const app = fastify();

app.get('/health', async () => ({ ok: (await sql`select 1`).length }));

app.get<{ Querystring: SearchParameters }>(
  '/v1/events/nearby',
  { schema: { querystring, response: { 200: responseSchema } } },
  async ({ query }) => {
    const { lat, lng, radius, event_type, audience, starts_after, starts_before } = query;
    const nothing = sql``;
    const near =
      radius === undefined
        ? nothing
        : sql`and st_dwithin(geog, st_setsrid(st_makepoint(${lng}, ${lat}), 4326)::geography, ${radius * METRES_PER_MILE}, false)`;
    const where = sql`
      coalesce(end_at, start_at + interval '3 hours') > now() ${near}
      ${event_type ? sql`and event_type = any(${event_type as string[]})` : nothing}
      ${audience ? sql`and audience = any(${audience as string[]})` : nothing}
      ${starts_after ? sql`and start_at >= ${starts_after}` : nothing}
      ${starts_before ? sql`and start_at < ${starts_before}` : nothing}`;
    const [counted] = await sql<
      [{ total: number }]
    >`select count(*)::int as total from events where ${where}`;
    const rows = await sql`
      select ${columns} from events where ${where} order by start_at, event_id limit ${PAGE + 1}`;
    const events = rows.slice(0, PAGE);
    const last = events.at(-1);
    return {
      events,
      count: events.length,
      total: counted.total,
      next_cursor: rows.length > PAGE ? `${last!.start_at.toISOString()}:${last!.event_id}` : null,
    };
  },
);

await app.listen({ host: '127.0.0.1', port: Number(PORT) });
