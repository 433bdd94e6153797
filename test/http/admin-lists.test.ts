// Paged lists, the audit log and statistics over HTTP, on both engines. Without a paging parameter the two lists have
// exactly the fields of the interface.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answer, assertError, assertInvalid, type Client, type Query } from '../support/client.ts';
import { newDatabase } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';

const UNKNOWN = '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90';
const NAMES = ['émile', 'Zoë', 'anna', 'ÉMILE', 'Bob 100%', 'bob_2'];

describeLists('sqlite', async () => ({}));
describeLists('postgres', async () => ({ DATABASE_URL: await newDatabase() }));

function describeLists(engine: string, data: () => Promise<Record<string, string>>): void {
  describe(`on ${engine}`, () => {
    let service: TestService;
    let administrator: Client;
    let agents: Client[];
    let agentId: string;
    let path: string;
    before(async () => {
      service = await startTestService(await data());
      administrator = await service.newAdministrator('ada@example.com');
      agents = [];
      for (const name of NAMES) agents.push(await service.client.register(name));
      const titles = ['Jazz', 'apéro', 'Chess', 'APÉRO 2'];
      for (const [at, title] of titles.entries()) {
        const fields = {
          title,
          start_at: `203${at}-05-01T18:00:00Z`,
          location_name: `hall ${at}`,
          address: null,
        };
        ({ agent_id: agentId } = await agents[0]!.create(fields));
      }
      await agents[0]!.create({ title: 'over', start_at: '2020-05-01T18:00:00Z', address: 'Main "St"' });
      path = `/v1/admin/agents/${agentId}/events`;
    });
    after(() => service.close());

    const ok = ({ status, body, text }: Answer) => {
      assert.equal(status, 200, text);
      return body;
    };
    const names = (body: Answer['body']) =>
      body.agents.map(({ agent_name }: { agent_name: string }) => agent_name);
    const titles = (body: Answer['body']) => body.events.map(({ title }: { title: string }) => title);
    const list = async (query: Query) => ok(await administrator.get('/v1/admin/agents', query));
    const listEvents = async (query: Query) => ok(await administrator.get(path, query));

    describe('GET /v1/admin/agents', () => {
      it('returns the whole list of the interface when no known parameter is sent', async () => {
        for (const query of [{}, { page: 2, when: 'past' }]) {
          const body = await list(query);
          assert.deepEqual(Object.keys(body), ['agents', 'total']);
          assert.deepEqual([names(body), body.total], [NAMES, NAMES.length]);
        }
      });

      it('returns a page when any parameter is sent, even an empty q', async () => {
        const whole = await list({});
        for (const query of [{ limit: 100 }, { q: '' }, { sort: 'created_at' }] as Query[]) {
          const body = await list(query);
          assert.deepEqual(body, { ...whole, next_cursor: null });
        }
      });

      it('continues with next_cursor until it is null', async () => {
        const query = { limit: 4, sort: '-agent_name' };
        const first = await list(query);
        assert.deepEqual(names(first), ['ÉMILE', 'émile', 'Zoë', 'bob_2']); // é comes after z: bytes decide
        const second = await list({ ...query, cursor: first.next_cursor });
        assert.deepEqual(names(second), ['Bob 100%', 'anna']);
        assert.deepEqual([first.total, second.total, second.next_cursor], [6, 6, null]);
      });

      const searches: [q: string, found: string[]][] = [
        ['ÉMI', ['émile', 'ÉMILE']],
        ['%', ['Bob 100%']],
        ['_', ['bob_2']],
        ['AGENT@example', NAMES],
        ['nobody', []],
      ];
      for (const [q, found] of searches) {
        it(`finds ${q} literally, in any case`, async () => {
          const body = await list({ q });
          assert.deepEqual([names(body), body.total], [found, found.length]);
        });
      }

      it('finds an agent by its ID', async () => {
        assert.deepEqual(names(await list({ q: agentId.toUpperCase() })), ['émile']);
      });

      it('refuses invalid parameters, and the cursor of another list or sort', async () => {
        const { next_cursor } = await list({ limit: 1 });
        const refused: [Query, string[]][] = [
          [{ sort: 'name' }, ['query.sort: enum']],
          [{ sort: '' }, ['query.sort: enum']],
          [{ limit: 0 }, ['query.limit: greater_than_equal']],
          [{ limit: '1e1' }, ['query.limit: int_parsing']],
          [{ limit: 101, q: 'x'.repeat(201) }, ['query.limit: less_than_equal', 'query.q: string_too_long']],
          [{ q: ['a', 'b'] }, ['query.q: value_error']],
          [{ cursor: '' }, ['query.cursor: value_error']],
          [{ cursor: 'nonsense' }, ['query.cursor: value_error']],
          [{ cursor: next_cursor, sort: '-created_at' }, ['query.cursor: value_error']],
        ];
        for (const [query, issues] of refused) {
          assert.deepEqual(assertInvalid(await administrator.get('/v1/admin/agents', query)), issues);
        }
        const foreign = await administrator.get(path, { cursor: next_cursor, sort: 'created_at' });
        assert.deepEqual(assertInvalid(foreign), ['query.cursor: value_error']);
      });
    });

    describe('GET /v1/admin/agents/{agent_id}/events', () => {
      it('returns the whole list of the interface when no known parameter is sent', async () => {
        const body = await listEvents({});
        assert.deepEqual(Object.keys(body), ['agent', 'events']);
        assert.deepEqual(titles(body), ['over', 'Jazz', 'apéro', 'Chess', 'APÉRO 2']);
      });

      it('returns a page when any parameter is sent', async () => {
        const whole = await listEvents({});
        for (const query of [{ limit: 5 }, { q: '' }, { sort: 'start_at' }, { when: 'all' }] as Query[]) {
          assert.deepEqual(await listEvents(query), { ...whole, total: 5, next_cursor: null });
        }
      });

      it('continues with next_cursor until it is null', async () => {
        const query = { limit: 3, sort: 'title' };
        const first = await listEvents(query);
        assert.deepEqual(titles(first), ['apéro', 'APÉRO 2', 'Chess']);
        const second = await listEvents({ ...query, cursor: first.next_cursor });
        assert.deepEqual(titles(second), ['Jazz', 'over']);
        assert.deepEqual([first.total, second.total, second.next_cursor], [5, 5, null]);
      });

      it('filters by past, by upcoming and by search text', async () => {
        assert.deepEqual(titles(await listEvents({ when: 'past' })), ['over']);
        assert.deepEqual(titles(await listEvents({ when: 'upcoming', sort: '-created_at' })), [
          'APÉRO 2',
          'Chess',
          'apéro',
          'Jazz',
        ]);
        assert.deepEqual(titles(await listEvents({ q: 'APÉRO' })), ['apéro', 'APÉRO 2']);
        assert.deepEqual(titles(await listEvents({ q: 'HALL 2' })), ['Chess']);
        assert.deepEqual(titles(await listEvents({ q: 'main "st"' })), ['over']);
        assert.deepEqual(titles(await listEvents({ q: 'apéro', when: 'past' })), []);
      });

      it('reports errors in path and query together, and responds 404 for an unknown agent', async () => {
        const answer = await administrator.get('/v1/admin/agents/nobody/events', { when: 'now', limit: 1 });
        assert.deepEqual(assertInvalid(answer), ['path.agent_id: uuid_parsing', 'query.when: enum']);
        const unknown = await administrator.get(`/v1/admin/agents/${UNKNOWN}/events`, { limit: 1 });
        assertError(unknown, 404, 'NOT_FOUND');
      });
    });

    describe('POST /v1/admin/agents/{agent_id}/events/delete', () => {
      const remove = (agent: string, body: unknown) =>
        administrator.post(`/v1/admin/agents/${agent}/events/delete`, body);

      it("deletes only the listed events that are the agent's", async () => {
        const publisher = await service.client.register('publisher');
        const events = [await publisher.create(), await publisher.create(), await publisher.create()];
        const { agent_id } = events[0];
        const other = await agents[1]!.create();
        const ids = events.slice(1).map(({ event_id }) => event_id);
        const event_ids = [...ids, ids[0], 'nonsense', other.event_id];
        assert.deepEqual(ok(await remove(agent_id.toUpperCase(), { event_ids })), { deleted: 2 });
        assert.deepEqual(ok(await remove(agent_id, { event_ids })), { deleted: 0 });
        for (const id of ids) assertError(await publisher.get(`/v1/events/${id}`), 404, 'NOT_FOUND');
        assert.equal((await publisher.get(`/v1/events/${other.event_id}`)).status, 200);
        const [entry] = ok(await administrator.get('/v1/admin/audit', { limit: 1 })).entries;
        assert.deepEqual(
          [entry.action, entry.target, entry.target_name, entry.detail, entry.count],
          ['delete_selected_events', agent_id, 'publisher', { event_ids: ids }, 2],
        );
        await agents[1]!.delete(`/v1/events/${other.event_id}`);
        await administrator.delete(`/v1/admin/agents/${agent_id}`);
      });

      it('needs 1 to 100 event IDs, and an existing agent', async () => {
        const cases: [unknown, string[]][] = [
          [undefined, ['body: missing']],
          [{}, ['body.event_ids: missing']],
          [{ event_ids: [] }, ['body.event_ids: too_short']],
          [{ event_ids: Array(101).fill('x') }, ['body.event_ids: too_long']],
          [{ event_ids: ['x', 5, null] }, ['body.event_ids.1: string_type', 'body.event_ids.2: string_type']],
          [{ event_ids: 'x' }, ['body.event_ids: list_type']],
        ];
        for (const [body, issues] of cases)
          assert.deepEqual(assertInvalid(await remove(agentId, body)), issues);
        assert.deepEqual(ok(await remove(agentId, { event_ids: Array(100).fill('x') })), { deleted: 0 });
        assertError(await remove(UNKNOWN, { event_ids: ['x'] }), 404, 'NOT_FOUND');
      });
    });

    describe('GET /v1/admin/audit', () => {
      it('lists who changed what and when, newest first, in pages', async () => {
        const agent = await service.client.register('audited');
        const { agent_id, event_id } = await agent.create({ title: 'to go' });
        const nowMs = service.clock.nowMs();
        await administrator.patch(`/v1/admin/agents/${agent_id}`, { is_active: false });
        await administrator.delete(`/v1/admin/events/${event_id}`);
        await administrator.delete(`/v1/admin/agents/${agent_id}`);
        const first = ok(await administrator.get('/v1/admin/audit', { limit: 2 }));
        assert.deepEqual(Object.keys(first), ['entries', 'total', 'next_cursor']);
        const { next_cursor: cursor, total } = first;
        const second = ok(await administrator.get('/v1/admin/audit', { limit: 1, cursor }));
        assert.equal(second.total, total);
        const entries = [...first.entries, ...second.entries];
        for (const { at } of entries) assert.ok(Math.abs(Date.parse(at) - nowMs) < 60_000, at);
        const ids = entries.map(({ id }) => Number(id));
        assert.deepEqual(
          ids,
          [...new Set(ids)].sort((a, b) => b - a),
        );
        const actor = { actor_email: 'ada@example.com', actor_subject: entries[0].actor_subject };
        assert.deepEqual(
          entries.map(({ id: _, at: __, ...entry }) => entry),
          [
            {
              ...actor,
              action: 'delete_agent',
              target: agent_id,
              target_name: 'audited',
              detail: null,
              count: 0,
            },
            {
              ...actor,
              action: 'delete_event',
              target: event_id,
              target_name: 'to go',
              detail: { agent_id, agent_name: 'audited' },
              count: 1,
            },
            {
              ...actor,
              action: 'update_agent',
              target: agent_id,
              target_name: 'audited',
              detail: { is_active: false },
              count: 1,
            },
          ],
        );
      });

      it('ends with a next_cursor of null', async () => {
        let cursor: string | undefined;
        let seen = 0;
        let total: number;
        do {
          const query: Query = cursor === undefined ? { limit: 2 } : { limit: 2, cursor };
          const page = ok(await administrator.get('/v1/admin/audit', query));
          seen += page.entries.length;
          ({ total, next_cursor: cursor } = page);
        } while (cursor !== null);
        assert.equal(seen, total);
      });

      it('refuses an invalid cursor and limit', async () => {
        const answer = await administrator.get('/v1/admin/audit', { cursor: 'x', limit: 0 });
        assert.deepEqual(assertInvalid(answer), [
          'query.limit: greater_than_equal',
          'query.cursor: value_error',
        ]);
      });
    });

    describe('GET /v1/admin/stats', () => {
      it('counts agents, events, agents active today and upcoming events', async () => {
        const stats = async () => ok(await (await service.newAdministrator()).get('/v1/admin/stats'));
        const before = await stats();
        assert.deepEqual(before, { agents: 6, agents_active_today: 2, events: 5, events_upcoming: 4 });
        assert.equal((await agents[3]!.nearby()).status, 200);
        await agents[0]!.create({ start_at: '2020-01-01T00:00:00Z' });
        await agents[0]!.create({ start_at: new Date(service.clock.nowMs()).toISOString() });
        assert.deepEqual(await stats(), {
          agents: 6,
          agents_active_today: 3,
          events: 7,
          events_upcoming: 5,
        });
        service.clock.advance(4 * 3_600_000);
        assert.equal((await stats()).events_upcoming, 4);
      });
    });
  });
}
