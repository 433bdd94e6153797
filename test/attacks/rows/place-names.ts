// Looks up the names of places that take longest: many places have them, many names begin with them, they have many parts, or folding them
// takes long.
import type { Attacker } from '../attacker.ts';
import type { Row } from '../row.ts';

const NAMES = [
  'San José',
  'San Juan, San Pedro, Santa Cruz, San José, Santa Rosa, San Antonio, San Jose',
  'a,'.repeat(100),
  '\ufdfa'.repeat(200),
  'e\u0301'.repeat(100),
].map(encodeURIComponent);

const PATHS = [
  ...NAMES.map((name) => `/v1/events/nearby?place=${name}`),
  ...NAMES.map((name) => `/v1/places?q=${name}&limit=50`),
  '/v1/places?q=sa&limit=50&near_lat=0&near_lng=0',
  '/v1/places?q=ma&limit=50&country=TV',
];

const search = (attacker: Attacker, number: number) =>
  attacker.request('GET', PATHS[number % PATHS.length]!, attacker.keys[0]);

const AT_ONCE = 40;

export const placeNames: Row = {
  title: '40 connections looking up names of places that take long, one key',
  keys: 1,
  statuses: [422],
  // The names themselves.
  maxKeptMb: 64,
  attack: (attacker) =>
    attacker.keepOpen(AT_ONCE, { perSecond: 400, replacedPerSecond: 40 }, (number) => {
      const first = search(attacker, number);
      return { first, onResponse: (socket) => socket.write(search(attacker, number + 1)) };
    }),
};
