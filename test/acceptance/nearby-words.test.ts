// GET /v1/events/nearby with `q`: which words find which events, in many scripts, and what is refused.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, newAgent } from './client.ts';
import { assertInvalid, ids, newEvent, randomPlace } from './samples.ts';
import { WORD_EXAMPLES } from './word-examples.ts';

const PATH = '/v1/events/nearby';

describe('q of GET /v1/events/nearby', () => {
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
  });

  it('finds events by their words in many scripts, and no others', async () => {
    const place = randomPlace();
    const texts = [...new Set(WORD_EXAMPLES.map(([, text]) => text))];
    const events = new Map<string, string>();
    for (const title of texts)
      events.set(title, (await agent.create(newEvent({ ...place, title, location_name: '…' }))).event_id);
    for (const [script, text, q, isFound] of WORD_EXAMPLES) {
      const page = await agent.nearby({ ...place, radius: 0.1, q, limit: 100 });
      assert.equal(ids(page).includes(events.get(text)!), isFound, `${script}: ${q}`);
      assert.equal(page.total, page.count, `${script}: ${q}`);
      assert.ok(page.total < texts.length, `${script}: ${q}`);
    }
  });

  it('looks in title, description, location_name and address, and in no other field', async () => {
    const place = randomPlace();
    const event = await agent.create(
      newEvent({
        ...place,
        title: 'Alpha',
        description: 'Beta',
        location_name: 'Gamma',
        address: 'Delta 5',
        url: 'https://example.com/epsilon',
        cost: 'zeta',
      }),
    );
    for (const q of ['alpha', 'beta gamma', 'delta alpha', '5', 'gam* -epsilon'])
      assert.deepEqual(ids(await agent.nearby({ ...place, radius: 0.1, q })), [event.event_id], q);
    for (const q of ['epsilon', 'zeta', 'talk', 'alpha epsilon', 'alpha -beta', 'berlin'])
      assert.deepEqual(ids(await agent.nearby({ ...place, radius: 0.1, q })), [], q);
  });

  it('combines with the other parameters, pages and formats', async () => {
    const place = randomPlace();
    const word = `w${Math.random().toString(36).slice(2)}`;
    const made: string[] = [];
    for (let day = 1; day <= 5; day++) {
      const event_type = day % 2 ? 'talk' : 'tour';
      const start_at = `2032-05-0${day}T18:00:00Z`;
      made.push(
        (await agent.create(newEvent({ ...place, title: `${word} ${day}`, event_type, start_at }))).event_id,
      );
      await agent.create(newEvent({ ...place, start_at }));
    }
    const first = await agent.nearby({ ...randomPlace(), q: word, limit: 2 });
    assert.deepEqual([ids(first), first.total], [made.slice(0, 2), 5]);
    const second = await agent.nearby({ ...place, q: word, limit: 2, cursor: first.next_cursor! });
    assert.deepEqual([ids(second), second.total], [made.slice(2, 4), 5]);
    assert.deepEqual(ids(await agent.nearby({ ...place, q: `${word} -3`, event_type: 'talk', radius: 1 })), [
      made[0],
      made[4],
    ]);
    assert.deepEqual(
      ids(await agent.nearby({ ...place, q: word, starts_after: '2032-05-04T18:00:00Z' })),
      made.slice(3),
    );
    const next = await agent.get(PATH, { ...place, q: `${word.toUpperCase()} -1`, limit: 1 });
    assert.match(next.headers.link as string, new RegExp(`[?&]q=${word.toUpperCase()}(\\+|%20)-1&.*cursor=`));
    const calendar = await agent.get(PATH, { ...place, q: word, format: 'ics' });
    assert.equal(calendar.text.match(/BEGIN:VEVENT/g)!.length, 5);
  });

  it('follows changes and deletes at once', async () => {
    const place = randomPlace();
    const near = { ...place, radius: 0.1 };
    const { event_id } = await agent.create(newEvent({ ...place, title: 'Old name' }));
    assert.equal((await agent.nearby({ ...near, q: 'old' })).total, 1);
    await agent.patch(`/v1/events/${event_id}`, { title: 'New name' });
    assert.equal((await agent.nearby({ ...near, q: 'old' })).total, 0);
    assert.equal((await agent.nearby({ ...near, q: 'new name' })).total, 1);
    await agent.send('DELETE', `/v1/events/${event_id}`);
    assert.equal((await agent.nearby({ ...near, q: 'name' })).total, 0);
  });

  describe('422', () => {
    const cases: [name: string, q: string, type: string][] = [
      ['an empty text', '', 'string_too_short'],
      ['201 code points', 'é'.repeat(201), 'string_too_long'],
      ['nine terms', 'a b c d e f g h i', 'value_error'],
      ['no word', '… *', 'value_error'],
      ['only terms that exclude', '-jazz -brunch', 'value_error'],
      ['a prefix of one letter', 'jazz b*', 'value_error'],
      ['a prefix in a script without separators', '東京*', 'value_error'],
    ];
    for (const [name, q, type] of cases) {
      it(`refuses ${name}`, async () => {
        assertInvalid(await agent.get(PATH, { lat: 0, lng: 0, q }), [`query.q: ${type}`]);
      });
    }
  });
});
