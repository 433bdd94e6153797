// List cursors: a position is encoded and decoded without loss, and no other text is accepted for that list and sort.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeListCursor, encodeListCursor, type ListName } from '../../src/domain/administration/cursor.ts';
import { AGENT_SORTS, EVENT_SORTS } from '../../src/domain/administration/list.ts';
import { EARLIEST_MS, LATEST_MS } from '../../src/domain/datetime.ts';
import { MAX_URI_BYTES } from '../../src/http/response/errors.ts';
import { anyText } from '../support/any-text.ts';
import { SEED } from './refusals.ts';

const UUID = '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90';
const ULID = '01ARYZ6S41TSV4RRFFQ69G5FAV';
const base64url = (text: string) => Buffer.from(text, 'utf8').toString('base64url');

const texts = anyText({ minLength: 1, maxLength: 200 }).filter(
  (text) => text.isWellFormed() && !text.includes('\0'),
);
const VALUES: Record<string, fc.Arbitrary<string | number>> = {
  agent_name: texts,
  email: texts,
  title: texts,
  tier: fc.constantFrom('read', 'readwrite', 'admin'),
  event_type: fc.constantFrom('talk', 'tour'),
  is_active: fc.constantFrom(0, 1),
  event_count: fc.nat(),
  events_24h: fc.nat(),
  events_7d: fc.nat(),
  requests_1h: fc.nat(),
  refusals_1h: fc.nat(),
  created_at: fc.integer({ min: EARLIEST_MS, max: LATEST_MS }),
  last_used_at: fc.integer({ min: -1, max: LATEST_MS }),
  start_at: fc.integer({ min: EARLIEST_MS, max: LATEST_MS }),
};
const LISTS = [
  ...AGENT_SORTS.map((key) => ({ list: 'agents' as const, key, id: UUID, values: VALUES[key]! })),
  ...EVENT_SORTS.map((key) => ({
    list: 'events' as const,
    key,
    id: ULID,
    values: key === 'created_at' ? fc.constant(ULID) : VALUES[key]!,
  })),
  { list: 'own_events' as const, key: 'start_at', id: ULID, values: VALUES.start_at! },
  { list: 'audit' as const, key: 'at', id: '42', values: fc.constant('42') },
];

describe('a cursor', () => {
  for (const { list, key, id, values } of LISTS) {
    it(`of ${list} by ${key} is decoded for that list and sort, and for no other`, () => {
      const property = fc.property(values, fc.boolean(), (value, descending) => {
        const sort = descending ? `-${key}` : key;
        const cursor = encodeListCursor(list, sort, { value, id });
        assert.match(cursor, /^[A-Za-z0-9_-]+$/);
        assert.deepEqual(decodeListCursor(cursor, list, sort), { value, id });
        for (const other of LISTS) {
          for (const otherSort of [other.key, `-${other.key}`]) {
            if (other.list === list && otherSort === sort) continue;
            assert.equal(decodeListCursor(cursor, other.list, otherSort), undefined);
          }
        }
      });
      fc.assert(property, { seed: SEED, numRuns: 100 });
    });
  }

  it('with the longest text leaves room in the URL for the longest search', () => {
    const longest = '\u{10ffff}'.repeat(254);
    const cursor = encodeListCursor('agents', '-agent_name', { value: longest, id: UUID });
    const path = `/v1/admin/agents?limit=100&sort=-agent_name&q=${encodeURIComponent('\u{10ffff}'.repeat(200))}`;
    assert.ok(path.length + '&cursor='.length + cursor.length < MAX_URI_BYTES, String(cursor.length));
  });

  it('includes a version: earlier cursors keep their meaning', () => {
    const cursor =
      'MTphZ2VudHM6LWFnZW50X25hbWU6MDE5N2QyZTgtOWE0MC03YzU1LThmM2UtNWIxZDJjNmE3ZTkwOmNpdHk6IGd1aWRl';
    assert.equal(Buffer.from(cursor, 'base64url').toString(), `1:agents:-agent_name:${UUID}:city: guide`);
    assert.deepEqual(decodeListCursor(cursor, 'agents', '-agent_name'), { value: 'city: guide', id: UUID });
  });

  const refused: [what: string, list: ListName, sort: string, text: string][] = [
    ['nothing', 'agents', 'email', ''],
    ['plain text', 'agents', 'email', 'next'],
    ['a position that is not encoded', 'agents', 'event_count', `1:agents:event_count:${UUID}:1`],
    ['another version', 'agents', 'event_count', base64url(`2:agents:event_count:${UUID}:1`)],
    ['an unknown sort', 'agents', 'constructor', base64url(`1:agents:constructor:${UUID}:1`)],
    ['two minuses', 'agents', '--email', base64url(`1:agents:--email:${UUID}:a`)],
    ['an ID in the other case', 'agents', 'email', base64url(`1:agents:email:${UUID.toUpperCase()}:a`)],
    ['no ID', 'agents', 'email', base64url('1:agents:email::a')],
    ['the ID of an event', 'agents', 'email', base64url(`1:agents:email:${ULID}:a`)],
    ['no value', 'agents', 'email', base64url(`1:agents:email:${UUID}`)],
    ['an empty text', 'agents', 'email', base64url(`1:agents:email:${UUID}:`)],
    ['a NUL', 'agents', 'email', base64url(`1:agents:email:${UUID}:a\0`)],
    [
      'bytes that are not UTF-8',
      'agents',
      'email',
      Buffer.from(`1:agents:email:${UUID}:\xff`, 'latin1').toString('base64url'),
    ],
    ['an unknown tier', 'agents', 'tier', base64url(`1:agents:tier:${UUID}:owner`)],
    ['a boolean', 'agents', 'is_active', base64url(`1:agents:is_active:${UUID}:true`)],
    ['a number with a fraction', 'agents', 'event_count', base64url(`1:agents:event_count:${UUID}:1.5`)],
    ['an exponent', 'agents', 'event_count', base64url(`1:agents:event_count:${UUID}:1e3`)],
    ['an empty number', 'agents', 'event_count', base64url(`1:agents:event_count:${UUID}:`)],
    ['minus zero', 'agents', 'event_count', base64url(`1:agents:event_count:${UUID}:-0`)],
    ['a number below its bound', 'agents', 'last_used_at', base64url(`1:agents:last_used_at:${UUID}:-2`)],
    [
      'a start after the last year',
      'events',
      'start_at',
      base64url(`1:events:start_at:${ULID}:${LATEST_MS + 1}`),
    ],
    ['an unknown type', 'events', 'event_type', base64url(`1:events:event_type:${ULID}:party`)],
    [
      'a value of created_at that is not the ID',
      'events',
      'created_at',
      base64url(`1:events:created_at:${ULID}:x`),
    ],
    ['an entry zero', 'audit', '-at', base64url('1:audit:-at:0:0')],
    ['an entry in hexadecimal', 'audit', '-at', base64url('1:audit:-at:0x1:0x1')],
    [
      'an entry number that is too large',
      'audit',
      '-at',
      base64url(`1:audit:-at:${'9'.repeat(20)}:${'9'.repeat(20)}`),
    ],
    ['padding', 'agents', 'tier', `${base64url(`1:agents:tier:${UUID}:read`)}=`],
    ['a character more', 'agents', 'tier', `${base64url(`1:agents:tier:${UUID}:read`)}A`],
  ];
  for (const [what, list, sort, text] of refused) {
    it(`is not ${what}`, () => assert.equal(decodeListCursor(text, list, sort), undefined));
  }
});
