// Calls the callback of the console's sign-in with made-up cookies, from the network of the administrators.
import type { Row } from '../row.ts';

/** More than a network's sign-ins per hour. */
const CALLS = 130;

export const signInCallbacks: Row = {
  title: '130 calls of the sign-in callback with a made-up cookie',
  keys: 0,
  isOnOneAddress: true,
  signsIn: true,
  statuses: [303],
  attack: async (attacker) => {
    const cookie = `Cookie: local_events_signin=${'x'.repeat(200)}\r\n`;
    const first = attacker.request('GET', '/admin/callback?code=x&state=x', undefined, cookie);
    for (let number = 0; number < CALLS; number++) attacker.open({ first });
    await attacker.pause(2_000);
  },
};
