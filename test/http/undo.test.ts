// Undo over HTTP: what administrators delete can be restored by its entry in the audit log, for KEEP_DELETED_DAYS.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeUndoCursor } from '../../src/domain/administration/cursor.ts';
import { assertError, assertInvalid, type Client, newEvent } from '../support/client.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import { startTestService, type TestService } from '../support/service.ts';

const DAY_MS = 86_400_000;
const NOWHERE = '01ARYZ6S41TSV4RRFFQ69G5FAV';

for (const engine of Object.keys(ENGINES) as Engine[]) {
  describe(`undo on ${engine}`, () => {
    let env: Record<string, string>;
    let service: TestService;
    let admin: Client;
    before(async () => {
      env = await ENGINES[engine]();
      service = await startTestService(env);
      admin = await service.newAdministrator();
    });
    after(() => service.close());

    const newest = async (administrator = admin) =>
      (await administrator.get('/v1/admin/audit', { limit: 1, include: 'details' })).body.entries[0];
    const restore = (id: string | number, administrator = admin) =>
      administrator.post(`/v1/admin/audit/${id}/restore`);
    const agentIdOf = async (agent: Client) => (await agent.get('/v1/agents/me')).body.agent.id as string;

    it('brings an event back with its JSON, ETag and times, and a create finds it again', async () => {
      const agent = await service.newAgent();
      const created = await agent.create({ title: 'Undone' });
      const path = `/v1/events/${created.event_id}`;
      await agent.patch(path, { description: 'changed once', status: 'cancelled' });
      const read = () => agent.get(path, { include: 'updated_at,status' });
      const original = await read();
      assert.equal((await admin.delete(`/v1/admin/events/${created.event_id}`)).status, 204);
      assertError(await read(), 404, 'NOT_FOUND');
      const { id, restorable_until, restored_at, at } = await newest();
      assert.equal(Date.parse(restorable_until) - Date.parse(at), 7 * DAY_MS);
      assert.equal(restored_at, null);
      const answer = await restore(id);
      assert.deepEqual(answer.body, { restored: 1, skipped: [], skipped_count: 0, next_cursor: null });
      const [entry, undone] = (await admin.get('/v1/admin/audit', { limit: 2, include: 'details' })).body
        .entries;
      assert.deepEqual(
        [entry.action, entry.target, entry.count, entry.detail.audit_id, entry.restorable_until],
        ['restore', created.event_id, 1, id, null],
      );
      assert.deepEqual([undone.titles, undone.restorable_until], [['Undone'], null]);
      assert.equal(typeof undone.restored_at, 'string');
      assert.equal((await restore(id)).body.restored, 0);
      const again = await read();
      assert.equal(again.text, original.text);
      assert.equal(again.headers.get('etag'), original.headers.get('etag'));
      const { lat, lng, start_at, title } = created;
      const repeated = await agent.post('/v1/events', newEvent({ lat, lng, start_at, title }));
      assert.equal(repeated.body.event_id, created.event_id);
      assert.equal(repeated.headers.get('idempotent-replayed'), 'true');
    });

    it('leaves the responses of the audit log as they were, unless details are asked for', async () => {
      const plain = (await admin.get('/v1/admin/audit', { limit: 1 })).body.entries[0];
      assert.deepEqual(Object.keys(plain), [
        ...['id', 'at', 'actor_email', 'actor_subject', 'action', 'target', 'target_name', 'detail', 'count'],
      ]);
      assert.deepEqual(assertInvalid(await admin.get('/v1/admin/audit', { include: 'all' })), [
        'query.include: enum',
      ]);
    });

    it('reports events that it skips', async () => {
      const agent = await service.newAgent();
      const agentId = await agentIdOf(agent);
      const { event_id, title, ...event } = await agent.create();
      await admin.delete(`/v1/admin/agents/${agentId}/events`);
      const { id } = await newest();
      await agent.create({ title, start_at: event.start_at });
      assert.deepEqual((await restore(id)).body, {
        ...{ restored: 0, skipped: [{ event_id, title, reason: 'duplicate' }], skipped_count: 1 },
        next_cursor: null,
      });
    });

    it('continues a restore at a cursor, in the same entry, and only there', async () => {
      const agent = await service.newAgent();
      const event_ids: string[] = [];
      for (let number = 0; number < 4; number++) event_ids.push((await agent.create()).event_id);
      event_ids.sort();
      const { audit_id } = (await admin.post('/v1/admin/events/delete', { event_ids })).body;
      const continueAt = async (at: number, into?: number, administrator = admin) => {
        const cursor = encodeUndoCursor({ after: event_ids[at]!, into });
        return (await administrator.post(`/v1/admin/audit/${audit_id}/restore?cursor=${cursor}`)).body;
      };
      assert.equal((await continueAt(2)).restored, 1);
      const { id, count } = await newest();
      assert.equal(count, 1);
      assert.equal((await continueAt(1, Number(id))).restored, 1);
      assert.deepEqual((({ id, count }) => [id, count])(await newest()), [id, 2]);
      // Neither the entry of somebody else's restore nor one that is no restore is changed.
      const other = await service.newAdministrator('eve@example.com');
      assert.equal((await continueAt(0, Number(id), other)).restored, 1);
      assert.equal((await newest()).count, 1);
      const before = (await admin.get('/v1/admin/audit', { limit: 5 })).body.entries;
      assert.equal(before.find((entry: { id: string }) => entry.id === id).count, 2);
      const cursor = Buffer.from(`1:restore:${event_ids[0]}:${audit_id}`).toString('base64url');
      assert.equal(
        (await admin.post(`/v1/admin/audit/${audit_id}/restore?cursor=${cursor}`)).body.restored,
        0,
      );
      assert.equal((await restore(audit_id)).body.restored, 1);
      for (const wrong of ['x', '', `${cursor}A`, Buffer.from('1:restore::').toString('base64url')]) {
        const refused = await admin.post(`/v1/admin/audit/${audit_id}/restore?cursor=${wrong}`);
        assert.deepEqual(assertInvalid(refused), ['query.cursor: value_error']);
      }
    });

    it('refuses a malformed delete or restore, and an entry of somebody else', async () => {
      const agent = await service.newAgent();
      const { event_id } = await agent.create();
      const remove = (body: object, administrator = admin) =>
        administrator.post('/v1/admin/events/delete', body);
      assert.deepEqual(assertInvalid(await remove({ event_ids: [] })), ['body.event_ids: too_short']);
      assert.deepEqual(assertInvalid(await remove({ event_ids: Array(1_001).fill(NOWHERE) })), [
        'body.event_ids: too_long',
      ]);
      assert.deepEqual(assertInvalid(await remove({ event_ids: [event_id], for_good: 'yes' })), [
        'body.for_good: bool_type',
      ]);
      const { audit_id } = (await remove({ event_ids: [event_id] })).body;
      const other = await service.newAdministrator('eve@example.com');
      const next = await agent.create();
      for (const body of [
        { event_ids: [next.event_id], audit_id: 1_000_000 },
        { event_ids: [next.event_id], audit_id, for_good: true },
      ]) {
        assert.deepEqual(assertInvalid(await remove(body)), ['body.audit_id: value_error']);
      }
      const foreign = await remove({ event_ids: [next.event_id], audit_id }, other);
      assert.deepEqual(assertInvalid(foreign), ['body.audit_id: value_error']);
      assert.equal((await agent.get(`/v1/events/${next.event_id}`)).status, 200);
      assert.deepEqual((await remove({ event_ids: [NOWHERE] })).body, { deleted: 0, audit_id: null });
      assertError(await restore(1_000_000), 404, 'NOT_FOUND');
      for (const id of ['0', '-1', '1e3', 'x', '99999999999999999']) {
        assert.deepEqual(assertInvalid(await restore(id)), ['path.audit_id: int_parsing']);
      }
    });

    it('keeps nothing of what is deleted for good', async () => {
      const agent = await service.newAgent();
      const agentId = await agentIdOf(agent);
      const title = 'What must not stay';
      const deletes: (() => Promise<{ status: number }>)[] = [
        async () =>
          admin.delete(`/v1/admin/events/${(await agent.create({ title })).event_id}?for_good=true`),
        async () => {
          const event_ids = [(await agent.create({ title })).event_id];
          return admin.post('/v1/admin/events/delete', { event_ids, for_good: true });
        },
        async () => {
          const event_ids = [(await agent.create({ title })).event_id];
          return admin.post(`/v1/admin/agents/${agentId}/events/delete`, { event_ids, for_good: true });
        },
        async () => {
          await agent.create({ title });
          return admin.delete(`/v1/admin/agents/${agentId}/events?for_good=true`);
        },
        async () => {
          await agent.create({ title });
          return admin.delete(`/v1/admin/agents/${agentId}?for_good=true`);
        },
      ];
      for (const remove of deletes) {
        assert.ok([200, 204].includes((await remove()).status));
        const { id, count, titles, target_name, restorable_until } = await newest();
        assert.deepEqual([count, titles, restorable_until], [1, [], null]);
        assert.notEqual(target_name, title);
        const refused = await restore(id);
        assertError(refused, 409, 'NOT_RESTORABLE');
        assert.match(refused.body.error.message, /^This was deleted for good/);
      }
      assert.deepEqual(assertInvalid(await admin.delete(`/v1/admin/events/${NOWHERE}?for_good=1`)), [
        'query.for_good: bool_parsing',
      ]);
    });
  });

  describe(`KEEP_DELETED_DAYS on ${engine}`, () => {
    it('ends what can be restored, to the millisecond, and removes it', async (t) => {
      const env = await ENGINES[engine]();
      const nowMs = Date.parse('2030-05-01T12:00:00Z');
      const service = await startTestService({ ...env, KEEP_DELETED_DAYS: '2' }, { clock: () => nowMs });
      const agent = await service.newAgent();
      await agent.create();
      const agentId = (await agent.get('/v1/agents/me')).body.agent.id;
      const remove = async (at: TestService) =>
        (await at.newAdministrator()).delete(`/v1/admin/agents/${agentId}/events`);
      const restoreLast = async (at: TestService) => {
        const admin = await at.newAdministrator();
        const { entries } = (await admin.get('/v1/admin/audit', { limit: 10 })).body;
        const { id } = entries.find(({ action }: { action: string }) => action !== 'restore');
        return admin.post(`/v1/admin/audit/${id}/restore`);
      };
      await remove(service);
      service.clock.advance(2 * DAY_MS - 1);
      assert.equal((await restoreLast(service)).body.restored, 1);
      await remove(service);
      service.clock.advance(2 * DAY_MS);
      const late = await restoreLast(service);
      assertError(late, 409, 'NOT_RESTORABLE');
      assert.match(late.body.error.message, /kept for 2 days \(KEEP_DELETED_DAYS\)/);
      await agent.create();
      await remove(service); // is young enough
      await service.close();
      // Otherwise nothing is removed by a clock that has jumped.
      const confirmed = { CLOCK_CONFIRMED: '2030-05-05' };
      const next = await startTestService(
        { ...env, ...confirmed, KEEP_DELETED_DAYS: '2' },
        { clock: () => nowMs + 4 * DAY_MS },
      );
      const line = 'Removed 1 events that administrators deleted at least 2 days ago (KEEP_DELETED_DAYS).';
      const has = () => next.log.some(({ msg }) => msg === line);
      for (let tries = 0; tries < 500 && !has(); tries++) await sleep(20);
      assert.ok(has());
      assert.equal((await restoreLast(next)).body.restored, 1);
      await next.close();

      const off = await startTestService(
        { ...env, KEEP_DELETED_DAYS: '0' },
        { until: t, clock: () => nowMs + 4 * DAY_MS },
      );
      await remove(off);
      const refused = await restoreLast(off);
      assertError(refused, 409, 'NOT_RESTORABLE');
      assert.match(refused.body.error.message, /KEEP_DELETED_DAYS was 0/);
    });
  });
}

