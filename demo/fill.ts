// Fills a store for the demo: 41 agents with some history, 5,120 events around the current date, a spammer among them, and some
// audit log entries. The same data each time, relative to the current date.
import type { AgentRow, AgentUpdate, Tier } from '../src/domain/agent.ts';
import { fingerprint, newApiKey } from '../src/domain/api-key.ts';
import type { Random } from '../src/domain/clock-and-random.ts';
import { resolveLocal } from '../src/domain/datetime.ts';
import { EVENT_DEFAULTS, EVENT_TYPES, type EventRow } from '../src/domain/events/event.ts';
import { newUlid, newUuid } from '../src/domain/ids.ts';
import type { Store } from '../src/domain/store.ts';
import { Chance } from '../test/support/random.ts';
import { CITIES, type City } from './cities.ts';
import { NIGHTS, PROGRAMME } from './programme.ts';

/** Where the spammer's events are: farther from every city than the largest radius. */
export const SPAM_PLACE = {
  location_name: 'The Strip',
  lat: 36.1147,
  lng: -115.1728,
  timezone: 'America/Los_Angeles',
} as const;

/** Later than a week from now, so that real events come first everywhere. */
export function spamStart(nowMs: number, number: number): number {
  return nowMs + 8 * DAY_MS + number * HOUR_MS;
}

/** Events of the spammer that is still there. */
const LIVE_SPAM = 120;
export const SPAM_TITLE = 'CHEAP WATCHES';
export const AGENTS = 41;
export const EVENTS = 5_000 + LIVE_SPAM;

const SEED = 11;
const SPAM = 12;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Of the events: about 200 in each city. */
const NEXT_WEEK_SHARE = 0.4;
/** In each city, each night. */
const NIGHT_EVENTS = 5;
const LAST_NIGHT = 6;
const PAST_DAYS = 21;
const FUTURE_DAYS = 120;
const MILES_PER_DEGREE = 69;

/** Agents besides the guide of each city. Those without a city publish in all cities. */
const SPECIALISTS: readonly (readonly [name: string, city: string | undefined])[] = [
  ['Weekend planner', undefined],
  ['Families nearby', undefined],
  ['Stage door', undefined],
  ['Meetup mirror', undefined],
  ['Open lectures', undefined],
  ['Market day', undefined],
  ['Museum hours', undefined],
  ['Run club finder', undefined],
  ['Night shift', undefined],
  ['Quiet events', undefined],
  ['Kiez-Kalender', 'Berlin'],
  ['Musik im Hof', 'Berlin'],
  ['South Bank bot', 'London'],
  ['Parish notices', 'London'],
  ['Brooklyn listings', 'New York'],
  ['Library of New York', 'New York'],
  ['Shūmatsu guide', 'Tokyo'],
  ['Tokyo English events', 'Tokyo'],
  ['Sorties du soir', 'Paris'],
  ['Les ateliers', 'Paris'],
  ['Agenda da Vila', 'São Paulo'],
  ['Roda de samba', 'São Paulo'],
  ['Bandra bulletin', 'Mumbai'],
  ['Monsoon stage', 'Mumbai'],
  ['Inner West diary', 'Sydney'],
  ['Harbour swims', 'Sydney'],
  ['Nairobi makers', 'Nairobi'],
  ['Kilimani diary', 'Nairobi'],
  ['Six ix nights', 'Toronto'],
  ['GTA free events', 'Toronto'],
];

/** Changes by the administrator so far: number of the agent, change, and how long ago. */
const CHANGES: readonly (readonly [number: number, update: AgentUpdate, agoMs: number])[] = [
  [28, { is_active: false }, 9 * DAY_MS],
  [13, { tier: 'read' }, 6 * DAY_MS],
  [33, { is_active: false }, 5 * DAY_MS],
  [33, { is_active: true }, 4 * DAY_MS],
  [22, { tier: 'admin' }, 26 * HOUR_MS],
  [37, { is_active: false }, 3 * HOUR_MS],
];

interface Administrator {
  readonly sub: string;
  readonly email: string;
}

interface Publisher {
  readonly agent: AgentRow;
  readonly cities: readonly City[];
  /** Weight when the publisher of an event is drawn at random. */
  readonly share: number;
}

export interface DemoKeys {
  /** Of the spammer that is still there. */
  readonly spammer: string;
  /** Of an agent for the visitor, without events. */
  readonly visitor: string;
}

