// The parameters of lists for administrators: what is accepted, what is refused, and when the whole list is meant.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeListCursor } from '../../src/domain/administration/cursor.ts';
import {
  AGENT_SORTS,
  EVENT_SORTS,
  encodeSort,
  foldText,
  readAgentList,
  readAuditQuery,
  readEventList,
} from '../../src/domain/administration/list.ts';
import { refusals } from './refusals.ts';

const UUID = '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90';

describe('readAgentList', () => {
  it('means the whole list without parameters', () => assert.equal(readAgentList({}), undefined));

  it('fills in missing parameters', () => {
    const sort = { key: 'created_at', descending: false };
    const expected = { q: '', sort, after: undefined, limit: 30 };
    assert.deepEqual(readAgentList({ q: '' }), expected);
    assert.deepEqual(readAgentList({ limit: 30 }), expected);
    assert.deepEqual(readAgentList({ sort: 'created_at' }), expected);
  });

  for (const key of AGENT_SORTS) {
    it(`sorts by ${key} in both directions`, () => {
      assert.deepEqual(readAgentList({ sort: key })?.sort, { key, descending: false });
      const descending = readAgentList({ sort: `-${key}` })!.sort;
      assert.deepEqual(descending, { key, descending: true });
      assert.equal(encodeSort(descending), `-${key}`);
    });
  }

  it('accepts a cursor of the same sort only', () => {
    const cursor = encodeListCursor('agents', '-email', { value: 'a', id: UUID });
    assert.deepEqual(readAgentList({ cursor, sort: '-email' })?.after, { value: 'a', id: UUID });
    for (const sort of [undefined, 'email', '-agent_name']) {
      const parameters = sort === undefined ? { cursor } : { cursor, sort };
      assert.deepEqual(
        refusals(() => readAgentList(parameters)),
        ['query.cursor: value_error'],
      );
    }
  });

  it('names all failing parameters together', () => {
    const parameters = { limit: 0, q: 'x'.repeat(201), sort: 'name', cursor: 'x' };
    assert.deepEqual(
      refusals(() => readAgentList(parameters)),
      ['query.limit: greater_than_equal', 'query.q: string_too_long', 'query.sort: enum'],
    );
    assert.deepEqual(
      refusals(() => readAgentList({ limit: 101, q: '\0', cursor: '' })),
      ['query.limit: less_than_equal', 'query.q: string_unicode', 'query.cursor: value_error'],
    );
  });

  it('counts the characters of a search, not its bytes', () => {
    const q = '😀'.repeat(200);
    assert.equal(readAgentList({ q })?.q, q);
  });
});

describe('readEventList', () => {
  it('means the whole list without parameters', () => assert.equal(readEventList({}), undefined));

  it('fills in missing parameters', () => {
    const sort = { key: 'start_at', descending: false };
    const expected = { q: '', sort, after: undefined, limit: 30, when: 'past' };
    assert.deepEqual(readEventList({ when: 'past' }), expected);
    assert.deepEqual(readEventList({ limit: 30 }), { ...expected, when: 'all' });
  });

  it('accepts every sort in both directions', () => {
    for (const key of EVENT_SORTS) {
      for (const descending of [false, true]) {
        const sort = { key, descending };
        assert.deepEqual(readEventList({ sort: encodeSort(sort) })?.sort, sort);
      }
    }
  });

  it('refuses unknown values', () => {
    assert.deepEqual(
      refusals(() => readEventList({ when: 'now', sort: 'email' })),
      ['query.sort: enum', 'query.when: enum'],
    );
    const foreign = encodeListCursor('agents', 'created_at', { value: 1, id: UUID });
    assert.deepEqual(
      refusals(() => readEventList({ sort: 'created_at', cursor: foreign })),
      ['query.cursor: value_error'],
    );
  });
});

describe('readAuditQuery', () => {
  it('accepts no parameters, a limit and a cursor', () => {
    assert.deepEqual(readAuditQuery({}), { after: undefined, limit: 30 });
    const cursor = encodeListCursor('audit', '-at', { value: '7', id: '7' });
    assert.deepEqual(readAuditQuery({ cursor, limit: 100 }), { after: 7, limit: 100 });
  });

  it('refuses any other cursor', () => {
    assert.deepEqual(
      refusals(() => readAuditQuery({ cursor: 'x', limit: 0 })),
      ['query.limit: greater_than_equal', 'query.cursor: value_error'],
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
