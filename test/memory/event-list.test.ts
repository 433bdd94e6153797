// The list of all events in memory, over several pieces of the columns: compared with a plain list, while events change, and given up.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readAllEvents } from '../../src/domain/administration/event-list.ts';
import { EVENT_TYPES } from '../../src/domain/events/event.ts';
import type { Words } from '../../src/domain/events/words.ts';
import { newUlid } from '../../src/domain/ids.ts';
import { toWire, type Wire } from '../../src/domain/wire.ts';
import { EventMemory } from '../../src/memory/event-memory.ts';
import type { IndexedEvent } from '../../src/memory/index-mapping.ts';
import { HOUR_MS, NOW_MS } from '../store/rows.ts';
import { Chance } from '../support/random.ts';
import { size } from '../support/sizes.ts';

/** More than two pieces. */
const EVENTS = 140_000;
const AGENTS = ['0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90', '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e91'];

interface Row {
  readonly id: string;
  readonly startMs: number;
  readonly createdMs: number;
  readonly type: (typeof EVENT_TYPES)[number];
  readonly agent: string;
  readonly words: string;
}

describe('the list of all events in memory', () => {
  const chance = new Chance(77);
  const rows = new Map<string, Row>();
  const memory = new EventMemory(1e9, {
    readEvents: async (wanted, apply) =>
      apply({
        ids: wanted.map(({ id }) => id),
        versions: wanted.map(() => 1),
        jsons: wanted.map(({ id }) => toWire(id)),
      }),
    catchUp: () => Promise.resolve(),
  });

  before(async () => {
    const loader = memory.loader(EVENTS, NOW_MS);
    for (let row = 1; row <= EVENTS; row++) {
      const createdMs = NOW_MS - chance.integer(0, 100_000) * 1_000;
      const made: Row = {
        id: newUlid(createdMs, (bytes) => bytes.map(() => chance.integer(0, 255))),
        startMs: NOW_MS + chance.integer(-1_000, 1_000) * HOUR_MS,
        createdMs,
        type: chance.pick(EVENT_TYPES),
        agent: chance.pick(AGENTS),
        words: `all${chance.chance(0.5) ? ' half' : ''}${chance.chance(0.001) ? ' rare' : ''}`,
      };
      rows.set(made.id, made);
      loader.add(indexedOf(made, row));
    }
    await loader.finish();
    const made = [...rows.values()];
    await memory.addWords(
      (async function* () {
        yield {
          ids: made.map(({ id }) => id),
          versions: made.map(() => 1),
          words: made.map(({ words }) => toWire(words) as Words),
        };
      })(),
    );
  });

  const indexedOf = ({ id, startMs, type, agent }: Row, row: number): IndexedEvent => ({
    row,
    id,
    version: 1,
    startMs,
    endMs: null,
    lat: 0,
    lng: 0,
    type,
    audience: 'all',
    status: 'scheduled',
    updatedMs: startMs,
    timezone: 'UTC',
    agentId: agent,
  });
  const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));

  it(`finds what ${size(10, 300)} random conditions say, in pages`, async () => {
    for (let count = 0; count < size(10, 300); count++) {
      const [q, agent_id] = [
        chance.pick([undefined, 'all', 'half', 'ha*', 'rare', 'all -half']),
        chance.pick(AGENTS),
      ];
      const createdMs = NOW_MS - chance.integer(0, 100_000) * 1_000;
      const when = chance.pick(['all', 'upcoming', 'past'] as const);
      const types = chance.some(EVENT_TYPES, 0.3);
      const hasTypes = chance.chance(0.3) && types.length > 0;
      const [hasAgent, hasCreated] = [chance.chance(0.3), chance.chance(0.3)];
      const sort = chance.pick(['start_at', '-start_at', 'created_at', '-created_at']);
      const asked = {
        ...(q && { q }),
        ...(hasAgent && { agent_id }),
        ...(hasTypes && { event_type: types }),
        ...(hasCreated && { created_after: new Date(createdMs).toISOString() }),
        ...{ when, sort, limit: chance.pick([1, 50, 100]) },
      };
      const matching = [...rows.values()].filter(
        (row) =>
          (q === undefined || hasWords(row, q)) &&
          (!hasAgent || row.agent === agent_id) &&
          (!hasTypes || types.includes(row.type)) &&
          (!hasCreated || row.createdMs >= createdMs) &&
          (when === 'all' || row.startMs + 3 * HOUR_MS <= NOW_MS === (when === 'past')),
      );
      matching.sort((a, b) => (sort.endsWith('start_at') ? a.startMs - b.startMs : 0) || compare(a.id, b.id));
      if (sort.startsWith('-')) matching.reverse();
      let after: ReturnType<typeof readAllEvents>['after'];
      for (let page = 0; page < 3; page++) {
        const found = await memory.list({ ...readAllEvents(asked), after }, NOW_MS);
        const expected = matching.slice(page * asked.limit, (page + 1) * asked.limit).map(({ id }) => id);
        assert.deepEqual(found.items, expected, JSON.stringify(asked));
        assert.equal(found.total, matching.length, JSON.stringify(asked));
        assert.equal(found.next !== undefined, matching.length > (page + 1) * asked.limit);
        if (!found.next) break;
        // From a position far away, too.
        const far = chance.pick(matching);
        after = page === 0 ? found.next : undefined;
        const value = sort.endsWith('start_at') ? far.startMs : far.id;
        const rest = await memory.list({ ...readAllEvents(asked), after: { value, id: far.id } }, NOW_MS);
        const from = matching.indexOf(far) + 1;
        assert.deepEqual(
          rest.items,
          matching.slice(from, from + asked.limit).map(({ id }) => id),
        );
        if (!after) break;
      }
    }
  });

  it('lists only events that exist, while others come and go', async () => {
    const newest = [...rows.keys()].toSorted(compare).toReversed();
    const gone = new Set<string>();
    for (let round = 0; round < 20; round++) {
      const listing = memory.list(readAllEvents({ limit: 100, q: 'ha*' }), NOW_MS);
      let isDone = false;
      const changes = (async () => {
        while (!isDone) {
          await nextTurn();
          const id = newest[gone.size]!;
          memory.remove(id);
          gone.add(id);
        }
      })();
      const { items, total } = await listing.finally(() => {
        isDone = true;
      });
      const before = new Set(gone);
      await changes;
      assert.equal(new Set(items).size, 100);
      for (const id of items as readonly Wire[])
        assert.ok(before.has(id) === false, 'an event that was removed');
      assert.ok(total <= EVENTS - round);
    }
    assert.ok(gone.size >= 20);
  });

  it('ends when nobody waits any more', async () => {
    for (const asked of [{}, { q: 'al*' }, { q: 'half' }]) {
      const control = new AbortController();
      const reason = new Error('left');
      const listing = assert.rejects(
        memory.list(readAllEvents(asked), NOW_MS, control.signal),
        (error) => error === reason,
      );
      control.abort(reason);
      await listing;
    }
  });
});

function hasWords({ words }: Row, q: string): boolean {
  if (q === 'all -half') return !words.includes('half');
  return words.includes(q.replace('*', ''));
}
