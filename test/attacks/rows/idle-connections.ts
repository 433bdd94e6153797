// Holds more connections than the service accepts, each idle after one request: from one address, and from many, where no
// single one has many.
import type { Row } from '../row.ts';

const CONNECTIONS = 10_100;
const PACE = { perSecond: 2_000, replacedPerSecond: 200 };

export const idleConnections: Row = {
  title: '10,100 idle connections',
  keys: 0,
  statuses: [404],
  attack: (attacker) =>
    // The cheapest request: this attack is about what follows.
    attacker.keepOpen(CONNECTIONS, PACE, () => ({ first: attacker.request('GET', '/nothing-here') })),
};

export const idleConnectionsFromManyAddresses: Row = {
  ...idleConnections,
  title: '10,100 idle connections from 100 addresses',
  addresses: 100,
};
