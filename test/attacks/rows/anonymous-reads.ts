// Reads without a key: wide searches, searches for prefixes that a million words have, and pages in other formats, all from the
// address of the others. No quota ends it.
import { LONG_PAGE, type Row } from '../row.ts';
import { MAX_KEPT_MB, manyPrefixes, PREFIX_SEARCHES } from './prefix-searches.ts';

const CONNECTIONS = 2_000;
const READS = [LONG_PAGE, ...PREFIX_SEARCHES, `${LONG_PAGE}&format=ics`, `${LONG_PAGE}&format=geojson`];

export const anonymousReads: Row = {
  title: '2,000 connections reading without a key, from the address of the others',
  keys: 0,
  isOnOneAddress: true,
  env: { PUBLIC_READ: 'on', PUBLIC_READS_PER_HOUR: '0' },
  events: manyPrefixes,
  maxKeptMb: MAX_KEPT_MB,
  attack: (attacker) =>
    attacker.keepOpen(CONNECTIONS, { perSecond: 1_000, replacedPerSecond: 100 }, (number) => {
      const first = attacker.request('GET', READS[number % READS.length]!);
      return { first, onResponse: (socket) => socket.write(first) };
    }),
};
