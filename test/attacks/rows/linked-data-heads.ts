// Pipelines HEADs of pages in another format: the page is encoded, and nothing is sent.
import { LONG_PAGE, type Row } from '../row.ts';

const CONNECTIONS = 10;
const PIPELINED = 60;

export const linkedDataHeads: Row = {
  title: '10 connections with 60 pipelined HEADs each of a JSON-LD page of 100 long events',
  keys: 1,
  attack: (attacker) => {
    const heads = attacker.request('HEAD', `${LONG_PAGE}&format=jsonld`, attacker.keys[0]).repeat(PIPELINED);
    return attacker.keepOpen(CONNECTIONS, { perSecond: 100, replacedPerSecond: 10 }, () => {
      let answered = 0;
      return {
        first: heads,
        isToHead: true,
        onResponse: (socket) => {
          if (++answered % PIPELINED === 0) socket.write(heads);
        },
      };
    });
  },
};
