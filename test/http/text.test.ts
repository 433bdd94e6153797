// Text of every kind comes back byte for byte: from create, read, search, update and the administrators' lists, also after
// a restart.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { anyText } from '../support/any-text.ts';
import { Client } from '../support/client.ts';
import { startTestService, type TestService } from '../support/service.ts';

const codes = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => String.fromCodePoint(from + at)).join('');

const TEXTS: Record<string, string> = {
  'quotes and backslashes': `"'\`“”„«» \\ \\\\ \\" \\n \\u0041 \\ud800 /`,
  'newlines of every kind': 'a\nb\rc\r\nd\u0085e\u2028f\u2029g\vh\fi',
  'tabs and spaces': '\ta\t\tb  c   d\u00a0e\u3000f\u200bg',
  'control characters': codes(0x01, 0x1f) + codes(0x7f, 0x9f),
  'outer spaces': '  \t\n a \n\t  ',
  'only a space': ' ',
  'Latin letters with marks': 'áÀçñøßÿ Łódź İstanbul ﬁ',
  'composed and decomposed letters': '\u00e9 e\u0301 \u1ea5 a\u0302\u0301 \uac00 \u1100\u1161 \u212b A\u030a',
  'stacked marks': `Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d${'\u0301'.repeat(50)}`,
  'other scripts': '日本語 한국어 ไทย हिन्दी Ελληνικά Русский ქართული 𐍈 𒀀',
  'right to left': 'שלום עולם مرحبا بالعالم \u200f\u061c',
  'bidi controls': '\u202aabc\u202b\u202d\u202edef\u202c\u2066\u2067\u2068ghi\u2069',
  emoji: '😀🎉❤️☕️🏳️‍🌈👩🏽‍🚀👨‍👩‍👧‍👦🇩🇪1️⃣🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  'a byte order mark': '\ufeffa\ufeffb\ufeff',
  'noncharacters and private use': '\ufffe\uffff\ufdd0\ue000\u{f0000}\u{10ffff}\ufffd',
  'the edges of the planes': '\u007f\u0080\u07ff\u0800\ud7ff\ue000\uffff\u{10000}\u{10ffff}',
  'what looks like code': `<script>alert(1)</script> '; DROP TABLE events; -- \${7*7} {{7*7}} %00 %s \\0 &amp; null`,
  'JSON in JSON': JSON.stringify({ a: ['"', { b: null }] }),
};

const FIELDS = { title: 200, location_name: 200, description: 10_000, address: 500, url: 2_000, cost: 200 };

