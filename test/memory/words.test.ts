// Searches by words in memory, compared with a plain list: while events are created, changed, hidden and deleted, with words that
// many events have and words that only one has, with places, times and types, page by page.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EVENT_TYPES, type EventRow, encodeEvent, endsMs } from '../../src/domain/events/event.ts';
import { readNearby } from '../../src/domain/events/nearby.ts';
import { wordsOf } from '../../src/domain/events/words.ts';
import { toWire } from '../../src/domain/wire.ts';
import type { EventStorage } from '../../src/memory/event-lookup.ts';
import { EventMemory } from '../../src/memory/event-memory.ts';
import { WordIndex } from '../../src/words/word-index.ts';
import { HOUR_MS, NOW_MS, newAgentRow, newEventRow } from '../store/rows.ts';
import { Chance } from '../support/random.ts';
import { size } from '../support/sizes.ts';
import { oracleMatches, oracleWords, randomSearch, randomText } from '../support/words-oracle.ts';

const ROUNDS = size(30, 1_500);
const CHANGES_PER_ROUND = 40;
const SEARCHES_PER_ROUND = size(10, 20);

/** The cache has everything. */
const NO_STORAGE: EventStorage = {
  readEvents: () => Promise.reject(new Error('not cached')),
  catchUp: () => Promise.resolve(),
};

interface Stored {
  readonly row: EventRow;
  readonly words: ReadonlySet<string>;
}

describe(`${ROUNDS * SEARCHES_PER_ROUND} searches by words in memory`, () => {
  const chance = new Chance(16);
  const memory = new EventMemory(1e9, NO_STORAGE, undefined, { hashSeed: 7 });
  const agents = Array.from({ length: 4 }, () => newAgentRow());
  const stored = new Map<string, Stored>();
  let rowId = 0;
  let nowMs = NOW_MS;

  function newRow(fields: Partial<EventRow> = {}): EventRow {
    const start_ms = nowMs + chance.integer(-5, 100) * HOUR_MS;
    const common = chance.pick(['', '', '', ' common', ' common, common']);
    const unique = `unique${chance.integer(0, 1e9)}`;
    return newEventRow(chance.pick(agents), {
      title: `${randomText(chance)}${common} ${unique}${chance.pick(['', ` ${unique}`])}`,
      description: chance.chance(0.5) ? randomText(chance) : null,
      location_name: randomText(chance),
      address: chance.chance(0.5) ? randomText(chance) : null,
      start_ms,
      end_ms: chance.chance(0.3) ? start_ms + HOUR_MS * chance.integer(1, 50) : null,
      lat: chance.between(50, 52),
      lng: chance.between(10, 13),
      event_type: chance.pick(EVENT_TYPES.slice(0, 3)),
      ...fields,
    });
  }

  function put(row: EventRow, number: number | undefined): void {
    memory.put(row, encodeEvent(row), number, wordsOf(row));
    const { title, description, location_name, address } = row;
    stored.set(row.event_id, { row, words: oracleWords([title, description, location_name, address]) });
  }

  function change(): void {
    const kind = chance.next();
    const old = chance.pick([...stored.values()])?.row;
    if (kind < 0.55 || !old) put(newRow(), ++rowId);
    else if (kind < 0.75) put(newRow({ event_id: old.event_id, version: old.version + 1 }), undefined);
    else if (kind < 0.95) {
      memory.remove(old.event_id);
      stored.delete(old.event_id);
    } else if (kind < 0.985) {
      const some = chance.some([...stored.keys()], 0.05);
      memory.removeMany(Buffer.from(some.join(',')));
      for (const id of some) stored.delete(id);
    } else {
      const { agent_id } = chance.pick(agents);
      memory.removeEventsOf(agent_id, rowId);
      // The fake agent's rows are not known here: removes none of other owners.
      for (const [id, { row }] of stored) if (row.agent_id === agent_id) stored.delete(id);
    }
  }

  async function compare(): Promise<void> {
    const q = chance.chance(0.25)
      ? chance.pick(['common', 'comm*', 'unique*', 'common -un*', 'un* -common'])
      : randomSearch(chance);
    const isRefused = oracleMatches(q, new Set()) === undefined;
    if (isRefused) return;
    const parameters = {
      lat: 51,
      lng: 11.5,
      q,
      limit: chance.pick([1, 5, 100]),
      ...(chance.chance(0.5) && { radius: chance.pick([10, 40, 100]) }),
      ...(chance.chance(0.3) && { event_type: [EVENT_TYPES[0], EVENT_TYPES[1]] }),
      ...(chance.chance(0.3) && { starts_after: new Date(nowMs + 20 * HOUR_MS).toISOString() }),
    };
    const query = readNearby(parameters, 'query');
    const everything = { ...query, terms: undefined };
    const candidates = await memoryIds(everything);
    const expected = candidates.filter((id) => oracleMatches(q, stored.get(id)!.words));
    const found: string[] = [];
    for (let after = query.after; ; ) {
      const page = await memory.search({ ...query, after }, nowMs);
      assert.equal(page.total, expected.length, JSON.stringify(parameters));
      found.push(...page.events.map((json) => (JSON.parse(json) as { event_id: string }).event_id));
      if (!page.next) break;
      after = page.next;
    }
    assert.deepEqual(found, expected, JSON.stringify(parameters));
  }

  /** All events of a search without words, which other tests compare with a plain list. */
  async function memoryIds(query: ReturnType<typeof readNearby>): Promise<string[]> {
    const ids: string[] = [];
    const { terms: _, ...rest } = query;
    for (let after = query.after; ; ) {
      const page = await memory.search({ ...rest, terms: undefined, limit: 100, after }, nowMs);
      ids.push(...page.events.map((json) => (JSON.parse(json) as { event_id: string }).event_id));
      if (!page.next) return ids;
      after = page.next;
    }
  }

  it('find what a plain list has', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      for (let count = 0; count < CHANGES_PER_ROUND; count++) change();
      if (chance.chance(0.2)) nowMs += chance.integer(0, 10) * HOUR_MS;
      for (let count = 0; count < SEARCHES_PER_ROUND; count++) await compare();
    }
    const upcoming = [...stored.values()].filter(({ row }) => endsMs(row) > nowMs).length;
    assert.equal(memory.countUpcoming(nowMs), upcoming);
  });

  it('wait until the words of loaded events were read; until then, little room is left for others', async () => {
    const loaded = new EventMemory(1e6, NO_STORAGE, undefined, { indexMaxBytes: 2 ** 24, keepsWords: true });
    const row = newEventRow(agents[0]!, { title: 'jazz' });
    const loader = loaded.loader(1, NOW_MS);
    loader.add({
      row: 1,
      id: row.event_id,
      version: 1,
      startMs: row.start_ms,
      endMs: null,
      lat: row.lat,
      lng: row.lng,
      type: row.event_type,
      audience: row.audience,
      status: row.status,
      updatedMs: row.updated_ms,
      timezone: row.timezone,
      agentId: row.agent_id,
    });
    await loader.finish();
    const search = loaded.search(readNearby({ lat: 0, lng: 0, q: 'jazz' }, 'query'), NOW_MS);
    let isFound = false;
    void search.then(
      () => {
        isFound = true;
      },
      () => {},
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(isFound, false);
    const batches = async function* () {
      yield { ids: [row.event_id], versions: [1], words: [wordsOf(row)] };
    };
    const many = toWire(Array.from({ length: 10_000 }, (_, at) => `w${at}`).join(' '));
    assert.equal(loaded.reserveWords(row.agent_id, many), undefined, 'there may be no room for so many');
    assert.ok(loaded.reserveWords(row.agent_id, toWire('a few words')));
    await loaded.addWords(batches());
    await assert.rejects(search, /not cached/); // it was found, and would now be read
    assert.ok(loaded.reserveWords(row.agent_id, many));
  });
});

