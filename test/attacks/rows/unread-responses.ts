// Asks for large responses and never reads them: with a key, pages of events; without one, the API description.
import type { Attacker } from '../attacker.ts';
import { LONG_PAGE, type Row } from '../row.ts';

async function neverRead(attacker: Attacker, connections: number, first: string): Promise<void> {
  const pace = { perSecond: connections / 2, replacedPerSecond: connections / 20 };
  await attacker.keepOpen(connections, pace, () => ({ first, reads: false }));
  await attacker.leaveAndLook();
}

export const unreadPages: Row = {
  title: '150 connections that never read their pages of 100 long events',
  keys: 1,
  attack: (attacker) => neverRead(attacker, 150, attacker.request('GET', LONG_PAGE, attacker.keys[0])),
};

export const unreadDescriptions: Row = {
  title: '3,300 connections that never read /openapi.json, asked for ten times',
  keys: 0,
  // The operating system buffers one of them, but not ten.
  attack: (attacker) => neverRead(attacker, 3_300, attacker.request('GET', '/openapi.json').repeat(10)),
};
