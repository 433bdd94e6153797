// Floods the service with searches over thousands of connections that send the next one at once, also after a refusal.
import { SEARCH } from '../polite.ts';
import type { Row } from '../row.ts';

const CONNECTIONS = 5_000;
/** Enough that no quota ends the flood. */
const KEYS = 100;

export const searches: Row = {
  title: '5,000 connections searching, from 50 addresses with 100 keys',
  keys: KEYS,
  addresses: 50,
  attack: (attacker) =>
    attacker.keepOpen(CONNECTIONS, { perSecond: 2_500, replacedPerSecond: 250 }, (number) => {
      const first = attacker.request('GET', SEARCH, attacker.keys[number % KEYS]);
      return { first, onResponse: (socket) => socket.write(first) };
    }),
};
