// Creates events as large as they can be, with many keys.
import { Chance } from '../../support/random.ts';
import type { Row } from '../row.ts';

const KEYS = 20;
const MAX_NETWORK_MB = 20;

/** Characters that take six bytes each in JSON, and characters that take four each in a column. Random: PostgreSQL compresses. */
const RANGES = [
  [0x0e, 0x1f],
  [0x1f300, 0x1f5ff],
] as const;

const chance = new Chance(1);

/** The parts of a body before and after its number: events of 77 KB and of 52 KB. */
const BODIES = RANGES.map(([first, last]) => {
  const text = (length: number) =>
    Array.from({ length }, () => String.fromCodePoint(chance.integer(first, last))).join('');
  return JSON.stringify({
    title: '#',
    description: text(10_000),
    start_at: '2031-05-01T18:00:00Z',
    timezone: 'Europe/Berlin',
    location_name: text(200),
    address: text(500),
    url: text(2_000),
    cost: text(200),
    lat: 0,
    lng: 0,
    event_type: 'talk',
  }).split('#');
});

export const largeCreates: Row = {
  title: '20 keys creating events of 77 KB',
  keys: KEYS,
  statuses: [403],
  env: { MAX_MB_PER_AGENT: '4', MAX_MB_PER_NETWORK_AND_HOUR: String(MAX_NETWORK_MB) },
  maxDiskMb: 2 * MAX_NETWORK_MB, // indexes, free pages and the journal
  maxKeptMb: MAX_NETWORK_MB + 32, // created events are cached
  attack: (attacker) => {
    let created = 0;
    const create = (key: string | undefined) =>
      attacker.post('/v1/events', BODIES[created % BODIES.length]!.join(String(created++)), key);
    return attacker.keepOpen(KEYS, { perSecond: 100, replacedPerSecond: 10 }, (number) => {
      const key = attacker.keys[number % KEYS];
      return { first: create(key), onResponse: (socket) => socket.write(create(key)) };
    });
  },
};