describe('text', () => {
  let service: TestService;
  let administrator: Client;
  let agentKey: string;
  const agent = () => new Client(service.url, { 'x-api-key': agentKey });
  before(async () => {
    service = await startTestService();
    administrator = await service.newAdministrator();
    agentKey = await registerAs('the agent');
  });
  after(() => service.close());

  async function registerAs(name: string): Promise<string> {
    const answer = await service.client.post('/v1/auth/register', {
      email: 'agent@example.com',
      agent_name: name,
    });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.api_key;
  }

  /** The text in every text field, cut to the maximum length of each. */
  function inEveryField(text: string): Record<string, string> {
    const cut = (max: number) => [...text].slice(0, max).join('');
    return Object.fromEntries(Object.entries(FIELDS).map(([field, max]) => [field, cut(max)]));
  }

  function assertFields(event: Record<string, unknown>, sent: Record<string, string>, where: string): void {
    for (const [field, text] of Object.entries(sent))
      assert.equal(event[field], text, `${field} in ${where}`);
  }

  /** Creates an event with the text, changes another to it, and reads both in every possible way. */
  async function assertKept(text: string): Promise<void> {
    const sent = inEveryField(text);
    const created = await agent().create(sent);
    assertFields(created, sent, 'the create');
    const plain = await agent().create();
    const path = `/v1/events/${plain.event_id}`;
    const changed = (await agent().patch(path, { ...sent, lat: -created.lat })).body;
    assertFields(changed, sent, 'the change');
    assert.deepEqual((await agent().get(path)).body, changed);

    const again = (await agent().get(`/v1/events/${created.event_id}`)).body;
    assertFields(again, sent, 'the read');
    const { events } = (await agent().nearby({ lat: created.lat, lng: created.lng, limit: 100 })).body;
    const found = events.filter((event: { event_id: string }) =>
      [created.event_id, changed.event_id].includes(event.event_id),
    );
    assert.equal(found.length, 2);
    for (const event of found) assertFields(event, sent, 'the search');

    const listed = (await administrator.get(`/v1/admin/agents/${created.agent_id}/events`)).body.events;
    const own = listed.find((event: { event_id: string }) => event.event_id === created.event_id);
    assertFields(own, sent, 'the list of the administrator');
    for (const { event_id } of [created, changed]) await agent().delete(`/v1/events/${event_id}`);
  }

  for (const [name, text] of Object.entries(TEXTS)) {
    it(`is kept: ${name}`, () => assertKept(text));
  }

  it('is kept up to 10,000 characters, and an astral character counts as one', async () => {
    await assertKept('😀'.repeat(10_000));
    await assertKept('a\u0301'.repeat(5_000));
    await assertKept(`${'"'.repeat(5_000)}${'\\'.repeat(5_000)}`);
    const answer = await agent().post('/v1/events', { description: '😀'.repeat(10_001) });
    assert.match(answer.text, /"description"\],"msg":"must have at most 10000 characters"/);
  });

  it('is kept, whatever it contains', async () => {
    const any = anyText({ minLength: 1, maxLength: 300 });
    const allowed = any.map((text) => text.replaceAll('\0', '\u0001'));
    await fc.assert(fc.asyncProperty(allowed, assertKept), { seed: 20_261_115, numRuns: 40 });
  });

  it('is kept in the name of an agent', async () => {
    for (const text of Object.values(TEXTS)) await registerAs(text);
    await registerAs('😀'.repeat(200));
    const { agents } = (await administrator.get('/v1/admin/agents')).body;
    assert.deepEqual(
      agents
        .slice(1)
        .map((listed: { agent_name: string }) => listed.agent_name)
        .sort(),
      [...Object.values(TEXTS), '😀'.repeat(200)].sort(),
    );
  });

  it('makes different titles if letters only look alike', async () => {
    const place = { lat: 1, lng: 1, start_at: '2031-01-01T00:00:00Z' };
    const titles = ['\u00e9', 'e\u0301', 'E\u0301', '\u00e9 ', ' \u00e9', '\ufeff\u00e9', '\u00e9\u200b'];
    const ids = new Set<string>();
    for (const title of titles) ids.add((await agent().create({ ...place, title })).event_id);
    for (const title of titles) ids.add((await agent().create({ ...place, title })).event_id);
    assert.equal(ids.size, titles.length);
  });

  it('is the same whether sent as JSON escapes or as bytes', async () => {
    const place = { lat: 2, lng: 2, start_at: '2031-01-01T00:00:00Z', title: 'ü😀"' };
    const { event_id, title } = await agent().create(place);
    const json = JSON.stringify({ ...(await agent().get(`/v1/events/${event_id}`)).body, ...place });
    const escaped = json.replaceAll(
      /[^\x20-\x7e]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    const answer = await agent().send('POST', '/v1/events', { raw: escaped });
    assert.equal(answer.body.event_id, event_id, answer.text);
    assert.equal(answer.body.title, title);
  });

  it('is kept across a restart', async () => {
    const events: { event_id: string }[] = [];
    for (const text of Object.values(TEXTS)) events.push(await agent().create(inEveryField(text)));
    await service.close();
    service = await startTestService({ DATA_DIR: service.folder });
    for (const event of events) {
      assert.deepEqual((await agent().get(`/v1/events/${event.event_id}`)).body, event);
    }
  });
});
