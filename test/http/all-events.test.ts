// The events of all agents over HTTP, on both engines: the list, one event, and a search whose client leaves.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import type { Query } from '../acceptance/json-client.ts';
import { type Answer, assertError, assertInvalid, type Client } from '../support/client.ts';
import { ENGINES } from '../support/engines.ts';
import { newDatabase } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';

const PATH = '/v1/admin/events';

for (const engine of ['sqlite', 'postgres'] as const) {
  describe(`events of all agents on ${engine}`, () => {
    let service: TestService;
    let administrator: Client;
    let owner: Client;
    const created: { event_id: string; agent_id: string; lat: number; lng: number }[] = [];

    before(async () => {
      service = await startTestService(await ENGINES[engine]());
      administrator = await service.newAdministrator('ada@example.com');
      const [anna, bob] = [await service.client.register('Änna "A"'), await service.client.register('Bob')];
      created.push(
        await anna.create({ title: 'Jazz', start_at: '2031-05-03T18:00:00Z', event_type: 'talk' }),
      );
      created.push(
        await bob.create({ title: 'Jazz brunch', start_at: '2031-05-01T18:00:00Z', event_type: 'game' }),
      );
      created.push(await bob.create({ title: 'Over', start_at: '2020-05-01T18:00:00Z', address: 'Main St' }));
      owner = bob;
      await bob.patch(`/v1/events/${created[1]!.event_id}`, { status: 'cancelled' });
    });
    after(() => service.close());

    const list = async (query: Query = {}): Promise<Answer['body']> => {
      const { status, body, text } = await administrator.get(PATH, query);
      assert.equal(status, 200, text);
      return body;
    };
    const titles = async (query: Query) =>
      (await list(query)).events.map(({ title }: { title: string }) => title);

    describe(`GET ${PATH} with filters`, () => {
      it('finds by status, by the last change and near a place', async () => {
        assert.deepEqual(await titles({ status: 'cancelled' }), ['Jazz brunch']);
        assert.deepEqual(await titles({ status: 'scheduled', sort: 'created_at' }), ['Jazz', 'Over']);
        assert.equal((await titles({ status: 'any' })).length, 3);
        const { body } = await owner.get(`/v1/events/${created[1]!.event_id}`, { include: 'updated_at' });
        const changed = await titles({ updated_after: body.updated_at });
        assert.ok(changed.includes('Jazz brunch') && !changed.includes('Jazz'), String(changed));
        assert.deepEqual(await titles({ updated_after: '2020-01-01T00:00:00Z', q: 'over' }), ['Over']);
        assert.deepEqual(await titles({ updated_after: '2100-01-01T00:00:00Z' }), []);
        const { lat, lng } = created[0]!;
        assert.equal((await list({ lat, lng, radius: 1 })).total, 3);
        assert.equal((await list({ lat: lat - 1, lng, radius: 50 })).total, 0);
      });

      it('counts the agents only if asked', async () => {
        const body = await list({ include: 'agent_count' });
        assert.deepEqual(Object.keys(body), ['events', 'total', 'agent_count', 'next_cursor']);
        assert.equal(body.agent_count, 2);
        assert.equal((await list({ q: 'over', include: 'agent_count' })).agent_count, 1);
        assert.equal((await list({ q: 'brunch -jazz', include: 'agent_count' })).agent_count, 0);
      });

      it('wants the whole circle', async () => {
        for (const [query, missing] of [
          [{ lat: 1 }, ['lng', 'radius']],
          [{ lat: 1, lng: 1 }, ['radius']],
          [{ radius: 5, lat: 1 }, ['lng']],
        ] as const) {
          const issues = assertInvalid(await administrator.get(PATH, query));
          assert.deepEqual(
            issues,
            missing.map((name) => `query.${name}: missing`),
          );
        }
        assertInvalid(await administrator.get(PATH, { lat: 91, lng: 1, radius: 5 }));
        assertInvalid(await administrator.get(PATH, { status: 'ended' }));
      });
    });

    describe(`GET ${PATH}`, () => {
      it('returns the events as in the list of their agent, with agent_name', async () => {
        const body = await list();
        assert.deepEqual(Object.keys(body), ['events', 'total', 'next_cursor']);
        assert.deepEqual([body.total, body.next_cursor], [3, null]);
        for (const { agent_name, ...event } of body.events) {
          const own = await administrator.get(`/v1/admin/agents/${event.agent_id}/events`);
          assert.equal(agent_name, own.body.agent.agent_name);
          assert.deepEqual(
            event,
            own.body.events.find((other: { event_id: string }) => other.event_id === event.event_id),
          );
        }
        assert.equal(
          body.events.find(({ title }: { title: string }) => title === 'Jazz').agent_name,
          'Änna "A"',
        );
      });

      it('combines words, agent, type, time of creation and time', async () => {
        const [jazz, brunch] = created;
        assert.deepEqual(await titles({ q: 'JAZZ', sort: 'start_at' }), ['Jazz brunch', 'Jazz']);
        assert.deepEqual(await titles({ q: 'jazz -brun*' }), ['Jazz']);
        assert.deepEqual(await titles({ q: brunch!.event_id }), ['Jazz brunch']);
        assert.deepEqual(await titles({ q: 'main' }), ['Over']);
        assert.deepEqual(await titles({ agent_id: jazz!.agent_id.toUpperCase() }), ['Jazz']);
        assert.deepEqual(await titles({ event_type: ['game', 'tour'] }), ['Jazz brunch']);
        assert.deepEqual(await titles({ when: 'past' }), ['Over']);
        assert.deepEqual(await titles({ when: 'upcoming', sort: '-start_at' }), ['Jazz', 'Jazz brunch']);
        assert.deepEqual(await titles({ created_after: '2031-01-01T00:00:00Z' }), []);
        assert.equal((await titles({ created_after: '2020-01-01T00:00:00' })).length, 3);
        assert.deepEqual(await titles({ agent_id: '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90' }), []);
      });

      it('continues with next_cursor, and only with the same sort', async () => {
        const first = await list({ limit: 2, sort: 'start_at' });
        const second = await list({ limit: 2, sort: 'start_at', cursor: first.next_cursor });
        const found = [...first.events, ...second.events].map(({ title }: { title: string }) => title);
        assert.deepEqual(found, ['Over', 'Jazz brunch', 'Jazz']);
        assert.deepEqual([first.total, second.total, second.next_cursor], [3, 3, null]);
        const other = await administrator.get(PATH, { cursor: first.next_cursor });
        assert.deepEqual(assertInvalid(other), ['query.cursor: value_error']);
      });

      it('refuses invalid parameters', async () => {
        const refused: [Query, string[]][] = [
          [{ q: '' }, ['query.q: string_too_short']],
          [{ q: '-jazz' }, ['query.q: value_error']],
          [{ q: 'a*' }, ['query.q: value_error']],
          [{ sort: 'title' }, ['query.sort: enum']],
          [{ limit: 101 }, ['query.limit: less_than_equal']],
          [{ agent_id: '1' }, ['query.agent_id: uuid_parsing']],
          [{ event_type: 'party' }, ['query.event_type.0: enum']],
          [{ created_after: 'yesterday' }, ['query.created_after: datetime_parsing']],
          [{ created_after: '0000-01-01T00:00:00Z' }, ['query.created_after: datetime_parsing']],
          [{ when: 'now', cursor: 'x' }, ['query.when: enum', 'query.cursor: value_error']],
        ];
        for (const [query, issues] of refused)
          assert.deepEqual(
            assertInvalid(await administrator.get(PATH, query)),
            issues,
            JSON.stringify(query),
          );
      });
    });

    describe(`GET ${PATH}/{event_id}`, () => {
      it('returns the event with agent_name, also if it is cancelled', async () => {
        const { events } = await list({ q: 'brunch' });
        const { status, body } = await administrator.get(`${PATH}/${created[1]!.event_id}`);
        assert.equal(status, 200);
        assert.deepEqual(body, events[0]);
        assert.deepEqual([body.agent_name, body.status], ['Bob', 'cancelled']);
      });

      it('is a 404 for an unknown ID', async () => {
        for (const id of ['01JZ9GX4T0QW3N1V8R5Y7K2MHD', 'x'])
          assertError(await administrator.get(`${PATH}/${id}`), 404, 'NOT_FOUND');
      });
    });
  });
}