describe('a search by words', () => {
  const agents = [newAgentRow(), newAgentRow()] as const;
  const find = (memory: EventMemory, q: string) =>
    memory.search(readNearby({ lat: 0, lng: 0, q }, 'query'), NOW_MS);
  const fill = (
    memory: EventMemory,
    agent: (typeof agents)[number],
    count: number,
    text: (n: number) => string,
  ) => {
    for (let number = 1; number <= count; number++) {
      const row = newEventRow(agent, { description: text(number) });
      memory.put(row, encodeEvent(row), number, wordsOf(row));
    }
  };

  it('finds no event of an agent whose events were removed, while they leave the index', async () => {
    const memory = new EventMemory(1e9, NO_STORAGE);
    fill(memory, agents[0], 400, (number) => (number % 30 === 0 ? 'jazz' : 'other'));
    fill(memory, agents[1], 700, () => 'other');
    memory.removeEventsOf(agents[0].agent_id, 400);
    for (let count = 0; count < 5; count++) {
      assert.equal((await find(memory, 'jazz')).total, 0);
      await new Promise(setImmediate);
    }
  });

  it('counts no event that was removed before a search for a prefix began', async () => {
    const memory = new EventMemory(1e9, NO_STORAGE);
    const own = (number: number) => Array.from({ length: 900 }, (_, at) => `ja${number}x${at}`).join(' ');
    fill(memory, agents[0], 60, own);
    const last = newEventRow(agents[0], { description: 'ja' });
    memory.put(last, encodeEvent(last), 61, wordsOf(last));
    memory.remove(last.event_id);
    for (let count = 0; count < 3; count++) assert.equal((await find(memory, 'ja*')).total, 60);
  });

  it('sees all or nothing of changes that belong together', async () => {
    const memory = new EventMemory(1e9, NO_STORAGE);
    fill(memory, agents[0], 50, (number) =>
      Array.from({ length: 900 }, (_, at) => `ja${number}x${at}`).join(' '),
    );
    const searches: Promise<{ total: number }>[] = [];
    await memory.changeTogether(async () => {
      for (let number = 51; number <= 60; number++) {
        searches.push(find(memory, 'ja*'));
        const row = newEventRow(agents[0], { description: 'jam' });
        memory.put(row, encodeEvent(row), number, wordsOf(row));
        for (let turns = 0; turns < 40; turns++) await new Promise(setImmediate);
      }
    });
    for (const { total } of await Promise.all(searches)) assert.ok(total === 60, `${total}`);
  });
});

