// The text of results for models: what a line says about an event, and how much of it a page has room for.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EVENT_EXAMPLE } from '../../src/domain/events/event.ts';
import { type EventShown, showEvent, showPage } from '../../src/mcp/text.ts';

const LANTERNS = {
  ...EVENT_EXAMPLE,
  start_local: '2031-05-01T18:00:00+02:00',
  end_local: '2031-05-01T20:00:00+02:00',
  distance_miles: 0.768312,
} as EventShown;

const WORDS = { found: 'matching events', order: 'ordered by start', ifNone: 'Try again.' };

const show = (events: readonly object[]) =>
  showPage(
    { events: events as EventShown[], count: events.length, total: 40, next_cursor: 'next' },
    WORDS,
  ).split('\n');

describe('the text of a page', () => {
  it('says when, how far, what, where and how much', () => {
    const [head, line, hint, more] = show([LANTERNS]);
    assert.match(
      head!,
      /^1 of 40 matching events, ordered by start\. Times are local to each event\. The text of /,
    );
    assert.equal(
      line,
      '01JZ9GX4T0QW3N1V8R5Y7K2MHD: Thu 1 May 2031, 18:00–20:00 UTC+2, 0.8 mi, workshop: "Lantern workshop" at "Kulturhaus Mitte", cost "5 EUR", address "Auguststr. 21, 10117 Berlin", about "Bring scissors. Paper and glue are there."',
    );
    assert.match(hint!, /^get_event returns all fields/);
    assert.equal(more, 'More follow: call again with the same arguments and "cursor": "next"');
  });

  it('says whom an event is for, if it is not for all', () => {
    const [, line] = show([{ ...LANTERNS, audience: 'kids' }]);
    assert.match(line!, /, workshop, for kids: "/);
  });

  it('leaves out what there is not', () => {
    const bare = { end_local: null, distance_miles: undefined, cost: null, address: null, description: null };
    const [, line] = show([{ ...LANTERNS, ...bare }]);
    assert.equal(
      line,
      '01JZ9GX4T0QW3N1V8R5Y7K2MHD: Thu 1 May 2031, 18:00 UTC+2, workshop: "Lantern workshop" at "Kulturhaus Mitte"',
    );
  });

  it('marks an event that is cancelled, first of all', () => {
    const [, line] = show([{ ...LANTERNS, status: 'cancelled' }]);
    assert.match(line!, /^01JZ9GX4T0QW3N1V8R5Y7K2MHD: CANCELLED, Thu 1 May/);
    const [, other] = show([{ ...LANTERNS, status: 'scheduled' }]);
    assert.doesNotMatch(other!, /CANCELLED/);
  });

  it('shortens descriptions, then leaves them and addresses out, so that it stays short', () => {
    const long = { ...LANTERNS, description: 'Every word counts. '.repeat(50) };
    const about = (count: number) => {
      const lines = show(Array.from({ length: count }, () => long));
      return {
        bytes: Buffer.byteLength(lines.join('\n')),
        excerpt: /, about "(.*)"$/.exec(lines[1]!)?.[1]?.length ?? 0,
        hasAddress: lines[1]!.includes(', address "'),
      };
    };
    assert.ok(about(5).excerpt > 250 && about(5).hasAddress);
    const twenty = about(20);
    assert.ok(twenty.excerpt > 20 && twenty.excerpt < 150 && twenty.hasAddress, `${twenty.excerpt}`);
    assert.deepEqual([about(40).excerpt, about(40).hasAddress], [0, false]);
    for (const count of [1, 5, 20, 30]) assert.ok(about(count).bytes <= 6_000, `${count} events`);
  });

  it('has no line if there are no events', () => {
    assert.equal(
      showPage({ events: [], count: 0, total: 0, next_cursor: null }, WORDS),
      '0 matching events. Try again.',
    );
    const after = showPage({ events: [], count: 0, total: 3, next_cursor: null }, WORDS);
    assert.match(after, /^0 of 3 matching events, .*\nThere are no more pages\.$/);
  });
});

describe('the text of an event', () => {
  it('has all its fields, and its local times in words', () => {
    const { distance_miles, ...event } = LANTERNS;
    const [head, line] = showEvent(event, 'Found.').split('\n');
    assert.match(head!, /^Found\. The text of events/);
    const { when, ...fields } = JSON.parse(line!);
    assert.equal(when, 'Thu 1 May 2031, 18:00–20:00 Europe/Berlin (UTC+2)');
    assert.deepEqual(fields, EVENT_EXAMPLE);
  });

  it('says first of all that it is cancelled', () => {
    const [, line] = showEvent({ ...LANTERNS, status: 'cancelled' } as EventShown, 'Found.').split('\n');
    assert.match(line!, /^\{"event_id":"\w{26}","when":"CANCELLED, Thu 1 May 2031, /);
  });
});
