// Who created how much lately, over HTTP and on both engines: activity in the list of agents, and counts per day.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Query } from '../acceptance/json-client.ts';
import { type Answer, assertInvalid, type Client } from '../support/client.ts';
import { ENGINES } from '../support/engines.ts';
import { useTestService } from '../support/service.ts';

const COUNTS = { quiet: 0, some: 2, spammer: 5 };

for (const [engine, env] of Object.entries(ENGINES)) {
  describe(`activity on ${engine}`, () => {
    const service = useTestService(async () => await env());
    let administrator: Client;
    before(async () => {
      administrator = await service.newAdministrator('ada@example.com');
      for (const [name, count] of Object.entries(COUNTS)) {
        const agent = await service.client.register(name);
        for (let number = 0; number < count; number++) await agent.create({ title: `${name} ${number}` });
      }
    });

    const ok = ({ status, body, text }: Answer) => {
      assert.equal(status, 200, text);
      return body;
    };
    const list = async (query: Query) => ok(await administrator.get('/v1/admin/agents', query));
    const names = (body: Answer['body']) =>
      body.agents.map(({ agent_name }: { agent_name: string }) => agent_name);

    it('is in the list only if include asks for it', async () => {
      const plain = await list({ limit: 100 });
      assert.ok(plain.agents.every((agent: object) => !('events_24h' in agent)));
      const whole = await list({ include: 'activity' });
      const expected = plain.agents.map((agent: { agent_name: keyof typeof COUNTS }) => {
        const count = COUNTS[agent.agent_name];
        return { ...agent, events_24h: count, events_7d: count };
      });
      assert.deepEqual(whole, { ...plain, agents: expected });
      assert.deepEqual(await list({ include: 'activity,activity' }), whole);
    });

    it('sorts the list, in pages', async () => {
      for (const key of ['events_24h', 'events_7d']) {
        assert.deepEqual(names(await list({ sort: `-${key}` })), ['spammer', 'some', 'quiet']);
        const first = await list({ sort: key, limit: 2 });
        assert.deepEqual(names(first), ['quiet', 'some']);
        const second = await list({ sort: key, limit: 2, cursor: first.next_cursor });
        assert.deepEqual([names(second), second.next_cursor, second.total], [['spammer'], null, 3]);
      }
      assert.deepEqual(names(await list({ sort: '-events_24h', q: 'S' })), ['spammer', 'some']);
    });

    it('refuses other values of include', async () => {
      for (const include of ['', 'activity,', 'events'])
        assert.match(
          String(assertInvalid(await administrator.get('/v1/admin/agents', { include }))),
          /include/,
        );
    });

    it('is counted per day in UTC, today last; what was deleted does not count', async () => {
      const { days } = ok(await administrator.get('/v1/admin/activity'));
      assert.equal(days.length, 30);
      const dates = days.map(({ date }: { date: string }) => date);
      const today = Date.parse(dates.at(-1));
      assert.deepEqual(
        dates,
        Array.from({ length: 30 }, (_, at) =>
          new Date(today - (29 - at) * 86_400_000).toISOString().slice(0, 10),
        ),
      );
      // Midnight may pass while this test runs.
      const sum = (key: string, last: number) =>
        days.slice(-last).reduce((total: number, day: Record<string, number>) => total + day[key]!, 0);
      assert.deepEqual([sum('events', 2), sum('agents', 2)], [7, 3]);
      assert.deepEqual([sum('events', 30), sum('agents', 30)], [7, 3]);
      const { agents } = await list({ q: 'some' });
      await administrator.delete(`/v1/admin/agents/${agents[0].id}`);
      const left = ok(await administrator.get('/v1/admin/activity', { days: 2 })).days;
      assert.equal(left.length, 2);
      assert.equal(left[0].events + left[1].events, 5);
      assert.equal(left[0].agents + left[1].agents, 2);
    });

    it('refuses numbers of days outside 1 to 366', async () => {
      for (const days of [0, 367, 'x', 1.5])
        assert.match(
          String(assertInvalid(await administrator.get('/v1/admin/activity', { days }))),
          /query\.days/,
        );
      assert.equal(ok(await administrator.get('/v1/admin/activity', { days: 366 })).days.length, 366);
    });
  });
}
