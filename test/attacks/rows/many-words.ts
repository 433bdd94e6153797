// Creates events with as many words as they can have, and searches for prefixes of them.
import { Chance } from '../../support/random.ts';
import type { Row } from '../row.ts';

const CONNECTIONS = 64;
/** About 130 events. Their words take 0.9 MB each in memory. */
const MAX_MB = 4;

const chance = new Chance(1);
const han = (length: number) =>
  Array.from({ length }, () => String.fromCodePoint(chance.integer(0x4e00, 0x9fff))).join('');

const BODIES = Array.from({ length: 130 }, () =>
  JSON.stringify({
    title: '#',
    description: han(10_000),
    start_at: '2031-05-01T18:00:00Z',
    timezone: 'Europe/Berlin',
    location_name: han(200),
    lat: 0,
    lng: 0,
    event_type: 'talk',
  }).split('#'),
);

export const manyWords: Row = {
  title: '64 connections creating events of 20,000 words and searching for prefixes, one key',
  keys: 1,
  statuses: [403],
  env: { MAX_MB_PER_AGENT: String(MAX_MB) },
  maxDiskMb: 250, // PostgreSQL: words, their index, and the journal
  maxKeptMb: 200,
  attack: (attacker) => {
    const [key] = attacker.keys;
    let sent = 0;
    const next = () =>
      ++sent % 2 === 0
        ? attacker.request('GET', '/v1/events/nearby?lat=0&lng=0&q=aa*', key)
        : attacker.post('/v1/events', BODIES[sent % BODIES.length]!.join(String(sent)), key);
    return attacker.keepOpen(CONNECTIONS, { perSecond: 100, replacedPerSecond: 10 }, () => ({
      first: next(),
      onResponse: (socket) => socket.write(next()),
    }));
  },
};
