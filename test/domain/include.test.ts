// What `include` adds to the JSON of an event.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeEvent } from '../../src/domain/events/event.ts';
import { addIncluded } from '../../src/domain/events/include.ts';
import { toWire } from '../../src/domain/wire.ts';
import { newEventRow, newUuid, parseEvent } from '../store/rows.ts';

describe('include=status', () => {
  const OWNER = { agent_id: newUuid() };
  const textual = { title: '"status":"cancelled"', description: '\\"status":"cancelled"' };
  for (const [what, unknown] of [
    ['that this version knows', undefined],
    ['with members that only a newer version knows', { capacity: 40 }],
  ] as const) {
    for (const status of ['scheduled', 'cancelled'] as const) {
      it(`is once in a ${status} event ${what}, whatever its texts say`, () => {
        const row = newEventRow(OWNER, { status, ...textual, ...(unknown && { unknown }) });
        const json = addIncluded(toWire(encodeEvent(row)), ['status'], undefined);
        assert.equal(parseEvent(json).status, status);
        assert.equal(json.match(/[,{]"status":/g)?.length, 1);
      });
    }
  }
});
