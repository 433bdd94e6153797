// Asks for large pages and never reads them.
import { LONG_PAGE, type Row } from '../row.ts';

const CONNECTIONS = 150;

export const unreadPages: Row = {
  title: '150 connections that never read their pages of 100 long events',
  keys: 1,
  attack: async (attacker) => {
    const first = attacker.request('GET', LONG_PAGE, attacker.keys[0]);
    const open = (): void => {
      const again = () => {
        if (!attacker.isOver) setTimeout(open, 500);
      };
      attacker.open({ first, reads: false, onCut: again });
    };
    await attacker.openMany(CONNECTIONS, open);
    await attacker.untilOver();
    await attacker.leaveAndLook();
  },
};