export async function fill(store: Store, nowMs: number, administrator: Administrator): Promise<DemoKeys> {
  const chance = new Chance(SEED);
  const random: Random = (bytes) => bytes.map(() => chance.integer(0, 255));
  const publishers = makePublishers(chance, random, nowMs);
  const events = makeEvents(publishers, chance, random, nowMs);
  const created_ms = nowMs - DAY_MS;
  const spammer = {
    ...publishers[0]!.agent,
    agent_name: 'Cheap watches',
    agent_id: newUuid(created_ms, random),
    created_ms,
  };
  const spam = events.slice(0, SPAM).map((row) => {
    return {
      ...row,
      agent_id: spammer.agent_id,
      event_id: newUlid(created_ms, random),
      created_ms,
      updated_ms: created_ms,
    };
  });
  const outlet = makeSpammer(random, nowMs);
  for (const agent of [...publishers.map(({ agent }) => agent), spammer]) {
    await store.addAgent(agent, fingerprint(newApiKey(random)));
  }
  const key = newApiKey(random);
  await store.addAgent(outlet, fingerprint(key));
  const liveSpam = makeSpam(outlet, chance, random, nowMs);
  await Promise.all([...events, ...spam, ...liveSpam].map((row) => store.createEvent(row, 0)));
  for (const [number, { agent }] of publishers.entries()) {
    if (chance.chance(0.9)) store.noteUse(agent.agent_id, lastUse(chance, agent, nowMs - silentMs(number)));
  }
  store.noteUse(outlet.agent_id, nowMs - 4 * MINUTE_MS);
  await administer(store, publishers, spammer.agent_id, nowMs, administrator);
  const visitor = newApiKey(random);
  await store.addAgent(makeVisitor(random, nowMs), fingerprint(visitor));
  return { spammer: key, visitor };
}

function makeVisitor(random: Random, nowMs: number): AgentRow {
  return {
    agent_id: newUuid(nowMs, random),
    email: 'you@example.com',
    agent_name: 'Your first agent',
    tier: 'readwrite',
    is_active: true,
    created_ms: nowMs,
  };
}

function makePublishers(chance: Chance, random: Random, nowMs: number): Publisher[] {
  const guides = CITIES.map((city) => [`${city.name} guide`, city.name] as const);
  return [...guides, ...SPECIALISTS].map(([agent_name, home]) => {
    const created_ms = nowMs - Math.floor(chance.between(2, 200) * DAY_MS);
    const mailbox =
      agent_name
        .normalize('NFD')
        .replaceAll(/[^a-zA-Z]+/g, '')
        .toLowerCase() || 'guide';
    const tier: Tier = agent_name.endsWith('planner') ? 'admin' : 'readwrite';
    return {
      agent: {
        agent_id: newUuid(created_ms, random),
        email: `${mailbox}@${home ? 'example.org' : 'example.com'}`,
        agent_name,
        tier,
        is_active: true,
        created_ms,
      },
      cities: CITIES.filter(({ name }) => home === undefined || name === home),
      share: chance.integer(1, 5) ** 2,
    };
  });
}

function makeEvents(
  publishers: readonly Publisher[],
  chance: Chance,
  random: Random,
  nowMs: number,
): EventRow[] {
  const lots = publishers.flatMap((publisher) => Array<Publisher>(publisher.share).fill(publisher));
  const venues = new Map(CITIES.map((city) => [city, makeVenues(city, chance)]));
  const events = new Map<string, EventRow>();
  const add = ({ agent }: Publisher, city: City, night?: number) => {
    const venue = chance.pick(venues.get(city)!);
    const row = makeEvent(agent, city, venue, chance, random, nowMs, night);
    // Events that the service treats as duplicates are one event.
    events.set(`${row.agent_id} ${row.title} ${row.start_ms} ${row.location_name}`, row);
  };
  for (const city of CITIES) {
    const local = lots.filter(({ cities }) => cities.includes(city));
    // From last night on: after midnight, it is still that night.
    for (let night = -1; night <= LAST_NIGHT; night++)
      for (let number = 0; number < NIGHT_EVENTS; number++) add(chance.pick(local), city, night);
  }
  while (events.size < EVENTS - LIVE_SPAM) {
    const publisher = chance.pick(lots);
    add(publisher, chance.pick(publisher.cities));
  }
  return [...events.values()].sort((a, b) => a.created_ms - b.created_ms);
}

/** The spammer came back: it registered again after its first agent was deleted. */
function makeSpammer(random: Random, nowMs: number): AgentRow {
  const created_ms = nowMs - 50 * MINUTE_MS;
  return {
    agent_id: newUuid(created_ms, random),
    email: 'sales@watches.example',
    agent_name: 'Weekend bargains',
    tier: 'readwrite',
    is_active: true,
    created_ms,
  };
}