describe('words that need too much memory', () => {
  it('make a search fail that has begun before', async () => {
    const memory = new EventMemory(1e9, NO_STORAGE, undefined, { hashSeed: 1, indexMaxBytes: 5_000_000 });
    const agent = newAgentRow();
    const put = (number: number) => {
      const description = Array.from({ length: 1_000 }, (_, at) => `ja${number}x${at}`).join(' ');
      const row = newEventRow(agent, { description });
      memory.put(row, encodeEvent(row), number, wordsOf(row));
    };
    for (let number = 1; number < 30; number++) put(number);
    const search = memory.search(readNearby({ lat: 0, lng: 0, q: 'ja*' }, 'query'), NOW_MS);
    for (let number = 30; number < 200; number++) put(number);
    await assert.rejects(search, { code: 'OVERLOADED' });
  });

  it('make searches by words fail, and no others, and are reported once', async () => {
    let reports = 0;
    const onWordsProblem = () => reports++;
    const options = { hashSeed: 1, indexMaxBytes: 5_000_000, onWordsProblem };
    const memory = new EventMemory(1e9, NO_STORAGE, undefined, options);
    const search = (q: Record<string, string>) =>
      memory.search(readNearby({ lat: 0, lng: 0, ...q }, 'query'), NOW_MS);
    const agent = newAgentRow();
    const put = (number: number, description: string) => {
      const row = newEventRow(agent, { description });
      memory.put(row, encodeEvent(row), number, wordsOf(row));
    };
    put(1, 'jazz');
    assert.equal((await search({ q: 'jazz' })).total, 1);
    for (let number = 2; number < 100; number++)
      put(number, Array.from({ length: 1_000 }, (_, at) => `${number}x${at}`).join(' '));
    await assert.rejects(search({ q: 'jazz' }), { code: 'OVERLOADED' });
    assert.equal(reports, 1);
    assert.equal((await search({})).total, 99);
    put(100, 'more');
    memory.removeEventsOf(agent.agent_id, 100);
    assert.equal((await search({})).total, 0);
    assert.equal(memory.knowsWords, false);
  });
});

