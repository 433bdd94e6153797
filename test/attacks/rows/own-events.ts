// Asks for lists of its own many events, and leaves before they are made.
import type { Row } from '../row.ts';

const AT_ONCE = 400;
const STAY_MS = 500;

export const ownEvents: Row = {
  title: '400 requests at once for the own events, 30,000 of them, the client leaves after 0.5 s',
  keys: 1,
  ownEvents: 30_000,
  attack: async (attacker) => {
    const first = attacker.request('GET', '/v1/agents/me/events?limit=100', attacker.keys[0]);
    while (!attacker.isOver) {
      for (let number = 0; number < AT_ONCE; number++) attacker.open({ first });
      await attacker.pause(STAY_MS);
      attacker.leave();
      await attacker.pause(1_500);
    }
  },
};
