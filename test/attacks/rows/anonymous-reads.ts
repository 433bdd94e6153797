// Reads without a key: wide searches, searches for prefixes that a million words have, pages in other formats, names of places, and tool
// calls, all from the address of the others. No quota ends it.
import { LONG_PAGE, type Row } from '../row.ts';
import { MAX_KEPT_MB, manyPrefixes, PREFIX_SEARCHES } from './prefix-searches.ts';

const CONNECTIONS = 2_000;
const READS = [
  LONG_PAGE,
  ...PREFIX_SEARCHES,
  `${LONG_PAGE}&format=ics`,
  `${LONG_PAGE}&format=geojson`,
  '/v1/places?q=San',
  '/v1/events/nearby?place=San+Juan',
];

const TOOL_CALL = JSON.stringify({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: { name: 'search_events', arguments: { lat: 0, lng: 0, limit: 100, q: 'aa*' } },
});
const ACCEPT = 'Accept: application/json, text/event-stream\r\n';

export const anonymousReads: Row = {
  title: '2,000 connections reading without a key, from the address of the others',
  keys: 0,
  isOnOneAddress: true,
  statuses: [422], // San Juan could mean several places
  env: { PUBLIC_READ: 'on', PUBLIC_READS_PER_HOUR: '0' },
  events: manyPrefixes,
  maxKeptMb: MAX_KEPT_MB,
  attack: (attacker) =>
    attacker.keepOpen(CONNECTIONS, { perSecond: 1_000, replacedPerSecond: 100 }, (number) => {
      const path = READS[number % (READS.length + 1)];
      const first = path
        ? attacker.request('GET', path)
        : attacker.post('/mcp/public', TOOL_CALL, undefined, ACCEPT);
      return { first, onResponse: (socket) => socket.write(first) };
    }),
};
