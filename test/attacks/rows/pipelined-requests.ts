// Sends requests without waiting for responses, thousands on each connection.
import type { Row } from '../row.ts';

const CONNECTIONS = 10;
const PIPELINED = 20_000;

export const pipelinedRequests: Row = {
  title: '10 connections with 20,000 pipelined requests each, for /health and for nothing',
  keys: 0,
  statuses: [404],
  attack: (attacker) => {
    const [checks, others] = ['/health', '/x'].map((path) => attacker.request('GET', path).repeat(PIPELINED));
    return attacker.keepOpen(CONNECTIONS, { perSecond: 100, replacedPerSecond: 20 }, (number) => ({
      first: number % 2 === 0 ? checks! : others!,
    }));
  },
};