describe('a search by SQL whose client leaves', () => {
  it('ends in the database, and the service goes on', async () => {
    const url = await newDatabase();
    const service = await startTestService({ DATABASE_URL: url, SEARCH: 'database' });
    const [lock, other] = [postgres(url, { max: 1 }), postgres(url, { max: 1 })];
    try {
      const administrator = await service.newAdministrator('ada@example.com');
      assert.equal((await administrator.get(PATH)).status, 200);
      const countSearches = async () =>
        (
          await other`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%agent_name FROM (SELECT%'
          AND pid <> pg_backend_pid() AND datname = current_database()`
        ).length;
      const until = async (count: number) => {
        for (let tries = 0; (await countSearches()) !== count; tries++) {
          assert.ok(tries < 400, `not ${count} searches`);
          await sleep(25);
        }
      };
      // A lock makes searches wait as long as the test needs.
      await lock`BEGIN`;
      await lock`LOCK TABLE agents IN ACCESS EXCLUSIVE MODE`;
      const searches = ['ja', 'jaz'].map((q) => {
        const search = request(`${service.url}${PATH}?q=${q}*`, { headers: administrator.headers });
        search.on('error', () => {});
        search.end();
        return search;
      });
      await until(2);
      for (const search of searches) search.destroy();
      await until(0);
      await lock`ROLLBACK`;
      assert.equal((await administrator.get(PATH, { q: 'jazz' })).status, 200);
    } finally {
      await Promise.all([lock.end(), other.end()]);
      await service.close();
    }
  });
});