describe('undo on two nodes', () => {
  it('shows what one node has restored in the next search of the others, in memory and by SQL', async (t) => {
    const env = await ENGINES.postgres();
    const [one, two] = [await startTestService(env), await startTestService(env)];
    const bySql = await startTestService({ ...env, SEARCH: 'database' });
    t.after(() => Promise.all([one.close(), two.close(), bySql.close()]));
    const [admin, agent] = [await one.newAdministrator(), await one.newAgent()];
    const totals = async () => {
      const pages = [two, bySql].map(({ client }) => client.with(agent.headers).nearby({ q: 'wombat' }));
      return (await Promise.all(pages)).map(({ body }) => body.total);
    };
    for (let number = 0; number < 5; number++) await agent.create({ title: `wombat ${number}` });
    const agentId = (await agent.get('/v1/agents/me')).body.agent.id;
    for (let round = 0; round < 10; round++) {
      assert.deepEqual(await totals(), [5, 5]);
      await admin.delete(`/v1/admin/agents/${agentId}/events`);
      assert.deepEqual(await totals(), [0, 0]);
      const { id } = (await admin.get('/v1/admin/audit', { limit: 1 })).body.entries[0];
      assert.equal((await admin.post(`/v1/admin/audit/${id}/restore`)).body.restored, 5);
    }
  });
});
