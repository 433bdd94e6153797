// Creates events as large as they can be, with many keys: characters that take six bytes each in JSON.
import type { Row } from '../row.ts';

const KEYS = 20;
const MAX_NETWORK_MB = 30;

/** 77 KB as stored. */
function newLargeEvent(number: number): string {
  return JSON.stringify({
    title: `event ${number}`.padEnd(200, '\u0001'),
    description: '\u0001'.repeat(10_000),
    start_at: '2031-05-01T18:00:00Z',
    timezone: 'Europe/Berlin',
    location_name: '\u0001'.repeat(200),
    address: '\u0001'.repeat(500),
    url: '\u0001'.repeat(2_000),
    cost: '\u0001'.repeat(200),
    lat: 0,
    lng: 0,
    event_type: 'talk',
  });
}

export const largeCreates: Row = {
  title: '20 keys creating events of 77 KB',
  keys: KEYS,
  statuses: [403],
  env: { MAX_MB_PER_AGENT: '4', MAX_MB_PER_NETWORK_AND_HOUR: String(MAX_NETWORK_MB) },
  maxDiskMb: 2 * MAX_NETWORK_MB, // indexes, free pages and the journal
  maxKeptMb: MAX_NETWORK_MB + 32, // created events are cached
  attack: (attacker) => {
    let created = 0;
    const create = (key: string | undefined) => attacker.post('/v1/events', newLargeEvent(created++), key);
    return attacker.keepOpen(KEYS, { perSecond: 100, replacedPerSecond: 10 }, (number) => {
      const key = attacker.keys[number % KEYS];
      return { first: create(key), onResponse: (socket) => socket.write(create(key)) };
    });
  },
};
