// Calls a tool many times at once.
import type { Row } from '../row.ts';

const AT_ONCE = 600;
const ACCEPT = 'Accept: application/json, text/event-stream\r\n';
const CALL = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'search_events', arguments: { lat: 0, lng: 0, radius: 1, limit: 100 } },
});

export const toolCalls: Row = {
  title: '600 tool calls at once, one key',
  keys: 1,
  attack: async (attacker) => {
    const first = attacker.post('/mcp', CALL, attacker.keys[0], ACCEPT);
    while (!attacker.isOver) {
      for (let number = 0; number < AT_ONCE; number++) attacker.open({ first });
      await attacker.pause(3_000);
      attacker.leave();
    }
  },
};