/** The spammer's events: far from the cities and later than a week from now, created within the last hour. */
function makeSpam(agent: AgentRow, chance: Chance, random: Random, nowMs: number): EventRow[] {
  return Array.from({ length: LIVE_SPAM }, (_, number) => {
    const created_ms = agent.created_ms + Math.floor(((nowMs - agent.created_ms) * number) / LIVE_SPAM);
    return {
      ...EVENT_DEFAULTS,
      ...SPAM_PLACE,
      version: 1,
      updated_ms: created_ms,
      start_ms: spamStart(nowMs, number),
      event_id: newUlid(created_ms, random),
      agent_id: agent.agent_id,
      created_ms,
      title: `${SPAM_TITLE} ${chance.pick(['80% OFF', 'ONLY TODAY', 'BEST PRICE', 'FREE SHIPPING'])}`,
      description: 'Luxury watches at factory prices. Visit watches.example now!',
      url: 'https://watches.example/',
      cost: 'from 9.99',
      audience: 'all',
      event_type: 'market',
    };
  });
}

type Venue = Pick<EventRow, 'location_name' | 'address' | 'lat' | 'lng'>;

function makeVenues(city: City, chance: Chance): Venue[] {
  const offset = (milesWide: number) => (chance.next() + chance.next() - 1) * (milesWide / MILES_PER_DEGREE);
  return city.venues.map(([name, street]) => ({
    location_name: name,
    address: `${street} ${chance.integer(1, 180)}, ${city.name}`,
    lat: Number((city.lat + offset(8)).toFixed(5)),
    lng: Number((city.lng + offset(12)).toFixed(5)),
  }));
}

/** `night`: days from today of an event in the night, which has an end. */
function makeEvent(
  agent: AgentRow,
  city: City,
  venue: Venue,
  chance: Chance,
  random: Random,
  nowMs: number,
  night?: number,
): EventRow {
  const isNight = night !== undefined;
  const event_type = isNight ? NIGHTS.type : chance.pick(EVENT_TYPES);
  const kind = isNight ? NIGHTS : PROGRAMME[event_type];
  const days = night ?? someDay(chance);
  const day = new Date(nowMs + days * DAY_MS).toISOString().slice(0, 10);
  const time = `${String(chance.pick(kind.hours)).padStart(2, '0')}:${chance.pick(['00', '30'])}:00`;
  const start_ms = resolveLocal(`${day}T${time}`, city.timezone);
  const created_ms = Math.floor(chance.between(agent.created_ms, Math.min(start_ms, nowMs)));
  const amount = chance.integer(0, kind.maxPrice);
  return {
    ...EVENT_DEFAULTS,
    event_id: newUlid(created_ms, random),
    agent_id: agent.agent_id,
    version: 1,
    created_ms,
    updated_ms: created_ms,
    title: `${chance.pick(kind.titles)}${chance.chance(0.25) ? `, ${city.name}` : ''}`,
    description: chance.chance(0.9) ? `${chance.pick(kind.about)} ${chance.pick(kind.about)}` : null,
    start_ms,
    end_ms: isNight || chance.chance(0.8) ? start_ms + kind.durationHours * HOUR_MS : null,
    timezone: city.timezone,
    ...venue,
    url: chance.chance(0.7) ? `https://example.com/e/${chance.integer(10_000, 99_999)}` : null,
    cost: amount === 0 ? 'free' : city.price(amount),
    audience: chance.pick(kind.audiences),
    event_type,
  };
}

/** Days from today: many in the next week, and more in the near than in the far future. */
function someDay(chance: Chance): number {
  if (chance.chance(NEXT_WEEK_SHARE)) return chance.integer(-1, 6);
  return Math.floor(chance.next() ** 2 * (PAST_DAYS + FUTURE_DAYS)) - PAST_DAYS;
}

/** Time since the agent was deactivated; 0 if it is active. */
function silentMs(number: number): number {
  const change = CHANGES.findLast(([whose, { is_active }]) => whose === number && is_active !== undefined);
  return change?.[1].is_active === false ? change[2] : 0;
}

/** Most agents send requests every few hours; some have been silent for a long time. */
function lastUse(chance: Chance, { created_ms }: AgentRow, nowMs: number): number {
  const agoMs = chance.chance(0.8) ? chance.between(0, 6 * HOUR_MS) : chance.between(0, 40 * DAY_MS);
  return Math.floor(Math.max(created_ms, nowMs - agoMs));
}

/** Applies CHANGES, then deletes the spammer. */
async function administer(
  store: Store,
  publishers: readonly Publisher[],
  spammerId: string,
  nowMs: number,
  { sub, email }: Administrator,
): Promise<void> {
  const actor = { actor_subject: sub, actor_email: email };
  for (const [number, update, agoMs] of CHANGES) {
    const target = publishers[number]!.agent.agent_id;
    const detail = JSON.stringify(update);
    await store.updateAgent(target, update, {
      ...actor,
      at_ms: nowMs - agoMs,
      action: 'update_agent',
      target,
      detail,
    });
  }
  const removal = { at_ms: nowMs - HOUR_MS, action: 'delete_agent', target: spammerId, detail: '' } as const;
  await store.deleteAll(spammerId, { ...actor, ...removal }, true);
}
