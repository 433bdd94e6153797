// Asks for calendar pages, which are costly to encode, and leaves before they are sent.
import { LONG_PAGE, type Row } from '../row.ts';

const AT_ONCE = 400;
const STAY_MS = 2_000;

export const calendarPages: Row = {
  title: '400 requests at once for calendar pages of 100 long events, the client leaves after 2 s',
  keys: 1,
  attack: async (attacker) => {
    const [key] = attacker.keys;
    while (!attacker.isOver) {
      for (let number = 0; number < AT_ONCE; number++) {
        attacker.open({ first: attacker.request('GET', `${LONG_PAGE}&format=ics`, key) });
      }
      await attacker.pause(STAY_MS);
      attacker.leave();
      await attacker.pause(500);
    }
  },
};
