// Stores a million words with the same beginning, and searches for prefixes of them: each search looks at all of them, once for each
// of its terms.
import { newEvent } from '../../support/client.ts';
import type { Attacker } from '../attacker.ts';
import type { Row } from '../row.ts';

const EVENTS = 700;
const WORDS_PER_EVENT = 1_428;

/** Words of six characters, all different: `aa` and four digits. */
const wordOf = (number: number) => `aa${number.toString(36).padStart(4, '0')}`;

/** Events whose words, a million, begin alike. */
export const manyPrefixes = () =>
  Array.from({ length: EVENTS }, (_, event) =>
    newEvent({
      lat: 0,
      lng: 0,
      description: Array.from({ length: WORDS_PER_EVENT }, (_, word) =>
        wordOf(event * WORDS_PER_EVENT + word),
      ).join(' '),
    }),
  );

/** Eight terms, equal ones and different ones. */
export const PREFIX_SEARCHES = ['aa* '.repeat(8).trim(), 'aa* aa0* aa00* aa000* -aab* -aac* -aad* -aae*'].map(
  (terms) => `/v1/events/nearby?lat=0&lng=0&limit=100&q=${encodeURIComponent(terms)}`,
);

/** A node on PostgreSQL may still be reading its index of a million words. */
export const MAX_KEPT_MB = 100;

const search = (attacker: Attacker, number: number, more = '') =>
  attacker.request('GET', `${PREFIX_SEARCHES[number % PREFIX_SEARCHES.length]}${more}`, attacker.keys[0]);

const AT_ONCE = 40;

export const prefixSearches: Row = {
  title: '40 connections searching for prefixes that a million words have, one key',
  keys: 1,
  events: manyPrefixes,
  maxKeptMb: MAX_KEPT_MB,
  attack: (attacker) =>
    attacker.keepOpen(AT_ONCE, { perSecond: 400, replacedPerSecond: 40 }, (number) => {
      const first = search(attacker, number);
      return { first, onResponse: (socket) => socket.write(first) };
    }),
};

const ABANDONED = 204;
const CALENDARS = 4;
const STAY_MS = 500;

export const abandonedPrefixSearches: Row = {
  title: '204 searches at once for prefixes that a million words have, the client leaves after 0.5 s',
  keys: 1,
  events: manyPrefixes,
  maxKeptMb: MAX_KEPT_MB,
  attack: async (attacker) => {
    for (let number = 0; number < ABANDONED; number++)
      attacker.open({ first: search(attacker, number, number < CALENDARS ? '&format=ics' : '') });
    await attacker.pause(STAY_MS);
    attacker.leave();
    await attacker.untilOver();
  },
};
