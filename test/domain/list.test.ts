// Sorts and searches of lists for administrators. Their other parameters are in test/acceptance/.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AGENT_SORTS,
  EVENT_SORTS,
  encodeSort,
  foldText,
  readAgentList,
  readEventList,
} from '../../src/domain/administration/list.ts';
import { refusals } from './refusals.ts';

describe('a list for administrators', () => {
  for (const key of AGENT_SORTS) {
    it(`sorts by ${key} in both directions`, () => {
      assert.deepEqual(readAgentList({ sort: key })?.sort, { key, descending: false });
      const descending = readAgentList({ sort: `-${key}` })!.sort;
      assert.deepEqual(descending, { key, descending: true });
      assert.equal(encodeSort(descending), `-${key}`);
    });
  }

  for (const key of EVENT_SORTS) {
    it(`sorts events by ${key} in both directions`, () => {
      for (const descending of [false, true]) {
        const sort = { key, descending };
        assert.deepEqual(readEventList({ sort: encodeSort(sort) })?.sort, sort);
      }
    });
  }

  it('counts the characters of a search, not its bytes', () => {
    const q = '😀'.repeat(200);
    assert.equal(readAgentList({ q })?.q, q);
    assert.deepEqual(
      refusals(() => readAgentList({ q: '\0' })),
      ['query.q: string_unicode'],
    );
  });
});

describe('foldText', () => {
  it('makes texts equal that differ only in case, also as parts of other texts', () => {
    assert.equal(foldText('ÄÉ Школа ẞ'), foldText('äé шКОЛА ß'));
    assert.ok(foldText('ΟΔΟΣΑ').includes(foldText('ΟΔΟΣ')));
    assert.ok(foldText('οδος').includes(foldText('Σ')));
  });
});
