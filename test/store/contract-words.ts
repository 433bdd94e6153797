// Store contract: searches by words, in many scripts, compared with the rules written a second time.
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import type { EventRow } from '../../src/domain/events/event.ts';
import { type NearbyQuery, readNearby } from '../../src/domain/events/nearby.ts';
import type { Store } from '../../src/domain/store.ts';
import { WORD_EXAMPLES } from '../acceptance/word-examples.ts';
import { Chance } from '../support/random.ts';
import { size } from '../support/sizes.ts';
import { oracleMatches, oracleWordsOf, randomSearch, randomText } from '../support/words-oracle.ts';
import { addAgent, addEvent, auditOf, HOUR_MS, idOf, NOW_MS, search, searchAll } from './rows.ts';

export function wordContract(store: () => Store): void {
  const chance = new Chance(1_117);
  const rows: EventRow[] = [];
  let agent: Awaited<ReturnType<typeof addAgent>>['agent'];

  const add = async (fields: Partial<EventRow>) => {
    const start_ms = NOW_MS + rows.length * 1_000;
    const row = await addEvent(store(), agent, { location_name: '…', start_ms, ...fields });
    rows.push(row);
    return row;
  };
  const queryOf = (q: string): NearbyQuery =>
    search({ terms: readNearby({ lat: 0, lng: 0, q }, 'query').terms });
  const find = async (q: string, fields: Partial<NearbyQuery> = {}) => {
    const query = { ...queryOf(q), ...fields };
    const events = await searchAll(store(), query, NOW_MS);
    const { total } = await store().nearby(query, NOW_MS);
    assert.equal(total, events.length, q);
    return events.map(idOf);
  };
  const expected = (q: string) =>
    rows.filter((row) => oracleMatches(q, oracleWordsOf(row))).map(({ event_id }) => event_id);

  before(async () => {
    agent = (await addAgent(store())).agent;
    for (const [, title] of WORD_EXAMPLES) await add({ title });
  });

  it(`finds what it should in ${new Set(WORD_EXAMPLES.map(([script]) => script)).size} scripts`, async () => {
    for (const [script, title, q, isFound] of WORD_EXAMPLES) {
      const found = await find(q, { limit: 7 });
      assert.deepEqual(found, expected(q), `${script}: ${q}`);
      const { event_id } = rows.find((row) => row.title === title)!;
      assert.equal(found.includes(event_id), isFound, `${script}: ${q}`);
    }
  });

  it('takes equal terms for one', async () => {
    assert.deepEqual(queryOf('jaz* JAZ* jàz*').terms, queryOf('jaz*').terms);
    assert.equal(queryOf('-aa* aa* aa').terms!.length, 3);
  });

  it('ends a search for a prefix when nobody waits for it any more', async () => {
    const leaving = new AbortController();
    const searcher = { network: 'n', name: 'k', signal: leaving.signal };
    const running = store().nearby(queryOf('jaz*'), NOW_MS, searcher);
    leaving.abort(new Error('gone'));
    await assert.rejects(running, /gone/);
    await assert.rejects(store().nearby(queryOf('jaz*'), NOW_MS, searcher), /gone/);
    assert.ok((await store().nearby(queryOf('jaz*'), NOW_MS)).total >= 0);
  });

  it('finds first and last words, whatever the bytes of their letters are', async () => {
    // In UTF-8, these end with a byte that Latin-1 has as a space without break, or as another control character.
    for (const word of ['スタジアム', '参加', '\u0661\u0660', 'ბარ', 'à', 'х', '…']) {
      const row = await add({ title: `${word}x`, description: null, location_name: word, address: null });
      const last = await add({ title: `${word} y`, description: `z ${word}`, location_name: word });
      if (word === '…') continue; // no word, at both ends
      const found = await find(word);
      assert.deepEqual(found, expected(word), word);
      assert.ok(found.includes(row.event_id) && found.includes(last.event_id), word);
    }
  });

  it('finds words of the description, the place and the address, and combines them with other conditions', async () => {
    const place = { lat: -41.29, lng: 174.78 };
    const row = await add({
      title: 'Zorbing',
      description: 'bring shoes',
      location_name: 'Harbour',
      address: '1 Quay',
      ...place,
    });
    const other = await add({ title: 'Zorbing', lat: -43.53, lng: 172.64, event_type: 'tour' });
    for (const q of ['zorbing shoes', 'harbour quay', '1 zorb* -tour']) {
      assert.deepEqual(await find(q), [row.event_id], q);
      assert.deepEqual(await find(q, { ...place, radiusMiles: 10 }), [row.event_id], q);
      assert.deepEqual(await find(q, { lat: 0, lng: 0, radiusMiles: 10 }), [], q);
    }
    assert.deepEqual(await find('zorbing'), [row.event_id, other.event_id]);
    assert.deepEqual(await find('zorbing', { types: ['tour'] }), [other.event_id]);
    assert.deepEqual(await find('zorbing', { startsFromMs: other.start_ms }), [other.event_id]);
    assert.deepEqual(await find('zorbing', { startsBeforeMs: other.start_ms }), [row.event_id]);
    const late = { ...queryOf('zorbing'), limit: 1 };
    assert.equal((await store().nearby(late, row.start_ms + 4 * HOUR_MS)).total, 0);
  });

  it('finds the words of the current version only, and none of a deleted event', async () => {
    const row = await add({ title: 'Wrestling', description: 'Ring A' });
    assert.deepEqual(await find('wrestling'), [row.event_id]);
    const next = { ...row, version: 2, title: 'Fencing' };
    rows[rows.indexOf(row)] = next;
    assert.equal((await store().replaceEvent(next)).kind, 'replaced');
    assert.deepEqual(await find('wrestling'), []);
    assert.deepEqual(await find('fencing ring'), [row.event_id]);
    assert.equal((await store().replaceEvent({ ...next, version: 3, cost: 'free' })).kind, 'replaced');
    assert.deepEqual(await find('fencing ring'), [row.event_id]);
    assert.equal(await store().deleteEvent(row.event_id, agent.agent_id), true);
    rows.splice(rows.indexOf(next), 1);
    assert.deepEqual(await find('fencing'), []);
  });

  it('finds cancelled events only if they are asked for', async () => {
    const scheduled = await add({ title: 'Zumba' });
    const cancelled = await addEvent(store(), agent, {
      title: 'Zumba',
      start_ms: scheduled.start_ms + 1,
      status: 'cancelled',
    });
    for (const radiusMiles of [undefined, 50]) {
      const near = { lat: scheduled.lat, lng: scheduled.lng, radiusMiles };
      assert.deepEqual(await find('zumba', near), [scheduled.event_id]);
      assert.deepEqual(await find('zum*', { ...near, status: 'cancelled' }), [cancelled.event_id]);
      assert.deepEqual(await find('zumba', { ...near, status: 'any' }), [
        scheduled.event_id,
        cancelled.event_id,
      ]);
    }
  });

  it('finds words of the longest texts, and words that are too long', async () => {
    const points = Array.from({ length: 10_000 }, () => 0x4e00 + chance.integer(0, 20_000));
    const text = String.fromCodePoint(...points);
    const [long, cut] = [await add({ description: text }), await add({ description: 'w'.repeat(9_000) })];
    assert.deepEqual(await find(text.slice(5_000, 5_050)), [long.event_id]);
    assert.deepEqual(
      await find(text.slice(0, 20) + text.slice(0, 20)),
      expected(text.slice(0, 20) + text.slice(0, 20)),
    );
    assert.deepEqual(await find('www*'), [cut.event_id]);
  });

  it(`finds what the rules say in ${size(100, 500)} random texts`, async () => {
    for (let count = 0; count < size(100, 500); count++) {
      const [title, description, location_name, address] = Array.from({ length: 4 }, () =>
        randomText(chance),
      );
      await add({
        title: `${title}.`,
        description: description!,
        location_name: `${location_name}.`,
        address: address!,
      });
    }
    for (let count = 0; count < size(50, 400); count++) {
      const q = randomSearch(chance);
      if (oracleMatches(q, new Set()) === undefined) continue;
      assert.deepEqual(await find(q), expected(q), JSON.stringify(q));
    }
  });

  it('finds none of the events of an agent that was deleted', async () => {
    assert.ok((await find('jazz')).length > 0);
    await store().deleteAll(agent.agent_id, auditOf('delete_agent', agent.agent_id), true);
    for (const q of ['jazz', 'ja*', 'event -x']) assert.deepEqual(await find(q), [], q);
  });
}
