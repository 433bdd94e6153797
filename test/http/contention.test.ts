// Many changes of one event at once: each is applied exactly once, and the work grows with their number, not its square.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readRows } from '../sqlite/files.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';

/** Each is a commit of its own, which takes long while other tests use the disk. */
const CHANGES = size(200, 500);

describe('PATCH /v1/events/{event_id}', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService();
  });
  after(() => service.close());

  it(`applies ${CHANGES} changes that arrive at once, each exactly once`, async () => {
    const agent = await service.newAgent();
    const { event_id } = await agent.create();
    const answers = await Promise.all(
      Array.from({ length: CHANGES }, (_, number) =>
        agent.patch(`/v1/events/${event_id}`, { cost: String(number) }),
      ),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    // Every response shows the change that its request made.
    for (const [number, { body }] of answers.entries()) assert.equal(body.cost, String(number));
    const [row] = readRows(
      `${service.folder}/local-events.db`,
      'SELECT version FROM events WHERE event_id = ?',
      event_id,
    );
    assert.equal(row.version, CHANGES + 1);
  });

  it("lists the errors in path and body of an administrator's request together", async () => {
    const administrator = await service.newAdministrator();
    const answer = await administrator.patch('/v1/admin/agents/nobody', { tier: 'king', is_active: 1 });
    assert.deepEqual(
      answer.body.detail.map(({ loc }: { loc: string[] }) => loc.join('.')),
      ['path.agent_id', 'body.is_active', 'body.tier'],
    );
  });
});
