// Creates events with as many words as they can have, and searches for prefixes of them.
import { Chance } from '../../support/random.ts';
import type { Row } from '../row.ts';

const CONNECTIONS = 64;
/** About 130 events. Their words take 0.9 MB each in memory. */
const MAX_MB = 4;

const chance = new Chance(1);
const han = (length: number) =>
  Array.from({ length }, () => String.fromCodePoint(chance.integer(0x4e00, 0x9fff))).join('');

/** The parts before and after the number of the event. */
const bodiesOf = (count: number, description: () => string) =>
  Array.from({ length: count }, () =>
    JSON.stringify({
      title: '#',
      description: description(),
      start_at: '2031-05-01T18:00:00Z',
      timezone: 'Europe/Berlin',
      location_name: han(200),
      lat: 0,
      lng: 0,
      event_type: 'talk',
    }).split('#'),
  );

const BODIES = bodiesOf(130, () => han(10_000));

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

/** 790 characters of Han, 200 more in the name of the place, and 1,700 words: together 3,700 words, but not many of one kind. */
const mixed = () =>
  `${han(790)} ${Array.from({ length: 1_700 }, () => chance.integer(0, 36 ** 4).toString(36)).join(' ')}`;

export const mixedWords: Row = {
  ...manyWords,
  title: '64 connections creating events of 3,700 words in two scripts, one key',
  env: { MAX_MB_PER_AGENT: '16' },
  attack: (attacker) => {
    const bodies = bodiesOf(130, mixed);
    let sent = 0;
    const next = () =>
      attacker.post('/v1/events', bodies[++sent % bodies.length]!.join(String(sent)), attacker.keys[0]);
    return attacker.keepOpen(CONNECTIONS, { perSecond: 100, replacedPerSecond: 10 }, () => ({
      first: next(),
      onResponse: (socket) => socket.write(next()),
    }));
  },
};
