// The header Prefer, read before anything else of the request: its length must not cost the square of that in time.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isStrict } from '../../src/http/request/preferences.ts';

/** As long as node:http lets headers be. */
const BYTES = 16_384;
/** All of them take milliseconds; in quadratic time, minutes. */
const DEADLINE_MS = 10_000;

it('a long header of quotes that nothing closes holds up nobody', () => {
  const endMs = performance.now() + DEADLINE_MS;
  for (const unit of ['\\"', '"', '"a', 'a="\\"', '"\\",', '\\', ' ', 'handling=a ', 'handling,', 'a']) {
    for (const start of ['"', '', 'handling=', 'handling="a', '"a",']) {
      for (const end of ['', '"', '\\', ', x']) {
        const prefer = (start + unit.repeat(BYTES)).slice(0, BYTES - end.length) + end;
        assert.equal(isStrict(prefer), false, `${start}${unit}…${end}`);
        assert.ok(performance.now() < endMs, `too slow: ${start}${unit}…${end}`);
      }
    }
  }
});