describe('an index of words', () => {
  const chance = new Chance(3);
  const find = (index: WordIndex, q: string) => {
    const steps = index.find(readNearby({ lat: 0, lng: 0, q }, 'query').terms!);
    for (let turns = 0; ; turns++) {
      const step = steps.next();
      if (step.done) return { size: step.value.size, turns };
    }
  };

  it('keeps no more room than it needs while words come and go for ever', () => {
    const index = new WordIndex(1);
    const fill = (round: number) => {
      // Other lengths in every round, so that no old room fits.
      for (let handle = 1; handle <= 500; handle++) {
        const words = Array.from(
          { length: 40 },
          (_, at) => `${'x'.repeat(round % 23)}${round}w${handle}a${at}`,
        );
        index.put(handle, toWire(words.join(' ')));
      }
    };
    for (let round = 0; round < size(12, 30); round++) fill(round);
    const bytes = index.bytes;
    for (let round = 30; round < size(36, 1_000); round++) fill(round);
    assert.ok(index.bytes < 1.5 * bytes, `${bytes} ${index.bytes}`);
    assert.equal(index.size, 500 * 40);
    for (let handle = 1; handle <= 500; handle++) index.drop(handle);
    while (!index.isSettled) index.settle();
    assert.equal(index.size, 0);
  });

  it(`needs few bytes for each of ${size(200_000, 2_000_000)} words that only one event has, and pauses in a search for a prefix of all`, () => {
    const index = new WordIndex(1);
    const words = size(200_000, 2_000_000);
    for (let handle = 1; handle <= words / 1_000; handle++) {
      const own = Array.from({ length: 1_000 }, (_, at) => `aa${(handle * 1_000 + at).toString(36)}`);
      index.put(handle, toWire(own.join(' ')));
    }
    assert.equal(index.size, words);
    assert.ok(index.bytes / words < size(65, 55), `${index.bytes / words}`);
    const { size: found, turns } = find(index, 'aa*');
    assert.equal(found, words / 1_000);
    assert.ok(turns >= words / 50_000, `${turns}`);
  });

  it('counts an event once, however often it has a word: few events, most of them, and few again', () => {
    const index = new WordIndex(1);
    const EVENTS = 4_000;
    const words = toWire('common  common once common');
    for (let handle = 1; handle <= EVENTS; handle++) {
      index.put(handle, words);
      index.put(handle, words); // changed, with the same words
      if (handle % 100 === 0) assert.equal(find(index, 'common').size, handle);
    }
    for (let handle = 1; handle <= EVENTS; handle++) {
      index.drop(handle);
      if (handle % 100 !== 0) continue;
      while (!index.isSettled) index.settle();
      assert.equal(find(index, 'common').size, EVENTS - handle);
    }
    assert.equal(index.size, 0);
  });

  it('finds events that change during a search as they are at its end', () => {
    const index = new WordIndex(1);
    for (let handle = 1; handle <= 100; handle++) {
      const own = Array.from({ length: 1_000 }, (_, at) => `aa${handle}b${at}`);
      index.put(handle, toWire(own.join(' ')));
    }
    const steps = index.find(readNearby({ lat: 0, lng: 0, q: 'aa* -bb' }, 'query').terms!);
    let step = steps.next();
    const expected = new Set(Array.from({ length: 100 }, (_, at) => at + 1));
    for (let next = 101; !step.done; next++) {
      const handle = chance.integer(1, 100);
      if (chance.chance(0.3)) {
        index.drop(handle);
        expected.delete(handle);
      } else if (chance.chance(0.5)) {
        index.put(handle, toWire('aa1b1 bb'));
        expected.delete(handle);
      } else {
        index.put(next, toWire('aax'));
        expected.add(next);
      }
      index.settle();
      step = steps.next();
    }
    assert.equal(step.value.size, expected.size);
  });

  it('finds two words, whichever of them has bits and whichever a list', () => {
    const index = new WordIndex(1);
    index.reserve(60_000);
    for (let handle = 1; handle <= 2_200; handle++) index.put(handle, toWire('jazz'));
    for (let handle = 2_201; handle <= 65_536; handle++) index.put(handle, toWire('other'));
    // The index has grown: the same number of events is a list now.
    for (let handle = 65_537; handle <= 68_037; handle++) index.put(handle, toWire('brunch'));
    for (let handle = 2_001; handle <= 2_200; handle++) index.put(handle, toWire('jazz brunch'));
    assert.equal(find(index, 'jazz brunch').size, 200);
    assert.equal(find(index, 'brunch jazz').size, 200);
    assert.equal(find(index, 'other -jazz -brunch').size, 65_536 - 2_200);
    for (let handle = 1; handle <= 1_500; handle++) index.put(handle, toWire('gone'));
    assert.equal(find(index, 'jazz brunch').size, 200);
  });

  it('finds words of a part of all events with any other word', () => {
    const index = new WordIndex(1);
    const events = 70_000;
    for (let handle = 1; handle <= events; handle++)
      index.put(handle, toWire(`all ${handle % 2 ? 'odd' : 'even'} m${handle % 1_000} n${handle}`));
    assert.equal(find(index, 'all').size, events);
    assert.equal(find(index, 'all odd').size, events / 2);
    assert.equal(find(index, 'all -odd').size, events / 2);
    assert.equal(find(index, 'odd m1').size, events / 1_000);
    assert.equal(find(index, 'even m1').size, 0);
    assert.equal(find(index, 'm1 n1').size, 1);
    assert.equal(find(index, 'od* -m1').size, events / 2 - events / 1_000);
    assert.equal(find(index, 'all -m1 -m2 -m3 -m4 -m5 -m6 -m7').size, events - 7 * (events / 1_000));
    for (let handle = 1; handle <= events; handle += 2) index.put(handle, toWire('other'));
    assert.equal(find(index, 'all').size, events / 2);
    assert.equal(find(index, 'odd').size, 0);
    assert.equal(find(index, 'all -even').size, 0);
    for (let handle = 2; handle <= events - 1_000; handle += 2) index.drop(handle);
    assert.equal(find(index, 'all').size, 500);
    while (!index.isSettled) index.settle();
    assert.equal(find(index, 'all even').size, 500);
  });
});
