// Asks for large responses and never reads them: with a key, pages of events; without one, the API description.
import type { Attacker } from '../attacker.ts';
import { LONG_PAGE, type Row } from '../row.ts';

async function neverRead(attacker: Attacker, connections: number, first: string): Promise<void> {
  const pace = { perSecond: connections / 2, replacedPerSecond: connections / 20 };
  await attacker.keepOpen(connections, pace, () => ({ first, reads: false }));
  await attacker.leaveAndLook();
}

export const unreadPages: Row = {
  title: '150 connections that never read two pages of 100 long events',
  keys: 1,
  // Two of 4 MB, because the operating system buffers nearly one.
  attack: (attacker) =>
    neverRead(attacker, 150, attacker.request('GET', LONG_PAGE, attacker.keys[0]).repeat(2)),
};

export const unreadDescriptions: Row = {
  title: '3,700 connections that never read /openapi.json, asked for twice',
  keys: 0,
  // No more, which is 1 GB: the operating system buffers all of it (here both ends are on one machine) and would run out of memory for
  // connections before the service does.
  attack: (attacker) => neverRead(attacker, 3_700, attacker.request('GET', '/openapi.json').repeat(2)),
};
